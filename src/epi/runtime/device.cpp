#include "epi/runtime/device.h"

#include <array>
#include <map>
#include <memory>
#include <optional>

#include "epi/base/fork.h"
#include "epi/base/log.h"
#include "epi/runtime/memory.h"
#include "epi/runtime/queue.h"

namespace epi::runtime {

/// Made once a driver's device, never freed: threads and finalisers may use it while the process ends.
struct Device::State {
  device::Device& driver;
  std::string label;
  std::array<std::unique_ptr<MemoryPool>, device::kMemoryKindCount> pools;
  ForkSafeMutex mutex;
  std::optional<Queue> default_queue;
};

namespace {

struct States {
  ForkSafeMutex mutex;
  std::map<device::Device*, Device::State*> all;
};

States& states() {
  static auto* instance = new States;
  return *instance;
}

Device::State* find(device::Device* driver) {
  std::lock_guard lock(states().mutex);
  const auto it = states().all.find(driver);
  return it == states().all.end() ? nullptr : it->second;
}

}  // namespace

Device::Device(device::Device& driver) : state_(find(&driver)) {
  if (state_ != nullptr) return;
  const device::DeviceInfo& info = driver.info();
  // Made before the lock is taken, as its own locks register themselves; a loser of the race is thrown away.
  std::unique_ptr<State> made(
      new State{driver, info.kind + ":" + std::to_string(info.ordinal), {}, {}, std::nullopt});
  state_ = made.get();
  for (int kind = 0; kind < device::kMemoryKindCount; ++kind) {
    made->pools[kind] = std::make_unique<MemoryPool>(*this, static_cast<device::MemoryKind>(kind));
  }
  {
    std::lock_guard lock(states().mutex);
    const auto [it, inserted] = states().all.emplace(&driver, made.get());
    state_ = it->second;
    if (inserted) (void)made.release();
  }
  debug(1, "device " + label() + ": " + info.name + ", " + info.arch);
}

const device::DeviceInfo& Device::info() const { return state_->driver.info(); }
const std::string& Device::label() const { return state_->label; }
device::Device& Device::driver() const { return state_->driver; }
MemoryPool& Device::pool(device::MemoryKind kind) const { return *state_->pools[static_cast<int>(kind)]; }

Result<Queue> Device::default_queue() const {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->default_queue.has_value()) return *state_->default_queue;
  }
  EPI_TRY(Queue made, Queue::create(*this));
  std::lock_guard lock(state_->mutex);
  if (!state_->default_queue.has_value()) state_->default_queue = made;
  return *state_->default_queue;
}

}  // namespace epi::runtime
