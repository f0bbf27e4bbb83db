#include "epi/backend/cuda/target/fragments.h"

namespace epi::cuda {

using llvm::Value;

void for_fragments(GpuEmitter& e, mlir::Value acc, llvm::ArrayRef<std::int64_t> shape, const Fragments& fragments,
                   llvm::function_ref<void(const Pos&)> body) {
  auto& b = e.builder();
  for (const FragmentPair& f : fragments) {
    const compiler::Emitter::Scope scope(e);
    const Pos pos = e.at(b.CreateAdd(b.CreateMul(f.row, e.i32(shape[1])), f.col), 2, 2);
    e.seed_divmod(pos.index, shape[1], f.row, f.col);
    Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(f.left->getType(), 2));
    pair = b.CreateInsertElement(b.CreateInsertElement(pair, f.left, std::uint64_t{0}), f.right, std::uint64_t{1});
    e.remember(acc, pos, {pair});
    body(pos);
  }
}

void store_fragments(GpuEmitter& e, tile::StoreOp store, mlir::Value acc, const Fragments& fragments) {
  const auto shape = tile::shape_of(store.getValue().getType());
  const Access target = e.access(store.getView(), store.getOffsets(), shape, store.getInbounds());
  const auto walk = e.prepare({store.getValue()}, false);
  e.versioned(walk.accesses, {&target}, [&] {
    for_fragments(e, acc, shape, fragments, [&](const Pos& pos) {
      e.store_at(target, e.coordinates(pos, shape), e.pull(store.getValue(), pos));
    });
  });
}

}  // namespace epi::cuda
