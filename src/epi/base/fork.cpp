// One pthread_atfork registration for the whole engine.
#include "epi/base/fork.h"

#include <pthread.h>

#include <atomic>
#include <vector>

namespace epi {

/// All live mutexes as a list, and the hooks. Leaked, like the handlers that glibc keeps.
struct ForkRegistry {
  std::mutex mutex;
  ForkSafeMutex* first = nullptr;
  std::vector<void (*)()> hooks;
  std::atomic<unsigned> generation{0};

  static ForkRegistry& get() {
    static ForkRegistry* instance = [] {
      auto* made = new ForkRegistry;
      pthread_atfork(&prepare, &parent, &child);
      return made;
    }();
    return *instance;
  }

  static void prepare() {
    ForkRegistry& r = get();
    r.mutex.lock();
    for (ForkSafeMutex* m = r.first; m != nullptr; m = m->next_) m->mutex_.lock();
  }
  static void release() {
    ForkRegistry& r = get();
    for (ForkSafeMutex* m = r.first; m != nullptr; m = m->next_) m->mutex_.unlock();
    r.mutex.unlock();
  }
  static void parent() { release(); }
  static void child() {
    get().generation.fetch_add(1, std::memory_order_relaxed);
    release();
    for (auto* hook : get().hooks) hook();
  }

  void add(ForkSafeMutex* m) {
    std::lock_guard lock(mutex);
    m->next_ = first;
    if (first != nullptr) first->previous_ = m;
    first = m;
  }
  void remove(ForkSafeMutex* m) {
    std::lock_guard lock(mutex);
    if (m->previous_ != nullptr) m->previous_->next_ = m->next_;
    if (m->next_ != nullptr) m->next_->previous_ = m->previous_;
    if (first == m) first = m->next_;
  }
};

ForkSafeMutex::ForkSafeMutex() { ForkRegistry::get().add(this); }
ForkSafeMutex::~ForkSafeMutex() { ForkRegistry::get().remove(this); }

void at_fork_child(void (*function)()) {
  ForkRegistry& r = ForkRegistry::get();
  std::lock_guard lock(r.mutex);
  r.hooks.push_back(function);
}

unsigned fork_generation() { return ForkRegistry::get().generation.load(std::memory_order_relaxed); }

}  // namespace epi
