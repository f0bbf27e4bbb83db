// Ops that touch memory or scratch at their own place: stores, scatters, atomics, fences, and the copies behind cat and
// insert. gather is here too, beside scatter whose addressing it shares.
#include "epi/compiler/emitter.h"

#include <numeric>
#include <optional>

namespace epi::compiler {
namespace {

bool is_tile(mlir::Value v) { return mlir::isa<mlir::RankedTensorType>(v.getType()); }

llvm::AtomicOrdering ordering(tile::MemoryOrder order) {
  switch (order) {
    case tile::MemoryOrder::k_weak:
    case tile::MemoryOrder::k_relaxed: return llvm::AtomicOrdering::Monotonic;
    case tile::MemoryOrder::k_acquire: return llvm::AtomicOrdering::Acquire;
    case tile::MemoryOrder::k_release: return llvm::AtomicOrdering::Release;
    case tile::MemoryOrder::k_acq_rel: break;
  }
  return llvm::AtomicOrdering::AcquireRelease;
}

}  // namespace

void Emitter::emit_store(tile::StoreOp op) {
  const llvm::ArrayRef<std::int64_t> shape = tile::shape_of(op.getValue().getType());
  Access a = access(op.getView(), op.getOffsets(), shape, op.getInbounds());
  for_each({op.getValue()}, shape,
           [&](const Pos& pos) { store_at(a, coordinates(pos, shape), pull(op.getValue(), pos)); }, {&a});
}

// -- one lane of an index tuple ------------------------------------------------------------------------------------------
Emitter::Lane Emitter::index_lane(const ViewValue& view, llvm::ArrayRef<Vec> indices, Vec mask, unsigned lane, bool inbounds) {
  Lane out{nullptr, nullptr};
  if (mask) out.ok = extract(mask, lane).re;
  llvm::Value* offset = b_.getInt64(0);
  for (auto [axis, index] : llvm::enumerate(indices)) {
    llvm::Value* i = b_.CreateSExtOrTrunc(extract(index, lane).re, b_.getInt64Ty());
    offset = b_.CreateAdd(offset, b_.CreateMul(i, view.strides[axis]));
    if (inbounds) continue;
    llvm::Value* in = b_.CreateICmpULT(i, view.extents[axis]);
    out.ok = out.ok ? b_.CreateAnd(out.ok, in) : in;
  }
  out.pointer = b_.CreateGEP(element_struct(view.dtype), view.pointer, offset);
  return out;
}

static llvm::Align element_align(const ViewValue& view, llvm::Type* component) {
  const std::uint64_t size = component->getPrimitiveSizeInBits() / 8;
  const auto align = static_cast<std::uint64_t>(std::max<std::int64_t>(view.align, 1));
  return llvm::Align(align % size == 0 ? size : 1);
}

Vec Emitter::compute_gather(tile::GatherOp op, unsigned lanes, const Pos* pos) {
  const ViewValue from = view(op.getView());
  const llvm::Align align = element_align(from, memory_type(from.dtype));
  const unsigned scope = view_scope(from.alias);
  auto get = [&](mlir::Value v) { return pos ? pull(v, *pos) : scalar(v); };
  llvm::SmallVector<Vec, 4> indices;
  for (mlir::Value i : op.getIndices()) indices.push_back(get(i));
  const Vec mask = op.getMask() ? get(op.getMask()) : Vec{};
  const Vec padding = op.getPaddingAttr() ? constant(op.getPaddingAttr(), from.dtype, 1) : zero(from.dtype, 1);
  Vec out = zero(from.dtype, lanes);
  for (unsigned l = 0; l < lanes; ++l) {
    const Lane lane = index_lane(from, indices, mask, l, op.getInbounds());
    out = insert(out, lane.ok ? load_if(from.dtype, lane.pointer, lane.ok, padding, align, scope)
                              : load_memory(from.dtype, lane.pointer, 1, align, scope), l);
  }
  return out;
}

void Emitter::emit_scatter(tile::ScatterOp op) {
  const ViewValue to = view(op.getView());
  const llvm::Align align = element_align(to, memory_type(to.dtype));
  const unsigned scope = view_scope(to.alias);
  auto one = [&](Vec value, llvm::ArrayRef<Vec> indices, Vec mask, unsigned lanes) {
    for (unsigned l = 0; l < lanes; ++l) {
      const Lane lane = index_lane(to, indices, mask, l, op.getInbounds());
      if (lane.ok) store_if(to.dtype, extract(value, l), lane.pointer, lane.ok, align, scope);
      else store_memory(to.dtype, extract(value, l), lane.pointer, align, scope);
    }
  };
  llvm::SmallVector<Vec, 4> indices;
  if (!is_tile(op.getValue())) {
    for (mlir::Value i : op.getIndices()) indices.push_back(scalar(i));
    const Vec mask = op.getMask() ? scalar(op.getMask()) : Vec{};
    once([&] { one(scalar(op.getValue()), indices, mask, 1); });
    return;
  }
  llvm::SmallVector<mlir::Value, 4> roots(op.getIndices().begin(), op.getIndices().end());
  roots.push_back(op.getValue());
  if (op.getMask()) roots.push_back(op.getMask());
  for_each(roots, tile::shape_of(op.getValue().getType()), [&](const Pos& pos) {
    llvm::SmallVector<Vec, 4> at;
    for (mlir::Value i : op.getIndices()) at.push_back(pull(i, pos));
    one(pull(op.getValue(), pos), at, op.getMask() ? pull(op.getMask(), pos) : Vec{}, pos.lanes);
  });
}

// -- atomics -------------------------------------------------------------------------------------------------------------
llvm::Value* Emitter::cas(llvm::Value* pointer, llvm::Value* expected, llvm::Value* desired, llvm::AtomicOrdering order,
                          llvm::SyncScope::ID scope) {
  return b_.CreateAtomicCmpXchg(pointer, expected, desired, llvm::MaybeAlign(), order,
                                llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order), scope);
}

