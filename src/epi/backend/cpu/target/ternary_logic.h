// A guard against a wrong answer of LLVM 19: select(mask, a, logic of a and others) on 32- and 64-bit integers becomes
// a merging-masked VPTERNLOG whose operands it reorders with the wrong truth table.
#pragma once
#include <llvm/IR/Module.h>

namespace epi::cpu {

/// Keeps each logic operation out of the select that uses it, by a fence that costs a masked move. The last step
/// before code generation: an optimiser may move what it finds behind the fence.
void part_logic_from_selects(llvm::Module& module);

}  // namespace epi::cpu
