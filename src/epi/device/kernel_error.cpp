#include "epi/device/kernel_error.h"

namespace epi::device {

Status kernel_error(const KernelInfo& info, const char* name, const std::uint32_t (&grid)[3],
                    const ErrorRecord& record) {
  if (record.site == 0) return ok_status();
  const std::size_t site = record.site - 1;
  const std::string what = site < info.sites.size()
                               ? info.sites[site]
                               : "unknown site " + std::to_string(record.site) + " of " +
                                     std::to_string(info.sites.size()) + " (a bug of the compiler; please report it)";
  const std::uint32_t nx = grid[0] == 0 ? 1 : grid[0];
  const std::uint32_t ny = grid[1] == 0 ? 1 : grid[1];
  const std::uint32_t p = record.program;
  const std::string where = "program (" + std::to_string(p % nx) + ", " + std::to_string(p / nx % ny) + ", " +
                            std::to_string(p / nx / ny) + "), element " + std::to_string(record.item);
  return device_error(std::string(name != nullptr ? name : info.name.c_str()) + ": " + what + " [" + where + "]");
}

Result<DriverSlots> find_driver_slots(const KernelInfo& info) {
  DriverSlots found;
  for (std::size_t i = 0; i < info.slots.size(); ++i) {
    int* place = info.slots[i].kind == SlotKind::kErrors   ? &found.errors
                 : info.slots[i].kind == SlotKind::kTicket ? &found.ticket
                                                           : nullptr;
    if (place == nullptr) continue;
    if (*place >= 0) return invalid_argument(info.name + ": two slots of a kind that the driver fills");
    *place = static_cast<int>(i);
  }
  return found;
}

}  // namespace epi::device
