// Loops whose body is large: the body is emitted once. Where an access may leave its view, the elements inside are first
// copied to scratch (the others are padding), and the loop reads from there; a store goes to scratch and is copied back.
// Which of the two it is, view or scratch, is an address and strides chosen before the loop.
#include "epi/compiler/emitter.h"

namespace epi::compiler {

void Emitter::run_versions(const Walk& walk, llvm::ArrayRef<const Access*> extra, llvm::ArrayRef<std::int64_t> extra_shape,
                           llvm::function_ref<void()> emit) {
  const bool was = std::exchange(heavy_, walk.heavy);
  if (walk.heavy && stage_edges()) staged(walk.accesses, extra, extra_shape, emit);
  else versioned(walk.accesses, extra, emit);
  heavy_ = was;
}

/// The access through `scratch` (dense, of `shape`) where control came from `edge`, as it was where it came from `before`.
Access Emitter::either(const Access& a, const Buffer& scratch, llvm::ArrayRef<std::int64_t> shape, llvm::BasicBlock* before,
                       llvm::BasicBlock* edge) {
  auto choose = [&](llvm::Value* direct, llvm::Value* staged) -> llvm::Value* {
    if (direct == staged) return direct;
    auto* phi = b_.CreatePHI(direct->getType(), 2);
    phi->addIncoming(direct, before);
    phi->addIncoming(staged, edge);
    return phi;
  };
  Access out = a;
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1) out.view.strides[axis] = choose(a.view.strides[axis], b_.getInt64(static_cast<std::uint64_t>(stride)));
    out.view.divisors[axis] = 1;
    stride *= shape[axis];
  }
  out.origin = choose(a.origin, scratch.pointer);
  out.inside = nullptr;
  out.view.alias = kNoAlias;
  return out;
}

void Emitter::staged(llvm::ArrayRef<mlir::Operation*> loads, llvm::ArrayRef<const Access*> extra,
                     llvm::ArrayRef<std::int64_t> extra_shape, llvm::function_ref<void()> emit) {
  struct Staged {
    mlir::Operation* load;  ///< or null: a store
    Access* access;         ///< a store's
    Access was;
    Buffer scratch;
    llvm::SmallVector<std::int64_t, 4> shape;
  };
  llvm::SmallVector<Staged, 4> all;
  llvm::Value* inside = b_.getTrue();
  auto add = [&](mlir::Operation* load, Access* a, llvm::ArrayRef<std::int64_t> shape) {
    if (!a->inside) return;
    inside = b_.CreateAnd(inside, a->inside);
    all.push_back({load, load ? nullptr : a, *a, {}, {shape.begin(), shape.end()}});
  };
  for (mlir::Operation* op : loads) add(op, &accesses_[op], tile::shape_of(op->getResult(0).getType()));
  for (const Access* a : extra) add(nullptr, const_cast<Access*>(a), extra_shape);
  auto* known = llvm::dyn_cast<llvm::ConstantInt>(inside);
  if (all.empty() || (known && known->isOne())) return versioned(loads, extra, emit);
  const bool was_checked = std::exchange(checked_, true);
  auto copy = [&](Staged& s, bool in) {
    const unsigned lanes = masked(s.was) ? lanes_for(static_cast<unsigned>(size_bytes(s.scratch.dtype)), s.scratch.count) : 1;
    const Vec padding = s.load ? padding_of(mlir::cast<tile::LoadOp>(s.load)) : Vec{};
    for_chunks(s.shape, lanes, [&](const Pos& pos) {
      const Coords c = coordinates(pos, s.shape);
      if (in) write(s.scratch, pos, load_at(s.was, c, padding));
      else store_at(s.was, c, read(s.scratch, pos));
    });
  };
  for (Staged& s : all) {
    std::int64_t count = 1;
    for (std::int64_t e : s.shape) count *= e;
    s.scratch = make_buffer(s.was.view.dtype, count);
    s.scratch.alias_scope = 0;  // the loop reads it through an address that may be a view's
  }
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* edge = llvm::BasicBlock::Create(context_, "edge", function_);
  auto* body = llvm::BasicBlock::Create(context_, "body", function_);
  b_.CreateCondBr(inside, body, edge);
  b_.SetInsertPoint(edge);
  {
    Scope scope(*this);
    for (Staged& s : all)
      if (s.load) copy(s, true);
  }
  edge = b_.GetInsertBlock();
  b_.CreateBr(body);
  b_.SetInsertPoint(body);
  for (Staged& s : all) (s.load ? accesses_[s.load] : *s.access) = either(s.was, s.scratch, s.shape, before, edge);
  {
    Scope scope(*this);
    checked_ = false;
    emit();
    checked_ = true;
  }
  for (Staged& s : all) (s.load ? accesses_[s.load] : *s.access) = s.was;
  if (!extra.empty())
    if_then(b_.CreateNot(inside), [&] {
      for (Staged& s : all)
        if (!s.load) copy(s, false);
    });
  checked_ = was_checked;
}

}  // namespace epi::compiler
