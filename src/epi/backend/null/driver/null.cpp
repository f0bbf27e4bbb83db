#include "epi/backend/null/driver/null.h"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "epi/device/kernel_error.h"

namespace epi::backend::null {
namespace {

using device::CopyKind;
using device::EventHandle;
using device::KernelHandle;
using device::MemoryKind;
using device::ModuleHandle;
using device::QueueHandle;

struct Kernel {
  std::shared_ptr<const KernelInfo> info;
};
struct Module {
  std::shared_ptr<const void> keep;
  std::vector<std::unique_ptr<Kernel>> kernels;
};
struct Queue {};
struct Event {
  bool timed = true;
  bool recorded = false;
};

/// Counts a call that did what it should.
Status done() {
  counts().calls.fetch_add(1, std::memory_order_relaxed);
  return ok_status();
}

Status no_queue() { return invalid_argument("this call needs a queue"); }

class NullDevice final : public device::Device {
 public:
  NullDevice() {
    info_.name = "null device";
    info_.kind = "null";
    info_.arch = "null";
    info_.caps = device::Cap::kHostKernels | device::Cap::kBinaryModules | device::Cap::kAssembles |
                 device::Cap::kHostAddressable | device::Cap::kTensorMaps | device::Cap::kWaitAny |
                 device::Cap::kSurvivesFork;
    info_.total_bytes = std::size_t{1} << 40;
  }
  [[nodiscard]] const device::DeviceInfo& info() const override { return info_; }
  Result<device::MemoryInfo> memory_info() override {
    const auto used = static_cast<std::uint64_t>(counts().live_bytes.load());
    const std::uint64_t room = counts().room_bytes.load();
    return device::MemoryInfo{room - std::min(room, used), room};
  }

  Result<void*> allocate(MemoryKind, std::size_t size_bytes, QueueHandle) override {
    if (size_bytes == 0) return invalid_argument("allocation of 0 bytes");
    Counts& c = counts();
    void* ptr = nullptr;
    if (static_cast<std::uint64_t>(c.live_bytes.load()) + size_bytes <= c.room_bytes.load()) {
      ptr = std::aligned_alloc(256, (size_bytes + 255) / 256 * 256);
    }
    if (ptr == nullptr) return out_of_memory("null:0: no room for " + std::to_string(size_bytes) + " bytes");
    c.live_blocks.fetch_add(1);
    c.live_bytes.fetch_add(static_cast<std::int64_t>(size_bytes));
    EPI_RETURN_IF_ERROR(done());
    return ptr;
  }
  Status deallocate(MemoryKind, void* ptr, std::size_t size_bytes, QueueHandle) override {
    if (ptr == nullptr) return done();
    std::free(ptr);
    counts().live_blocks.fetch_sub(1);
    counts().live_bytes.fetch_sub(static_cast<std::int64_t>(size_bytes));
    return done();
  }
  Status copy(QueueHandle queue, void* dst, const void* src, std::size_t size_bytes, CopyKind) override {
    if (!queue) return no_queue();
    if (size_bytes == 0) return done();
    if (dst == nullptr || src == nullptr) return invalid_argument("copy from or to a null address");
    std::memmove(dst, src, size_bytes);
    return done();
  }
  Status fill(QueueHandle queue, void* dst, const void* pattern, std::size_t pattern_bytes,
              std::size_t count) override {
    if (!queue) return no_queue();
    if (pattern_bytes > 16 || !std::has_single_bit(pattern_bytes)) {
      return invalid_argument("fill with a pattern of " + std::to_string(pattern_bytes) +
                              " bytes; takes 1, 2, 4, 8 or 16");
    }
    if (count == 0) return done();
    if (dst == nullptr || pattern == nullptr) return invalid_argument("fill from or to a null address");
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<char*>(dst) + i * pattern_bytes, pattern, pattern_bytes);
    }
    return done();
  }

  Result<std::string> assemble(std::string_view text) override {
    EPI_RETURN_IF_ERROR(done());
    return std::string(text);
  }
  Result<ModuleHandle> load_module(const device::ModuleImage& image) override {
    if (image.host == nullptr && image.bytes.empty()) return invalid_argument("load_module without code");
    counts().live_modules.fetch_add(1);
    EPI_RETURN_IF_ERROR(done());
    return ModuleHandle{new Module{image.keep, {}}};
  }
  Status unload_module(ModuleHandle module) override {
    if (!module) return done();
    delete static_cast<Module*>(module.ptr);
    counts().live_modules.fetch_sub(1);
    return done();
  }
  Result<KernelHandle> get_kernel(ModuleHandle module, std::shared_ptr<const KernelInfo> info) override {
    if (!module || info == nullptr) return invalid_argument("get_kernel needs a module and a KernelInfo");
    EPI_RETURN_IF_ERROR(device::find_driver_slots(*info).status());
    auto& kernels = static_cast<Module*>(module.ptr)->kernels;
    kernels.push_back(std::make_unique<Kernel>(Kernel{std::move(info)}));
    EPI_RETURN_IF_ERROR(done());
    return KernelHandle{kernels.back().get()};
  }
  Status encode_tensor_map(const device::TensorMapSpec&, device::TensorMap* out) override {
    *out = {};
    return done();
  }

