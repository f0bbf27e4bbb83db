#include "epi/runtime/queue.h"

#include <vector>

#include "epi/base/log.h"
#include "epi/base/trace.h"
#include "epi/runtime/memory.h"

namespace epi::runtime {

// -- Module and Kernel ---------------------------------------------------------------

struct Module::State {
  Device device;
  device::ModuleHandle handle;
  ~State() { report(device.driver().unload_module(handle), device.label() + ": unloading a module"); }
};

Result<Module> Module::load(Device device, const device::ModuleImage& image) {
  EPI_TRY(const device::ModuleHandle handle, device.driver().load_module(image));
  return Module(std::make_shared<State>(device, handle));
}

Device Module::device() const { return state_->device; }

struct Kernel::State {
  std::shared_ptr<Module::State> module;
  device::KernelHandle handle;
  std::shared_ptr<const KernelInfo> info;
};

Result<Kernel> Kernel::get(const Module& module, std::shared_ptr<const KernelInfo> info) {
  EPI_TRY(const device::KernelHandle handle, module.device().driver().get_kernel(module.state_->handle, info));
  return Kernel(std::make_shared<State>(module.state_, handle, std::move(info)));
}

const KernelInfo& Kernel::info() const { return *state_->info; }
Device Kernel::device() const { return state_->module->device; }
device::KernelHandle Kernel::handle() const { return state_->handle; }

// -- Event ---------------------------------------------------------------------------

struct Event::State {
  Device device;
  device::EventHandle handle;
  ~State() { report(device.driver().destroy_event(handle), device.label() + ": ending an event"); }
};

Result<Event> Event::create(Device device, const device::EventOptions& options) {
  EPI_TRY(const device::EventHandle handle, device.driver().create_event(options));
  return Event(std::make_shared<State>(device, handle));
}

Status Event::wait() const {
  const trace::Scope scope("wait", "event");
  return state_->device.driver().wait(state_->handle);
}
Result<bool> Event::is_done() const { return state_->device.driver().is_done(state_->handle); }

Result<double> Event::elapsed_ns(const Event& end) const {
  if (!(state_->device == end.state_->device)) {
    return invalid_argument("elapsed between events of " + state_->device.label() + " and " +
                            end.state_->device.label() + "; takes two of one device");
  }
  return state_->device.driver().elapsed_ns(state_->handle, end.state_->handle);
}

Device Event::device() const { return state_->device; }

// -- Queue ---------------------------------------------------------------------------

struct Queue::State {
  Device device;
  device::Device* driver;  ///< device.driver(), one load nearer
  device::QueueHandle handle;
  ~State() {
    report(driver->destroy_queue(handle), device.label() + ": ending a queue");
    for (int kind = 0; kind < device::kMemoryKindCount; ++kind) {
      device.pool(static_cast<device::MemoryKind>(kind)).queue_ended(this);
    }
  }
};

Result<Queue> Queue::create(Device device, const device::QueueOptions& options) {
  EPI_TRY(const device::QueueHandle handle, device.driver().create_queue(options));
  return Queue(std::make_shared<State>(device, &device.driver(), handle));
}

Device Queue::device() const { return state_->device; }
device::QueueHandle Queue::handle() const { return state_->handle; }

Status Queue::launch(const Kernel& kernel, const std::uint32_t (&grid)[3], const LaunchArguments& arguments) const {
  if (!(kernel.state_->module->device == state_->device)) {
    return invalid_argument(kernel.info().name + ": compiled for " + kernel.device().label() + ", launched on a queue of " +
                            state_->device.label());
  }
  device::Dispatch d;
  d.kernel = kernel.state_->handle;
  for (int i = 0; i < 3; ++i) d.grid[i] = grid[i];
  d.slot_count = static_cast<std::uint32_t>(arguments.slots.size());
  d.slots = arguments.slots.data();
  d.tensor_maps = arguments.tensor_maps.data();
  d.tensor_map_count = static_cast<std::uint32_t>(arguments.tensor_maps.size());
  if (!trace::enabled()) return state_->driver->submit(state_->handle, d);
  const std::int64_t start_ns = trace::now_ns();
  Status status = state_->driver->submit(state_->handle, d);
  trace::span("submit", kernel.info().name, start_ns, trace::now_ns() - start_ns,
              {{"device", state_->device.label()}, {"grid_x", grid[0]}, {"grid_y", grid[1]}, {"grid_z", grid[2]}});
  return status;
}

Status Queue::copy(void* dst, const void* src, std::size_t size_bytes, device::CopyKind kind) const {
  return state_->driver->copy(state_->handle, dst, src, size_bytes, kind);
}
Status Queue::fill(void* dst, const void* pattern, std::size_t pattern_bytes, std::size_t count) const {
  return state_->driver->fill(state_->handle, dst, pattern, pattern_bytes, count);
}
Status Queue::host_call(device::HostFunction function, void* argument) const {
  return state_->driver->host_call(state_->handle, function, argument);
}

Status Queue::wait(const Event& event) const { return wait({&event, 1}, device::WaitMode::kAll); }

Status Queue::wait(std::span<const Event> events, device::WaitMode mode) const {
  std::vector<device::EventHandle> handles;
  handles.reserve(events.size());
  for (const Event& event : events) {
    if (event.state_->device == state_->device) {
      handles.push_back(event.state_->handle);
    } else if (mode == device::WaitMode::kAny) {
      return unsupported("a queue of " + state_->device.label() + " waits for any of several events of its own device, not of " +
                         event.state_->device.label());
    } else {
      EPI_RETURN_IF_ERROR(event.wait());
    }
  }
  return state_->driver->wait_events(state_->handle, handles, mode);
}

Status Queue::record(const Event& event) const {
  if (!(event.state_->device == state_->device)) {
    return invalid_argument("an event of " + event.state_->device.label() + " recorded on a queue of " +
                            state_->device.label());
  }
  return state_->driver->record(event.state_->handle, state_->handle);
}

Result<Event> Queue::record(const device::EventOptions& options) const {
  EPI_TRY(Event event, Event::create(state_->device, options));
  EPI_RETURN_IF_ERROR(record(event));
  return event;
}

Status Queue::synchronise() const {
  const trace::Scope scope("wait", "queue");
  return state_->driver->synchronise(state_->handle);
}
Result<bool> Queue::is_idle() const { return state_->driver->is_idle(state_->handle); }

}  // namespace epi::runtime
