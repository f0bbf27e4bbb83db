// Follows each written view back through slices and permutations to its argument.
#include "epi/ir/effects.h"

#include "epi/ir/module_impl.h"

namespace epi::ir {
namespace {

std::uint64_t bit_of(mlir::Value view) {
  while (mlir::Operation* op = view.getDefiningOp()) view = op->getOperand(0);  // slice, permute_view
  const unsigned number = mlir::cast<mlir::BlockArgument>(view).getArgNumber();
  return number < 64 ? std::uint64_t{1} << number : 0;
}

}  // namespace

std::uint64_t written_views(const Module& module) {
  std::uint64_t written = 0;
  module.impl().kernel().walk([&](mlir::Operation* op) {
    if (auto store = mlir::dyn_cast<tile::StoreOp>(op)) written |= bit_of(store.getView());
    if (auto scatter = mlir::dyn_cast<tile::ScatterOp>(op)) written |= bit_of(scatter.getView());
    if (auto rmw = mlir::dyn_cast<tile::AtomicRmwOp>(op)) written |= bit_of(rmw.getView());
    if (auto cas = mlir::dyn_cast<tile::AtomicCasOp>(op)) written |= bit_of(cas.getView());
    if (auto lookback = mlir::dyn_cast<tile::LookbackOp>(op)) written |= bit_of(lookback.getState());
  });
  return written;
}

}  // namespace epi::ir
