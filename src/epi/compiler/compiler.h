// The compiler's face, without MLIR or LLVM: a program in, bytes and their contract out. Called by jit/ and by tests.
// Targets live in the wings (backend/<name>/target) and are known by name; see emitter.h for how to write one.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epi/base/status.h"
#include "epi/device/kernel_abi.h"
#include "epi/ir/builder.h"

namespace epi::compiler {

struct CompileOptions {
  std::string target;    ///< a registered target's name: "cpu", ...
  std::string arch;      ///< the target's own word for a processor; empty = the target's default (the host, for "cpu")
  std::string features;  ///< extra features in LLVM's syntax; part of the cache key
  int opt_level = 1;     ///< 0 = as emitted, 1 = the short pipeline
  /// Receives each stage's text ("tile", "llvm", "llvm-opt", "asm"); texts are made only where it is set.
  std::function<void(std::string_view stage, std::string_view text)> dump;
};

struct StageTime {
  std::string stage;
  double us = 0;
};

struct Compiled {
  std::string bytes;  ///< a relocatable object (cpu) or the target's assembly text
  KernelInfo info;
  std::vector<StageTime> times;
};

/// Host code linked into this process; unmapped with the last holder of `keep`.
struct HostCode {
  HostKernel entry = nullptr;
  std::shared_ptr<const void> keep;
};

/// One kind of machine that programs are compiled for. Calls may come from several threads.
class Target {
 public:
  virtual ~Target() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The processor that `arch` stands for ("" = default), in full: what a cache key must contain.
  [[nodiscard]] virtual std::string resolve_arch(std::string_view arch) const = 0;
  /// Fills absent `lanes` and `segment` attributes of the module's reduces and scans with this target's choice: the
  /// association is then fixed, and the interpreter gives the same bits. compile() does it first; idempotent.
  virtual Status assign_association(const ir::Module& module, const CompileOptions& options) const = 0;
  virtual Result<Compiled> compile(const ir::Module& module, const CompileOptions& options) const = 0;
  /// Links compiled bytes into this process. Only targets of the host do.
  virtual Result<HostCode> link(std::string_view bytes, const std::string& symbol) const {
    (void)bytes, (void)symbol;
    return unsupported("target " + std::string(name()) + " makes no host code");
  }
};

/// What each wing defines as epi::backend::NAME::compiler_target() in backend/NAME/target/target.cpp.
using TargetFunction = std::unique_ptr<Target> (*)();
/// The wings of this build (generated from the folders).
std::span<const TargetFunction> backend_targets();
/// The target, or null.
const Target* find_target(std::string_view name);
/// The names of all targets.
std::vector<std::string> target_names();

/// Compiles the module's kernel for options.target. Brings the module to canonical form (ir/passes) and fixes its
/// association, so that the module afterwards is the program that was compiled. Errors carry the op's location.
Result<Compiled> compile(const ir::Module& module, const CompileOptions& options);
Status assign_association(const ir::Module& module, const CompileOptions& options);

}  // namespace epi::compiler
