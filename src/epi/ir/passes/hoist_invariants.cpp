// Moves scalar ops and view ops out of loops where their operands allow it, because they cost a register at most. Tiles
// stay: back ends recompute them where they are used. Every op of the dialect is defined for every operand, so moving
// one before a loop that runs zero times is safe, but for a division that reports zero. Tile stage to tile stage.
#include <mlir/Transforms/LoopInvariantCodeMotionUtils.h>

#include "epi/ir/passes/passes.h"

namespace epi::ir {
namespace {

bool is_cheap(mlir::Operation* op) {
  if (op->getNumRegions() != 0 || !mlir::isMemoryEffectFree(op) || !mlir::isSpeculatable(op)) return false;
  if (auto binary = mlir::dyn_cast<tile::BinaryOp>(op); binary && binary.getFlagZero()) return false;
  return llvm::none_of(op->getResultTypes(), [](mlir::Type t) { return mlir::isa<mlir::RankedTensorType>(t); });
}

}  // namespace

void hoist_invariants(mlir::ModuleOp module) {
  module.walk([](mlir::LoopLikeOpInterface loop) {  // post order: inner loops first
    mlir::moveLoopInvariantCode(
        loop.getLoopRegions(), [&](mlir::Value v, mlir::Region*) { return loop.isDefinedOutsideOfLoop(v); },
        [](mlir::Operation* op, mlir::Region*) { return is_cheap(op); },
        [&](mlir::Operation* op, mlir::Region*) { loop.moveOutOfLoop(op); });
  });
}

}  // namespace epi::ir