/// The element's old value; `expected` is null for a read-modify-write.
Vec Emitter::atomic_lane(mlir::Operation* op, const ViewValue& view, llvm::Value* pointer, Vec value, Vec expected) {
  const DType dtype = view.dtype;
  const unsigned bits = static_cast<unsigned>(size_bytes(dtype)) * 8;
  if (bits > 64) return fail(op, "atomics take elements of at most 8 bytes", dtype);
  llvm::Type* word = b_.getIntNTy(bits);
  auto to_word = [&](Vec v) -> llvm::Value* {
    if (dtype == DType::kBool) return b_.CreateZExt(v.re, word);
    if (!v.im) return b_.CreateBitCast(v.re, word);
    llvm::Type* half = b_.getIntNTy(bits / 2);
    llvm::Value* high = b_.CreateShl(b_.CreateZExt(b_.CreateBitCast(v.im, half), word), bits / 2);
    return b_.CreateOr(b_.CreateZExt(b_.CreateBitCast(v.re, half), word), high);
  };
  auto from_word = [&](llvm::Value* w) -> Vec {
    if (dtype == DType::kBool) return {b_.CreateICmpNE(w, llvm::ConstantInt::get(word, 0))};
    if (!is_complex(dtype)) return {b_.CreateBitCast(w, register_type(dtype, 1))};
    llvm::Type* half = b_.getIntNTy(bits / 2);
    llvm::Type* part = register_type(dtype, 1);
    return {b_.CreateBitCast(b_.CreateTrunc(w, half), part), b_.CreateBitCast(b_.CreateTrunc(b_.CreateLShr(w, bits / 2), half), part)};
  };
  if (auto c = mlir::dyn_cast<tile::AtomicCasOp>(op)) {
    llvm::Value* pair = cas(pointer, to_word(expected), to_word(value), ordering(c.getOrder()), sync_scope(c.getScope()));
    return from_word(b_.CreateExtractValue(pair, 0));
  }
  auto rmw = mlir::cast<tile::AtomicRmwOp>(op);
  const auto order = ordering(rmw.getOrder());
  const auto scope = sync_scope(rmw.getScope());
  using A = tile::AtomicKind;
  using R = llvm::AtomicRMWInst;
  R::BinOp kind = R::BAD_BINOP;
  const bool is_signed = epi::kind(dtype) == 'i';
  switch (rmw.getKind()) {
    case A::k_exchange: kind = R::Xchg; break;
    case A::k_bitand: kind = R::And; break;
    case A::k_bitor: kind = R::Or; break;
    case A::k_bitxor: kind = R::Xor; break;
    case A::k_add: kind = is_integer(dtype) ? R::Add : dtype == DType::kFloat32 || dtype == DType::kFloat64 ? R::FAdd : R::BAD_BINOP; break;
    case A::k_minimum: kind = is_integer(dtype) ? (is_signed ? R::Min : R::UMin) : dtype == DType::kBool ? R::And : R::BAD_BINOP; break;
    case A::k_maximum: kind = is_integer(dtype) ? (is_signed ? R::Max : R::UMax) : dtype == DType::kBool ? R::Or : R::BAD_BINOP; break;
  }
  if (kind == R::FAdd) return {b_.CreateAtomicRMW(kind, pointer, value.re, llvm::MaybeAlign(), order, scope)};
  if (kind != R::BAD_BINOP)
    return from_word(b_.CreateAtomicRMW(kind, pointer, to_word(value), llvm::MaybeAlign(), order, scope));
  // A loop of compare-and-swap around our own arithmetic.
  auto* first = b_.CreateAlignedLoad(word, pointer, llvm::Align(bits / 8));
  first->setAtomic(llvm::AtomicOrdering::Monotonic, scope);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(context_, "cas", function_);
  auto* done = llvm::BasicBlock::Create(context_, "swapped", function_);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* old = b_.CreatePHI(word, 2);
  old->addIncoming(first, before);
  const ir::Binary op_kind = rmw.getKind() == A::k_add ? ir::Binary::k_add
                             : rmw.getKind() == A::k_minimum ? ir::Binary::k_minimum : ir::Binary::k_maximum;
  llvm::Value* pair = cas(pointer, old, to_word(binary(op_kind, from_word(old), value, dtype, op)), order, scope);
  old->addIncoming(b_.CreateExtractValue(pair, 0), b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateExtractValue(pair, 1), done, loop);
  b_.SetInsertPoint(done);
  return from_word(old);
}

