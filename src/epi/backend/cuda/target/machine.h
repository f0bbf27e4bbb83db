// LLVM's NVPTX code generator: one target machine a GPU generation, a short pass list, PTX text out. Thread-safe; a
// module is used by one thread.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>
#include <string_view>

#include "epi/base/status.h"

namespace epi::cuda {

/// The processor name LLVM 19 is given for a GPU of compute capability `major`.`minor`: sm_80 to sm_90a; a newer GPU
/// takes sm_90's PTX. With `arch_specific`, sm_90a where the GPU is exactly 9.0.
std::string processor_name(int major, int minor, bool arch_specific);

/// Sets triple and data layout; must be done before code is emitted into the module.
Status prepare_module(llvm::Module& module, std::string_view processor);

/// Marks `f` as a kernel of `threads` threads a block, of which a multiprocessor shall hold at least `blocks` (the
/// register budget). `grid_constant`: indices of tensor-map parameters.
void mark_kernel(llvm::Function& f, unsigned threads, unsigned blocks, llvm::ArrayRef<unsigned> grid_constant = {});

/// Runs the short pipeline.
Status optimise_module(llvm::Module& module, std::string_view processor);
/// Generates code: the PTX text. Consumes the module's code.
Result<std::string> generate_ptx(llvm::Module& module, std::string_view processor);

}  // namespace epi::cuda
