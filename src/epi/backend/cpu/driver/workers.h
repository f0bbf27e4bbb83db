// The worker threads that all soft queues share. A worker looks for work, spins briefly, dozes (worker 0, with short time
// limits) and sleeps. Work that looks small is left to a dozing worker's next look or to the thread that waits for it, so
// a submit-and-wait of a small kernel wakes nobody.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "epi/base/fork.h"

namespace epi::backend::cpu {

class SoftQueue;

class Workers {
 public:
  /// The process's workers; started with the first queue, again in a forked child. Lives for ever.
  static Workers& get();

  /// Threads that may work on one dispatch, a waiting host thread included: EPITAXY_CPU_THREADS, or the cores that this
  /// process may use.
  [[nodiscard]] std::uint32_t threads() const { return threads_; }

  /// Makes a queue visible to the workers, starting them if need be.
  void add(std::shared_ptr<SoftQueue> queue);
  void remove(const SoftQueue* queue);
  [[nodiscard]] std::vector<std::shared_ptr<SoftQueue>> queues();

  /// After a packet was published and nobody processes its queue: sees to it that somebody will look.
  void notify(bool eager);
  /// Wakes up to `count` sleeping workers.
  void wake(std::uint32_t count);
  /// Works on any queue that has work; false = none. For waiting threads that got nowhere by themselves.
  bool work_anywhere();

  /// Changes whenever a signal reaches 0; a blocked barrier is looked at again when it has changed.
  [[nodiscard]] std::uint64_t signal_epoch() const { return signal_epoch_.load(std::memory_order_seq_cst); }
  void signal_reached();
  void count_blocked(int change) { blocked_.fetch_add(change, std::memory_order_seq_cst); }

  /// Tests only: wakes are lost while set.
  void lose_wakes(bool lose) { lose_wakes_.store(lose); }

 private:
  struct View;  ///< a worker's copy of the list of queues

  Workers();
  void start();
  static void* entry(void* self);
  void loop(std::uint32_t id);
  void refresh(View& view);
  bool spin(View& view);
  void sleep(View& view, std::uint32_t id);
  void reset_after_fork();

  std::uint32_t threads_ = 1;
  ForkSafeMutex mutex_;  ///< guards queues_
  std::vector<std::shared_ptr<SoftQueue>> queues_;
  std::atomic<bool> started_{false};
  std::atomic<std::uint32_t> next_id_{0};
  std::atomic<std::uint64_t> version_{1};  ///< of queues_

  alignas(64) std::atomic<std::uint32_t> epoch_{0};  ///< sleepers wait for its change
  std::atomic<std::uint32_t> sleepers_{0};
  std::atomic<std::uint32_t> spinners_{0};
  std::atomic<std::uint32_t> wake_pending_{0};  ///< somebody was woken and has not come yet
  std::atomic<bool> dozing_{false};
  std::atomic<int> blocked_{0};  ///< queues that stand before an unmet barrier
  std::atomic<bool> lose_wakes_{false};
  alignas(64) std::atomic<std::uint64_t> signal_epoch_{0};
};

}  // namespace epi::backend::cpu
