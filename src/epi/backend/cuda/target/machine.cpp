#include "epi/backend/cuda/target/machine.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <memory>
#include <mutex>

#include "epi/compiler/llvm_pipeline.h"

namespace epi::cuda {
namespace {

constexpr char kTriple[] = "nvptx64-nvidia-cuda";
constexpr char kPtxVersion[] = "+ptx85";

/// A machine for the calling thread's use until it gives it back: TargetMachine keeps state while it compiles.
class MachinePool {
 public:
  std::unique_ptr<llvm::TargetMachine> take(const std::string& processor) {
    {
      const std::lock_guard lock(mutex_);
      auto& free = free_[processor];
      if (!free.empty()) {
        auto machine = std::move(free.back());
        free.pop_back();
        return machine;
      }
    }
    return make(processor);
  }
  void give(const std::string& processor, std::unique_ptr<llvm::TargetMachine> machine) {
    const std::lock_guard lock(mutex_);
    free_[processor].push_back(std::move(machine));
  }

 private:
  static std::unique_ptr<llvm::TargetMachine> make(const std::string& processor) {
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeNVPTXTargetInfo();
      LLVMInitializeNVPTXTarget();
      LLVMInitializeNVPTXTargetMC();
      LLVMInitializeNVPTXAsmPrinter();
    });
    std::string error;
    const auto* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
    if (target == nullptr) return nullptr;
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(kTriple, processor, kPtxVersion, options,
                                                                            llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                            llvm::CodeGenOptLevel::Default, true));
  }
  std::mutex mutex_;
  std::map<std::string, std::vector<std::unique_ptr<llvm::TargetMachine>>> free_;
};

MachinePool& pool() {
  static auto* p = new MachinePool;
  return *p;
}

}  // namespace

std::string processor_name(int major, int minor, bool arch_specific) {
  const int capability = major * 10 + minor;
  if (capability == 90) return arch_specific ? "sm_90a" : "sm_90";
  if (capability > 90) return "sm_90";
  for (int known : {89, 87, 86, 80})
    if (capability >= known) return "sm_" + std::to_string(known);
  return {};
}

Status prepare_module(llvm::Module& module, std::string_view processor) {
  auto machine = pool().take(std::string(processor));
  if (machine == nullptr) return internal_error("LLVM was built without its NVPTX target");
  module.setTargetTriple(kTriple);
  module.setDataLayout(machine->createDataLayout());
  pool().give(std::string(processor), std::move(machine));
  return {};
}

void mark_kernel(llvm::Function& f, unsigned threads, unsigned blocks, llvm::ArrayRef<unsigned> grid_constant) {
  auto& c = f.getContext();
  auto* i32 = llvm::Type::getInt32Ty(c);
  const auto number = [&](unsigned v) { return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(i32, v)); };
  llvm::SmallVector<llvm::Metadata*> node = {llvm::ValueAsMetadata::get(&f)};
  const auto fact = [&](const char* name, unsigned v) {
    node.push_back(llvm::MDString::get(c, name));
    node.push_back(number(v));
  };
  fact("kernel", 1);
  fact("reqntidx", threads);
  fact("reqntidy", 1);
  fact("reqntidz", 1);
  fact("minctasm", blocks);
  if (!grid_constant.empty()) {
    llvm::SmallVector<llvm::Metadata*> which;
    for (unsigned p : grid_constant) which.push_back(number(p + 1));
    node.push_back(llvm::MDString::get(c, "grid_constant"));
    node.push_back(llvm::MDNode::get(c, which));
  }
  f.getParent()->getOrInsertNamedMetadata("nvvm.annotations")->addOperand(llvm::MDNode::get(c, node));
}

Status optimise_module(llvm::Module& module, std::string_view processor) {
  auto machine = pool().take(std::string(processor));
  if (machine == nullptr) return internal_error("LLVM was built without its NVPTX target");
  compiler::optimise(module, *machine);
  pool().give(std::string(processor), std::move(machine));
  return {};
}

Result<std::string> generate_ptx(llvm::Module& module, std::string_view processor) {
  auto machine = pool().take(std::string(processor));
  if (machine == nullptr) return internal_error("LLVM was built without its NVPTX target");
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager codegen;
  codegen.add(new llvm::TargetLibraryInfoWrapperPass(llvm::TargetLibraryInfoImpl(llvm::Triple(kTriple))));
  if (machine->addPassesToEmitFile(codegen, out, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return internal_error("LLVM's NVPTX target does not emit text");
  codegen.run(module);
  pool().give(std::string(processor), std::move(machine));
  return text.str().str();
}

}  // namespace epi::cuda
