// The soft queue's own laws and the traps that real queues fell into.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "conformance.h"
#include "epi/backend/cpu/driver/soft_queue.h"
#include "epi/backend/cpu/driver/workers.h"

namespace epi::test {
namespace {

using namespace std::chrono_literals;
using backend::cpu::AgentFunction;
using backend::cpu::Kernel;
using backend::cpu::Packet;
using backend::cpu::PacketType;
using backend::cpu::Signal;
using backend::cpu::SoftQueue;
using backend::cpu::Workers;

std::shared_ptr<SoftQueue> make_queue(std::uint32_t capacity, bool seen_by_workers = true) {
  static std::atomic<std::uint32_t> id{1000};
  auto queue = std::make_shared<SoftQueue>(Workers::get(), capacity, id.fetch_add(1));
  if (seen_by_workers) Workers::get().add(queue);
  return queue;
}

/// Ends a queue that make_queue() gave.
void finish(SoftQueue& queue) {
  EXPECT_OK(queue.wait_until(queue.write_index()));
  EXPECT_OK(queue.take_failure());
  Workers::get().remove(&queue);
}

Packet count_packet(std::atomic<int>& counter) {
  Packet packet;
  packet.agent = {};
  packet.agent.type = static_cast<std::uint16_t>(AgentFunction::kHostCall);
  const device::HostFunction add = [](void* p) { static_cast<std::atomic<int>*>(p)->fetch_add(1); };
  packet.agent.arguments[0] = reinterpret_cast<std::uint64_t>(add);
  packet.agent.arguments[1] = reinterpret_cast<std::uint64_t>(&counter);
  return packet;
}

Packet barrier_packet(std::initializer_list<Signal*> signals) {
  Packet packet;
  packet.barrier = {};
  int at = 0;
  for (Signal* signal : signals) packet.barrier.dependencies[at++] = handle_of(backend::cpu::retain(signal));
  return packet;
}

void reach(Signal& signal) {
  signal.value.fetch_sub(1, std::memory_order_seq_cst);
  Workers::get().signal_reached();
}

struct Launchable {
  Kernel kernel;
  device::Dispatch dispatch;
};
std::unique_ptr<Launchable> launchable(HostKernel entry, std::span<const std::uint64_t> slots, KernelInfo info = {}) {
  auto out = std::make_unique<Launchable>();
  info.slots.assign(slots.size(), Slot{.kind = SlotKind::kScalar, .box = {}});
  if (info.name.empty()) info.name = "kernel";
  out->kernel.entry = entry;
  out->kernel.info = std::make_shared<const KernelInfo>(std::move(info));
  out->dispatch.kernel.ptr = &out->kernel;
  out->dispatch.slots = slots.data();
  out->dispatch.slot_count = static_cast<std::uint32_t>(slots.size());
  return out;
}

TEST(SoftQueue, TheDoorbellNamesTheLastPacketOfABatch) {
  std::atomic<int> ran{0};
  auto queue = make_queue(16, false);
  EXPECT_EQ(queue->doorbell(), -1);
  std::vector<Packet> batch(5, count_packet(ran));
  EXPECT_EQ(*queue->push(batch, PacketType::kAgentDispatch, false), 5u);
  EXPECT_EQ(queue->doorbell(), 4);
  EXPECT_OK(queue->wait_until(5));
  EXPECT_EQ(ran.load(), 5);
}

TEST(SoftQueue, TheFirstPacketHasIndexZeroAndIsNotLost) {
  for (int i = 0; i < 200; ++i) {
    std::atomic<int> ran{0};
    auto queue = make_queue(2);
    Packet packet = count_packet(ran);
    EXPECT_EQ(*queue->push({&packet, 1}, PacketType::kAgentDispatch, true), 1u);
    EXPECT_EQ(queue->doorbell(), 0);
    EXPECT_OK(queue->wait_until(1));
    EXPECT_EQ(ran.load(), 1);
    finish(*queue);
  }
}

TEST(SoftQueue, ABatchLargerThanTheRingPasses) {
  std::atomic<int> ran{0};
  auto queue = make_queue(4);
  std::vector<Packet> batch(103, count_packet(ran));
  EXPECT_EQ(*queue->push(batch, PacketType::kAgentDispatch, true), 103u);
  finish(*queue);
  EXPECT_EQ(ran.load(), 103);
}

TEST(SoftQueue, AFullRingBlocksTheProducerUntilThereIsRoom) {
  std::atomic<int> ran{0};
  auto* signal = new Signal;
  auto queue = make_queue(4);
  Packet barrier = barrier_packet({signal});
  EXPECT_TRUE(queue->push({&barrier, 1}, PacketType::kBarrierAnd, true).ok());
  std::atomic<bool> pushed_all{false};
  std::thread producer([&] {
    for (int i = 0; i < 10; ++i) {
      Packet packet = count_packet(ran);
      EXPECT_TRUE(queue->push({&packet, 1}, PacketType::kAgentDispatch, true).ok());
    }
    pushed_all = true;
  });
  std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(pushed_all.load());
  EXPECT_EQ(ran.load(), 0);
  EXPECT_LE(queue->write_index() - queue->read_index(), 4u);
  reach(*signal);
  producer.join();
  finish(*queue);
  EXPECT_EQ(ran.load(), 10);
  backend::cpu::release(signal);
}

TEST(SoftQueue, ASubmissionToItsOwnFullQueueIsAnErrorNotAHang) {
  struct Context {
    SoftQueue* queue;
    Status status;
  } context{nullptr, {}};
  auto queue = make_queue(1);
  context.queue = queue.get();
  Packet packet;
  packet.agent = {};
  packet.agent.type = static_cast<std::uint16_t>(AgentFunction::kHostCall);
  const device::HostFunction submit = [](void* p) {
    auto* c = static_cast<Context*>(p);
    std::atomic<int> unused{0};
    Packet inner = count_packet(unused);
    c->status = c->queue->push({&inner, 1}, PacketType::kAgentDispatch, true).status();
  };
  packet.agent.arguments[0] = reinterpret_cast<std::uint64_t>(submit);
  packet.agent.arguments[1] = reinterpret_cast<std::uint64_t>(&context);
  EXPECT_TRUE(queue->push({&packet, 1}, PacketType::kAgentDispatch, true).ok());
  finish(*queue);
  EXPECT_EQ(context.status.code(), Code::kDevice);
  EXPECT_NE(context.status.message().find("full"), std::string::npos);
}

TEST(SoftQueue, WaitingForItsOwnQueueInsideAHostCallIsAnErrorNotAHang) {
  struct Context {
    SoftQueue* queue;
    Status status;
  } context{nullptr, {}};
  auto queue = make_queue(8);
  context.queue = queue.get();
  Packet packet;
  packet.agent = {};
  packet.agent.type = static_cast<std::uint16_t>(AgentFunction::kHostCall);
  const device::HostFunction wait = [](void* p) {
    auto* c = static_cast<Context*>(p);
    c->status = c->queue->wait_until(c->queue->write_index());
  };
  packet.agent.arguments[0] = reinterpret_cast<std::uint64_t>(wait);
  packet.agent.arguments[1] = reinterpret_cast<std::uint64_t>(&context);
  EXPECT_TRUE(queue->push({&packet, 1}, PacketType::kAgentDispatch, true).ok());
  finish(*queue);
  EXPECT_EQ(context.status.code(), Code::kDevice);
}

// -- barriers ------------------------------------------------------------------------

TEST(SoftQueue, HandleZeroIsMetInBarrierAnd) {
  auto queue = make_queue(8);
  Packet packet = barrier_packet({});
  EXPECT_TRUE(queue->push({&packet, 1}, PacketType::kBarrierAnd, true).ok());
  finish(*queue);
}

TEST(SoftQueue, BarrierAndWaitsForEachOfItsSignals) {
  std::atomic<int> ran{0};
  Signal* signals[] = {new Signal, new Signal};
  auto queue = make_queue(8);
  Packet barrier = barrier_packet({signals[0], signals[1]});
  Packet after = count_packet(ran);
  EXPECT_TRUE(queue->push({&barrier, 1}, PacketType::kBarrierAnd, true).ok());
  EXPECT_TRUE(queue->push({&after, 1}, PacketType::kAgentDispatch, true).ok());
  reach(*signals[1]);
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(ran.load(), 0);
  // Each is observed at 0 once, not both together: the second may move on meanwhile.
  signals[1]->value.store(1);
  reach(*signals[0]);
  finish(*queue);
  EXPECT_EQ(ran.load(), 1);
  for (Signal* signal : signals) backend::cpu::release(signal);
}

TEST(SoftQueue, HandleZeroIsNotMetInBarrierOr) {
  std::atomic<int> ran{0};
  auto* signal = new Signal;
  auto queue = make_queue(8);
  Packet barrier = barrier_packet({signal});  // four zero handles beside it
  Packet after = count_packet(ran);
  EXPECT_TRUE(queue->push({&barrier, 1}, PacketType::kBarrierOr, true).ok());
  EXPECT_TRUE(queue->push({&after, 1}, PacketType::kAgentDispatch, true).ok());
  std::this_thread::sleep_for(5ms);
  EXPECT_EQ(ran.load(), 0);
  reach(*signal);
  finish(*queue);
  EXPECT_EQ(ran.load(), 1);
  EXPECT_EQ(signal->references.load(), 1u);
  backend::cpu::release(signal);
}

TEST(SoftQueue, ABarrierOrThatCanNeverBeMetIsAnErrorNotAHang) {
  auto queue = make_queue(8);
  Packet packet = barrier_packet({});
  EXPECT_TRUE(queue->push({&packet, 1}, PacketType::kBarrierOr, true).ok());
  EXPECT_OK(queue->wait_until(1));
  EXPECT_EQ(queue->take_failure().code(), Code::kDevice);
  finish(*queue);
}

// -- dispatches -----------------------------------------------------------------------

TEST(SoftQueue, ProgramsStartInAscendingOrder) {
  // Claims come from one counter, so a program that spins for its predecessor always ends.
  const HostKernel chain = [](const HostLaunch* l, std::uint64_t begin, std::uint64_t end, void*) {
    std::atomic_ref<std::uint64_t> turn(*reinterpret_cast<std::uint64_t*>(l->slots[0]));
    for (std::uint64_t p = begin; p < end; ++p) {
      while (turn.load() != p) std::this_thread::yield();
      turn.store(p + 1);
    }
  };
  std::uint64_t turn = 0;
  const std::uint64_t slots[] = {address(&turn)};
  auto queue = make_queue(8);
  auto l = launchable(chain, slots, {.name = "chain", .slots = {}, .sites = {}, .ascending = true});
  l->dispatch.grid[0] = 1000;
  EXPECT_OK(queue->dispatch(l->dispatch));
  EXPECT_OK(queue->wait_until(queue->write_index()));
  EXPECT_EQ(turn, 1000u);
  finish(*queue);
}

TEST(SoftQueue, EachThreadGetsAlignedScratch) {
  const HostKernel use = [](const HostLaunch* l, std::uint64_t begin, std::uint64_t end, void* arena) {
    if (reinterpret_cast<std::uintptr_t>(arena) % 64 != 0) return;
    auto* scratch = static_cast<std::uint64_t*>(arena);
    for (std::uint64_t p = begin; p < end; ++p) {
      for (int i = 0; i < 10'000; ++i) scratch[i] = p;
      for (int i = 0; i < 10'000; ++i) {
        if (scratch[i] != p) return;
      }
      std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(l->slots[0])).fetch_add(1);
    }
  };
  std::uint64_t good = 0;
  const std::uint64_t slots[] = {address(&good)};
  auto queue = make_queue(8);
  auto l = launchable(use, slots, {.name = "scratch", .slots = {}, .sites = {}, .arena_bytes = 80'000});
  l->dispatch.grid[0] = 100;
  l->dispatch.grid[1] = 2;
  EXPECT_OK(queue->dispatch(l->dispatch));
  finish(*queue);
  EXPECT_EQ(good, 200u);
}

TEST(SoftQueue, ScratchThatCannotBeHadIsAnErrorWithTheKernelsName) {
  const std::uint64_t slots[] = {0};
  auto queue = make_queue(8);
  auto l = launchable(host_kernel("spin"), slots,
                      {.name = "greedy", .slots = {}, .sites = {}, .arena_bytes = std::uint64_t{1} << 60});
  EXPECT_OK(queue->dispatch(l->dispatch));
  EXPECT_OK(queue->wait_until(1));
  const Status status = queue->take_failure();
  EXPECT_EQ(status.code(), Code::kOutOfMemory);
  EXPECT_NE(status.message().find("greedy"), std::string::npos) << status.message();
  finish(*queue);
}

TEST(SoftQueue, AGridTooLargeToCountIsRefused) {
  const std::uint64_t slots[] = {0};
  auto queue = make_queue(8);
  auto l = launchable(host_kernel("spin"), slots);
  for (auto& g : l->dispatch.grid) g = UINT32_MAX;
  EXPECT_EQ(queue->dispatch(l->dispatch).code(), Code::kInvalidArgument);
  EXPECT_EQ(queue->write_index(), 0u);
  finish(*queue);
}

TEST(SoftQueue, KernelsSeeDenormalsWhateverTheCallerSet) {
#if defined(__x86_64__)
  const HostKernel halve = [](const HostLaunch* l, std::uint64_t, std::uint64_t, void*) {
    volatile double tiny = 4.9e-324 * 8;
    *reinterpret_cast<double*>(l->slots[0]) = tiny / 2;
  };
  double out = 0;
  const std::uint64_t slots[] = {address(&out)};
  auto queue = make_queue(8, false);  // runs on this thread
  auto l = launchable(halve, slots);
  EXPECT_OK(queue->dispatch(l->dispatch));
  const unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040);
  const Status waited = queue->wait_until(1);
  const unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  EXPECT_OK(waited);
  EXPECT_EQ(out, 4.9e-324 * 4);
  EXPECT_EQ(after & 0x8040, 0x8040u) << "the caller's setting came back";
#endif
}

// -- wakes ---------------------------------------------------------------------------

struct LostWakes {
  LostWakes() { Workers::get().lose_wakes(true); }
  ~LostWakes() { Workers::get().lose_wakes(false); }
};

TEST(SoftQueue, ALostWakeDelaysWorkThatNobodyWaitsForButDoesNotLoseIt) {
  std::atomic<int> ran{0};
  auto queue = make_queue(8);
  std::this_thread::sleep_for(100ms);  // all workers are asleep
  {
    const LostWakes lost;
    Packet packet = count_packet(ran);
    EXPECT_TRUE(queue->push({&packet, 1}, PacketType::kAgentDispatch, true).ok());
    for (int i = 0; i < 100 && ran.load() == 0; ++i) std::this_thread::sleep_for(50ms);
    EXPECT_EQ(ran.load(), 1);
  }
  finish(*queue);
}

TEST(SoftQueue, ALostWakeDoesNotHoldAWaiterBehindAnotherQueue) {
  std::atomic<int> ran{0};
  auto* signal = new Signal;
  auto first = make_queue(8);
  auto second = make_queue(8);
  std::this_thread::sleep_for(100ms);
  {
    const LostWakes lost;
    Packet work = count_packet(ran);
    work.agent.completion_signal = handle_of(backend::cpu::retain(signal));
    EXPECT_TRUE(first->push({&work, 1}, PacketType::kAgentDispatch, true).ok());
    Packet barrier = barrier_packet({signal});
    EXPECT_TRUE(second->push({&barrier, 1}, PacketType::kBarrierAnd, true).ok());
    EXPECT_OK(second->wait_until(1));
    EXPECT_EQ(ran.load(), 1);
  }
  finish(*first);
  finish(*second);
  backend::cpu::release(signal);
}

TEST(SoftQueue, IdleWorkersDoNotBurnACore) {
  auto queue = make_queue(8);
  std::this_thread::sleep_for(200ms);
  const auto cpu_ns = [] {
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
  };
  const auto before = cpu_ns();
  std::this_thread::sleep_for(500ms);
  EXPECT_LT(cpu_ns() - before, 25'000'000) << "of half a second";
  finish(*queue);
}

}  // namespace
}  // namespace epi::test
