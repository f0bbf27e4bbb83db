// Replaces calls of helper functions by their bodies, because back ends see kernels only. Tile stage to tile stage.
#include <mlir/IR/IRMapping.h>

#include "epi/ir/passes/passes.h"

namespace epi::ir {
namespace {

/// A call and the helpers it came through.
struct Pending {
  mlir::func::CallOp call;
  llvm::SmallVector<mlir::func::FuncOp> path;
};

void collect(mlir::Operation* root, const llvm::SmallVector<mlir::func::FuncOp>& path, std::vector<Pending>& out) {
  root->walk([&](mlir::func::CallOp call) { out.push_back({call, path}); });
}

mlir::LogicalResult expand(const Pending& pending, mlir::ModuleOp module, std::vector<Pending>& work) {
  mlir::func::CallOp call = pending.call;
  auto callee = module.lookupSymbol<mlir::func::FuncOp>(call.getCallee());
  if (callee.isExternal()) return call.emitError() << "helper " << call.getCallee() << " has no body";
  if (callee->hasAttr(tile::kKernelAttr))
    return call.emitError() << "kernel " << call.getCallee() << " is called; only launches start kernels";
  if (!callee.getBody().hasOneBlock())
    return callee.emitError() << "helper " << call.getCallee() << " has several blocks; control is scf's";
  if (llvm::is_contained(pending.path, callee))
    return call.emitError() << "helper " << call.getCallee() << " calls itself; kernels have no recursion";
  mlir::OpBuilder b(call);
  mlir::IRMapping map;
  map.map(callee.getBody().getArguments(), call.getOperands());
  llvm::SmallVector<mlir::func::FuncOp> path = pending.path;
  path.push_back(callee);
  mlir::Block& body = callee.getBody().front();
  for (mlir::Operation& op : body.without_terminator()) {
    mlir::Operation* copy = b.clone(op, map);
    copy->walk([&](mlir::Operation* inner) { inner->setLoc(mlir::CallSiteLoc::get(inner->getLoc(), call.getLoc())); });
    collect(copy, path, work);
  }
  for (auto [result, value] : llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
    result.replaceAllUsesWith(map.lookupOrDefault(value));
  call.erase();
  return mlir::success();
}

}  // namespace

mlir::LogicalResult inline_calls(mlir::ModuleOp module) {
  llvm::SmallVector<mlir::func::FuncOp> helpers;
  std::vector<Pending> work;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (function->hasAttr(tile::kKernelAttr))
      collect(function, {}, work);
    else
      helpers.push_back(function);
  }
  while (!work.empty()) {
    const Pending next = std::move(work.back());
    work.pop_back();
    if (mlir::failed(expand(next, module, work))) return mlir::failure();
  }
  for (mlir::func::FuncOp helper : helpers) helper.erase();
  return mlir::success();
}

}  // namespace epi::ir
