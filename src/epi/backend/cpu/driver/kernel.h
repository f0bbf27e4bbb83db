// Host kernels as the driver holds them, and the argument block that a dispatch packet points to.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "epi/device/device.h"
#include "epi/device/kernel_error.h"

namespace epi::backend::cpu {

/// One entry point. Owned by its module (or static, for the driver's own copy and fill).
struct Kernel {
  HostKernel entry = nullptr;
  std::shared_ptr<const KernelInfo> info;
  device::DriverSlots driver_slots;
  /// Running mean of what one program costs, in nanoseconds; 0 = not known yet. Decides chunk sizes and who is woken.
  mutable std::atomic<float> program_ns{0};
  mutable std::atomic<std::uint32_t> runs{0};
};

struct Module {
  HostKernel host = nullptr;
  std::shared_ptr<const void> keep;
  std::vector<std::unique_ptr<Kernel>> kernels;
};

inline constexpr std::uint32_t kInlineSlots = 24;

/// Arguments of the packet in the same ring slot; unmodified until the packet completes.
struct alignas(64) KernArg {
  HostLaunch launch{};                          ///< launch.slots points to `slots` or `many`
  ErrorRecord errors;                           ///< what a kErrors slot points to
  std::uint64_t programs = 0;
  const Kernel* kernel = nullptr;
  const char* name = nullptr;
  std::int64_t submit_ns = 0;                   ///< set while a trace is recorded
  std::uint32_t ticket = 0;                     ///< what a kTicket slot points to
  std::uint32_t many_capacity = 0;
  std::unique_ptr<std::uint64_t[]> many;        ///< more than kInlineSlots arguments
  std::uint64_t slots[kInlineSlots];
};

}  // namespace epi::backend::cpu
