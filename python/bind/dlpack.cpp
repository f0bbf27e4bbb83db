#include "dlpack.h"

#include <cstring>
#include <optional>

namespace epi::bind {
namespace {

struct DLDevice {
  std::int32_t type, id;
};
struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct Managed {
  DLTensor tensor;
  void* context;
  void (*deleter)(Managed*);
};
struct ManagedVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  DLTensor tensor;
};
struct ExchangeHeader {
  std::uint32_t major, minor;
  ExchangeHeader* previous;
};
struct Exchange {
  ExchangeHeader header;
  void* allocator;
  void* managed_from_object;
  void* managed_to_object;
  int (*tensor_from_object)(void* object, DLTensor* out);
  void* current_stream;
};

constexpr std::uint64_t kReadonlyFlag = 1;
constexpr std::int32_t kHostType = 1, kCudaType = 2, kCudaHostType = 3, kCudaManagedType = 13;

std::optional<DType> dtype_of(const DLTensor& t) {
  if (t.lanes != 1) return std::nullopt;
  for (int i = 0; i < kDTypeCount; ++i) {
    const DTypeInfo& d = info(static_cast<DType>(i));
    if (d.dlpack_code == t.code && d.size_bytes * 8 == t.bits) return static_cast<DType>(i);
  }
  return std::nullopt;
}

Status from_tensor(const DLTensor& t, bool readonly, jit::Arg& a, Place& place) {
  const auto dtype = dtype_of(t);
  if (!dtype)
    return type_error("elements of DLPack type (code " + std::to_string(t.code) + ", " + std::to_string(t.bits) +
                      " bits, " + std::to_string(t.lanes) + " lanes) are not supported");
  if (t.ndim > jit::kMaxRank) return invalid_argument("the array has more than 16 axes");
  switch (t.device.type) {
    case kHostType:
    case kCudaHostType:
      place = {Place::kHost, 0};
      break;
    case kCudaType:
    case kCudaManagedType:
      place = {Place::kCuda, t.device.id};
      break;
    default:
      return {Code::kDevice, "DLPack device type " + std::to_string(t.device.type) + " is not supported"};
  }
  a.is_view = true;
  a.readonly = readonly;
  a.dtype = *dtype;
  a.rank = static_cast<std::uint8_t>(t.ndim);
  a.base = static_cast<char*>(t.data) + t.byte_offset;
  std::int64_t packed = 1;
  for (int i = t.ndim - 1; i >= 0; --i) {
    a.extents[i] = t.shape[i];
    a.strides[i] = t.strides ? t.strides[i] : packed;
    packed *= t.shape[i];
  }
  return {};
}

/// The text of the Python error that is set, which is cleared.
std::string python_error_text() {
  try {
    nb::raise_python_error();
  } catch (const std::exception& e) {
    return e.what();
  }
}

/// Calls obj.__dlpack__ with what newer producers take, then with what older ones do.
nb::object request(const nb::object& o) {
  const nb::object method = o.attr("__dlpack__");
  const auto device = nb::cast<nb::tuple>(o.attr("__dlpack_device__")());
  const bool on_gpu = nb::cast<int>(device[0]) == kCudaType;
  nb::object stream = on_gpu ? nb::object(nb::int_(-1)) : nb::none();
  try {
    return method(nb::arg("stream") = stream, nb::arg("max_version") = nb::make_tuple(1, 0));
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) throw;
  }
  return on_gpu ? method(nb::arg("stream") = stream) : method();
}

}  // namespace

const void* exchange_api(PyObject* type) {
  const nb::object capsule = nb::getattr(nb::handle(type), "__dlpack_c_exchange_api__", nb::none());
  if (!PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api")) return nullptr;
  const auto* api = static_cast<const Exchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  return api && api->header.major == 1 && api->tensor_from_object ? api : nullptr;
}

Status read_exchange(const void* api, PyObject* object, jit::Arg& a, Place& place) {
  DLTensor t{};
  if (static_cast<const Exchange*>(api)->tensor_from_object(object, &t) != 0)
    return invalid_argument("its producer refused: " + python_error_text());
  return from_tensor(t, false, a, place);
}

Status read_dlpack(PyObject* object, jit::Arg& a, Place& place, nb::object& held) {
  held = request(nb::borrow(object));
  if (PyCapsule_IsValid(held.ptr(), "dltensor_versioned")) {
    const auto* m = static_cast<ManagedVersioned*>(PyCapsule_GetPointer(held.ptr(), "dltensor_versioned"));
    if (m->major != 1) return unsupported("DLPack version " + std::to_string(m->major) + " is not supported");
    return from_tensor(m->tensor, (m->flags & kReadonlyFlag) != 0, a, place);
  }
  if (!PyCapsule_IsValid(held.ptr(), "dltensor"))
    return type_error("__dlpack__ did not give a tensor that nobody has taken");
  return from_tensor(static_cast<Managed*>(PyCapsule_GetPointer(held.ptr(), "dltensor"))->tensor, false, a, place);
}

namespace {

std::optional<DType> dtype_of_typestr(std::string_view s) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (info(static_cast<DType>(i)).typestr == s) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace

Status read_interface(PyObject* object, const char* attribute, jit::Arg& a, Place& place) {
  const nb::dict d = nb::cast<nb::dict>(nb::handle(object).attr(attribute));
  const auto typestr = nb::cast<std::string>(d["typestr"]);
  const auto dtype = dtype_of_typestr(typestr);
  if (!dtype) return type_error("elements of type '" + typestr + "' are not supported");
  const auto shape = nb::cast<nb::tuple>(d["shape"]);
  if (shape.size() > static_cast<std::size_t>(jit::kMaxRank))
    return invalid_argument("the array has more than 16 axes");
  a.is_view = true;
  a.dtype = *dtype;
  a.rank = static_cast<std::uint8_t>(shape.size());
  const auto size = static_cast<std::int64_t>(size_bytes(*dtype));
  const bool strided = d.contains("strides") && !d["strides"].is_none();
  std::int64_t packed = 1;
  for (int i = a.rank - 1; i >= 0; --i) {
    a.extents[i] = nb::cast<std::int64_t>(shape[i]);
    a.strides[i] = packed;
    packed *= a.extents[i];
    if (!strided) continue;
    const auto bytes = nb::cast<std::int64_t>(nb::object(d["strides"])[i]);
    if (bytes % size != 0)
      return invalid_argument("the stride of " + std::to_string(bytes) +
                              " bytes is not a multiple of the element size");
    a.strides[i] = bytes / size;
  }
  const auto data = nb::cast<nb::tuple>(d["data"]);
  a.base = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  a.readonly = nb::cast<bool>(data[1]);
  place = {std::strcmp(attribute, "__array_interface__") == 0 ? Place::kHost : Place::kCuda, 0};
  return {};
}

}  // namespace epi::bind
