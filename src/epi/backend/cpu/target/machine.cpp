// Target machines and code generation.
#include "epi/backend/cpu/target/machine.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cstdlib>
#include <map>

#include "epi/backend/cpu/target/ternary_logic.h"

namespace epi::cpu {
namespace {

constexpr const char* kTriple = "x86_64-unknown-linux-gnu";

void initialise() {
  static const bool done = [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    return true;
  }();
  (void)done;
}

bool host_has_v4() {
  static const bool has = [] {
    const llvm::StringMap<bool> f = llvm::sys::getHostCPUFeatures();
    auto on = [&](const char* name) { return f.lookup(name); };
    return on("avx512f") && on("avx512bw") && on("avx512dq") && on("avx512vl") && on("avx512cd");
  }();
  return has;
}

bool host_has_v3() {
  static const bool has = [] {
    const llvm::StringMap<bool> f = llvm::sys::getHostCPUFeatures();
    return f.lookup("avx2") && f.lookup("fma") && f.lookup("f16c") && f.lookup("bmi2");
  }();
  return has;
}

bool emit(llvm::Module& module, llvm::TargetMachine& machine, llvm::CodeGenFileType kind, llvm::SmallVectorImpl<char>& out) {
  part_logic_from_selects(module);
  llvm::legacy::PassManager passes;
  llvm::raw_svector_ostream stream(out);
  passes.add(new llvm::TargetLibraryInfoWrapperPass(llvm::TargetLibraryInfoImpl(machine.getTargetTriple())));
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind)) return false;
  passes.run(module);
  return true;
}

}  // namespace

Result<Level> level_of(std::string_view arch) {
  std::string name(arch);
  const bool chosen = !name.empty();
  if (!chosen)
    if (const char* wish = std::getenv("EPITAXY_CPU_ARCH"); wish && *wish) name = wish;
  if (name.empty()) name = host_has_v4() ? "x86-64-v4" : "x86-64-v3";
  if (name != "x86-64-v3" && name != "x86-64-v4")
    return invalid_argument("no CPU architecture '" + name + "'; use x86-64-v3 (AVX2) or x86-64-v4 (AVX-512)");
  if (!chosen && (name == "x86-64-v4" ? !host_has_v4() : !host_has_v3()))
    return unsupported("this processor cannot run " + name + " code; Epitaxy needs AVX2, FMA, F16C and BMI2 at least");
  Level level{name, 32, 16};
  if (name == "x86-64-v4") level = {name, 64, 32};
  return level;
}

Result<Machine> machine_of(const Level& level) {
  static std::mutex mutex;
  static auto* machines = new std::map<std::string, std::unique_ptr<llvm::TargetMachine>>;
  std::unique_lock<std::mutex> lock(mutex);
  std::unique_ptr<llvm::TargetMachine>& m = (*machines)[level.arch];
  if (!m) {
    initialise();
    std::string error;
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
    if (!target) return internal_error("LLVM has no x86-64: " + error);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    options.NoNaNsFPMath = false;
    const std::string features = level.vector_bytes == 64 ? "-prefer-256-bit" : "";
    m.reset(target->createTargetMachine(kTriple, level.arch, features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                        llvm::CodeGenOptLevel::Default, true));
    if (!m) return internal_error("LLVM cannot make code for " + level.arch);
  }
  return Machine{m.get(), std::move(lock)};
}

Result<std::string> object_code(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallVector<char, 0> out;
  if (!emit(module, machine, llvm::CodeGenFileType::ObjectFile, out)) return internal_error("LLVM cannot write x86 objects");
  return std::string(out.begin(), out.end());
}

std::string assembly(const llvm::Module& module, llvm::TargetMachine& machine) {
  std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
  llvm::SmallVector<char, 0> out;
  if (!emit(*copy, machine, llvm::CodeGenFileType::AssemblyFile, out)) return "";
  return {out.begin(), out.end()};
}

}  // namespace epi::cpu
