#include "epi/backend/cpu/driver/device.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "epi/backend/cpu/driver/host_facts.h"
#include "epi/backend/cpu/driver/memory_kernels.h"

namespace epi::backend::cpu {
namespace {

constexpr std::uint32_t kDefaultCapacity = 1024;
constexpr std::uint32_t kMostCapacity = 1u << 20;
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kSmallCopyBytes = 32 * 1024;

SoftQueue* queue_of(device::QueueHandle handle) { return static_cast<SoftQueue*>(handle.ptr); }
Event* event_of(device::EventHandle handle) { return static_cast<Event*>(handle.ptr); }
Module* module_of(device::ModuleHandle handle) { return static_cast<Module*>(handle.ptr); }

Status no_queue() { return invalid_argument("this call needs a queue"); }

bool overlap(const void* a, const void* b, std::size_t size_bytes) {
  const auto x = reinterpret_cast<std::uintptr_t>(a);
  const auto y = reinterpret_cast<std::uintptr_t>(b);
  return x < y + size_bytes && y < x + size_bytes;
}

Packet agent_packet(AgentFunction function, std::uint64_t a0, std::uint64_t a1 = 0, std::uint64_t a2 = 0) {
  Packet packet;
  packet.agent = {};
  packet.agent.type = static_cast<std::uint16_t>(function);
  packet.agent.arguments[0] = a0;
  packet.agent.arguments[1] = a1;
  packet.agent.arguments[2] = a2;
  return packet;
}

template <class T>
std::uint64_t bits(T* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

Status push_agent(SoftQueue& queue, Packet&& packet, bool eager) {
  return queue.push({&packet, 1}, PacketType::kAgentDispatch, eager).status();
}

/// Puts one of the driver's own kernels, over `size_bytes` in pieces of kMoveBytes.
Status dispatch_own(SoftQueue& queue, const Kernel& kernel, std::span<const std::uint64_t> slots,
                    std::size_t size_bytes) {
  device::Dispatch d;
  d.kernel.ptr = const_cast<Kernel*>(&kernel);
  d.slots = slots.data();
  d.slot_count = static_cast<std::uint32_t>(slots.size());
  const std::uint64_t pieces = (size_bytes + kMoveBytes - 1) / kMoveBytes;
  d.grid[0] = static_cast<std::uint32_t>(pieces);
  return queue.dispatch(d);
}

class CpuDriver final : public device::Driver {
 public:
  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  Result<int> count() override { return 1; }
  Result<device::Device*> open(int ordinal) override {
    if (ordinal != 0) return device_error("there is one cpu device, cpu:0");
    static auto* device = new CpuDevice;
    return static_cast<device::Device*>(device);
  }
  [[nodiscard]] std::span<const device::Unsupported> conformance() const override {
    static constexpr device::Unsupported kTable[] = {
        {"binary_modules", "code for the host is linked into the process by the jit; its address is the module"},
        {"assemble", "the compiler emits object code for the host itself"},
        {"tensor_maps", "a host processor has no engine that reads tiles"},
    };
    return kTable;
  }
};

}  // namespace

device::Driver& driver() {
  static auto* instance = new CpuDriver;
  return *instance;
}

CpuDevice::CpuDevice() : info_(read_host_facts()) {}

Result<device::MemoryInfo> CpuDevice::memory_info() { return read_host_memory(); }

// -- memory ------------------------------------------------------------------------

Result<void*> CpuDevice::allocate(device::MemoryKind, std::size_t size_bytes, device::QueueHandle) {
  if (size_bytes == 0) return invalid_argument("allocation of 0 bytes");
  const auto refused = [&] {
    return Status(Code::kOutOfMemory, "cpu:0: no room for " + std::to_string(size_bytes) + " bytes (the machine has " +
                                          std::to_string(info_.total_bytes) + ")");
  };
  if (size_bytes > info_.total_bytes) return refused();
  const std::size_t alignment = size_bytes >= 2 * kHugePage ? kHugePage : kAlignment;
  void* ptr = std::aligned_alloc(alignment, (size_bytes + alignment - 1) / alignment * alignment);
  if (ptr == nullptr) return refused();
  if (alignment == kHugePage) (void)madvise(ptr, size_bytes, MADV_HUGEPAGE);  // a hint; any answer is fine
  return ptr;
}

Status CpuDevice::deallocate(device::MemoryKind, void* ptr, std::size_t, device::QueueHandle queue) {
  if (ptr == nullptr) return ok_status();
  SoftQueue* q = queue_of(queue);
  if (q != nullptr && q->read_index() < q->write_index()) {
    return push_agent(*q, agent_packet(AgentFunction::kFree, bits(ptr)), false);
  }
  std::free(ptr);
  return ok_status();
}

Status CpuDevice::copy(device::QueueHandle queue, void* dst, const void* src, std::size_t size_bytes,
                       device::CopyKind) {
  if (queue_of(queue) == nullptr) return no_queue();
  if (size_bytes == 0) return ok_status();
  if (dst == nullptr || src == nullptr) return invalid_argument("copy from or to a null address");
  if (size_bytes <= kSmallCopyBytes || overlap(dst, src, size_bytes)) {
    return push_agent(*queue_of(queue), agent_packet(AgentFunction::kCopy, bits(dst), bits(src), size_bytes), false);
  }
  const std::uint64_t slots[] = {bits(dst), bits(src), size_bytes};
  return dispatch_own(*queue_of(queue), copy_kernel(), slots, size_bytes);
}

Status CpuDevice::fill(device::QueueHandle queue, void* dst, const void* pattern, std::size_t pattern_bytes,
                       std::size_t count) {
  if (queue_of(queue) == nullptr) return no_queue();
  if (pattern_bytes > 16 || !std::has_single_bit(pattern_bytes)) {
    return invalid_argument("fill with a pattern of " + std::to_string(pattern_bytes) + " bytes; takes 1, 2, 4, 8 or 16");
  }
  if (count == 0) return ok_status();
  if (dst == nullptr || pattern == nullptr) return invalid_argument("fill from or to a null address");
  std::uint64_t slots[] = {bits(dst), 0, 0, pattern_bytes, pattern_bytes * count};
  std::memcpy(&slots[1], pattern, pattern_bytes);
  return dispatch_own(*queue_of(queue), fill_kernel(), slots, pattern_bytes * count);
}

// -- code --------------------------------------------------------------------------

Result<device::ModuleHandle> CpuDevice::load_module(const device::ModuleImage& image) {
  if (image.host == nullptr) {
    return unsupported("cpu:0 loads host modules (the address of linked code), not bytes");
  }
  return device::ModuleHandle{new Module{image.host, image.keep, {}}};
}

Status CpuDevice::unload_module(device::ModuleHandle handle) {
  if (!handle) return ok_status();
  Retired retired{std::unique_ptr<Module>(module_of(handle)), {}};
  for (auto& queue : Workers::get().queues()) {
    const std::uint64_t write = queue->write_index();
    if (queue->read_index() < write) retired.until.emplace_back(std::move(queue), write);
  }
  if (!retired.until.empty()) {
    std::lock_guard lock(retired_mutex_);
    retired_.push_back(std::move(retired));
    retired_count_.store(retired_.size(), std::memory_order_relaxed);
  }
  reap();
  return ok_status();
}

/// Frees retired modules whose work is done. Called where queues have just been waited for, and at the next unload.
void CpuDevice::reap() {
  if (retired_count_.load(std::memory_order_relaxed) == 0) return;
  std::vector<Retired> done;  // ends after the lock
  std::lock_guard lock(retired_mutex_);
  const auto finished = [](const Retired& r) {
    return std::all_of(r.until.begin(), r.until.end(),
                       [](const auto& place) { return place.first->read_index() >= place.second; });
  };
  for (Retired& r : retired_) {
    if (finished(r)) done.push_back(std::move(r));
  }
  std::erase_if(retired_, [](const Retired& r) { return r.module == nullptr; });
  retired_count_.store(retired_.size(), std::memory_order_relaxed);
}

Result<device::KernelHandle> CpuDevice::get_kernel(device::ModuleHandle module,
                                                   std::shared_ptr<const KernelInfo> info) {
  if (!module || info == nullptr) return invalid_argument("get_kernel needs a module and a KernelInfo");
  auto kernel = std::make_unique<Kernel>();
  EPI_TRY(kernel->driver_slots, device::find_driver_slots(*info));
  kernel->entry = module_of(module)->host;
  kernel->info = std::move(info);
  module_of(module)->kernels.push_back(std::move(kernel));
  return device::KernelHandle{module_of(module)->kernels.back().get()};
}

// -- queues ------------------------------------------------------------------------

Result<device::QueueHandle> CpuDevice::create_queue(const device::QueueOptions& options) {
  const std::uint32_t capacity = options.capacity == 0 ? kDefaultCapacity : options.capacity;
  if (!std::has_single_bit(capacity) || capacity > kMostCapacity) {
    return invalid_argument("a queue's capacity is a power of two up to " + std::to_string(kMostCapacity) + ", not " +
                            std::to_string(capacity));
  }
  auto queue = std::make_shared<SoftQueue>(Workers::get(), capacity, next_queue_.fetch_add(1));
  device::QueueHandle handle{queue.get()};
  Workers::get().add(std::move(queue));
  return handle;
}

Status CpuDevice::destroy_queue(device::QueueHandle queue) {
  if (!queue) return ok_status();
  SoftQueue* q = queue_of(queue);
  EPI_RETURN_IF_ERROR(q->wait_until(q->write_index()));
  Status failure = q->take_failure();
  Workers::get().remove(q);
  reap();
  return failure;
}

Status CpuDevice::submit(device::QueueHandle queue, const device::Dispatch& dispatch) {
  if (!queue) return no_queue();
  return queue_of(queue)->dispatch(dispatch);
}

Status CpuDevice::host_call(device::QueueHandle queue, device::HostFunction function, void* argument) {
  if (!queue) return no_queue();
  if (function == nullptr) return invalid_argument("host_call without a function");
  return push_agent(*queue_of(queue), agent_packet(AgentFunction::kHostCall, bits(function), bits(argument)), true);
}

Status CpuDevice::wait_events(device::QueueHandle queue, std::span<const device::EventHandle> events,
                              device::WaitMode mode) {
  if (!queue) return no_queue();
  if (mode == device::WaitMode::kAny && events.size() > kBarrierDependencies) {
    return unsupported("a queue waits for any of at most " + std::to_string(kBarrierDependencies) + " events, not " +
                       std::to_string(events.size()));
  }
  std::vector<Signal*> open;
  bool any_met = false;
  for (const device::EventHandle handle : events) {
    Signal* signal = handle ? look(event_of(handle)).signal : nullptr;
    if (signal != nullptr && signal->value.load(std::memory_order_acquire) > 0) {
      open.push_back(signal);
    } else {
      any_met = true;
      release(signal);
    }
  }
  if (open.empty() || (mode == device::WaitMode::kAny && any_met)) {
    for (Signal* signal : open) release(signal);
    return ok_status();
  }
  std::vector<Packet> packets((open.size() + kBarrierDependencies - 1) / kBarrierDependencies);
  for (Packet& packet : packets) packet.barrier = {};
  for (std::size_t i = 0; i < open.size(); ++i) {
    packets[i / kBarrierDependencies].barrier.dependencies[i % kBarrierDependencies] = handle_of(open[i]);
  }
  const PacketType type = mode == device::WaitMode::kAll ? PacketType::kBarrierAnd : PacketType::kBarrierOr;
  return queue_of(queue)->push(packets, type, true).status();
}

Status CpuDevice::synchronise(device::QueueHandle queue) {
  if (!queue) return no_queue();
  SoftQueue* q = queue_of(queue);
  EPI_RETURN_IF_ERROR(q->wait_until(q->write_index()));
  reap();
  return q->take_failure();
}

Result<bool> CpuDevice::is_idle(device::QueueHandle queue) {
  if (!queue) return no_queue();
  const std::uint64_t write = queue_of(queue)->write_index();
  const bool idle = queue_of(queue)->read_index() >= write;
  if (!idle) Workers::get().notify(true);  // who polls wants it to go on
  return idle;
}

// -- events ------------------------------------------------------------------------

ForkSafeMutex& CpuDevice::lock_of(const Event* event) {
  return event_mutexes_[reinterpret_cast<std::uintptr_t>(event) / alignof(std::max_align_t) % std::size(event_mutexes_)];
}

Event CpuDevice::look(const Event* event) {
  std::lock_guard lock(lock_of(event));
  Event copy = *event;
  retain(copy.signal);
  return copy;
}

Result<device::EventHandle> CpuDevice::create_event(const device::EventOptions& options) {
  auto* event = new Event;
  event->timed = options.timed;
  return device::EventHandle{event};
}

Status CpuDevice::destroy_event(device::EventHandle handle) {
  if (!handle) return ok_status();
  release(event_of(handle)->signal);
  delete event_of(handle);
  return ok_status();
}

Status CpuDevice::record(device::EventHandle handle, device::QueueHandle queue) {
  if (!handle || !queue) return invalid_argument("record needs an event and a queue");
  auto* signal = new Signal;
  Packet packet;
  packet.barrier = {};
  packet.barrier.completion_signal = handle_of(retain(signal));
  auto pushed = queue_of(queue)->push({&packet, 1}, PacketType::kBarrierAnd, false);
  if (!pushed.ok()) {
    release(signal);
    return pushed.status();
  }
  Event* event = event_of(handle);
  std::shared_ptr<SoftQueue> holder = queue_of(queue)->shared_from_this();
  {
    std::lock_guard lock(lock_of(event));
    std::swap(event->signal, signal);
    std::swap(event->queue, holder);
    event->index = *pushed;
  }
  release(signal);
  return ok_status();
}

Status CpuDevice::wait(device::EventHandle handle) {
  if (!handle) return invalid_argument("wait needs an event");
  const Event event = look(event_of(handle));
  if (event.signal == nullptr) return ok_status();
  Status status = event.queue->wait_until(event.index);
  if (status.ok() && event.signal->failure != nullptr) status = *event.signal->failure;
  release(event.signal);
  return status;
}

Result<bool> CpuDevice::is_done(device::EventHandle handle) {
  if (!handle) return invalid_argument("is_done needs an event");
  const Event event = look(event_of(handle));
  const bool done = event.signal == nullptr || event.signal->value.load(std::memory_order_acquire) <= 0;
  release(event.signal);
  if (!done) Workers::get().notify(true);
  return done;
}

Result<double> CpuDevice::elapsed_ns(device::EventHandle begin, device::EventHandle end) {
  if (!begin || !end) return invalid_argument("elapsed needs two events");
  const Event events[] = {look(event_of(begin)), look(event_of(end))};
  Status status;
  for (const Event& event : events) {
    if (!event.timed) status = invalid_argument("the event was made without timing");
    if (event.signal == nullptr) {
      status = invalid_argument("the event was never recorded");
    } else if (event.signal->value.load(std::memory_order_acquire) > 0) {
      status = invalid_argument("the event is not reached yet; wait for it first");
    }
  }
  double ns = 0;
  if (status.ok()) ns = static_cast<double>(events[1].signal->end_ns - events[0].signal->end_ns);
  release(events[0].signal);
  release(events[1].signal);
  if (!status.ok()) return status;
  return ns;
}

}  // namespace epi::backend::cpu
