// Makes the device's primary context current for a scope and restores the caller's at its end.
#pragma once
#include "epi/backend/cuda/driver/api.h"

namespace epi::backend::cuda {

class ContextScope {
 public:
  ContextScope(const Api& api, CUcontext context) : api_(api) {
    CUcontext current = nullptr;
    if (api_.CtxGetCurrent(&current) == kSuccess && current == context) return;
    pushed_ = api_.CtxPushCurrent(context) == kSuccess;
  }
  ~ContextScope() {
    CUcontext popped = nullptr;
    if (pushed_) api_.CtxPopCurrent(&popped);
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Api& api_;
  bool pushed_ = false;
};

}  // namespace epi::backend::cuda
