// The "cuda" target: Tile IR to PTX text.
#include <chrono>

#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "epi/backend/cuda/target/gpu_emitter.h"
#include "epi/backend/cuda/target/machine.h"
#include "epi/compiler/compiler.h"
#include "epi/compiler/llvm_pipeline.h"
#include "epi/ir/module_impl.h"

namespace epi::cuda {
namespace {

using compiler::Compiled;
using compiler::CompileOptions;

constexpr char kDefaultProcessor[] = "sm_90a";

Result<Processor> processor_of(std::string_view arch) {
  const auto found = find_processor(arch.empty() ? kDefaultProcessor : arch);
  if (found) return *found;
  return invalid_argument("the cuda target knows sm_80, sm_86, sm_89, sm_90 and sm_90a, not '" + std::string(arch) +
                          "'");
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

/// Emits the kernel; where kept tiles need more shared memory than there is, once more with loads done again instead.
Status emit_kernel(llvm::Module& code, mlir::func::FuncOp kernel, const Processor& processor, KernelInfo& info,
                   bool keep_loads) {
  EPI_RETURN_IF_ERROR(prepare_module(code, processor.name));
  Plan plan = make_plan(kernel, processor);
  plan.keep_loads = plan.keep_loads && keep_loads;
  GpuEmitter emitter(code, kernel, info, plan);
  EPI_RETURN_IF_ERROR(emitter.run());
  emitter.mark_read_only_loads();
  return {};
}

Result<Compiled> NvptxTarget::compile(const ir::Module& module, const CompileOptions& options) const {
  EPI_TRY(const Processor processor, processor_of(options.arch));
  EPI_RETURN_IF_ERROR(assign_association(module, options));
  auto kernel = module.impl().kernel();
  if (!kernel) return compile_error("the module has no kernel");
  const auto dump = [&](const char* stage, const auto& text) {
    if (options.dump) options.dump(stage, text());
  };
  dump("tile", [&] { return module.print(); });
  Clock clock;
  Compiled out;
  llvm::LLVMContext context;
  auto code = std::make_unique<llvm::Module>("kernel", context);
  Status emitted = emit_kernel(*code, kernel, processor, out.info, true);
  if (!emitted.ok()) {
    out.info = {};
    code = std::make_unique<llvm::Module>("kernel", context);
    if (!emit_kernel(*code, kernel, processor, out.info, false).ok()) return emitted;
  }
  out.times.push_back({"emit", clock.lap()});
  dump("llvm", [&] { return compiler::print(*code); });
  if (options.dump) {  // a check for developers: costs as much as a pass
    std::string problem;
    llvm::raw_string_ostream report(problem);
    if (llvm::verifyModule(*code, &report)) return internal_error("the emitter made wrong LLVM IR: " + problem);
  }
  clock.lap();
  if (options.opt_level > 0) EPI_RETURN_IF_ERROR(optimise_module(*code, processor.name));
  out.times.push_back({"optimise", clock.lap()});
  dump("llvm-opt", [&] { return compiler::print(*code); });
  clock.lap();
  EPI_TRY(out.bytes, generate_ptx(*code, processor.name));
  out.times.push_back({"codegen", clock.lap()});
  dump("asm", [&] { return out.bytes; });
  return out;
}

}  // namespace
}  // namespace epi::cuda

namespace epi::backend::cuda {

std::unique_ptr<compiler::Target> compiler_target() { return std::make_unique<epi::cuda::NvptxTarget>(); }

}  // namespace epi::backend::cuda
