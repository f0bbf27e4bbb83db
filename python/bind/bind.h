// What the binding's files share: the module's parts and the one way from Status to a Python exception.
#pragma once
#include <nanobind/nanobind.h>

#include "epi/base/status.h"

namespace epi::bind {

namespace nb = nanobind;

/// Raises the exception class of the status's code; does nothing where it is ok.
void check(const Status& status);

/// The value, or the exception.
template <class T>
T take(Result<T>&& result) {
  check(result.status());
  return std::move(result).value();
}

/// f() while other Python threads run.
template <class F>
auto without_gil(F&& f) {
  nb::gil_scoped_release release;
  return f();
}

// One a file; each adds its header's names to the module.
void bind_base(nb::module_& m);
void bind_builder(nb::module_& m);
void bind_arguments(nb::module_& m);
void bind_interp(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_jit(nb::module_& m);
void bind_launch(nb::module_& m);
void bind_program(nb::module_& m);
void bind_dlpack(nb::module_& m);
void bind_trace(nb::module_& m);
void bind_math(nb::module_& m);

}  // namespace epi::bind
