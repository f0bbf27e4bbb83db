// What a trace knows of a call from Python: the user's line and how long the call took, from reading its arguments on.
#pragma once
#include <cstdint>
#include <string>

namespace epi::bind {

/// Records a span "python" of its own lifetime while a trace runs; the GIL is held at both ends. `what` outlives it.
class TracedCall {
 public:
  explicit TracedCall(const char* what);
  ~TracedCall();
  TracedCall(const TracedCall&) = delete;
  TracedCall& operator=(const TracedCall&) = delete;

 private:
  const char* what_;
  std::int64_t start_ns_ = -1;
  std::string file_, function_;
  int line_ = 0;
};

}  // namespace epi::bind
