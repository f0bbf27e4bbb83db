// The CPU as a device: host memory, linked code as modules, soft queues. driver() is what the registry finds.
#pragma once
#include <atomic>
#include <memory>
#include <vector>

#include "epi/backend/cpu/driver/kernel.h"
#include "epi/backend/cpu/driver/soft_queue.h"
#include "epi/backend/cpu/driver/workers.h"
#include "epi/device/device.h"

namespace epi::backend::cpu {

/// What an EventHandle points to: the latest record, as a signal and as a place in a queue. Guarded by a lock of the device.
struct Event {
  Signal* signal = nullptr;
  std::shared_ptr<SoftQueue> queue;
  std::uint64_t index = 0;  ///< the queue's read index that means "reached"
  bool timed = true;
};

class CpuDevice final : public device::Device {
 public:
  CpuDevice();

  [[nodiscard]] const device::DeviceInfo& info() const override { return info_; }
  Result<device::MemoryInfo> memory_info() override;

  Result<void*> allocate(device::MemoryKind kind, std::size_t size_bytes, device::QueueHandle queue) override;
  Status deallocate(device::MemoryKind kind, void* ptr, std::size_t size_bytes, device::QueueHandle queue) override;
  Status copy(device::QueueHandle queue, void* dst, const void* src, std::size_t size_bytes,
              device::CopyKind kind) override;
  Status fill(device::QueueHandle queue, void* dst, const void* pattern, std::size_t pattern_bytes,
              std::size_t count) override;

  Result<device::ModuleHandle> load_module(const device::ModuleImage& image) override;
  Status unload_module(device::ModuleHandle module) override;
  Result<device::KernelHandle> get_kernel(device::ModuleHandle module,
                                          std::shared_ptr<const KernelInfo> info) override;

  Result<device::QueueHandle> create_queue(const device::QueueOptions& options) override;
  Status destroy_queue(device::QueueHandle queue) override;
  Status submit(device::QueueHandle queue, const device::Dispatch& dispatch) override;
  Status host_call(device::QueueHandle queue, device::HostFunction function, void* argument) override;
  Status wait_events(device::QueueHandle queue, std::span<const device::EventHandle> events,
                     device::WaitMode mode) override;
  Status synchronise(device::QueueHandle queue) override;
  Result<bool> is_idle(device::QueueHandle queue) override;

  Result<device::EventHandle> create_event(const device::EventOptions& options) override;
  Status destroy_event(device::EventHandle event) override;
  Status record(device::EventHandle event, device::QueueHandle queue) override;
  Status wait(device::EventHandle event) override;
  Result<bool> is_done(device::EventHandle event) override;
  Result<double> elapsed_ns(device::EventHandle begin, device::EventHandle end) override;

 private:
  /// A module that is unloaded while its work may still run: freed when every queue has passed the noted index.
  struct Retired {
    std::unique_ptr<Module> module;
    std::vector<std::pair<std::shared_ptr<SoftQueue>, std::uint64_t>> until;
  };
  /// An event's fields as they are now; the signal is retained.
  Event look(const Event* event);
  ForkSafeMutex& lock_of(const Event* event);
  void reap();

  device::DeviceInfo info_;
  std::atomic<std::uint32_t> next_queue_{0};
  ForkSafeMutex event_mutexes_[8];
  ForkSafeMutex retired_mutex_;
  std::vector<Retired> retired_;
  std::atomic<std::size_t> retired_count_{0};
};

/// The registry's entry point.
device::Driver& driver();

}  // namespace epi::backend::cpu
