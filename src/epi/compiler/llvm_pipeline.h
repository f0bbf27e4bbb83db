// The short LLVM pipeline that every target runs between emission and code generation. No PassBuilder: it would link
// every pass of LLVM.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace epi::compiler {

/// Cleans up what the emitter leaves: promotes small buffers to registers, merges equal work, hoists out of loops.
void optimise(llvm::Module& module, llvm::TargetMachine& machine);
std::string print(const llvm::Module& module);

}  // namespace epi::compiler
