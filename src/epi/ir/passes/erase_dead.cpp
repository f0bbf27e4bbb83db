// Erases ops whose results no one uses and that have no effect, because front ends build more than they use. Bottom up,
// so that what only fed a dead op goes with it. Tile stage to tile stage.
#include "epi/ir/passes/passes.h"

namespace epi::ir {
namespace {

void erase_dead(mlir::Block& block) {
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (mlir::isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (mlir::Region& region : op.getRegions())
      for (mlir::Block& inner : region) erase_dead(inner);
  }
}

}  // namespace

void erase_dead(mlir::ModuleOp module) { erase_dead(*module.getBody()); }

}  // namespace epi::ir
