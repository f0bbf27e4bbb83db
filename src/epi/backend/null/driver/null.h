// The template of a driver, and the one that tests of launch cost use: it accepts every call, counts it, does copies,
// fills and host calls at once, and runs no kernel. To add a backend, copy this folder and give each call a meaning.
#pragma once
#include <atomic>
#include <cstdint>

#include "epi/device/device.h"

namespace epi::backend::null {

/// What was asked for since the process began; and what is alive now.
struct Counts {
  std::atomic<std::uint64_t> calls{0};         ///< all that succeeded
  std::atomic<std::uint64_t> launches{0};      ///< submit() with a grid that is not empty
  std::atomic<std::uint64_t> programs{0};      ///< sum of their grids
  std::atomic<std::int64_t> live_blocks{0};
  std::atomic<std::int64_t> live_bytes{0};
  std::atomic<std::int64_t> live_modules{0};
  std::atomic<std::int64_t> live_queues{0};
  std::atomic<std::int64_t> live_events{0};
  std::atomic<std::uint64_t> room_bytes{std::uint64_t{1} << 40};  ///< tests lower it: allocations beyond it fail
};
Counts& counts();

/// The registry's entry point.
device::Driver& driver();

}  // namespace epi::backend::null
