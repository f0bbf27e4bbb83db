// Times of work on devices whose queues do not record them themselves (GPUs), while a trace runs: a timed event before
// the work and one after it. They are read when the trace is flushed, and become "run" spans on the queue's track.
#pragma once
#include <string>
#include <string_view>

#include "epi/device/device.h"

namespace epi::jit {

/// Measures what is submitted to `queue` between construction and destruction. Does nothing on devices with host kernels
/// or while nothing is traced; a driver call that fails loses the measurement, never the work.
class MeasuredRun {
 public:
  MeasuredRun(device::Device& device, device::QueueHandle queue, std::string_view name);
  ~MeasuredRun();
  MeasuredRun(const MeasuredRun&) = delete;
  MeasuredRun& operator=(const MeasuredRun&) = delete;

 private:
  device::Device& device_;
  device::QueueHandle queue_;
  std::string name_;
  device::EventHandle begin_;
};

}  // namespace epi::jit
