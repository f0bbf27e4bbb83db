// Sleeping on a word with a time limit, which std::atomic::wait does not have and a queue that must survive a lost wake
// needs. Linux.
#pragma once
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace epi::backend::cpu {

/// Sleeps while `*word == expected`, at most `timeout_ns` (negative: no limit). May return early.
inline void futex_wait(const void* word, std::uint32_t expected, std::int64_t timeout_ns) {
  timespec limit{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns < 0 ? nullptr : &limit, nullptr, 0);
}

inline void futex_wake(const void* word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

/// Tells the core that this is a spin.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace epi::backend::cpu