void Emitter::emit_atomic(mlir::Operation* op) {
  auto rmw = mlir::dyn_cast<tile::AtomicRmwOp>(op);
  auto swap = mlir::dyn_cast<tile::AtomicCasOp>(op);
  mlir::Value value = rmw ? rmw.getValue() : swap.getDesired();
  mlir::Value expected = rmw ? mlir::Value() : mlir::Value(swap.getExpected());
  mlir::Value mask = rmw ? rmw.getMask() : swap.getMask();
  auto index_values = rmw ? rmw.getIndices() : swap.getIndices();
  mlir::Value result = op->getResult(0);
  const ViewValue to = view(rmw ? rmw.getView() : swap.getView());
  auto one = [&](Vec v, Vec e, llvm::ArrayRef<Vec> indices, Vec m) -> Vec {
    const Lane lane = index_lane(to, indices, m, 0, false);
    const Vec none = zero(to.dtype, 1);
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* go = llvm::BasicBlock::Create(context_, "atomic", function_);
    auto* done = llvm::BasicBlock::Create(context_, "done", function_);
    b_.CreateCondBr(lane.ok ? lane.ok : b_.getTrue(), go, done);
    b_.SetInsertPoint(go);
    const Vec old = atomic_lane(op, to, lane.pointer, v, e);
    llvm::BasicBlock* end = b_.GetInsertBlock();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    auto merge = [&](llvm::Value* a, llvm::Value* z) -> llvm::Value* {
      if (!a) return nullptr;
      auto* phi = b_.CreatePHI(a->getType(), 2);
      phi->addIncoming(z, before);
      phi->addIncoming(a, end);
      return phi;
    };
    return {merge(old.re, none.re), merge(old.im, none.im)};
  };
  if (!is_tile(result)) {
    llvm::SmallVector<Vec, 4> indices;
    for (mlir::Value i : index_values) indices.push_back(scalar(i));
    scalars_[result] = once_value(result.getType(), [&] {
      return one(scalar(value), expected ? scalar(expected) : Vec{}, indices, mask ? scalar(mask) : Vec{});
    });
    return;
  }
  llvm::SmallVector<mlir::Value, 4> roots(index_values.begin(), index_values.end());
  roots.push_back(value);
  if (expected) roots.push_back(expected);
  if (mask) roots.push_back(mask);
  std::optional<Buffer> keep;
  if (!result.use_empty()) keep = result_buffer(result);
  for_each(roots, tile::shape_of(result.getType()), [&](const Pos& pos) {
    llvm::SmallVector<Vec, 4> indices;
    for (mlir::Value i : index_values) indices.push_back(pull(i, pos));
    const Vec old = one(pull(value, pos), expected ? pull(expected, pos) : Vec{}, indices, mask ? pull(mask, pos) : Vec{});
    if (keep) write(*keep, pos, old);
  }, {}, 1);
  barrier();
}

void Emitter::emit_fence(tile::FenceOp op) {
  barrier();
  b_.CreateFence(ordering(op.getOrder()), sync_scope(op.getScope()));
  barrier();
}

// -- tiles from parts ------------------------------------------------------------------------------------------------------
void Emitter::copy_part(mlir::Value source, const Buffer& target, llvm::ArrayRef<std::int64_t> target_shape,
                        llvm::ArrayRef<std::int64_t> offsets) {
  const llvm::ArrayRef<std::int64_t> shape = tile::shape_of(source.getType());
  for_each({source}, shape, [&](const Pos& pos) {
    Coords c = coordinates(pos, shape);
    for (auto [a, offset] : llvm::enumerate(offsets)) {
      if (!offset) continue;
      c.axis[a] = b_.CreateAdd(c.axis[a], llvm::ConstantInt::get(c.axis[a]->getType(), static_cast<std::uint64_t>(offset)));
      if (a == c.lane_axis) c.lane_multiple = std::gcd(c.lane_multiple, offset);
    }
    const Vec v = pull(source, pos);
    write(target, position_of(c, target_shape), v);
  });
}

void Emitter::emit_cat(tile::CatOp op) {
  const Buffer out = result_buffer(op.getResult());
  const llvm::ArrayRef<std::int64_t> shape = tile::shape_of(op.getType());
  llvm::SmallVector<std::int64_t, 4> offsets(shape.size(), 0);
  for (mlir::Value source : op.getSources()) {
    copy_part(source, out, shape, offsets);
    offsets[op.getAxis()] += tile::shape_of(source.getType())[op.getAxis()];
  }
  barrier();
}

void Emitter::emit_insert(tile::InsertOp op) {
  const Buffer out = result_buffer(op.getResult());
  const llvm::ArrayRef<std::int64_t> shape = tile::shape_of(op.getType());
  copy_part(op.getTarget(), out, shape, llvm::SmallVector<std::int64_t, 4>(shape.size(), 0));
  barrier();
  copy_part(op.getSource(), out, shape, op.getOffsets());
  barrier();
}

}  // namespace epi::compiler
