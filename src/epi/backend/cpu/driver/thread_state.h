// What a thread brings to a kernel: scratch memory that it keeps, and floating point as IEEE 754 has it.
#pragma once
#include <cstddef>
#include <cstdlib>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace epi::backend::cpu {

class SoftQueue;

/// Scratch of the calling thread, 64-byte aligned, at least `size_bytes`, kept until the thread ends. Null when there is no
/// memory. A nested kernel (a host call that waits for another queue) must not share it: `depth` tells them apart.
void* thread_arena(std::size_t size_bytes);

/// Queues whose work the calling thread is inside of, innermost first. Waiting for one of them would never end.
class InsideQueue {
 public:
  explicit InsideQueue(const SoftQueue* queue);
  ~InsideQueue();
  InsideQueue(const InsideQueue&) = delete;
  InsideQueue& operator=(const InsideQueue&) = delete;
  static bool contains(const SoftQueue* queue);

 private:
  const SoftQueue* queue_;
  InsideQueue* outer_;
};

/// Default floating-point control while alive: other libraries' flush-to-zero does not reach kernels.
class FloatEnvironment {
 public:
#if defined(__x86_64__)
  FloatEnvironment() : saved_(_mm_getcsr()) {
    if ((saved_ & kControl) != kDefault) _mm_setcsr(kDefault);
  }
  ~FloatEnvironment() {
    if ((saved_ & kControl) != kDefault) _mm_setcsr(saved_);
  }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  static constexpr unsigned kDefault = 0x1f80;   // all masked, nearest, denormals kept
  static constexpr unsigned kControl = 0xffc0;   // without the status flags
  unsigned saved_;
#endif
};

}  // namespace epi::backend::cpu
