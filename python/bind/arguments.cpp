#include "arguments.h"

#include <bit>
#include <cstring>
#include <unordered_map>

#include "dlpack.h"
#include "numpy_layout.h"

namespace epi::bind {
namespace {

/// How objects of one type are read.
enum class Reader : std::uint8_t {
  kNone,
  kNumpy,
  kBool,
  kInt,
  kFloat,
  kNumpyScalar,
  kExchange,
  kDlpack,
  kCudaInterface,
  kInterface
};

struct TypeEntry {
  Reader reader = Reader::kNone;
  const void* exchange = nullptr;
  bool foreign = false;  ///< of a library that queues work of its own
};

bool has(PyObject* object, const char* name) { return nb::hasattr(nb::handle(object), name); }

/// Whether the type's library has streams of its own, on which the array's contents may still be being made.
bool has_streams(PyTypeObject* type) {
  const nb::object module = nb::getattr(nb::handle(reinterpret_cast<PyObject*>(type)), "__module__", nb::none());
  if (!nb::isinstance<nb::str>(module)) return false;
  const auto name = nb::cast<std::string>(module);
  return name.rfind("torch", 0) == 0 || name.rfind("cupy", 0) == 0;
}

TypeEntry classify(PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (is_numpy_array(object)) return {Reader::kNumpy};
  if (PyBool_Check(object)) return {Reader::kBool};
  if (is_numpy_scalar(type)) return {Reader::kNumpyScalar};
  if (PyLong_Check(object)) return {Reader::kInt};
  if (PyFloat_Check(object)) return {Reader::kFloat};
  if (const void* api = exchange_api(type)) return {Reader::kExchange, api};
  if (has(type, "__dlpack__") && has(type, "__dlpack_device__")) return {Reader::kDlpack};
  if (has(object, "__cuda_array_interface__")) return {Reader::kCudaInterface};
  if (has(object, "__array_interface__")) return {Reader::kInterface};
  return {};
}

TypeEntry reader_of(PyObject* object) {
  // The table holds a reference to each type, so an address is never another type's. The GIL guards it.
  static auto& table = *new std::unordered_map<PyTypeObject*, TypeEntry>;
  PyTypeObject* type = Py_TYPE(object);
  const auto it = table.find(type);
  if (it != table.end()) return it->second;
  TypeEntry entry = classify(object);
  entry.foreign = has_streams(type);
  if (entry.reader != Reader::kNone) {
    Py_INCREF(reinterpret_cast<PyObject*>(type));
    table.emplace(type, entry);
  }
  return entry;
}

Status read_int(PyObject* o, jit::Arg& a) {
  int overflow = 0;
  const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow > 0) {
    a.bits[0] = PyLong_AsUnsignedLongLong(o);
    a.dtype = DType::kUInt64;
    if (!PyErr_Occurred()) return {};
    PyErr_Clear();
  }
  if (overflow != 0) return invalid_argument("the integer does not fit 64 bits");
  const bool narrow = v >= INT32_MIN && v <= INT32_MAX;
  a.dtype = narrow ? DType::kInt32 : DType::kInt64;
  a.bits[0] = narrow ? static_cast<std::uint32_t>(v) : static_cast<std::uint64_t>(v);
  return {};
}

void read_float(PyObject* o, jit::Arg& a) {
  a.dtype = DType::kFloat32;
  a.bits[0] = std::bit_cast<std::uint32_t>(static_cast<float>(PyFloat_AsDouble(o)));
}

std::string describe(Place p) {
  return p.kind == Place::kCuda ? "on cuda:" + std::to_string(p.ordinal) : "in host memory";
}

std::string type_name(PyObject* o) { return nb::cast<std::string>(nb::str(nb::handle(o).type().attr("__qualname__"))); }

/// Fits 32 bits: every extent and stride, and the offset of every element.
bool is_wide(const jit::Arg& a) {
  constexpr std::int64_t kLimit = INT32_MAX;
  std::int64_t reach = 0;
  for (int i = 0; i < a.rank; ++i) {
    const std::int64_t stride = a.strides[i] < 0 ? -a.strides[i] : a.strides[i];
    if (a.extents[i] > kLimit || stride > kLimit) return true;
    reach += a.extents[i] > 0 ? (a.extents[i] - 1) * stride : 0;
    if (reach > kLimit) return true;
  }
  return false;
}

Status read(PyObject* object, jit::Arg& a, Place& place, Arguments& out) {
  const TypeEntry entry = reader_of(object);
  out.foreign = out.foreign || entry.foreign;
  switch (entry.reader) {
    case Reader::kNumpy:
      place.kind = Place::kHost;
      return read_numpy(object, a);
    case Reader::kBool:
      a.dtype = DType::kBool;
      a.bits[0] = object == Py_True;
      return {};
    case Reader::kInt:
      return read_int(object, a);
    case Reader::kFloat:
      read_float(object, a);
      return {};
    case Reader::kNumpyScalar:
      return read_numpy_scalar(object, a);
    case Reader::kExchange:
      return read_exchange(entry.exchange, object, a, place);
    case Reader::kDlpack: {
      nb::object held;
      EPI_RETURN_IF_ERROR(read_dlpack(object, a, place, held));
      out.held.push_back(std::move(held));
      return {};
    }
    case Reader::kCudaInterface:
      return read_interface(object, "__cuda_array_interface__", a, place);
    case Reader::kInterface:
      return read_interface(object, "__array_interface__", a, place);
    case Reader::kNone:
      break;
  }
  return type_error("a " + type_name(object) +
                    " is not an argument of a kernel; accepted are NumPy arrays, anything with __dlpack__, "
                    "__array_interface__ or __cuda_array_interface__, and int, float, bool and NumPy scalars");
}

}  // namespace

Status extract(PyObject* object, const char* name, Arguments& out) {
  jit::Arg& a = out.args.emplace_back();
  Place place;
  Status s = read(object, a, place, out);
  if (!s.ok()) return s.with_context(std::string("argument '") + name + "'");
  if (!a.is_view) return {};
  out.wide = out.wide || is_wide(a);
  if (out.placed_by < 0) {
    out.place = place;
    out.placed_by = static_cast<int>(out.args.size()) - 1;
  } else if (!(out.place == place)) {
    return invalid_argument(std::string("argument '") + name + "' is " + describe(place) + " and argument " +
                            std::to_string(out.placed_by) + " is " + describe(out.place) +
                            "; all arrays of a launch are on one device: move one of them");
  }
  return {};
}

}  // namespace epi::bind
