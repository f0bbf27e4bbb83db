// Arrays of other libraries by DLPack (plain, versioned, and the C exchange API where the type offers it) and by the
// array interfaces. Structures as dlpack.h 1.x fixes them.
#pragma once
#include "arguments.h"

namespace epi::bind {

/// The C function table of a type (DLPack 1.3), or null.
const void* exchange_api(PyObject* type);

Status read_exchange(const void* api, PyObject* object, jit::Arg& a, Place& place);
/// `held` receives the capsule that owns the tensor.
Status read_dlpack(PyObject* object, jit::Arg& a, Place& place, nb::object& held);
/// `attribute` is __array_interface__ or __cuda_array_interface__.
Status read_interface(PyObject* object, const char* attribute, jit::Arg& a, Place& place);

}  // namespace epi::bind
