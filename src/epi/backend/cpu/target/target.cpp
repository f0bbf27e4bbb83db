// The "cpu" target: Tile IR -> LLVM IR -> a relocatable x86-64 object.
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <bit>
#include <chrono>

#include "epi/backend/cpu/target/cpu_emitter.h"
#include "epi/backend/cpu/target/link.h"
#include "epi/backend/cpu/target/machine.h"
#include "epi/compiler/compiler.h"
#include "epi/compiler/llvm_pipeline.h"
#include "epi/ir/module_impl.h"

namespace epi::cpu {
namespace {

using compiler::Compiled;
using compiler::CompileOptions;

/// Bytes of accumulators that a reduce folds into: enough vectors to hide the latency of an add, on any level, so that
/// the bits do not depend on the level.
constexpr std::int64_t kFoldBytes = 256;
/// Folds beside the axis hold a vector each already.
constexpr std::int64_t kFoldLanesAcross = 4;

/// Scans from this length on are cut into 32 segments, whose chains of additions overlap.
constexpr std::int64_t kSideBySide = 512;

class Clock {
 public:
  explicit Clock(std::vector<compiler::StageTime>& times) : times_(times) {}
  void mark(const char* stage) {
    const auto now = std::chrono::steady_clock::now();
    times_.push_back({stage, std::chrono::duration<double, std::micro>(now - last_).count()});
    skip();
  }
  void skip() { last_ = std::chrono::steady_clock::now(); }

 private:
  std::vector<compiler::StageTime>& times_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::int64_t lanes_of(tile::ReduceOp op) {
  const llvm::ArrayRef<std::int64_t> shape = tile::shape_of(op.getSources()[0].getType());
  const auto axis = static_cast<std::size_t>(op.getAxis());
  std::int64_t inner = 1;
  for (std::size_t a = axis + 1; a < shape.size(); ++a) inner *= shape[a];
  if (inner > 1) return kFoldLanesAcross;
  std::int64_t widest = 1;
  for (mlir::Value v : op.getSources()) {
    const DType d = tile::dtype_of(v.getType());
    widest = std::max<std::int64_t>(widest, is_float(d) ? std::max<std::int64_t>(4, static_cast<std::int64_t>(size_bytes(d))) : static_cast<std::int64_t>(size_bytes(d)));
  }
  return kFoldBytes / widest;
}

class CpuTarget final : public compiler::Target {
 public:
  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] std::string resolve_arch(std::string_view arch) const override {
    Result<Level> level = level_of(arch);
    return level.ok() ? level->arch : std::string(arch);
  }

  Status assign_association(const ir::Module& module, const CompileOptions&) const override {
    module.impl().module->walk([](mlir::Operation* op) {
      mlir::Builder b(op->getContext());
      if (auto reduce = mlir::dyn_cast<tile::ReduceOp>(op); reduce && !reduce.getLanes())
        reduce.setLanesAttr(b.getI64IntegerAttr(lanes_of(reduce)));
      if (auto scan = mlir::dyn_cast<tile::ScanOp>(op); scan && !scan.getSegment()) {
        const std::int64_t n = tile::shape_of(scan.getSources()[0].getType())[scan.getAxis()];
        scan.setSegmentAttr(b.getI64IntegerAttr(n >= kSideBySide && n % 32 == 0 ? n / 32 : std::max<std::int64_t>(n, 1)));
      }
    });
    return {};
  }

  Result<Compiled> compile(const ir::Module& module, const CompileOptions& options) const override {
    EPI_TRY(const Level level, level_of(options.arch));
    EPI_RETURN_IF_ERROR(assign_association(module, options));
    Compiled out;
    Clock clock(out.times);
    auto dump = [&](const char* stage, auto&& text) {
      if (!options.dump) return;
      options.dump(stage, text());
      clock.skip();
    };
    dump("tile", [&] { return module.print(); });
    EPI_TRY(const Machine machine, machine_of(level));
    llvm::LLVMContext context;
    llvm::Module code("kernel", context);
    code.setTargetTriple(machine.machine->getTargetTriple().str());
    code.setDataLayout(machine.machine->createDataLayout());
    mlir::func::FuncOp kernel = module.impl().kernel();
    if (!kernel) return compile_error("the module has no kernel");
    clock.mark("start");
    EPI_RETURN_IF_ERROR(CpuEmitter(code, kernel, out.info, level).run());
    clock.mark("emit");
    dump("llvm", [&] { return compiler::print(code); });
    if (options.dump) {  // a check for developers: costs as much as a pass
      std::string problem;
      llvm::raw_string_ostream stream(problem);
      if (llvm::verifyModule(code, &stream)) return internal_error("the emitter made wrong LLVM IR: " + problem);
      clock.skip();
    }
    if (options.opt_level > 0) compiler::optimise(code, *machine.machine);
    clock.mark("optimise");
    dump("llvm-opt", [&] { return compiler::print(code); });
    dump("asm", [&] { return assembly(code, *machine.machine); });
    EPI_TRY(out.bytes, object_code(code, *machine.machine));
    clock.mark("codegen");
    return out;
  }

  Result<compiler::HostCode> link(std::string_view bytes, const std::string& symbol) const override {
    EPI_TRY(std::shared_ptr<LoadedCode> code, link_object(bytes, symbol));
    const auto entry = reinterpret_cast<HostKernel>(code->entry());
    return compiler::HostCode{entry, std::move(code)};
  }
};

}  // namespace
}  // namespace epi::cpu

namespace epi::backend::cpu {
std::unique_ptr<compiler::Target> compiler_target() { return std::make_unique<epi::cpu::CpuTarget>(); }
}  // namespace epi::backend::cpu
