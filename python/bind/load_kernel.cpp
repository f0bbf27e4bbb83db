#include "load_kernel.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <exception>

namespace epi::bind {

std::shared_ptr<const jit::Kernel> load_kernel(device::Device& device, jit::Source source, nb::handle build,
                                               std::span<const jit::Arg> args) {
  std::exception_ptr failure;
  source.build = [&](const std::vector<ir::ArgSpec>& specs) -> Result<ir::Module> {
    nb::gil_scoped_acquire gil;
    try {
      return std::move(nb::cast<ir::Module&>(build(specs)));
    } catch (...) {
      failure = std::current_exception();  // carried over the engine, which knows no exceptions
      return internal_error("the build function raised");
    }
  };
  auto kernel = without_gil([&] { return jit::load(device, source, args); });
  if (failure) std::rethrow_exception(failure);
  return take(std::move(kernel));
}

}  // namespace epi::bind
