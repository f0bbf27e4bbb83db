// The one place where compiler and runtime meet: a front end's program becomes a kernel that can be launched. Order:
// memory cache, disk cache, compile, assemble, load. A hit in memory touches neither MLIR nor LLVM. Thread-safe.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "epi/base/status.h"
#include "epi/base/trace.h"
#include "epi/device/device.h"
#include "epi/ir/builder.h"
#include "epi/jit/specialize.h"

namespace epi::jit {

/// What a front end knows of a kernel before its IR exists.
struct Source {
  std::string name;                    ///< for people: function name, "file.py:12 blur"
  /// Everything besides the arguments' specialisation that decides the program: digest of source text and of all
  /// captured values, constants of this call, options. Equal keys must mean equal programs.
  std::string key;
  std::vector<std::string> arg_names;  ///< for messages
  /// Builds the program for these arguments; called on a miss only.
  std::function<Result<ir::Module>(const std::vector<ir::ArgSpec>&)> build;
};

/// How a kernel came to be; times in microseconds, zero for stages that did not run.
struct Provenance {
  enum class From : std::uint8_t { kCompiled, kDisk } from = From::kCompiled;
  std::vector<std::pair<std::string, double>> stage_us;    ///< build, compile stages, assemble, store, load
  std::vector<std::pair<std::string, std::string>> texts;  ///< tile, llvm, llvm-opt, asm: kept while tracing
};

/// A kernel loaded on one device. Immutable; the module is unloaded with the last holder.
class Kernel {
 public:
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Queues one launch. Checks that no read-only view is written. Allocates nothing.
  Status launch(device::QueueHandle queue, const std::uint32_t grid[3], std::span<const Arg> args) const;
  [[nodiscard]] const KernelInfo& info() const { return *info_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& code() const { return code_; }  ///< object or GPU binary
  [[nodiscard]] const Provenance& provenance() const { return provenance_; }
  [[nodiscard]] device::Device& device() const { return *device_; }
  /// Compiled before the trace that runs now: made anew, so that the trace shows every stage.
  [[nodiscard]] bool is_untraced() const { return trace::enabled() && provenance_.texts.empty(); }

 private:
  friend class Loader;
  Kernel() = default;
  Status check_arguments(std::span<const Arg> args) const;
  Status submit_traced(device::QueueHandle queue, const device::Dispatch& dispatch) const;
  std::string name_;
  std::vector<std::string> arg_names_;
  std::string code_;
  std::shared_ptr<const KernelInfo> info_;
  Provenance provenance_;
  device::Device* device_ = nullptr;
  device::ModuleHandle module_;
  device::KernelHandle kernel_;
};

/// The kernel for these arguments on this device, compiled where it is not cached.
Result<std::shared_ptr<const Kernel>> load(device::Device& device, const Source& source, std::span<const Arg> args);

/// Compiles without a device, for a target and processor ("cpu", "x86-64-v3"): ahead of time, tests, tools.
/// `texts` receives the stages' texts where it is not null.
Result<std::string> compile_only(const std::string& target, const std::string& arch, const ir::Module& module,
                                 KernelInfo* info, std::vector<std::pair<std::string, std::string>>* texts);

/// What happened so far in this process.
struct Statistics {
  std::uint64_t memory_hits = 0;
  std::uint64_t disk_hits = 0;
  std::uint64_t compiled = 0;
  std::uint64_t cache_errors = 0;  ///< writes that failed; the reason went to the log
};
Statistics statistics();

/// All kernels loaded now, oldest first.
std::vector<std::shared_ptr<const Kernel>> loaded_kernels();
/// Forgets the memory cache (kernels in use stay alive); the disk is untouched.
void clear_memory_cache();

}  // namespace epi::jit
