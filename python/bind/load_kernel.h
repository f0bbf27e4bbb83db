// Loading a kernel whose program Python builds: shared by every way in that has a build function.
#pragma once
#include <memory>
#include <span>

#include "bind.h"
#include "epi/jit/jit.h"

namespace epi::bind {

/// jit::load without the GIL. `build` (specs -> Module) is called with it, on a miss only; what it raises passes
/// through.
std::shared_ptr<const jit::Kernel> load_kernel(device::Device& device, jit::Source source, nb::handle build,
                                               std::span<const jit::Arg> args);

}  // namespace epi::bind
