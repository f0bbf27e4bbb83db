// Names this build of the engine: part of every cache key, so that another build never runs its code.
#pragma once
#include <string>

namespace epi::jit {

/// Version and a digest of the loaded engine library (its path's size, time and build notes).
const std::string& build_id();

}  // namespace epi::jit
