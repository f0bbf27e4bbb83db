// The packet processor's half, and helping it.
#include "epi/backend/cpu/driver/soft_queue.h"

#include <algorithm>
#include <cstring>

#include "epi/backend/cpu/driver/futex.h"
#include "epi/backend/cpu/driver/thread_state.h"
#include "epi/backend/cpu/driver/workers.h"
#include "epi/base/log.h"
#include "epi/base/trace.h"

namespace epi::backend::cpu {
namespace {

constexpr std::uint32_t kBudget = 256;             ///< packets that a worker processes before it looks at other queues
constexpr float kInlineNs = 4000;                  ///< a dispatch that costs less is not shared
constexpr float kShortestChunkNs = 4000;
constexpr float kLongestChunkNs = 200'000;
constexpr std::uint64_t kChunksPerThread = 8;
constexpr std::int64_t kSpinNs = 20'000;
constexpr std::uint32_t kCloseSpins = 2000;
constexpr std::int64_t kWaitPollNs = 2'000'000;    ///< a waiter that was never woken looks again

std::uint16_t load_header(Packet& packet) {
  return std::atomic_ref<std::uint16_t>(packet.header).load(std::memory_order_acquire);
}

}  // namespace

SoftQueue::SoftQueue(Workers& workers, std::uint32_t capacity, std::uint32_t id)
    : workers_(workers), ring_(new Packet[capacity]), args_(new KernArg[capacity]), mask_(capacity - 1), id_(id) {
  for (std::uint32_t i = 0; i < capacity; ++i) ring_[i].header = static_cast<std::uint16_t>(PacketType::kInvalid);
  doorbell_.value.store(-1, std::memory_order_relaxed);  // not 0: that is the name of the first packet
  track_ = trace::make_track("cpu queue " + std::to_string(id));
}

SoftQueue::~SoftQueue() = default;

// -- processing ----------------------------------------------------------------

bool SoftQueue::has_work() const {
  const std::uint64_t read = read_.load(std::memory_order_acquire);
  if (open_.load(std::memory_order_relaxed) != 0) return may_help();
  if (processor_.load(std::memory_order_relaxed) != 0) return false;
  if (packet_type(load_header(ring_[read & mask_])) == PacketType::kInvalid) return false;
  return !blocked_.load(std::memory_order_acquire) ||
         blocked_at_.load(std::memory_order_relaxed) != workers_.signal_epoch();
}

bool SoftQueue::work() { return help() || (has_work() && process(UINT64_MAX, kBudget)); }

bool SoftQueue::process(std::uint64_t stop_at, std::uint32_t budget) {
  if (processor_.load(std::memory_order_relaxed) != 0 || processor_.exchange(1, std::memory_order_acquire) != 0) {
    return false;
  }
  const unsigned generation = fork_generation();
  bool progressed = false;
  {
    const InsideQueue inside(this);
    const FloatEnvironment floats;
    for (; budget > 0; --budget) {
      const std::uint64_t index = read_.load(std::memory_order_relaxed);
      if (index >= stop_at) break;
      Packet& packet = ring_[index & mask_];
      if (packet_type(load_header(packet)) == PacketType::kInvalid) break;
      if (!execute(packet, index)) break;
      if (fork_generation() != generation) return true;  // a host call forked and this is the child: all was reset
      retire(index);
      progressed = true;
    }
  }
  processor_.store(0, std::memory_order_seq_cst);
  return progressed;
}

bool SoftQueue::execute(Packet& packet, std::uint64_t index) {
  const PacketType type = packet_type(packet.header);
  if (type == PacketType::kBarrierAnd || type == PacketType::kBarrierOr) {
    if (!barrier_met(packet.barrier, type == PacketType::kBarrierAnd)) return false;
    complete(packet.barrier.completion_signal, 0);
    return true;
  }
  if (type == PacketType::kKernelDispatch) {
    run_dispatch(*reinterpret_cast<KernArg*>(packet.kernel.kernarg_address), index);
    complete(packet.kernel.completion_signal, 0);
    return true;
  }
  const std::int64_t start_ns = trace::now_ns();
  const auto function = static_cast<AgentFunction>(packet.agent.type);
  run_agent(packet.agent);
  if (trace::enabled() && function != AgentFunction::kFree)
    trace::span("run", function == AgentFunction::kCopy ? "copy" : "host call", start_ns, trace::now_ns() - start_ns,
                {{"queue", id_}, {"packet", index}}, track_);
  complete(packet.agent.completion_signal, start_ns);
  return true;
}

bool SoftQueue::barrier_met(BarrierPacket& packet, bool all) {
  // The epoch is read before the signals: one that is reached after our look changes it.
  const std::uint64_t epoch = workers_.signal_epoch();
  bool any_met = false;
  bool any_open = false;
  for (std::uint64_t& handle : packet.dependencies) {
    Signal* signal = signal_of(handle);
    if (signal == nullptr) continue;
    if (signal->value.load(std::memory_order_acquire) <= 0) {
      any_met = true;
      release(signal);
      handle = 0;  // each is observed once, not all together
    } else {
      any_open = true;
    }
  }
  if (!all && !any_met && !any_open) {
    fail(device_error("queue " + std::to_string(id_) + ": a barrier-or packet without a signal can never be met"));
  } else if (all ? any_open : !any_met) {
    blocked_at_.store(epoch, std::memory_order_relaxed);
    if (!blocked_.exchange(true, std::memory_order_release)) workers_.count_blocked(1);
    return false;
  }
  for (std::uint64_t& handle : packet.dependencies) {
    release(signal_of(handle));
    handle = 0;
  }
  if (blocked_.exchange(false, std::memory_order_release)) workers_.count_blocked(-1);
  return true;
}

void SoftQueue::run_agent(const AgentDispatchPacket& packet) {
  const auto& a = packet.arguments;
  switch (static_cast<AgentFunction>(packet.type)) {
    case AgentFunction::kHostCall:
      reinterpret_cast<device::HostFunction>(a[0])(reinterpret_cast<void*>(a[1]));
      return;
    case AgentFunction::kCopy:
      std::memmove(reinterpret_cast<void*>(a[0]), reinterpret_cast<const void*>(a[1]), a[2]);
      return;
    case AgentFunction::kFree:
      std::free(reinterpret_cast<void*>(a[0]));
      return;
  }
}

void SoftQueue::complete(std::uint64_t signal_handle, std::int64_t start_ns) {
  Signal* signal = signal_of(signal_handle);
  if (signal == nullptr) return;
  signal->end_ns = trace::now_ns();
  signal->start_ns = start_ns != 0 ? start_ns : signal->end_ns;
  if (failed_.load(std::memory_order_acquire)) {
    std::lock_guard lock(failure_mutex_);
    signal->failure = failure_;
  }
  if (trace::enabled()) trace::instant("signal", "completion", {{"queue", id_}, {"signal", signal_handle}}, track_);
  signal->value.fetch_sub(1, std::memory_order_seq_cst);
  release(signal);
  workers_.signal_reached();
}

void SoftQueue::retire(std::uint64_t index) {
  std::atomic_ref<std::uint16_t>(ring_[index & mask_].header)
      .store(static_cast<std::uint16_t>(PacketType::kInvalid), std::memory_order_relaxed);
  read_.store(index + 1, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0) futex_wake(&read_, INT_MAX);
}

// -- dispatches ------------------------------------------------------------------

std::uint64_t SoftQueue::chunk_of(const KernArg& args) const {
  const std::uint64_t threads = workers_.threads();
  const float program_ns = args.kernel->program_ns.load(std::memory_order_relaxed);
  if (threads == 1 || args.programs == 1) return args.programs;
  std::uint64_t chunk = std::max<std::uint64_t>(1, args.programs / (threads * kChunksPerThread));
  if (program_ns == 0) return chunk;
  if (program_ns * static_cast<float>(args.programs) < kInlineNs) return args.programs;
  const auto shortest = static_cast<std::uint64_t>(kShortestChunkNs / program_ns) + 1;
  const auto longest = static_cast<std::uint64_t>(kLongestChunkNs / program_ns) + 1;
  return std::min(std::clamp(chunk, shortest, longest), args.programs);
}

void SoftQueue::run_dispatch(KernArg& args, std::uint64_t index) {
  const Kernel& kernel = *args.kernel;
  const std::uint32_t run = kernel.runs.load(std::memory_order_relaxed);
  kernel.runs.store(run + 1, std::memory_order_relaxed);
  const bool tracing = trace::enabled();
  const bool timed = tracing || args.programs > 1 || run < 4 || run % 16 == 0;
  const std::int64_t start_ns = timed ? trace::now_ns() : 0;

  const std::uint64_t chunk = chunk_of(args);
  out_of_memory_.store(0, std::memory_order_relaxed);
  run_shared(args, chunk);

  if (timed) {
    const std::int64_t elapsed_ns = std::max<std::int64_t>(1, trace::now_ns() - start_ns);
    const std::uint64_t chunks = (args.programs + chunk - 1) / chunk;
    const auto share = static_cast<float>(std::min<std::uint64_t>(chunks, workers_.threads()));
    const float sample = static_cast<float>(elapsed_ns) * share / static_cast<float>(args.programs);
    const float known = kernel.program_ns.load(std::memory_order_relaxed);
    // Dearer than thought is believed at once: an argument may have changed, and the next launch should be shared.
    const bool believe = run < 2 || sample > 2 * known;
    kernel.program_ns.store(believe ? sample : 0.75f * known + 0.25f * sample, std::memory_order_relaxed);
    if (tracing) {
      const auto& g = args.launch.grid;
      trace::span("run", args.name, start_ns, elapsed_ns,
                  {{"queue", id_}, {"packet", index}, {"grid_x", g[0]}, {"grid_y", g[1]}, {"grid_z", g[2]},
                   {"chunk", chunk}, {"queued_ns", args.submit_ns == 0 ? std::int64_t{0} : start_ns - args.submit_ns}},
                  track_);
    }
  }
  if (out_of_memory_.load(std::memory_order_relaxed) != 0) {
    fail({Code::kOutOfMemory, std::string(args.name) + ": no memory for its scratch of " +
                                  std::to_string(kernel.info->arena_bytes) + " bytes a thread"});
  } else if (args.errors.site != 0) {
    fail(device::kernel_error(*kernel.info, args.name, args.launch.grid, args.errors));
  }
}

void SoftQueue::run_shared(KernArg& args, std::uint64_t chunk) {
  active_ = &args;
  chunk_ = chunk;
  programs_.store(args.programs, std::memory_order_relaxed);
  const std::uint64_t chunks = (args.programs + chunk - 1) / chunk;
  if (chunks == 1) {
    next_.store(0, std::memory_order_relaxed);
    run_chunks();
    return;
  }
  next_.store(0, std::memory_order_relaxed);
  open_.store(1, std::memory_order_seq_cst);
  const auto helpers = static_cast<std::uint32_t>(std::min<std::uint64_t>(chunks, workers_.threads()) - 1);
  workers_.wake(helpers);
  if (sleepers_.load(std::memory_order_relaxed) != 0) futex_wake(&read_, INT_MAX);  // waiting hosts help too
  run_chunks();
  open_.store(0, std::memory_order_seq_cst);
  for (std::uint32_t inside = 0, spins = 0; (inside = joined_.load(std::memory_order_seq_cst)) != 0; ++spins) {
    if (spins < kCloseSpins) {
      pause();
      continue;
    }
    closer_sleeps_.store(true, std::memory_order_seq_cst);
    futex_wait(&joined_, inside, kWaitPollNs);
    closer_sleeps_.store(false, std::memory_order_relaxed);
  }
}

void SoftQueue::run_chunks() {
  const KernArg& args = *active_;
  const std::uint64_t arena_bytes = args.kernel->info->arena_bytes;
  void* arena = arena_bytes == 0 ? nullptr : thread_arena(arena_bytes);
  if (arena_bytes != 0 && arena == nullptr) {
    out_of_memory_.store(1, std::memory_order_relaxed);
    return;
  }
  for (;;) {
    const std::uint64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
    if (begin >= args.programs) return;
    args.kernel->entry(&args.launch, begin, std::min(begin + chunk_, args.programs), arena);
  }
}

bool SoftQueue::may_help() const {
  return next_.load(std::memory_order_relaxed) < programs_.load(std::memory_order_relaxed) &&
         joined_.load(std::memory_order_relaxed) + 1 < workers_.threads();
}

bool SoftQueue::help() {
  if (open_.load(std::memory_order_acquire) == 0 || !may_help()) return false;
  // Enter, then look again: the processor closes first and then waits until nobody is inside.
  const std::uint32_t before = joined_.fetch_add(1, std::memory_order_seq_cst);
  bool helped = false;
  if (open_.load(std::memory_order_seq_cst) != 0 && before + 1 < workers_.threads() &&
      next_.load(std::memory_order_relaxed) < programs_.load(std::memory_order_relaxed)) {
    const InsideQueue inside(this);
    const FloatEnvironment floats;
    run_chunks();
    helped = true;
  }
  joined_.fetch_sub(1, std::memory_order_seq_cst);
  if (closer_sleeps_.load(std::memory_order_seq_cst)) futex_wake(&joined_, 1);
  return helped;
}

// -- waiting and errors ------------------------------------------------------------

Status SoftQueue::wait_until(std::uint64_t index) {
  if (read_.load(std::memory_order_acquire) >= index) return ok_status();
  if (InsideQueue::contains(this)) {
    return device_error("queue " + std::to_string(id_) + ": its own work waits for it, which would never end");
  }
  std::int64_t spin_end_ns = 0;
  for (;;) {
    const std::uint64_t read = read_.load(std::memory_order_acquire);
    if (read >= index) break;
    if (process(index, UINT32_MAX) || help()) {
      spin_end_ns = 0;
      continue;
    }
    const std::int64_t now = trace::now_ns();
    if (spin_end_ns == 0) {
      spin_end_ns = now + kSpinNs;
      if (blocked_.load(std::memory_order_relaxed)) workers_.notify(true);  // somebody must run what we depend on
    }
    if (now < spin_end_ns) {
      for (int i = 0; i < 8; ++i) pause();
      continue;
    }
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    if (read_.load(std::memory_order_seq_cst) == read && open_.load(std::memory_order_seq_cst) == 0) {
      futex_wait(&read_, static_cast<std::uint32_t>(read), kWaitPollNs);
    }
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    if (read_.load(std::memory_order_acquire) == read && blocked_.load(std::memory_order_relaxed)) {
      workers_.work_anywhere();
    }
  }
  if (has_work()) workers_.notify(true);  // we leave the role with packets in the ring
  return ok_status();
}

void SoftQueue::fail(Status status) {
  std::lock_guard lock(failure_mutex_);
  if (failure_ != nullptr) return;
  failure_ = std::make_shared<const Status>(std::move(status));
  failed_.store(true, std::memory_order_release);
}

Status SoftQueue::take_failure() {
  if (!failed_.load(std::memory_order_acquire)) return ok_status();
  std::lock_guard lock(failure_mutex_);
  if (failure_ == nullptr) return ok_status();
  Status out = *failure_;
  failure_.reset();
  failed_.store(false, std::memory_order_release);
  return out;
}

void SoftQueue::reset_after_fork() {
  static const auto* kLost = new std::shared_ptr<const Status>(std::make_shared<const Status>(
      device_error("the work was submitted before fork(): it runs in the parent process only")));
  const std::uint64_t end = write_.load(std::memory_order_relaxed);
  for (std::uint64_t i = read_.load(std::memory_order_relaxed); i < end; ++i) {
    Packet& packet = ring_[i & mask_];
    if (packet_type(packet.header) == PacketType::kInvalid) continue;
    if (Signal* signal = signal_of(packet.barrier.completion_signal)) {  // the same place in all packets
      signal->failure = *kLost;
      signal->value.store(0, std::memory_order_relaxed);
      release(signal);
    }
    packet.header = static_cast<std::uint16_t>(PacketType::kInvalid);
  }
  read_.store(end, std::memory_order_relaxed);
  sleepers_.store(0, std::memory_order_relaxed);
  processor_.store(0, std::memory_order_relaxed);
  blocked_.store(false, std::memory_order_relaxed);
  open_.store(0, std::memory_order_relaxed);
  joined_.store(0, std::memory_order_seq_cst);
}

}  // namespace epi::backend::cpu
