// Handles of work: Queue, Event, Module, Kernel. Copies share one thing; a child holds its parent; the last copy ends it.
// An ending that fails is reported (base/log.h), never thrown.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "epi/runtime/device.h"

namespace epi::runtime {

/// Loaded code. Kernels hold it.
class Module {
 public:
  static Result<Module> load(Device device, const device::ModuleImage& image);
  [[nodiscard]] Device device() const;

 private:
  friend class Kernel;
  struct State;
  explicit Module(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// One entry point. May be dropped right after a launch: the driver keeps what runs.
class Kernel {
 public:
  static Result<Kernel> get(const Module& module, std::shared_ptr<const KernelInfo> info);
  [[nodiscard]] const KernelInfo& info() const;
  [[nodiscard]] Device device() const;
  [[nodiscard]] device::KernelHandle handle() const;

 private:
  friend class Queue;
  struct State;
  explicit Kernel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// A point in a queue's order that threads and other queues wait for.
class Event {
 public:
  static Result<Event> create(Device device, const device::EventOptions& options = {});
  /// Errors of the work before the event, with the launch's name; the same at every call.
  [[nodiscard]] Status wait() const;
  [[nodiscard]] Result<bool> is_done() const;
  /// From this event to `end`; both timed and reached, on one device.
  [[nodiscard]] Result<double> elapsed_ns(const Event& end) const;
  [[nodiscard]] Device device() const;

 private:
  friend class Queue;
  struct State;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// What one launch needs beside the kernel; everything is read before launch() returns.
struct LaunchArguments {
  std::span<const std::uint64_t> slots;                ///< as the kernel's KernelInfo says
  std::span<const device::TensorMap> tensor_maps = {};
};

/// In-order work of one device. Thread-safe. The last copy's end waits for the work and reports an unreported error.
class Queue {
 public:
  static Result<Queue> create(Device device, const device::QueueOptions& options = {});

  [[nodiscard]] Device device() const;
  [[nodiscard]] device::QueueHandle handle() const;
  bool operator==(const Queue& other) const { return state_ == other.state_; }

  /// A grid with a 0 in it runs nothing and is no error.
  [[nodiscard]] Status launch(const Kernel& kernel, const std::uint32_t (&grid)[3],
                              const LaunchArguments& arguments) const;
  [[nodiscard]] Status copy(void* dst, const void* src, std::size_t size_bytes, device::CopyKind kind) const;
  [[nodiscard]] Status fill(void* dst, const void* pattern, std::size_t pattern_bytes, std::size_t count) const;
  [[nodiscard]] Status host_call(device::HostFunction function, void* argument) const;
  /// Later work waits for the event. An event of another device is waited for by the calling thread.
  [[nodiscard]] Status wait(const Event& event) const;
  [[nodiscard]] Status wait(std::span<const Event> events, device::WaitMode mode) const;
  [[nodiscard]] Status record(const Event& event) const;
  [[nodiscard]] Result<Event> record(const device::EventOptions& options = {}) const;
  /// The calling thread waits for all of it. The queue's error is reported once, with the launch's name.
  [[nodiscard]] Status synchronise() const;
  [[nodiscard]] Result<bool> is_idle() const;

 private:
  friend class MemoryPool;
  struct State;
  explicit Queue(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace epi::runtime
