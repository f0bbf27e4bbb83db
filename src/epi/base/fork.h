// Locks that survive fork(): every ForkSafeMutex is taken before a fork and released after it, on both sides, so a child
// never inherits one that a thread it does not have still holds. Law: no ForkSafeMutex is taken while another is held.
#pragma once
#include <mutex>

namespace epi {

class ForkSafeMutex {
 public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }
  bool try_lock() { return mutex_.try_lock(); }

 private:
  friend struct ForkRegistry;
  std::mutex mutex_;
  ForkSafeMutex* previous_ = nullptr;
  ForkSafeMutex* next_ = nullptr;
};

/// Runs `function` in each forked child, after the locks are free again, in order of registration. For the process's life.
void at_fork_child(void (*function)());

/// How many forks lie between this process and the first one that used the engine.
unsigned fork_generation();

}  // namespace epi
