#include "numpy_layout.h"

#include <cstring>
#include <optional>
#include <unordered_map>

namespace epi::bind {
namespace {

/// The leading fields of PyArray_Descr (ndarraytypes.h), equal in NumPy 1.x and 2.x.
struct Descr {
  PyObject head;
  PyObject* scalar_type;
  char kind, type, byteorder, flags;
  int type_num;
};

/// The fields of PyArrayObject (ndarraytypes.h).
struct Array {
  PyObject head;
  char* data;
  int rank;
  Py_intptr_t* extents;
  Py_intptr_t* strides;  ///< bytes
  PyObject* base;
  Descr* descr;
  int flags;
};

constexpr int kWriteable = 0x0400;

nb::object numpy_class(const char* name) {
  nb::object numpy = nb::module_::import_("sys").attr("modules").attr("get")("numpy");
  if (numpy.is_none() || !nb::hasattr(numpy, name)) return {};
  return numpy.attr(name);
}

/// Reads a small array both ways; false means that this NumPy has another layout.
bool layout_holds(const nb::object& ndarray) {
  const nb::object a = ndarray(nb::make_tuple(3, 2), "float64").attr("T");
  const auto* raw = reinterpret_cast<const Array*>(a.ptr());
  const nb::object interface = a.attr("__array_interface__");
  const auto data = nb::cast<nb::tuple>(interface["data"]);
  return raw->rank == 2 && raw->extents[0] == 2 && raw->extents[1] == 3 && raw->strides[0] == 8 &&
         raw->strides[1] == 16 && nb::cast<std::uintptr_t>(data[0]) == reinterpret_cast<std::uintptr_t>(raw->data) &&
         (raw->flags & kWriteable) != 0 && raw->descr->type_num == 12;
}

/// numpy.ndarray once NumPy is imported and its layout checked; null before.
PyTypeObject* ndarray_type() {
  static PyTypeObject* type = nullptr;
  static bool refused = false;
  if (type || refused) return type;
  const nb::object found = numpy_class("ndarray");
  if (!found.is_valid()) return nullptr;
  if (layout_holds(found)) {
    type = reinterpret_cast<PyTypeObject*>(found.inc_ref().ptr());
  } else {
    refused = true;
  }
  return type;
}

std::optional<DType> dtype_by_name(const Descr* d) {
  const nb::handle h(reinterpret_cast<PyObject*>(const_cast<Descr*>(d)));
  auto name = nb::cast<std::string>(nb::str(h.attr("name")));
  return dtype_from_name(name);
}

/// Types by number: NumPy's own are below 24 and never change; others (bfloat16) are looked up by name.
std::optional<DType> dtype_of(const Descr* d) {
  switch (d->type_num) {
    case 0:
      return DType::kBool;
    case 1:
      return DType::kInt8;
    case 2:
      return DType::kUInt8;
    case 3:
      return DType::kInt16;
    case 4:
      return DType::kUInt16;
    case 5:
      return DType::kInt32;
    case 6:
      return DType::kUInt32;
    case 7:
    case 9:
      return sizeof(long) == 8 || d->type_num == 9 ? DType::kInt64 : DType::kInt32;
    case 8:
    case 10:
      return sizeof(long) == 8 || d->type_num == 10 ? DType::kUInt64 : DType::kUInt32;
    case 11:
      return DType::kFloat32;
    case 12:
      return DType::kFloat64;
    case 14:
      return DType::kComplex64;
    case 15:
      return DType::kComplex128;
    case 23:
      return DType::kFloat16;
    default:
      return dtype_by_name(d);
  }
}

}  // namespace

bool is_numpy_array(PyObject* object) {
  PyTypeObject* type = ndarray_type();
  return type && PyObject_TypeCheck(object, type);
}

bool is_numpy_scalar(PyObject* type) {
  const nb::object generic = numpy_class("generic");
  return generic.is_valid() && PyObject_IsSubclass(type, generic.ptr()) == 1;
}

Status read_numpy(PyObject* object, jit::Arg& a) {
  const auto* raw = reinterpret_cast<const Array*>(object);
  const auto dtype = dtype_of(raw->descr);
  if (!dtype) {
    const nb::handle d(reinterpret_cast<PyObject*>(raw->descr));
    return type_error("elements of dtype " + nb::cast<std::string>(nb::str(d)) +
                      " are not supported; accepted are bool, int8 to int64, uint8 to uint64, float16, bfloat16, "
                      "float32, float64, complex64 and complex128");
  }
  if (raw->descr->byteorder == '>')
    return type_error("the array has big-endian elements; convert it with astype(dtype.newbyteorder('='))");
  if (raw->rank > jit::kMaxRank) return invalid_argument("the array has more than 16 axes");
  a.is_view = true;
  a.readonly = (raw->flags & kWriteable) == 0;
  a.dtype = *dtype;
  a.rank = static_cast<std::uint8_t>(raw->rank);
  a.base = raw->data;
  const auto size = static_cast<std::int64_t>(size_bytes(*dtype));
  for (int i = 0; i < raw->rank; ++i) {
    a.extents[i] = raw->extents[i];
    a.strides[i] = raw->strides[i] / size;
    if (a.strides[i] * size != raw->strides[i] && raw->extents[i] > 1)
      return invalid_argument("the array's stride of " + std::to_string(raw->strides[i]) +
                              " bytes is not a multiple of its element size; make a copy of it");
  }
  return {};
}

Status read_numpy_scalar(PyObject* o, jit::Arg& a) {
  const nb::handle h(o);
  const auto name = nb::cast<std::string>(nb::str(h.attr("dtype").attr("name")));
  const auto dtype = dtype_from_name(name);
  if (!dtype) return type_error("a NumPy scalar of dtype " + name + " is not supported");
  a.dtype = *dtype;
  const auto bytes = nb::cast<nb::bytes>(h.attr("tobytes")());
  std::memcpy(a.bits.data(), bytes.c_str(), std::min(bytes.size(), sizeof a.bits));
  return {};
}

}  // namespace epi::bind
