// From what a kernel wrote into its ErrorRecord to the Status that wait() reports; the same text on every device.
#pragma once
#include "epi/base/status.h"
#include "epi/device/kernel_abi.h"

namespace epi::device {

/// Ok when `record.site` is 0. `name` null = info.name. `grid` turns the program index into coordinates.
[[nodiscard]] Status kernel_error(const KernelInfo& info, const char* name, const std::uint32_t (&grid)[3],
                                  const ErrorRecord& record);

/// Which slots the driver itself fills, found once a kernel. -1 = none.
struct DriverSlots {
  int errors = -1;
  int ticket = -1;
};
/// kInvalidArgument when a kernel has more than one of either.
Result<DriverSlots> find_driver_slots(const KernelInfo& info);

}  // namespace epi::device
