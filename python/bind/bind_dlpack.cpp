// Arrays of ours for other libraries: DLPack capsules, versioned (1.0) or old. The capsule's tensor keeps `owner`
// alive.
#include <nanobind/stl/vector.h>

#include <memory>

#include "bind.h"
#include "epi/base/dtype.h"

namespace epi::bind {
namespace {

struct DLTensor {
  void* data;
  std::int32_t device_type, device_id, ndim;
  std::uint8_t code, bits;
  std::uint16_t lanes;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct Old {
  DLTensor tensor;
  void* context;
  void (*deleter)(Old*);
};
struct Versioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(Versioned*);
  std::uint64_t flags;
  DLTensor tensor;
};

/// What the consumer's tensor points into; freed by its deleter, on any thread.
template <class Managed>
struct Export {
  Managed managed{};
  std::vector<std::int64_t> shape, strides;
  nb::object owner;
};

template <class Managed>
void destroy(Managed* m) {
  if (!Py_IsInitialized()) return;  // at exit the process's end frees it
  nb::gil_scoped_acquire gil;
  delete static_cast<Export<Managed>*>(m->context);
}

/// Nobody took the tensor.
template <class Managed>
void drop(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // its consumer renamed it
  auto* m = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  m->deleter(m);
}

template <class Managed>
nb::object capsule_of(std::unique_ptr<Export<Managed>> e, const char* name, PyCapsule_Destructor drop_one) {
  e->managed.context = e.get();
  e->managed.deleter = &destroy<Managed>;
  e->managed.tensor.shape = e->shape.data();
  e->managed.tensor.strides = e->strides.data();
  PyObject* capsule = PyCapsule_New(&e->managed, name, drop_one);
  if (!capsule) nb::raise_python_error();
  e.release();
  return nb::steal(capsule);
}

template <class Managed>
std::unique_ptr<Export<Managed>> fill(nb::object owner, std::uintptr_t address, int dtype,
                                      std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
                                      std::int32_t type, std::int32_t id) {
  auto e = std::make_unique<Export<Managed>>();
  const DTypeInfo& d = info(static_cast<DType>(dtype));
  e->shape = std::move(shape);
  e->strides = std::move(strides);
  e->owner = std::move(owner);
  DLTensor& t = e->managed.tensor;
  t.data = reinterpret_cast<void*>(address);
  t.device_type = type;
  t.device_id = id;
  t.ndim = static_cast<std::int32_t>(e->shape.size());
  t.code = static_cast<std::uint8_t>(d.dlpack_code);
  t.bits = static_cast<std::uint8_t>(d.size_bytes * 8);
  t.lanes = 1;
  return e;
}

nb::object export_tensor(nb::object owner, std::uintptr_t address, int dtype, std::vector<std::int64_t> shape,
                         std::vector<std::int64_t> strides, std::int32_t type, std::int32_t id, bool versioned,
                         std::uint64_t flags) {
  if (!versioned)
    return capsule_of(fill<Old>(std::move(owner), address, dtype, std::move(shape), std::move(strides), type, id),
                      "dltensor", [](PyObject* c) { drop<Old>(c, "dltensor"); });
  auto e = fill<Versioned>(std::move(owner), address, dtype, std::move(shape), std::move(strides), type, id);
  e->managed.major = 1;
  e->managed.flags = flags;
  return capsule_of(std::move(e), "dltensor_versioned", [](PyObject* c) { drop<Versioned>(c, "dltensor_versioned"); });
}

}  // namespace

void bind_dlpack(nb::module_& m) {
  m.def("export_dlpack", &export_tensor, nb::arg("owner"), nb::arg("address"), nb::arg("dtype"), nb::arg("shape"),
        nb::arg("strides"), nb::arg("device_type"), nb::arg("device_id"), nb::arg("versioned"), nb::arg("flags"),
        "A DLPack capsule; flags: 1 read-only, 2 copied.");
}

}  // namespace epi::bind
