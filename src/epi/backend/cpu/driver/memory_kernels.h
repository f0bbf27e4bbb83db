// The driver's own kernels: large copies and fills run as dispatches, so that all threads share them.
#pragma once
#include "epi/backend/cpu/driver/kernel.h"

namespace epi::backend::cpu {

inline constexpr std::uint64_t kMoveBytes = 256 * 1024;  ///< bytes that one program of copy or fill moves

/// Slots: dst, src, bytes. The ranges do not overlap.
const Kernel& copy_kernel();
/// Slots: dst, pattern (two), pattern bytes, bytes.
const Kernel& fill_kernel();

}  // namespace epi::backend::cpu
