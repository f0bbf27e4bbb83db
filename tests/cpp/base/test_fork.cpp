// Locks and hooks across fork().
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "epi/base/fork.h"
#include "epi/base/trace.h"

namespace epi {
namespace {

int exit_code_of_child(int (*body)()) {
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(10);
    _exit(body());
  }
  int state = 0;
  waitpid(pid, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -WTERMSIG(state);
}

ForkSafeMutex g_mutex;
int g_hooks = 0;

TEST(Fork, ALockHeldByAnotherThreadIsFreeInTheChild) {
  std::atomic<bool> stop{false};
  std::thread holder([&] {
    while (!stop.load()) {
      std::lock_guard lock(g_mutex);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(exit_code_of_child([] {
                std::lock_guard lock(g_mutex);
                return 0;
              }),
              0)
        << "fork " << i;
  }
  stop = true;
  holder.join();
}

TEST(Fork, HooksRunInTheChildOnlyAndTheGenerationCounts) {
  at_fork_child([] { ++g_hooks; });
  const unsigned before = fork_generation();
  EXPECT_EQ(exit_code_of_child([] { return g_hooks == 1 && fork_generation() == 1 ? 0 : 1; }), 0);
  EXPECT_EQ(g_hooks, 0);
  EXPECT_EQ(fork_generation(), before);
}

TEST(Fork, AChildMayTraceWhileItsParentDoes) {
  trace::start();
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    int recorded = 0;
    while (!stop.load()) {
      trace::instant("test", "event");
      if (++recorded % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(exit_code_of_child([] {
                trace::instant("test", "child");
                return trace::drain().empty() ? 1 : 0;
              }),
              0);
  }
  stop = true;
  busy.join();
  trace::stop();
  (void)trace::drain();
}

}  // namespace
}  // namespace epi
