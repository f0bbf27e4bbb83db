// The "cuda" target: Tile IR to PTX text.
#include <chrono>

#include <llvm/Support/raw_ostream.h>

#include "epi/backend/cuda/target/gpu_emitter.h"
#include "epi/backend/cuda/target/machine.h"
#include "epi/compiler/compiler.h"
#include "epi/ir/module_impl.h"

namespace epi::cuda {
namespace {

using compiler::Compiled;
using compiler::CompileOptions;

constexpr char kDefaultProcessor[] = "sm_90a";

Result<Processor> processor_of(std::string_view arch) {
  const auto found = find_processor(arch.empty() ? kDefaultProcessor : arch);
  if (found) return *found;
  return invalid_argument("the cuda target knows sm_80, sm_86, sm_89, sm_90 and sm_90a, not '" + std::string(arch) + "'");
}

class NvptxTarget final : public compiler::Target {
 public:
  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] std::string resolve_arch(std::string_view arch) const override {
    return arch.empty() ? kDefaultProcessor : std::string(arch);
  }
  Status assign_association(const ir::Module& module, const CompileOptions& options) const override {
    EPI_TRY(const Processor processor, processor_of(options.arch));
    auto kernel = module.impl().kernel();
    cuda::assign_association(kernel, make_plan(kernel, processor));
    return {};
  }
  Result<Compiled> compile(const ir::Module& module, const CompileOptions& options) const override;
};

/// Microseconds since the last call.
class Clock {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double us = std::chrono::duration<double, std::micro>(now - last_).count();
    last_ = now;
    return us;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void dump_module(const CompileOptions& options, std::string_view stage, const llvm::Module& module) {
  if (!options.dump) return;
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out, nullptr);
  options.dump(stage, text);
}

Result<Compiled> NvptxTarget::compile(const ir::Module& module, const CompileOptions& options) const {
  EPI_TRY(const Processor processor, processor_of(options.arch));
  EPI_RETURN_IF_ERROR(assign_association(module, options));
  Clock clock;
  Compiled out;
  llvm::LLVMContext context;
  llvm::Module code("tile", context);
  EPI_RETURN_IF_ERROR(prepare_module(code, processor.name));
  const Plan plan = make_plan(module.impl().kernel(), processor);
  GpuEmitter emitter(code, module.impl().kernel(), out.info, plan);
  EPI_RETURN_IF_ERROR(emitter.run());
  out.times.push_back({"emit", clock.lap()});
  dump_module(options, "llvm", code);
  clock.lap();
  EPI_TRY(out.bytes, compile_to_ptx(code, processor.name));
  out.times.push_back({"llvm", clock.lap()});
  if (options.dump) options.dump("asm", out.bytes);
  return out;
}

}  // namespace
}  // namespace epi::cuda

namespace epi::backend::cuda {

std::unique_ptr<compiler::Target> compiler_target() { return std::make_unique<epi::cuda::NvptxTarget>(); }

}  // namespace epi::backend::cuda
