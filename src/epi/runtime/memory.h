// Memory: pools that keep freed blocks for reuse in stream order, and Buffer, the handle of one block.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "epi/base/fork.h"
#include "epi/runtime/queue.h"

namespace epi::runtime {

/// What a pool holds. Bytes are of whole blocks, as the device sees them.
struct PoolStatistics {
  std::size_t used_bytes = 0;        ///< in live buffers
  std::size_t cached_bytes = 0;      ///< freed, kept for reuse
  std::size_t peak_used_bytes = 0;
  std::size_t limit_bytes = 0;       ///< of used and cached together; 0 = none
  std::uint64_t live_blocks = 0;
  std::uint64_t cached_blocks = 0;
  std::uint64_t allocations = 0;     ///< all that succeeded
  std::uint64_t reuses = 0;          ///< of those, served from the cache
  std::uint64_t retries = 0;         ///< times the cache was given back because the device had no room
};

/// One pool a device and kind. Thread-safe; no driver call is made under its lock.
class MemoryPool {
 public:
  MemoryPool(Device device, device::MemoryKind kind) : device_(device), kind_(kind) {}

  struct Block {
    void* ptr = nullptr;
    std::size_t size_bytes = 0;
  };
  /// At least `size_bytes` (> 0) for work on `queue`. A block freed on the same queue is reused at once, one of another
  /// queue when that is idle. Without room: gives the cache back, tries once more, then kOutOfMemory with the figures.
  Result<Block> allocate(std::size_t size_bytes, const Queue& queue);
  /// Back to the cache; work already submitted to `queue` may still use the block.
  void release(Block block, const Queue& queue);
  /// Gives cached blocks back to the device until at most `keep_bytes` are cached.
  Status trim(std::size_t keep_bytes = 0);
  /// kInvalidArgument below what live buffers use. 0 = none.
  Status set_limit(std::size_t limit_bytes);
  [[nodiscard]] PoolStatistics statistics();
  void reset_peak();
  /// A queue's last work is done and the queue gone: what was freed on it is free for everybody.
  void queue_ended(const void* queue_state);

 private:
  struct Cached {
    void* ptr;
    const void* owner;                  ///< whose order it was freed in; null = nobody's, idle
    std::weak_ptr<Queue::State> queue;  ///< of the owner. Keeps the owner's address from being reused, not the queue
  };
  /// One cached block out of the cache, its queue kept alive for a call to the driver.
  struct Taken {
    void* ptr;
    std::size_t size_bytes;
    std::optional<Queue> queue;
  };
  Result<Block> from_cache(std::size_t size_bytes, const Queue& queue);
  Result<Block> from_device(std::size_t size_bytes, const Queue& queue);
  Status no_room(std::size_t asked_bytes, std::size_t block_bytes, const Status& cause, std::size_t freed_bytes);
  /// Trims, and waits until the device really has the blocks back.
  std::size_t trim_and_wait();
  void count_allocation(std::size_t size_bytes, bool reused);

  Device device_;
  device::MemoryKind kind_;
  ForkSafeMutex mutex_;
  std::unordered_map<std::size_t, std::vector<Cached>> cache_;  ///< by size of block
  PoolStatistics statistics_;
};

/// A block's size for a request: at most an eighth larger, so that different requests share blocks.
[[nodiscard]] std::size_t block_size(std::size_t size_bytes);
/// "1.50 GiB (1610612736 bytes)"
[[nodiscard]] std::string readable_bytes(std::size_t size_bytes);

/// Owns one block, or nothing of size 0. Copies share it. The last one gives it back in the order of its queue.
class Buffer {
 public:
  Buffer() = default;
  /// Size 0 gives a buffer with a null address.
  static Result<Buffer> allocate(std::size_t size_bytes, const Queue& queue,
                                 device::MemoryKind kind = device::MemoryKind::kDevice);

  [[nodiscard]] void* data() const;
  [[nodiscard]] std::size_t size_bytes() const;
  [[nodiscard]] device::MemoryKind kind() const;
  /// The queue whose order allocation and release follow.
  [[nodiscard]] const Queue& queue() const;
  [[nodiscard]] bool empty() const { return size_bytes() == 0; }
  /// Work on another queue uses the buffer: its release will wait for what that queue holds at that time.
  void used_on(const Queue& other);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace epi::runtime
