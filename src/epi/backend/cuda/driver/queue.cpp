// Error records and tickets of a stream.
#include "epi/backend/cuda/driver/queue.h"

#include <cstring>

#include "epi/backend/cuda/driver/context.h"
#include "epi/device/kernel_error.h"

namespace epi::backend::cuda {
namespace {

constexpr std::size_t kRecordsPerBlock = 256;

}  // namespace

Queue::~Queue() {
  if (!check_process().ok()) return;  // a forked child has no context to give anything back to
  ContextScope scope(api_, context_);
  if (ticket_) api_.MemFreeAsync(ticket_, stream_);
  api_.StreamSynchronize(stream_);
  api_.StreamDestroy(stream_);
  for (void* block : blocks_) api_.MemFreeHost(block);
}

Result<ErrorRecord*> Queue::take_record(const LoadedKernel& kernel, const device::Dispatch& d) {
  std::unique_lock lock(mutex_);
  if (free_.empty() && pending_.size() >= kRecordsPerBlock) {
    lock.unlock();
    EPI_RETURN_IF_ERROR(check(api_.StreamSynchronize(stream_), "waiting for the queue"));
    harvest(UINT64_MAX);
    lock.lock();
  }
  if (free_.empty()) {
    void* block = nullptr;
    EPI_RETURN_IF_ERROR(check(api_.MemHostAlloc(&block, kRecordsPerBlock * sizeof(ErrorRecord), kHostPortable | kHostMapped),
                              "allocating error records"));
    blocks_.push_back(block);
    for (std::size_t i = 0; i < kRecordsPerBlock; ++i) free_.push_back(static_cast<ErrorRecord*>(block) + i);
  }
  ErrorRecord* record = free_.back();
  free_.pop_back();
  *record = ErrorRecord{};
  pending_.push_back({sequence(), record, kernel.info, d.name, {d.grid[0], d.grid[1], d.grid[2]}});
  return record;
}

Result<std::uint64_t> Queue::take_ticket() {
  std::lock_guard lock(mutex_);
  if (!ticket_) EPI_RETURN_IF_ERROR(check(api_.MemAllocAsync(&ticket_, sizeof(std::uint32_t), stream_), "allocating a ticket"));
  EPI_RETURN_IF_ERROR(check(api_.MemsetD32Async(ticket_, 0, 1, stream_), "zeroing a ticket"));
  return ticket_;
}

void Queue::harvest(std::uint64_t sequence) {
  std::lock_guard lock(mutex_);
  while (!pending_.empty() && pending_.front().sequence < sequence) {
    const PendingRecord& p = pending_.front();
    if (p.record->site != 0 && first_error_.ok()) {
      first_error_ = device::kernel_error(*p.info, p.name, p.grid, *p.record);
      first_error_sequence_ = p.sequence;
    }
    free_.push_back(p.record);
    pending_.pop_front();
  }
}

Status Queue::error(std::uint64_t sequence, bool clear) {
  std::lock_guard lock(mutex_);
  if (first_error_.ok() || first_error_sequence_ >= sequence) return ok_status();
  return clear ? std::exchange(first_error_, ok_status()) : first_error_;
}

}  // namespace epi::backend::cuda
