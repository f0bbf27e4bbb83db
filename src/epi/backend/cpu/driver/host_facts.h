// What this machine's processor and memory are, as the operating system tells it.
#pragma once
#include "epi/device/device.h"

namespace epi::backend::cpu {

[[nodiscard]] device::DeviceInfo read_host_facts();
/// Respects the limits of the control group that the process is in.
[[nodiscard]] device::MemoryInfo read_host_memory();

}  // namespace epi::backend::cpu
