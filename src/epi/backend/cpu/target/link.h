// Puts a relocatable object into this process, ready to call. Known to jit/ and tests; LLVM stays inside.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "epi/base/status.h"

namespace epi::cpu {

/// Code in memory; freed with this object, so keep it as long as anything may run it. Free of threads' locks when idle.
class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  [[nodiscard]] virtual void* entry() const = 0;  ///< the symbol asked for
};

/// Links `object` (what the cpu target compiles) and finds `symbol`. The object may call host_calls() only. Thread-safe.
Result<std::unique_ptr<LoadedCode>> link_object(std::string_view object, const std::string& symbol);

}  // namespace epi::cpu
