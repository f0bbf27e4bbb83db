// Computes scalar integer arithmetic on constants and drops identities (the ops' folders), because index math is full
// of both; an scf.if of a constant becomes the part that runs. One walk in program order, so operands are folded before
// their uses. Tile stage to tile stage.
#include "epi/ir/passes/passes.h"

namespace epi::ir {
namespace {

mlir::Attribute constant_of(mlir::Value v) {
  auto constant = v.getDefiningOp<tile::ConstantOp>();
  return constant ? constant.getValue() : mlir::Attribute();
}

/// Moves the part that runs before the if, and replaces the if by what it yields.
bool take_branch(mlir::scf::IfOp op) {
  auto condition = mlir::dyn_cast_or_null<mlir::BoolAttr>(constant_of(op.getCondition()));
  if (!condition) return false;
  mlir::Block* taken = condition.getValue() ? op.thenBlock() : op.elseBlock();
  if (taken) {
    mlir::Operation* yield = taken->getTerminator();
    op->replaceAllUsesWith(yield->getOperands());
    yield->erase();
    op->getBlock()->getOperations().splice(op->getIterator(), taken->getOperations());
  }
  op.erase();
  return true;
}

void fold(mlir::Operation* op) {
  llvm::SmallVector<mlir::Attribute> operands;
  for (mlir::Value v : op->getOperands()) operands.push_back(constant_of(v));
  llvm::SmallVector<mlir::OpFoldResult> results;
  if (mlir::failed(op->fold(operands, results)) || results.empty()) return;
  mlir::OpBuilder b(op);
  for (auto [result, folded] : llvm::zip(op->getResults(), results)) {
    auto value = llvm::dyn_cast_if_present<mlir::Value>(folded);
    if (!value) value = b.create<tile::ConstantOp>(op->getLoc(), result.getType(), mlir::cast<mlir::Attribute>(folded));
    result.replaceAllUsesWith(value);
  }
  op->erase();
}

void fold(mlir::Block& block) {
  for (auto it = block.begin(); it != block.end();) {
    mlir::Operation* op = &*it;
    if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op)) {
      // The spliced ops come before the next one: fold them from their first on.
      const bool first = it == block.begin();
      const auto before = first ? it : std::prev(it);
      if (take_branch(branch)) {
        it = first ? block.begin() : std::next(before);
        continue;
      }
    }
    ++it;
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& inner : region) fold(inner);
    if (mlir::isa_and_present<tile::TileDialect>(op->getDialect()) && !mlir::isa<tile::ConstantOp>(op)) fold(op);
  }
}

}  // namespace

void fold_constants(mlir::ModuleOp module) { fold(*module.getBody()); }

}  // namespace epi::ir
