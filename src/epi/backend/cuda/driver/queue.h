// A queue is a stream plus the error records of its launches. Kernels that can fail get a record in pinned memory; the
// records of launches that have finished are read when someone waits.
#pragma once
#include <cstdint>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "epi/backend/cuda/driver/api.h"
#include "epi/device/device.h"

namespace epi::backend::cuda {

/// A kernel of a loaded module: the driver's function and what compiled code said of itself.
struct LoadedKernel {
  CUfunction function = nullptr;
  std::shared_ptr<const KernelInfo> info;
};

/// A launch that may yet report an error.
struct PendingRecord {
  std::uint64_t sequence;                  ///< launches of the queue before it
  ErrorRecord* record;                     ///< pinned; the kernel writes it
  std::shared_ptr<const KernelInfo> info;  ///< names the launch and its sites
  const char* name;
  std::uint32_t grid[3];
};

class Queue {
 public:
  Queue(const Api& api, CUcontext context, CUstream stream) : api_(api), context_(context), stream_(stream) {}
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] CUstream stream() const { return stream_; }
  /// A zeroed record for the next launch; waits for the stream when all are in use.
  Result<ErrorRecord*> take_record(const LoadedKernel& kernel, const device::Dispatch& dispatch);
  /// A zeroed 4-byte counter in device memory, zeroed again in stream order for this launch.
  Result<std::uint64_t> take_ticket();
  void count_launch() { sequence_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_.load(std::memory_order_relaxed); }
  /// Reads the records of launches before `sequence` (which have finished) and keeps the first error.
  void harvest(std::uint64_t sequence);
  /// The kept error; cleared with `clear`. Only errors of launches before `sequence` are seen.
  Status error(std::uint64_t sequence, bool clear);

 private:
  const Api& api_;
  CUcontext context_;
  CUstream stream_;
  std::atomic<std::uint64_t> sequence_{0};
  std::mutex mutex_;
  std::vector<ErrorRecord*> free_;     ///< guarded by mutex_
  std::deque<PendingRecord> pending_;  ///< guarded by mutex_, oldest first
  std::vector<void*> blocks_;          ///< pinned memory of the records
  Status first_error_;                 ///< guarded by mutex_
  std::uint64_t first_error_sequence_ = 0;
  CUdeviceptr ticket_ = 0;
};

/// An event and the queue state it stands for.
struct Event {
  CUevent event = nullptr;
  bool timed = true;
  std::mutex mutex;
  std::shared_ptr<Queue> queue;  ///< of the last record; keeps the error records alive
  std::uint64_t sequence = 0;
  Status error;                  ///< reported at each wait once seen
};

/// The driver's handle of a queue: a shared pointer, so that events can outlive it.
struct QueueBox {
  std::shared_ptr<Queue> queue;
};

}  // namespace epi::backend::cuda
