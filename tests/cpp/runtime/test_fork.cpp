// fork(): a child may use queues, pools and devices; the parent's work is not waited for there.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "conformance.h"
#include "epi/runtime/memory.h"

namespace epi::test {
namespace {

using namespace std::chrono_literals;

/// Runs `body` in a child with ten seconds of time; true when it returned true.
template <class F>
testing::AssertionResult in_child(F&& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(10);
    _exit(body() ? 0 : 1);
  }
  int state = 0;
  waitpid(pid, &state, 0);
  if (WIFSIGNALED(state)) {
    return testing::AssertionFailure() << "the child ended by signal " << WTERMSIG(state)
                                       << (WTERMSIG(state) == SIGALRM ? " (it hung)" : "");
  }
  if (WEXITSTATUS(state) != 0) return testing::AssertionFailure() << "the child saw a failure";
  return testing::AssertionSuccess();
}

bool says(const Status& status) {
  if (!status.ok()) fprintf(stderr, "in the child: %s\n", status.message().c_str());
  return status.ok();
}

TEST_P(Conformance, AForkedChildUsesAQueueOfItsParent) {
  auto* word = new_words(1);
  EXPECT_OK(launch(queue_, "increment", {address(word)}, 100));
  EXPECT_OK(device_->synchronise(queue_));
  *word = 0;
  if (lacks("survives_fork")) {
    EXPECT_TRUE(in_child([&] {
      const Status status = launch(queue_, "increment", {address(word)});
      return !status.ok() && status.message().find("fork") != std::string::npos;
    }));
    return;
  }
  EXPECT_TRUE(in_child([&] {
    for (int i = 0; i < 100; ++i) {
      if (!says(launch(queue_, "increment", {address(word)}, 100))) return false;
      if (i % 10 == 0 && !says(device_->synchronise(queue_))) return false;
    }
    return says(device_->synchronise(queue_)) && *word == (lacks("kernels_run") ? 0u : 10'000u);
  }));
  EXPECT_OK(launch(queue_, "increment", {address(word)}));
  EXPECT_OK(device_->synchronise(queue_));
  EXPECT_EQ(*word, lacks("kernels_run") ? 0u : 1u) << "the parent's memory is its own";
}

TEST_P(Conformance, AForkedChildDoesNotWaitForItsParentsWork) {
  if (lacks("survives_fork") || lacks("asynchronous")) {
    EXPECT_OK(device_->synchronise(queue_));
    return;
  }
  auto* word = new_words(1);
  const auto event = new_event();
  const auto other = new_queue();
  Gate gate(*device_, queue_, false);
  EXPECT_OK(launch(queue_, "increment", {address(word)}));
  EXPECT_OK(device_->record(event, queue_));
  EXPECT_OK(device_->wait_events(other, {&event, 1}, device::WaitMode::kAll));
  std::this_thread::sleep_for(5ms);  // a worker is inside the gate
  EXPECT_TRUE(in_child([&] {
    if (!*device_->is_idle(queue_) || !*device_->is_idle(other)) return false;
    const Status status = device_->wait(event);
    if (status.ok() || status.message().find("fork") == std::string::npos) return false;
    if (!says(launch(queue_, "increment", {address(word)}))) return false;
    if (!says(launch(other, "increment", {address(word)}))) return false;
    if (!says(device_->synchronise(queue_)) || !says(device_->synchronise(other))) return false;
    return *word == 2;
  }));
  gate.open();
  EXPECT_OK(device_->synchronise(other));
  EXPECT_EQ(*word, 1u);
}

TEST_P(Conformance, AForkedChildsWorkProceedsOnItsOwnWorkers) {
  if (lacks("survives_fork")) {
    EXPECT_OK(device_->synchronise(queue_));
    return;
  }
  EXPECT_TRUE(in_child([&] {
    std::atomic<int> ran{0};
    if (!says(device_->host_call(queue_, [](void* p) { static_cast<std::atomic<int>*>(p)->store(1); }, &ran))) {
      return false;
    }
    while (ran.load() == 0) std::this_thread::sleep_for(100us);  // nobody waits for the queue
    return true;
  }));
}

TEST_P(Conformance, ForkWhileOtherThreadsSubmitAndAllocate) {
  if (lacks("survives_fork")) {
    EXPECT_OK(device_->synchronise(queue_));
    return;
  }
  auto* word = new_words(1);
  (void)kernel("increment");
  std::atomic<bool> stop{false};
  const runtime::Device device(*device_);
  const auto queue = runtime::Queue::create(device);
  ASSERT_TRUE(queue.ok());
  std::thread busy([&] {
    while (!stop.load()) {
      EXPECT_OK(launch(queue_, "increment", {address(word)}));
      EXPECT_TRUE(runtime::Buffer::allocate(1000, *queue).ok());
    }
  });
  for (int i = 0; i < 50; ++i) {
    const auto worked = in_child([&] {
      return runtime::Buffer::allocate(1000, *queue).ok() && says(launch(queue_, "increment", {address(word)})) &&
             says(device_->synchronise(queue_));
    });
    EXPECT_TRUE(worked) << "fork " << i;
    if (!worked) break;
  }
  stop = true;
  busy.join();
}

}  // namespace
}  // namespace epi::test
