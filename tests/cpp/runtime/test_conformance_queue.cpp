// What every driver promises, part two: queues, events, errors.
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

#include "conformance.h"

namespace epi::test {
namespace {

using namespace std::chrono_literals;

/// Polls `done` for at most ten seconds.
template <class F>
bool eventually(F&& done) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

TEST_P(Conformance, WorkRunsInTheOrderOfSubmission) {
  constexpr int kLaunches = 500;
  auto* word = new_words(1);
  for (std::uint64_t i = 0; i < kLaunches; ++i) {
    EXPECT_OK(launch(queue_, "store_index", {address(word), i}));
    EXPECT_OK(launch(queue_, "increment", {address(word)}));
  }
  EXPECT_OK(device_->synchronise(queue_));
  EXPECT_EQ(*word, lacks("kernels_run") ? 0u : std::uint64_t{kLaunches});
}

TEST_P(Conformance, HostCallsRunInOrder) {
  struct Note {
    std::vector<int>* order;
    int value;
  };
  std::vector<int> order;
  std::vector<Note> notes;
  for (int i = 0; i < 100; ++i) notes.push_back({&order, i});
  for (Note& note : notes) {
    EXPECT_OK(device_->host_call(
        queue_, [](void* p) { static_cast<Note*>(p)->order->push_back(static_cast<Note*>(p)->value); }, &note));
  }
  EXPECT_OK(device_->synchronise(queue_));
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(Conformance, WorkProceedsWithoutAnyoneWaiting) {
  std::atomic<int> ran{0};
  auto* word = new_words(1);
  EXPECT_OK(launch(queue_, "increment", {address(word)}));
  EXPECT_OK(device_->host_call(queue_, [](void* p) { static_cast<std::atomic<int>*>(p)->store(1); }, &ran));
  EXPECT_TRUE(eventually([&] { return ran.load() == 1; }));
}

TEST_P(Conformance, ASmallLaunchAloneProceedsWithoutAnyoneWaiting) {
  auto* word = new_words(1);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    EXPECT_OK(launch(queue_, "increment", {address(word)}));
    if (i % 4 == 0) std::this_thread::sleep_for(60ms);  // workers go to sleep in between
    std::atomic_ref<std::uint64_t> seen(*word);
    ASSERT_TRUE(eventually([&] { return lacks("kernels_run") || seen.load() == i; })) << i;
  }
}

TEST_P(Conformance, IsIdleTellsWhetherWorkIsPending) {
  EXPECT_TRUE(*device_->is_idle(queue_));
  if (!lacks("asynchronous")) {
    Gate gate(*device_, queue_, false);
    EXPECT_FALSE(*device_->is_idle(queue_));
  }
  EXPECT_TRUE(eventually([&] { return *device_->is_idle(queue_); }));
}

TEST_P(Conformance, AMillionTinyLaunchesAllRun) {
  constexpr std::uint64_t kLaunches = 1'000'000;
  auto* word = new_words(1);
  const device::KernelHandle increment = kernel("increment");
  const std::uint64_t slot = address(word);
  device::Dispatch d;
  d.kernel = increment;
  d.slots = &slot;
  d.slot_count = 1;
  for (std::uint64_t i = 0; i < kLaunches; ++i) ASSERT_OK(device_->submit(queue_, d));
  EXPECT_OK(device_->synchronise(queue_));
  EXPECT_EQ(*word, lacks("kernels_run") ? 0 : kLaunches);
}

TEST_P(Conformance, ManyThreadsSubmitToTwoQueues) {
  constexpr int kThreads = 8;
  constexpr int kLaunches = 2000;
  auto* words = new_words(32);  // two counters, far apart
  const device::QueueHandle queues[] = {queue_, new_queue(16)};
  (void)kernel("increment");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kLaunches; ++i) {
        for (int q = 0; q < 2; ++q) EXPECT_OK(launch(queues[q], "increment", {address(words + 16 * q)}));
        if (i % 500 == 0) {
          EXPECT_OK(device_->synchronise(queues[i / 500 % 2]));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int q = 0; q < 2; ++q) {
    EXPECT_OK(device_->synchronise(queues[q]));
    EXPECT_EQ(words[16 * q], lacks("kernels_run") ? 0 : kThreads * kLaunches);
  }
}

TEST_P(Conformance, DestroyWaitsForPendingWork) {
  auto* word = new_words(1);
  const auto queue = device_->create_queue({});
  ASSERT_TRUE(queue.ok());
  EXPECT_OK(launch(*queue, "spin", {20'000'000}));
  for (int i = 0; i < 100; ++i) EXPECT_OK(launch(*queue, "increment", {address(word)}));
  EXPECT_OK(device_->destroy_queue(*queue));
  EXPECT_EQ(*word, lacks("kernels_run") ? 0u : 100u);
}

TEST_P(Conformance, AHostCallMaySubmitToItsQueue) {
  struct Context {
    device::Device* device;
    device::QueueHandle queue;
    std::atomic<int> calls{0};
  } context{device_, queue_, {}};
  const auto outer = [](void* p) {
    auto* c = static_cast<Context*>(p);
    c->calls.fetch_add(1);
    (void)c->device->host_call(c->queue, [](void* q) { static_cast<Context*>(q)->calls.fetch_add(1); }, c).ok();
  };
  if (!lacks("host_call_submits")) {
    EXPECT_OK(device_->host_call(queue_, outer, &context));
    EXPECT_TRUE(eventually([&] { return context.calls.load() == 2; }));
  }
  EXPECT_OK(device_->synchronise(queue_));
}

TEST_P(Conformance, CallsWithoutAQueueAreRefused) {
  const std::uint32_t zero = 0;
  EXPECT_EQ(device_->submit({}, {}).code(), Code::kInvalidArgument);
  EXPECT_EQ(device_->synchronise({}).code(), Code::kInvalidArgument);
  EXPECT_EQ(device_->is_idle({}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(device_->fill({}, nullptr, &zero, 4, 1).code(), Code::kInvalidArgument);
  EXPECT_EQ(device_->record(new_event(), {}).code(), Code::kInvalidArgument);
  EXPECT_EQ(device_->submit(queue_, {}).code(), Code::kInvalidArgument);
}

// -- events --------------------------------------------------------------------------

TEST_P(Conformance, AnEventNeverRecordedIsDone) {
  const auto event = new_event();
  EXPECT_TRUE(*device_->is_done(event));
  EXPECT_OK(device_->wait(event));
  EXPECT_OK(device_->wait_events(queue_, {&event, 1}, device::WaitMode::kAll));
  EXPECT_OK(device_->synchronise(queue_));
}

TEST_P(Conformance, AnEventIsReachedWhenTheWorkBeforeItIs) {
  const auto event = new_event();
  Gate gate(*device_, queue_, lacks("asynchronous"));
  EXPECT_OK(device_->record(event, queue_));
  if (!lacks("asynchronous")) {
    EXPECT_FALSE(*device_->is_done(event));
  }
  gate.open();
  EXPECT_OK(device_->wait(event));
  EXPECT_TRUE(*device_->is_done(event));
}

TEST_P(Conformance, AQueueWaitsForEventsOfOthers) {
  load_all_kernels();
  auto* word = new_words(1);
  const auto other = new_queue();
  const device::EventHandle events[] = {new_event(), new_event()};
  Gate gate(*device_, queue_, lacks("asynchronous"));
  EXPECT_OK(launch(queue_, "store_index", {address(word), 41}));
  EXPECT_OK(device_->record(events[0], queue_));
  EXPECT_OK(device_->record(events[1], other));
  EXPECT_OK(device_->wait_events(other, events, device::WaitMode::kAll));
  EXPECT_OK(launch(other, "increment", {address(word)}));
  std::this_thread::sleep_for(5ms);
  if (!lacks("asynchronous")) {
    EXPECT_FALSE(*device_->is_idle(other));
  }
  gate.open();
  EXPECT_OK(device_->synchronise(other));
  EXPECT_EQ(*word, lacks("kernels_run") ? 0u : 42u);
}

TEST_P(Conformance, AQueueWaitsForMoreEventsThanItHoldsPackets) {
  load_all_kernels();
  const auto small = new_queue(4);
  Gate gate(*device_, queue_, lacks("asynchronous"));
  std::vector<device::EventHandle> events;
  for (int i = 0; i < 100; ++i) {
    events.push_back(new_event());
    EXPECT_OK(device_->record(events.back(), queue_));
  }
  std::thread opener([&] {
    std::this_thread::sleep_for(5ms);
    gate.open();
  });
  EXPECT_OK(device_->wait_events(small, events, device::WaitMode::kAll));
  EXPECT_OK(device_->synchronise(small));
  for (const auto event : events) EXPECT_TRUE(*device_->is_done(event));
  opener.join();
}

TEST_P(Conformance, RecordingAgainDoesNotDisturbThoseWhoWait) {
  load_all_kernels();
  // The second record of `event` stands behind work that itself waits for the first: no deadlock.
  const auto other = new_queue();
  const auto event = new_event();
  const auto back = new_event();
  {
    Gate gate(*device_, queue_, lacks("asynchronous"));
    EXPECT_OK(device_->record(event, queue_));
    EXPECT_OK(device_->wait_events(other, {&event, 1}, device::WaitMode::kAll));
    EXPECT_OK(device_->record(back, other));
    EXPECT_OK(device_->wait_events(queue_, {&back, 1}, device::WaitMode::kAll));
    EXPECT_OK(device_->record(event, queue_));
  }
  EXPECT_OK(device_->synchronise(queue_));
  EXPECT_OK(device_->synchronise(other));
  EXPECT_OK(device_->wait(event));
}

TEST_P(Conformance, AnEventMayBeDestroyedWhilePending) {
  const auto event = device_->create_event({});
  ASSERT_TRUE(event.ok());
  const auto other = new_queue();
  Gate gate(*device_, queue_, lacks("asynchronous"));
  EXPECT_OK(device_->record(*event, queue_));
  EXPECT_OK(device_->wait_events(other, {&*event, 1}, device::WaitMode::kAll));
  EXPECT_OK(device_->destroy_event(*event));
  gate.open();
  EXPECT_OK(device_->synchronise(other));
}

TEST_P(Conformance, AQueueWaitsForAnyOfItsEvents) {
  load_all_kernels();
  const device::EventHandle events[] = {new_event(), new_event()};
  const auto quick = new_queue();
  const auto waiter = new_queue();
  Gate gate(*device_, queue_, lacks("asynchronous"));
  EXPECT_OK(device_->record(events[0], queue_));  // held by the gate
  Gate second(*device_, quick, lacks("asynchronous"));
  EXPECT_OK(device_->record(events[1], quick));
  const Status status = device_->wait_events(waiter, events, device::WaitMode::kAny);
  if (lacks("wait_any")) {
    EXPECT_EQ(status.code(), Code::kUnsupported);
    return;
  }
  EXPECT_OK(status);
  second.open();
  EXPECT_OK(device_->synchronise(waiter));
  if (!lacks("asynchronous")) {
    EXPECT_FALSE(*device_->is_done(events[0]));
  }
}

TEST_P(Conformance, ElapsedMeasuresTheWorkBetween) {
  const device::EventHandle events[] = {new_event(), new_event()};
  EXPECT_OK(device_->record(events[0], queue_));
  EXPECT_OK(launch(queue_, "spin", {5'000'000}));
  EXPECT_OK(device_->record(events[1], queue_));
  EXPECT_OK(device_->synchronise(queue_));
  const auto ns = device_->elapsed_ns(events[0], events[1]);
  ASSERT_TRUE(ns.ok()) << ns.status().message();
  if (lacks("kernels_run")) {
    EXPECT_EQ(*ns, 0.0);
  } else {
    EXPECT_GT(*ns, 4.9e6);
    EXPECT_LT(*ns, 5e9);
  }
}

TEST_P(Conformance, ElapsedNeedsRecordedAndTimedEvents) {
  const auto recorded = new_event();
  const auto untimed = new_event(false);
  EXPECT_OK(device_->record(recorded, queue_));
  EXPECT_OK(device_->record(untimed, queue_));
  EXPECT_OK(device_->synchronise(queue_));
  EXPECT_FALSE(device_->elapsed_ns(recorded, new_event()).ok());
  EXPECT_FALSE(device_->elapsed_ns(recorded, untimed).ok());
}

// -- errors --------------------------------------------------------------------------

TEST_P(Conformance, AKernelsErrorSurfacesOnceAtSynchroniseWithNameSiteAndProgram) {
  EXPECT_OK(launch(queue_, "fail_at", {0, 3}, 10));
  const Status status = device_->synchronise(queue_);
  if (lacks("kernel_errors")) {
    EXPECT_OK(status);
    return;
  }
  ASSERT_EQ(status.code(), Code::kDevice);
  for (const char* part : {"fail_at", "kernel.py:12: the index is out of range", "(3, 0, 0)", "element 7"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << part << " in " << status.message();
  }
  EXPECT_OK(device_->synchronise(queue_));
}

TEST_P(Conformance, TheFirstErrorWinsAndTheQueueGoesOn) {
  auto* word = new_words(1);
  EXPECT_OK(launch(queue_, "fail_at", {0, 1}, 10));
  EXPECT_OK(launch(queue_, "increment", {address(word)}));
  EXPECT_OK(launch(queue_, "fail_at", {0, 2}, 10));
  const Status status = device_->synchronise(queue_);
  EXPECT_EQ(*word, lacks("kernels_run") ? 0u : 1u);
  if (lacks("kernel_errors")) return;
  EXPECT_NE(status.message().find("(1, 0, 0)"), std::string::npos) << status.message();
  EXPECT_OK(device_->synchronise(queue_));
}

TEST_P(Conformance, AnErrorSticksToTheEventsBehindIt) {
  if (lacks("kernel_errors")) {
    EXPECT_OK(device_->synchronise(queue_));
    return;
  }
  const device::EventHandle before = new_event();
  const device::EventHandle after = new_event();
  const device::EventHandle later = new_event();
  EXPECT_OK(device_->record(before, queue_));
  EXPECT_OK(launch(queue_, "fail_at", {0, 0}));
  EXPECT_OK(device_->record(after, queue_));
  EXPECT_OK(device_->wait(before));
  for (int i = 0; i < 2; ++i) {
    const Status status = device_->wait(after);
    EXPECT_NE(status.message().find("fail_at"), std::string::npos) << status.message();
  }
  EXPECT_FALSE(device_->synchronise(queue_).ok());
  EXPECT_OK(device_->record(later, queue_));
  EXPECT_OK(device_->wait(later));
}

TEST_P(Conformance, AnErrorStaysWithItsQueue) {
  const auto other = new_queue();
  EXPECT_OK(launch(queue_, "fail_at", {0, 0}));
  EXPECT_EQ(device_->synchronise(queue_).ok(), lacks("kernel_errors"));
  EXPECT_OK(launch(other, "spin", {1000}));
  EXPECT_OK(device_->synchronise(other));
}

TEST_P(Conformance, DestroyReportsAnErrorThatNobodyAskedFor) {
  const auto queue = device_->create_queue({});
  ASSERT_TRUE(queue.ok());
  EXPECT_OK(launch(*queue, "fail_at", {0, 0}));
  EXPECT_EQ(device_->destroy_queue(*queue).ok(), lacks("kernel_errors"));
}

}  // namespace
}  // namespace epi::test