  Result<QueueHandle> create_queue(const device::QueueOptions& options) override {
    if (options.capacity != 0 && !std::has_single_bit(options.capacity)) {
      return invalid_argument("a queue's capacity is a power of two, not " + std::to_string(options.capacity));
    }
    counts().live_queues.fetch_add(1);
    EPI_RETURN_IF_ERROR(done());
    return QueueHandle{new Queue};
  }
  Status destroy_queue(QueueHandle queue) override {
    if (!queue) return done();
    delete static_cast<Queue*>(queue.ptr);
    counts().live_queues.fetch_sub(1);
    return done();
  }
  Status submit(QueueHandle queue, const device::Dispatch& d) override {
    if (!queue) return no_queue();
    const auto* kernel = static_cast<const Kernel*>(d.kernel.ptr);
    if (kernel == nullptr) return invalid_argument("launch without a kernel");
    if (d.slot_count != kernel->info->slots.size()) {
      return invalid_argument(kernel->info->name + ": launched with " + std::to_string(d.slot_count) +
                              " arguments, takes " + std::to_string(kernel->info->slots.size()));
    }
    const std::uint64_t programs = std::uint64_t{d.grid[0]} * d.grid[1] * d.grid[2];
    if (programs != 0) {
      counts().launches.fetch_add(1, std::memory_order_relaxed);
      counts().programs.fetch_add(programs, std::memory_order_relaxed);
    }
    return done();
  }
  Status host_call(QueueHandle queue, device::HostFunction function, void* argument) override {
    if (!queue) return no_queue();
    if (function == nullptr) return invalid_argument("host_call without a function");
    function(argument);
    return done();
  }
  Status wait_events(QueueHandle queue, std::span<const EventHandle> events, device::WaitMode mode) override {
    if (!queue) return no_queue();
    if (mode == device::WaitMode::kAny && events.size() > 5) {
      return unsupported("a queue waits for any of at most 5 events");
    }
    return done();
  }
  Status synchronise(QueueHandle queue) override { return queue ? done() : no_queue(); }
  Result<bool> is_idle(QueueHandle queue) override {
    if (!queue) return no_queue();
    EPI_RETURN_IF_ERROR(done());
    return true;
  }

  Result<EventHandle> create_event(const device::EventOptions& options) override {
    counts().live_events.fetch_add(1);
    EPI_RETURN_IF_ERROR(done());
    return EventHandle{new Event{options.timed, false}};
  }
  Status destroy_event(EventHandle event) override {
    if (!event) return done();
    delete static_cast<Event*>(event.ptr);
    counts().live_events.fetch_sub(1);
    return done();
  }
  Status record(EventHandle event, QueueHandle queue) override {
    if (!event || !queue) return invalid_argument("record needs an event and a queue");
    static_cast<Event*>(event.ptr)->recorded = true;
    return done();
  }
  Status wait(EventHandle event) override { return event ? done() : invalid_argument("wait needs an event"); }
  Result<bool> is_done(EventHandle event) override {
    if (!event) return invalid_argument("is_done needs an event");
    EPI_RETURN_IF_ERROR(done());
    return true;
  }
  Result<double> elapsed_ns(EventHandle begin, EventHandle end) override {
    if (!begin || !end) return invalid_argument("elapsed needs two events");
    for (const EventHandle handle : {begin, end}) {
      const auto* event = static_cast<const Event*>(handle.ptr);
      if (!event->timed) return invalid_argument("the event was made without timing");
      if (!event->recorded) return invalid_argument("the event was never recorded");
    }
    EPI_RETURN_IF_ERROR(done());
    return 0.0;
  }

 private:
  device::DeviceInfo info_;
};

class NullDriver final : public device::Driver {
 public:
  [[nodiscard]] std::string_view name() const override { return "null"; }
  Result<int> count() override { return 1; }
  Result<device::Device*> open(int ordinal) override {
    if (ordinal != 0) return device_error("there is one null device, null:0");
    static auto* device = new NullDevice;
    return static_cast<device::Device*>(device);
  }
  [[nodiscard]] std::span<const device::Unsupported> conformance() const override {
    static constexpr device::Unsupported kTable[] = {
        {"kernels_run", "launches are counted, not run"},
        {"kernel_errors", "kernels that do not run make no errors"},
        {"asynchronous", "all work is done inside the call that submits it"},
    };
    return kTable;
  }
};

}  // namespace

Counts& counts() {
  static auto* instance = new Counts;
  return *instance;
}

device::Driver& driver() {
  static auto* instance = new NullDriver;
  return *instance;
}

}  // namespace epi::backend::null
