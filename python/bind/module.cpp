// The module epitaxy._engine and the translation of Status into Python's exceptions. The classes live in
// epitaxy._errors, so that they can be caught, subclassed and pickled as ordinary Python classes.
#include "bind.h"

namespace epi::bind {
namespace {

/// The exception class of a code: a builtin, or one of epitaxy._errors.
PyObject* exception_class(Code code, nb::object& hold) {
  const char* ours = nullptr;
  switch (code) {
    case Code::kOk:
    case Code::kInvalidArgument:
      return PyExc_ValueError;
    case Code::kType:
      return PyExc_TypeError;
    case Code::kIndex:
      return PyExc_IndexError;
    case Code::kOutOfMemory:
      return PyExc_MemoryError;
    case Code::kUnsupported:
      return PyExc_NotImplementedError;
    case Code::kIo:
      return PyExc_OSError;
    case Code::kCompile:
      ours = "CompileError";
      break;
    case Code::kDevice:
      ours = "DeviceError";
      break;
    case Code::kInternal:
      ours = "InternalError";
      break;
  }
  hold = nb::module_::import_("epitaxy._errors").attr(ours);
  return hold.ptr();
}

}  // namespace

void check(const Status& status) {
  if (status.ok()) return;
  nb::object hold;
  PyErr_SetString(exception_class(status.code(), hold), status.message().c_str());
  throw nb::python_error();
}

}  // namespace epi::bind

NB_MODULE(_engine, m) {
  nanobind::set_leak_warnings(
      false);  // kernels and the globals they captured refer to each other until the process ends
  m.doc() = "The engine: dtypes, the Tile IR builder, the interpreter, compiler, devices.";
  epi::bind::bind_base(m);
  epi::bind::bind_builder(m);
  epi::bind::bind_arguments(m);
  epi::bind::bind_interp(m);
  epi::bind::bind_runtime(m);
  epi::bind::bind_jit(m);
  epi::bind::bind_launch(m);
  epi::bind::bind_program(m);
  epi::bind::bind_dlpack(m);
  epi::bind::bind_trace(m);
  epi::bind::bind_math(m);
}
