#include "epi/runtime/memory.h"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "epi/base/log.h"
#include "epi/base/trace.h"

namespace epi::runtime {
namespace {

constexpr std::size_t kSmallestBlock = 512;
constexpr std::size_t kSteps = 8;  ///< sizes of blocks between two powers of two

constexpr const char* kKindNames[] = {"device", "pinned", "host"};

}  // namespace

std::size_t block_size(std::size_t size_bytes) {
  if (size_bytes <= kSmallestBlock) return kSmallestBlock;
  if (size_bytes > (SIZE_MAX >> 2)) return size_bytes;  // no device has it; the driver says so
  const std::size_t step = std::max(std::bit_floor(size_bytes - 1) / kSteps, kSmallestBlock);
  return (size_bytes + step - 1) / step * step;
}

std::string readable_bytes(std::size_t size_bytes) {
  static constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  const std::string exact = std::to_string(size_bytes) + " bytes";
  if (size_bytes < 1024) return exact;
  double value = static_cast<double>(size_bytes) / 1024;
  int unit = 0;
  for (; value >= 1024 && unit < 5; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f %s", value, kUnits[unit]);
  return std::string(text) + " (" + exact + ")";
}

// -- MemoryPool ------------------------------------------------------------------------

Result<MemoryPool::Block> MemoryPool::allocate(std::size_t size_bytes, const Queue& queue) {
  const std::size_t block_bytes = block_size(size_bytes);
  EPI_TRY(Block cached, from_cache(block_bytes, queue));
  if (cached.ptr != nullptr) return cached;

  // Reserve the bytes first, so that threads together stay below the limit.
  std::size_t over = 0;
  {
    std::lock_guard lock(mutex_);
    const PoolStatistics& s = statistics_;
    if (s.limit_bytes != 0 && s.used_bytes + s.cached_bytes + block_bytes > s.limit_bytes) {
      over = s.used_bytes + s.cached_bytes + block_bytes - s.limit_bytes;
    }
  }
  std::size_t freed_bytes = 0;
  if (over != 0) freed_bytes = trim_and_wait();
  Result<Block> fresh = from_device(block_bytes, queue);
  if (fresh.ok() || fresh.status().code() != Code::kOutOfMemory) return fresh;
  freed_bytes += trim_and_wait();
  if (freed_bytes != 0) fresh = from_device(block_bytes, queue);
  if (fresh.ok() || fresh.status().code() != Code::kOutOfMemory) return fresh;
  return no_room(size_bytes, block_bytes, fresh.status(), freed_bytes);
}

Result<MemoryPool::Block> MemoryPool::from_cache(std::size_t size_bytes, const Queue& queue) {
  std::optional<Queue> other;  // whose block is looked at without the lock; ends without it too
  Cached candidate{};
  {
    std::lock_guard lock(mutex_);
    const auto found = cache_.find(size_bytes);
    if (found == cache_.end()) return Block{};
    std::vector<Cached>& blocks = found->second;
    const auto usable = std::find_if(blocks.rbegin(), blocks.rend(), [&](const Cached& c) {
      return c.owner == nullptr || c.owner == queue.state_.get();
    });
    if (usable != blocks.rend()) {
      const Block block{usable->ptr, size_bytes};
      blocks.erase(std::next(usable).base());
      count_allocation(size_bytes, true);
      return block;
    }
    if (blocks.empty()) return Block{};
    auto state = blocks.front().queue.lock();
    if (state == nullptr) return Block{};  // its queue is just ending
    other = Queue(std::move(state));
    candidate = std::move(blocks.front());
    blocks.erase(blocks.begin());
  }
  const Result<bool> idle = other->is_idle();
  std::lock_guard lock(mutex_);
  if (idle.ok() && *idle) {
    count_allocation(size_bytes, true);
    return Block{candidate.ptr, size_bytes};
  }
  cache_[size_bytes].push_back(std::move(candidate));
  return Block{};
}

Result<MemoryPool::Block> MemoryPool::from_device(std::size_t size_bytes, const Queue& queue) {
  {
    std::lock_guard lock(mutex_);
    const PoolStatistics& s = statistics_;
    if (s.limit_bytes != 0 && s.used_bytes + s.cached_bytes + size_bytes > s.limit_bytes) {
      return out_of_memory("the pool's limit is " + readable_bytes(s.limit_bytes));
    }
    count_allocation(size_bytes, false);  // taken back below if the driver refuses
  }
  Result<void*> ptr = device_.driver().allocate(kind_, size_bytes, queue.handle());
  if (ptr.ok()) return Block{*ptr, size_bytes};
  std::lock_guard lock(mutex_);
  statistics_.used_bytes -= size_bytes;
  --statistics_.live_blocks;
  --statistics_.allocations;
  return ptr.status();
}

void MemoryPool::count_allocation(std::size_t size_bytes, bool reused) {
  PoolStatistics& s = statistics_;
  s.used_bytes += size_bytes;
  s.peak_used_bytes = std::max(s.peak_used_bytes, s.used_bytes);
  ++s.live_blocks;
  ++s.allocations;
  if (!reused) return;
  ++s.reuses;
  s.cached_bytes -= size_bytes;
  --s.cached_blocks;
}

void MemoryPool::release(Block block, const Queue& queue) {
  std::lock_guard lock(mutex_);
  cache_[block.size_bytes].push_back({block.ptr, queue.state_.get(), queue.state_});
  statistics_.used_bytes -= block.size_bytes;
  statistics_.cached_bytes += block.size_bytes;
  --statistics_.live_blocks;
  ++statistics_.cached_blocks;
}

Status MemoryPool::trim(std::size_t keep_bytes) {
  std::vector<Taken> out;  // ends without the lock: it may hold the last copy of a queue
  {
    std::lock_guard lock(mutex_);
    for (auto& [size_bytes, blocks] : cache_) {
      std::erase_if(blocks, [&, size = size_bytes](const Cached& c) {
        if (statistics_.cached_bytes <= keep_bytes) return false;
        auto state = c.queue.lock();
        if (c.owner != nullptr && state == nullptr) return false;  // its queue is just ending; next time
        out.push_back({c.ptr, size, c.owner == nullptr ? std::nullopt : std::optional(Queue(std::move(state)))});
        statistics_.cached_bytes -= size;
        --statistics_.cached_blocks;
        return true;
      });
    }
    std::erase_if(cache_, [](const auto& entry) { return entry.second.empty(); });
  }
  Status first;
  for (const Taken& t : out) {
    const device::QueueHandle queue = t.queue.has_value() ? t.queue->handle() : device::QueueHandle{};
    Status status = device_.driver().deallocate(kind_, t.ptr, t.size_bytes, queue);
    if (first.ok()) first = std::move(status);
  }
  return first;
}

std::size_t MemoryPool::trim_and_wait() {
  std::vector<Queue> queues;
  std::size_t cached_bytes = 0;
  {
    std::lock_guard lock(mutex_);
    cached_bytes = statistics_.cached_bytes;
    ++statistics_.retries;
    for (const auto& [size_bytes, blocks] : cache_) {
      for (const Cached& c : blocks) {
        if (auto state = c.queue.lock()) queues.push_back(Queue(std::move(state)));
      }
    }
  }
  report(trim(), device_.label() + ": giving cached memory back");
  for (std::size_t i = 0; i < queues.size(); ++i) {
    if (std::find(queues.begin(), queues.begin() + static_cast<std::ptrdiff_t>(i), queues[i]) !=
        queues.begin() + static_cast<std::ptrdiff_t>(i)) {
      continue;
    }
    // An event's wait leaves the queue's own error in place for its user.
    if (const Result<Event> event = queues[i].record({.timed = false}); event.ok()) (void)event->wait().ok();
  }
  return cached_bytes;
}

void MemoryPool::queue_ended(const void* queue_state) {
  std::lock_guard lock(mutex_);
  for (auto& [size_bytes, blocks] : cache_) {
    for (Cached& c : blocks) {
      if (c.owner == queue_state) c.owner = nullptr;
    }
  }
}

Status MemoryPool::no_room(std::size_t asked_bytes, std::size_t block_bytes, const Status& cause,
                           std::size_t freed_bytes) {
  const PoolStatistics s = statistics();
  std::string text = device_.label() + ": out of " + kKindNames[static_cast<int>(kind_)] + " memory: asked for " +
                     readable_bytes(asked_bytes) + ", in blocks of " + readable_bytes(block_bytes) + "; held: " +
                     readable_bytes(s.used_bytes) + " in " + std::to_string(s.live_blocks) + " live buffers, " +
                     readable_bytes(s.cached_bytes) + " cached; " + readable_bytes(freed_bytes) +
                     " of cache were given back before trying again; limit: " +
                     (s.limit_bytes == 0 ? "none" : readable_bytes(s.limit_bytes));
  if (const Result<device::MemoryInfo> info = device_.driver().memory_info(); info.ok()) {
    text += "; the device has " + readable_bytes(info->free_bytes) + " free of " + readable_bytes(info->total_bytes);
  }
  return out_of_memory(text + ". " + cause.message());
}

Status MemoryPool::set_limit(std::size_t limit_bytes) {
  bool trims = false;
  {
    std::lock_guard lock(mutex_);
    if (limit_bytes != 0 && limit_bytes < statistics_.used_bytes) {
      return invalid_argument(device_.label() + ": a limit of " + readable_bytes(limit_bytes) + " is below the " +
                              readable_bytes(statistics_.used_bytes) + " that live buffers use");
    }
    statistics_.limit_bytes = limit_bytes;
    trims = limit_bytes != 0 && statistics_.used_bytes + statistics_.cached_bytes > limit_bytes;
  }
  return trims ? trim() : ok_status();
}

PoolStatistics MemoryPool::statistics() {
  std::lock_guard lock(mutex_);
  return statistics_;
}

void MemoryPool::reset_peak() {
  std::lock_guard lock(mutex_);
  statistics_.peak_used_bytes = statistics_.used_bytes;
}

// -- Buffer ------------------------------------------------------------------------------

struct Buffer::State {
  MemoryPool::Block block;
  std::size_t size_bytes;
  device::MemoryKind kind;
  Queue queue;
  ForkSafeMutex mutex;
  std::vector<Queue> users;  ///< other queues, each once

  ~State() {
    if (block.ptr == nullptr) return;
    for (const Queue& user : users) {
      Result<Event> event = user.record({.timed = false});
      report(event.ok() ? queue.wait(*event) : event.status(), queue.device().label() + ": releasing a buffer");
    }
    queue.device().pool(kind).release(block, queue);
  }
};

Result<Buffer> Buffer::allocate(std::size_t size_bytes, const Queue& queue, device::MemoryKind kind) {
  MemoryPool::Block block;
  if (size_bytes != 0) {
    EPI_TRY(block, queue.device().pool(kind).allocate(size_bytes, queue));
  }
  Buffer out;
  out.state_.reset(new State{block, size_bytes, kind, queue, {}, {}});
  return out;
}

void* Buffer::data() const { return state_ == nullptr ? nullptr : state_->block.ptr; }
std::size_t Buffer::size_bytes() const { return state_ == nullptr ? 0 : state_->size_bytes; }
device::MemoryKind Buffer::kind() const { return state_->kind; }
const Queue& Buffer::queue() const { return state_->queue; }

void Buffer::used_on(const Queue& other) {
  if (state_ == nullptr || other == state_->queue) return;
  std::lock_guard lock(state_->mutex);
  auto& users = state_->users;
  if (std::find(users.begin(), users.end(), other) == users.end()) users.push_back(other);
}

}  // namespace epi::runtime
