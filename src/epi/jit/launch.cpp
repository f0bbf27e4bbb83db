// Launching a loaded kernel: the caller's arguments into slots, then the driver. The hot path of everything.
#include <array>
#include <cstdio>
#include <string>

#include "epi/base/trace.h"
#include "epi/jit/jit.h"
#include "epi/jit/measured_run.h"

namespace epi::jit {
namespace {

constexpr std::size_t kMaxSlots = 256;
constexpr std::size_t kMaxTensorMaps = 8;

Status fill_tensor_map(device::Device& device, const Slot& slot, const Arg& arg, device::TensorMap& out) {
  device::TensorMapSpec spec;
  spec.base = arg.base;
  spec.dtype = arg.dtype;
  spec.rank = static_cast<int>(slot.box.size());
  spec.swizzle_bytes = slot.swizzle_bytes;
  // Innermost first: the unit-stride axis leads, the others keep their order from last to first.
  int axes[5];
  int n = 0;
  for (int axis = arg.rank - 1; axis >= 0; --axis)
    if (arg.strides[static_cast<std::size_t>(axis)] == 1 && n == 0) axes[n++] = axis;
  for (int axis = arg.rank - 1; axis >= 0 && n < 5; --axis)
    if (n == 0 || axis != axes[0]) axes[n++] = axis;
  const auto element = size_bytes(arg.dtype);
  for (int i = 0; i < spec.rank && i < n; ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    spec.extents[i] = static_cast<std::uint64_t>(arg.extents[axis]);
    spec.strides_bytes[i] = static_cast<std::uint64_t>(arg.strides[axis]) * element;
    spec.box[i] = slot.box[static_cast<std::size_t>(i)];
  }
  return device.encode_tensor_map(spec, &out);
}

std::uint64_t slot_value(const Slot& s, const Arg& a, const std::uint32_t grid[3]) {
  switch (s.kind) {
    case SlotKind::kPointer: return reinterpret_cast<std::uint64_t>(a.base);
    case SlotKind::kExtent: return static_cast<std::uint64_t>(a.extents[s.axis]);
    case SlotKind::kStride: return static_cast<std::uint64_t>(a.strides[s.axis]);
    case SlotKind::kScalar: return a.bits[s.axis & 1];
    case SlotKind::kGrid: return grid[s.axis];
    case SlotKind::kErrors:
    case SlotKind::kTicket:
    case SlotKind::kTensorMap: return 0;  // the driver's, or filled by the caller below
  }
  return 0;
}

/// "a.base=0x7f00, a.extent0=4, n=3": the slots as a trace shows them.
std::string describe_slots(const KernelInfo& info, const std::vector<std::string>& names, const std::uint64_t* values) {
  static constexpr const char* kWhat[] = {".base", ".extent", ".stride", "", "errors", "ticket", ".map", "grid"};
  std::string out;
  for (std::size_t i = 0; i < info.slots.size(); ++i) {
    const Slot& s = info.slots[i];
    const bool of_argument = s.kind <= SlotKind::kScalar || s.kind == SlotKind::kTensorMap;
    const bool with_axis = s.kind == SlotKind::kExtent || s.kind == SlotKind::kStride || s.kind == SlotKind::kGrid;
    if (i) out += ", ";
    if (of_argument) out += s.arg < names.size() ? names[s.arg] : "arg" + std::to_string(s.arg);
    out += kWhat[static_cast<std::size_t>(s.kind)];
    if (with_axis) out += std::to_string(s.axis);
    if (s.kind == SlotKind::kErrors || s.kind == SlotKind::kTicket) continue;
    char hex[24];
    std::snprintf(hex, sizeof hex, "0x%llx", static_cast<unsigned long long>(values[i]));
    out += "=" + (with_axis ? std::to_string(values[i]) : std::string(hex));
  }
  return out;
}

}  // namespace

Kernel::~Kernel() {
  if (!module_) return;
  if (Status s = device_->unload_module(module_); !s.ok())
    trace::instant("jit", "unload failed", {{"kernel", name_}, {"error", s.message()}});
}

Status Kernel::check_arguments(std::span<const Arg> args) const {
  for (std::size_t i = 0; i < args.size() && i < 64; ++i)
    if (args[i].is_view && args[i].readonly && ((info_->written >> i) & 1) != 0)
      return invalid_argument(name_ + ": argument " + std::to_string(i + 1) +
                              (i < arg_names_.size() ? " (" + arg_names_[i] + ")" : std::string()) +
                              " is read-only, but the kernel stores to it; pass a writable array");
  return ok_status();
}

Status Kernel::launch(device::QueueHandle queue, const std::uint32_t grid[3], std::span<const Arg> args) const {
  if (info_->written != 0) EPI_RETURN_IF_ERROR(check_arguments(args));
  std::array<std::uint64_t, kMaxSlots> slots;
  std::array<device::TensorMap, kMaxTensorMaps> maps;
  std::uint32_t map_count = 0;
  const std::size_t n = info_->slots.size();
  if (n > kMaxSlots) return unsupported(name_ + ": more than " + std::to_string(kMaxSlots) + " argument slots");
  for (std::size_t i = 0; i < n; ++i) {
    const Slot& s = info_->slots[i];
    static const Arg none;
    slots[i] = slot_value(s, s.arg < args.size() ? args[s.arg] : none, grid);
    if (s.kind != SlotKind::kTensorMap) continue;
    if (map_count == kMaxTensorMaps) return unsupported(name_ + ": more than 8 tensor maps");
    EPI_RETURN_IF_ERROR(fill_tensor_map(*device_, s, args[s.arg], maps[map_count]).with_context(name_));
    slots[i] = map_count++;
  }
  device::Dispatch d;
  d.kernel = kernel_;
  d.name = name_.c_str();
  for (int i = 0; i < 3; ++i) d.grid[i] = grid[i];
  d.slot_count = static_cast<std::uint32_t>(n);
  d.slots = slots.data();
  d.tensor_maps = maps.data();
  d.tensor_map_count = map_count;
  return trace::enabled() ? submit_traced(queue, d) : device_->submit(queue, d);
}

Status Kernel::submit_traced(device::QueueHandle queue, const device::Dispatch& d) const {
  const std::string slots = describe_slots(*info_, arg_names_, d.slots);
  const MeasuredRun run(*device_, queue, name_);
  const std::int64_t start_ns = trace::now_ns();
  Status status = device_->submit(queue, d);
  trace::span("submit", name_, start_ns, trace::now_ns() - start_ns,
              {{"kernel", reinterpret_cast<std::uint64_t>(this)},
               {"device", device_->info().kind + ":" + std::to_string(device_->info().ordinal)},
               {"grid_x", d.grid[0]},
               {"grid_y", d.grid[1]},
               {"grid_z", d.grid[2]},
               {"slots", slots}});
  return status;
}

}  // namespace epi::jit
