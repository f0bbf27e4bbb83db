// What a program does to its arguments, for callers that must know before it runs.
#pragma once
#include <cstdint>

#include "epi/ir/builder.h"

namespace epi::ir {

/// Bit i: view argument i is stored to (store, scatter, atomics, lookback); arguments past the 64th are not tracked.
std::uint64_t written_views(const Module& module);

}  // namespace epi::ir
