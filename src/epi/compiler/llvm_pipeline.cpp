// The pipeline: SROA, CSE, CFG clean-up, a combine, LICM, CSE again. The full O2 costs more time than it returns here:
// the emitter already vectorises, unrolls and keeps addresses simple.
#include "epi/compiler/llvm_pipeline.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/DominanceFrontier.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

namespace epi::compiler {
namespace {

/// The analysis managers, with only what the passes below ask for.
struct Managers {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::ModuleAnalysisManager modules;

  Managers(llvm::TargetMachine& machine, const llvm::Triple& triple) {
    functions.registerPass([] {
      llvm::AAManager aa;
      aa.registerFunctionAnalysis<llvm::BasicAA>();
      aa.registerFunctionAnalysis<llvm::ScopedNoAliasAA>();
      return aa;
    });
    functions.registerPass([] { return llvm::BasicAA(); });
    functions.registerPass([] { return llvm::ScopedNoAliasAA(); });
    functions.registerPass([] { return llvm::AssumptionAnalysis(); });
    functions.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    functions.registerPass([] { return llvm::PostDominatorTreeAnalysis(); });
    functions.registerPass([] { return llvm::LoopAnalysis(); });
    functions.registerPass([] { return llvm::BlockFrequencyAnalysis(); });
    functions.registerPass([] { return llvm::BranchProbabilityAnalysis(); });
    functions.registerPass([] { return llvm::MemorySSAAnalysis(); });
    functions.registerPass([] { return llvm::ScalarEvolutionAnalysis(); });
    functions.registerPass([] { return llvm::OptimizationRemarkEmitterAnalysis(); });
    functions.registerPass([triple] { return llvm::TargetLibraryAnalysis(llvm::TargetLibraryInfoImpl(triple)); });
    functions.registerPass([&machine] { return machine.getTargetIRAnalysis(); });
    functions.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    functions.registerPass([&] { return llvm::LoopAnalysisManagerFunctionProxy(loops); });
    functions.registerPass([&] { return llvm::ModuleAnalysisManagerFunctionProxy(modules); });
    loops.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    loops.registerPass([&] { return llvm::FunctionAnalysisManagerLoopProxy(functions); });
    modules.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    modules.registerPass([] { return llvm::ProfileSummaryAnalysis(); });
    modules.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(functions); });
  }
};

}  // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  Managers managers(machine, llvm::Triple(module.getTargetTriple()));
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(false));
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::InstCombinePass(llvm::InstCombineOptions().setMaxIterations(1)));
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()), true));
  passes.addPass(llvm::EarlyCSEPass(true));
  passes.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function& f : module)
    if (!f.isDeclaration()) passes.run(f, managers.functions);
}

std::string print(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

}  // namespace epi::compiler
