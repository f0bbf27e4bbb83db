// A queue in HSA's soft shape: a ring of packets that threads of this process consume. Any thread may produce. One thread
// at a time is the packet processor (a worker, or a host thread that waits); others help with the dispatch that runs.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "epi/backend/cpu/driver/kernel.h"
#include "epi/backend/cpu/driver/packet.h"
#include "epi/base/fork.h"

namespace epi::backend::cpu {

class Workers;

class SoftQueue : public std::enable_shared_from_this<SoftQueue> {
 public:
  /// `capacity`: packets, a power of two.
  SoftQueue(Workers& workers, std::uint32_t capacity, std::uint32_t id);
  ~SoftQueue();
  SoftQueue(const SoftQueue&) = delete;
  SoftQueue& operator=(const SoftQueue&) = delete;

  // -- producers -------------------------------------------------------------
  /// Blocks while the ring is full, consuming packets itself meanwhile. Zero programs: nothing is queued.
  Status dispatch(const device::Dispatch& dispatch);
  /// Puts barrier or agent packets behind each other, ringing once a ringful. Takes over the references that
  /// they hold, also on failure.
  /// `header` fields are set here; `type` says which they are. `eager` wakes a worker even for work that looks small.
  /// Returns the index behind the last packet.
  Result<std::uint64_t> push(std::span<Packet> packets, PacketType type, bool eager);

  // -- consumers -------------------------------------------------------------
  /// What a worker does when it comes by: helps, or processes some packets. False = nothing to do.
  bool work();
  /// Whether work() would find something. Touches nothing.
  [[nodiscard]] bool has_work() const;
  /// The calling thread waits until all packets before `index` are done, working meanwhile.
  Status wait_until(std::uint64_t index);

  // -- state -----------------------------------------------------------------
  [[nodiscard]] std::uint64_t read_index() const { return read_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t write_index() const { return write_.load(std::memory_order_acquire); }
  /// The last value rung: the index of the last packet published, -1 before the first.
  [[nodiscard]] std::int64_t doorbell() const { return doorbell_.value.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint32_t capacity() const { return mask_ + 1; }
  [[nodiscard]] std::uint32_t id() const { return id_; }
  /// The queue's error, which is then forgotten.
  Status take_failure();
  /// In a forked child: what the parent had queued is dropped here, its signals end with an error.
  void reset_after_fork();

 private:
  Status reserve(std::uint32_t count, std::uint64_t* first);
  Status make_room(std::uint32_t count);
  void publish(std::uint64_t index, PacketType type);
  void ring(std::uint64_t last, bool eager);

  bool process(std::uint64_t stop_at, std::uint32_t budget);
  bool help();
  [[nodiscard]] bool may_help() const;
  bool execute(Packet& packet, std::uint64_t index);
  void run_dispatch(KernArg& args, std::uint64_t index);
  void run_shared(KernArg& args, std::uint64_t chunk);
  void run_chunks();
  bool barrier_met(BarrierPacket& packet, bool all);
  void run_agent(const AgentDispatchPacket& packet);
  void complete(std::uint64_t signal_handle, std::int64_t start_ns);
  void retire(std::uint64_t index);
  void fail(Status status);
  [[nodiscard]] std::uint64_t chunk_of(const KernArg& args) const;

  // -- fixed -----------------------------------------------------------------
  Workers& workers_;
  std::unique_ptr<Packet[]> ring_;
  std::unique_ptr<KernArg[]> args_;
  std::uint32_t mask_;
  std::uint32_t id_;
  std::uint32_t track_ = 0;  ///< the queue's row in traces

  // -- indices: 64 bits, never wrapped, each on its own line --------------------
  alignas(64) std::atomic<std::uint64_t> write_{0};
  alignas(64) std::atomic<std::uint64_t> read_{0};  ///< only the processor moves it; sleepers watch its low half
  std::atomic<std::uint32_t> sleepers_{0};          ///< threads asleep on read_
  alignas(64) Signal doorbell_;

  // -- the processor's state ---------------------------------------------------
  alignas(64) std::atomic<std::uint32_t> processor_{0};  ///< 1 while a thread is the packet processor
  std::atomic<std::uint64_t> blocked_at_;                ///< Workers::signal_epoch when a barrier was found unmet
  std::atomic<bool> blocked_{false};

  // -- the dispatch that runs, shared with helpers -------------------------------
  KernArg* active_ = nullptr;  ///< valid for a helper between a good look at open_ and its leave of joined_
  std::uint64_t chunk_ = 1;
  alignas(64) std::atomic<std::uint64_t> next_{0};      ///< first program that nobody has claimed
  std::atomic<std::uint64_t> programs_{0};              ///< of the running dispatch
  alignas(64) std::atomic<std::uint32_t> open_{0};      ///< helpers may join
  std::atomic<std::uint32_t> joined_{0};                ///< helpers inside
  std::atomic<bool> closer_sleeps_{false};              ///< the processor sleeps on joined_
  std::atomic<std::uint32_t> out_of_memory_{0};         ///< a thread had no arena for the running dispatch

  // -- the error that sticks -----------------------------------------------------
  std::atomic<bool> failed_{false};
  ForkSafeMutex failure_mutex_;
  std::shared_ptr<const Status> failure_;
};

}  // namespace epi::backend::cpu
