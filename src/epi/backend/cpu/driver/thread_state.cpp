#include "epi/backend/cpu/driver/thread_state.h"

namespace epi::backend::cpu {
namespace {

/// A few arenas a thread: one for each kernel that it is inside of.
struct Arenas {
  static constexpr int kDepth = 4;
  void* memory[kDepth] = {};
  std::size_t size[kDepth] = {};
  ~Arenas() {
    for (void* m : memory) std::free(m);
  }
};
thread_local Arenas t_arenas;
thread_local InsideQueue* t_inside = nullptr;
thread_local int t_depth = 0;

}  // namespace

void* thread_arena(std::size_t size_bytes) {
  const int level = t_depth > 0 ? t_depth - 1 : 0;
  if (level >= Arenas::kDepth) return nullptr;
  if (t_arenas.size[level] < size_bytes) {
    const std::size_t rounded = (size_bytes + 4095) / 4096 * 4096;
    void* grown = std::aligned_alloc(4096, rounded);
    if (grown == nullptr) return nullptr;
    std::free(t_arenas.memory[level]);
    t_arenas.memory[level] = grown;
    t_arenas.size[level] = rounded;
  }
  return t_arenas.memory[level];
}

InsideQueue::InsideQueue(const SoftQueue* queue) : queue_(queue), outer_(t_inside) {
  t_inside = this;
  ++t_depth;
}
InsideQueue::~InsideQueue() {
  t_inside = outer_;
  --t_depth;
}
bool InsideQueue::contains(const SoftQueue* queue) {
  for (const InsideQueue* i = t_inside; i != nullptr; i = i->outer_) {
    if (i->queue_ == queue) return true;
  }
  return false;
}

}  // namespace epi::backend::cpu
