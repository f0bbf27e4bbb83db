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

namespace {

/// The pairs through shared memory, one a trip of a loop.
void for_shelved(GpuEmitter& e, mlir::Value acc, llvm::ArrayRef<std::int64_t> shape, const Fragments& fragments,
                 const FragmentShelf& shelf, llvm::function_ref<void(const Pos&)> body) {
  auto& b = e.builder();
  auto* pair = llvm::FixedVectorType::get(b.getFloatTy(), 2);
  const auto slot = [&](Value* index) {
    Value* at = b.CreateAdd(b.CreateMul(index, e.i32(shelf.threads)), shelf.thread);
    return b.CreateIntToPtr(b.CreateAdd(shelf.base, b.CreateShl(at, 3)), llvm::PointerType::get(b.getContext(), 3));
  };
  e.ptx().sync_named(shelf.barrier, shelf.threads);
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    Value* both = llvm::PoisonValue::get(pair);
    both = b.CreateInsertElement(both, fragments[i].left, std::uint64_t{0});
    both = b.CreateInsertElement(both, fragments[i].right, std::uint64_t{1});
    b.CreateAlignedStore(both, slot(e.i32(static_cast<std::int64_t>(i))), llvm::Align(8));
  }
  auto loop = e.begin_loop(e.i32(0), e.i32(static_cast<std::int64_t>(fragments.size())), e.i32(1));
  Value* both = b.CreateAlignedLoad(pair, slot(loop.index), llvm::Align(8));
  const auto [row, col] = shelf.place(loop.index);
  for_fragments(
      e, acc, shape,
      {{row, col, b.CreateExtractElement(both, std::uint64_t{0}), b.CreateExtractElement(both, std::uint64_t{1})}},
      body);
  e.end_loop(loop);
}

}  // namespace

void store_fragments(GpuEmitter& e, tile::StoreOp store, mlir::Value acc, const Fragments& fragments,
                     const FragmentShelf& shelf) {
  const auto shape = tile::shape_of(store.getValue().getType());
  const Access target = e.access(store.getView(), store.getOffsets(), shape, store.getInbounds());
  const auto walk = e.prepare({store.getValue()}, false);
  const auto one = [&](const Pos& pos) {
    e.store_at(target, e.coordinates(pos, shape), e.pull(store.getValue(), pos));
  };
  e.versioned(walk.accesses, {&target}, [&] {
    if (shelf.base != nullptr && e.at_edge())
      for_shelved(e, acc, shape, fragments, shelf, one);
    else
      for_fragments(e, acc, shape, fragments, one);
  });
}

}  // namespace epi::cuda
