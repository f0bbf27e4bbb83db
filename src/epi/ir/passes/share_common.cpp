// Keeps one of several equal ops, because front ends write each index anew. Reads are shared where nothing wrote in
// between. Tile stage to tile stage.
#include <mlir/IR/Dominance.h>
#include <mlir/IR/PatternMatch.h>
#include <mlir/Transforms/CSE.h>

#include "epi/ir/passes/passes.h"

namespace epi::ir {

void share_common(mlir::ModuleOp module) {
  mlir::IRRewriter rewriter(module.getContext());
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    mlir::DominanceInfo dominance(function);
    mlir::eliminateCommonSubExpressions(rewriter, dominance, function);
  }
}

}  // namespace epi::ir
