// The device as the layers above see it: a value that names an opened device, its memory pools and its default queue.
// Copying costs nothing; what it names lives until the process ends.
#pragma once
#include <string>

#include "epi/device/device.h"

namespace epi::runtime {

class MemoryPool;
class Queue;

class Device {
 public:
  /// The runtime's view of a driver's device; the same state at every call.
  explicit Device(device::Device& driver);

  [[nodiscard]] const device::DeviceInfo& info() const;
  /// "cpu:0"
  [[nodiscard]] const std::string& label() const;
  /// The driver's calls, for what has no handle of its own.
  [[nodiscard]] device::Device& driver() const;
  [[nodiscard]] MemoryPool& pool(device::MemoryKind kind = device::MemoryKind::kDevice) const;
  /// One queue that lives as long as the process; made at the first call. After an error the next call tries again.
  [[nodiscard]] Result<Queue> default_queue() const;

  bool operator==(const Device& other) const { return state_ == other.state_; }

  struct State;

 private:
  State* state_;
};

}  // namespace epi::runtime
