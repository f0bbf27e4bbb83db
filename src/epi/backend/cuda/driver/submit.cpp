// Queues, launches and events of a GPU.
#include <algorithm>
#include <cstring>

#include "epi/backend/cuda/driver/context.h"
#include "epi/backend/cuda/driver/device.h"

namespace epi::backend::cuda {
namespace {

constexpr std::uint32_t kMaxSlots = 256;
constexpr std::uint32_t kMaxGridYZ = 65535;

std::shared_ptr<Queue>& queue_of(device::QueueHandle q) { return static_cast<QueueBox*>(q.ptr)->queue; }
Event& event_of(device::EventHandle e) { return *static_cast<Event*>(e.ptr); }

Status no_queue(const char* call) { return invalid_argument(std::string(call) + ": needs a queue; got none"); }

Status check_dispatch(const device::Dispatch& d, const KernelInfo& info) {
  if (d.slot_count != info.slots.size() || d.slot_count > kMaxSlots)
    return invalid_argument("launch of " + info.name + ": " + std::to_string(d.slot_count) + " argument slots; it takes " +
                            std::to_string(info.slots.size()) + " (at most " + std::to_string(kMaxSlots) + ")");
  if (d.grid[0] > 0x7fffffffU || d.grid[1] > kMaxGridYZ || d.grid[2] > kMaxGridYZ)
    return invalid_argument("launch of " + info.name + ": grid (" + std::to_string(d.grid[0]) + ", " +
                            std::to_string(d.grid[1]) + ", " + std::to_string(d.grid[2]) +
                            ") is too large; a GPU takes up to (2147483647, 65535, 65535)");
  return ok_status();
}

}  // namespace

Result<device::QueueHandle> GpuDevice::create_queue(const device::QueueOptions& options) {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  CUstream stream = nullptr;
  EPI_RETURN_IF_ERROR(check(api_.StreamCreateWithPriority(&stream, kStreamNonBlocking, options.high_priority ? -1 : 0),
                            "making a stream"));
  return device::QueueHandle{new QueueBox{std::make_shared<Queue>(api_, context_, stream)}};
}

Status GpuDevice::destroy_queue(device::QueueHandle queue) {
  if (!queue) return no_queue("destroy_queue");
  const Status last = synchronise(queue);
  delete static_cast<QueueBox*>(queue.ptr);
  return last;
}

Status GpuDevice::submit(device::QueueHandle handle, const device::Dispatch& d) {
  EPI_RETURN_IF_ERROR(check_process());
  if (!handle || !d.kernel) return handle ? invalid_argument("submit: no kernel") : no_queue("submit");
  const auto& kernel = *static_cast<const LoadedKernel*>(d.kernel.ptr);
  const KernelInfo& info = *kernel.info;
  EPI_RETURN_IF_ERROR(check_dispatch(d, info));
  if (d.grid[0] == 0 || d.grid[1] == 0 || d.grid[2] == 0) return ok_status();
  ContextScope scope(api_, context_);
  Queue& queue = *queue_of(handle);
  std::uint64_t own[kMaxSlots];  // values of the slots that this driver fills
  void* params[kMaxSlots];
  for (std::uint32_t i = 0; i < d.slot_count; ++i) {
    params[i] = const_cast<std::uint64_t*>(&d.slots[i]);
    if (info.slots[i].kind == SlotKind::kErrors) {
      EPI_TRY(ErrorRecord * record, queue.take_record(kernel, d));
      own[i] = reinterpret_cast<std::uint64_t>(record);
      params[i] = &own[i];
    } else if (info.slots[i].kind == SlotKind::kTicket) {
      EPI_TRY(own[i], queue.take_ticket());
      params[i] = &own[i];
    } else if (info.slots[i].kind == SlotKind::kTensorMap) {
      params[i] = const_cast<device::TensorMap*>(&d.tensor_maps[d.slots[i]]);
    }
  }
  CUlaunchConfig config{d.grid[0], d.grid[1], d.grid[2], info.block_threads, 1, 1, info.shared_bytes, queue.stream(),
                        nullptr,   0};
  if (info.persistent > 0) {
    const std::uint64_t programs = std::uint64_t{d.grid[0]} * d.grid[1] * d.grid[2];
    const std::uint64_t blocks = std::uint64_t{info.persistent} * static_cast<std::uint64_t>(info_.processors);
    config.grid_x = static_cast<unsigned>(std::min(programs, blocks));
    config.grid_y = config.grid_z = 1;
  }
  queue.count_launch();
  if (info.cluster > 1) {
    CUlaunchAttribute cluster{};
    cluster.id = kLaunchAttributeCluster;
    cluster.value.cluster = {info.cluster, 1, 1};
    config.attributes = &cluster;
    config.attribute_count = 1;
    config.grid_x = (config.grid_x + info.cluster - 1) / info.cluster * info.cluster;
    return check(api_.LaunchKernelEx(&config, kernel.function, params, nullptr), info.name.c_str());
  }
  return check(api_.LaunchKernel(kernel.function, config.grid_x, config.grid_y, config.grid_z, config.block_x, 1, 1,
                                 config.shared_bytes, config.stream, params, nullptr),
               info.name.c_str());
}

Status GpuDevice::host_call(device::QueueHandle queue, device::HostFunction function, void* argument) {
  if (!queue) return no_queue("host_call");
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  return check(api_.LaunchHostFunc(queue_of(queue)->stream(), function, argument), "queueing a host call");
}

Status GpuDevice::wait_events(device::QueueHandle queue, std::span<const device::EventHandle> events,
                              device::WaitMode mode) {
  if (!queue) return no_queue("wait_events");
  if (mode == device::WaitMode::kAny && !events.empty())
    return unsupported("wait_events: waiting for any of several events; CUDA streams wait for all");
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  for (device::EventHandle e : events)
    EPI_RETURN_IF_ERROR(check(api_.StreamWaitEvent(queue_of(queue)->stream(), event_of(e).event, 0), "waiting for an event"));
  return ok_status();
}

Status GpuDevice::synchronise(device::QueueHandle handle) {
  if (!handle) return no_queue("synchronise");
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  Queue& queue = *queue_of(handle);
  EPI_RETURN_IF_ERROR(check(api_.StreamSynchronize(queue.stream()), "waiting for the queue"));
  queue.harvest(UINT64_MAX);
  return queue.error(UINT64_MAX, true);
}

Result<bool> GpuDevice::is_idle(device::QueueHandle queue) {
  if (!queue) return no_queue("is_idle");
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  const CUresult r = api_.StreamQuery(queue_of(queue)->stream());
  if (r == kErrorNotReady) return false;
  EPI_RETURN_IF_ERROR(check(r, "asking the queue"));
  return true;
}

Result<device::EventHandle> GpuDevice::create_event(const device::EventOptions& options) {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  auto event = std::make_unique<Event>();
  event->timed = options.timed;
  EPI_RETURN_IF_ERROR(check(api_.EventCreate(&event->event, options.timed ? 0 : kEventDisableTiming), "making an event"));
  return device::EventHandle{event.release()};
}

Status GpuDevice::destroy_event(device::EventHandle handle) {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  std::unique_ptr<Event> event(static_cast<Event*>(handle.ptr));
  return check(api_.EventDestroy(event->event), "destroying an event");
}

Status GpuDevice::record(device::EventHandle handle, device::QueueHandle queue) {
  if (!queue) return no_queue("record");
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  Event& event = event_of(handle);
  std::lock_guard lock(event.mutex);
  EPI_RETURN_IF_ERROR(check(api_.EventRecord(event.event, queue_of(queue)->stream()), "recording an event"));
  event.queue = queue_of(queue);
  event.sequence = event.queue->sequence();
  event.error = ok_status();
  return ok_status();
}

Status GpuDevice::wait(device::EventHandle handle) {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  Event& event = event_of(handle);
  EPI_RETURN_IF_ERROR(check(api_.EventSynchronize(event.event), "waiting for an event"));
  std::lock_guard lock(event.mutex);
  if (event.queue && event.error.ok()) {
    event.queue->harvest(event.sequence);
    event.error = event.queue->error(event.sequence, false);
  }
  return event.error;
}

Result<bool> GpuDevice::is_done(device::EventHandle handle) {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  const CUresult r = api_.EventQuery(event_of(handle).event);
  if (r == kErrorNotReady) return false;
  EPI_RETURN_IF_ERROR(check(r, "asking an event"));
  return true;
}

Result<double> GpuDevice::elapsed_ns(device::EventHandle begin, device::EventHandle end) {
  if (!event_of(begin).timed || !event_of(end).timed || !event_of(begin).queue || !event_of(end).queue)
    return invalid_argument("elapsed_ns: both events must be timed (EventOptions::timed) and recorded");
  ContextScope scope(api_, context_);
  float ms = 0;
  EPI_RETURN_IF_ERROR(check(api_.EventElapsedTime(&ms, event_of(begin).event, event_of(end).event), "reading a time"));
  return static_cast<double>(ms) * 1e6;
}

}  // namespace epi::backend::cuda
