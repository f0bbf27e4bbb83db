// What every compile starts with, as a sentence: inline, fold, hoist, share, erase. Tile stage to tile stage.
#include <mlir/IR/Diagnostics.h>

#include "epi/ir/builder_impl.h"
#include "epi/ir/passes/passes.h"

namespace epi::ir {

mlir::LogicalResult canonicalize(mlir::ModuleOp module) {
  if (mlir::failed(inline_calls(module))) return mlir::failure();
  fold_constants(module);
  hoist_invariants(module);
  share_common(module);
  erase_dead(module);
  return mlir::success();
}

Status canonicalize(Module& module) {
  Status status;
  mlir::ScopedDiagnosticHandler handler(module.impl().context.get(), [&](mlir::Diagnostic& d) {
    if (status.ok() && d.getSeverity() == mlir::DiagnosticSeverity::Error) status = compile_error(render(d));
    return mlir::success();
  });
  if (mlir::failed(canonicalize(*module.impl().module)) && status.ok())
    return internal_error("canonicalize failed without a message");
  return status;
}

}  // namespace epi::ir
