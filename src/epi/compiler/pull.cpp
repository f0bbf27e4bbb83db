// Pulling: a chunk of a tile value on demand, the loops that roots run over chunks, and tiles in scratch.
#include "epi/compiler/emitter.h"
#include "epi/ir/constants.h"

#include <algorithm>
#include <bit>

namespace epi::compiler {
namespace {

bool is_tile(mlir::Value v) { return mlir::isa<mlir::RankedTensorType>(v.getType()); }

/// Bytes of a lane while it is computed with.
unsigned register_bytes(DType dtype) {
  return is_float(dtype) ? std::max<unsigned>(4, static_cast<unsigned>(size_bytes(dtype))) : static_cast<unsigned>(size_bytes(dtype));
}

}  // namespace

Vec Emitter::pull(mlir::Value v, const Pos& pos) {
  if (!is_tile(v)) return splat(scalar(v), pos.lanes);
  const Key key{v.getAsOpaquePointer(), pos.linear() ? pos.index : pos.vector, pos.lanes};
  for (auto& memo : scopes_)
    if (auto it = memo->values.find(key); it != memo->values.end()) return it->second;
  auto it = buffers_.find(v);
  const Vec out = it != buffers_.end() ? read(it->second, pos) : compute(v, pos);
  scopes_.back()->values[key] = out;
  return out;
}

void Emitter::remember(mlir::Value v, const Pos& pos, Vec value) {
  scopes_.back()->values[{v.getAsOpaquePointer(), pos.linear() ? pos.index : pos.vector, pos.lanes}] = value;
}

Vec Emitter::compute(mlir::Value v, const Pos& pos) {
  mlir::Operation* op = v.getDefiningOp();
  const DType dtype = tile::dtype_of(v.getType());
  const llvm::ArrayRef<std::int64_t> shape = tile::shape_of(v.getType());
  if (!op || Analysis::is_root(op))
    return fail(op ? op : kernel_.getOperation(), "internal: a tile is used before it is made", dtype, pos.lanes);
  if (auto o = mlir::dyn_cast<tile::ConstantOp>(op)) return compute_constant(o, pos);
  if (auto o = mlir::dyn_cast<tile::IotaOp>(op)) return compute_iota(o, pos);
  if (auto o = mlir::dyn_cast<tile::GatherOp>(op)) return compute_gather(o, pos.lanes, &pos);
  if (auto o = mlir::dyn_cast<tile::TakeOp>(op)) return compute_take(o, pos);
  if (auto o = mlir::dyn_cast<tile::ReshapeOp>(op)) return pull(o.getSource(), pos);
  if (auto o = mlir::dyn_cast<tile::LoadOp>(op)) {
    return load_at(accesses_[op], coordinates(pos, shape), padding_of(o));
  }
  if (auto o = mlir::dyn_cast<tile::BroadcastOp>(op)) {
    if (!is_tile(o.getSource()) || tile::shape_of(o.getSource().getType()).empty()) {
      if (is_tile(o.getSource())) return splat(pull(o.getSource(), at(std::int64_t{0})), pos.lanes);
      return splat(scalar(o.getSource()), pos.lanes);
    }
    if (tile::shape_of(o.getSource().getType()) == shape) return pull(o.getSource(), pos);
    return pull_at(o.getSource(), coordinates(pos, shape));
  }
  if (auto o = mlir::dyn_cast<tile::PermuteOp>(op)) {
    const Coords from = coordinates(pos, shape);
    Coords to = from;
    for (auto [i, axis] : llvm::enumerate(o.getPerm())) {
      to.axis[static_cast<std::size_t>(axis)] = from.axis[i];
      if (i == from.lane_axis) to.lane_axis = static_cast<unsigned>(axis);
    }
    auto load = o.getSource().getDefiningOp<tile::LoadOp>();
    if (load && !available(o.getSource())) {
      return load_at(accesses_[load], to, padding_of(load));
    }
    return pull_at(o.getSource(), to);
  }
  if (auto o = mlir::dyn_cast<tile::ExtractOp>(op)) {
    Coords c = coordinates(pos, shape);
    for (auto [a, offset] : llvm::enumerate(o.getOffsets())) {
      if (!offset) continue;
      llvm::Type* type = c.axis[a]->getType();
      c.axis[a] = b_.CreateAdd(c.axis[a], llvm::ConstantInt::get(type, static_cast<std::uint64_t>(offset)));
      if (a == c.lane_axis) c.lane_multiple = 1;
    }
    return pull_at(o.getSource(), c);
  }
  llvm::SmallVector<Vec, 4> operands;
  for (mlir::Value x : op->getOperands()) operands.push_back(pull(x, pos));
  return elementwise(op, operands, pos.lanes, &pos);
}

Vec Emitter::padding_of(tile::LoadOp op) {
  const DType dtype = tile::dtype_of(op.getType());
  return op.getPaddingAttr() ? constant(op.getPaddingAttr(), dtype, 1) : zero(dtype, 1);
}

Vec Emitter::compute_constant(tile::ConstantOp op, const Pos& pos) {
  const DType dtype = tile::dtype_of(op.getType());
  auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(op.getValue());
  if (!dense || dense.isSplat()) return constant(op.getValue(), dtype, pos.lanes);
  auto it = constants_.find(op);
  if (it == constants_.end()) {
    const std::int64_t count = tile::size_of(op.getType());
    llvm::SmallVector<llvm::Constant*> items;
    for (std::int64_t i = 0; i < count; ++i) {
      const ir::Scalar s = tile::scalar_of(dense, tile::element_of(op.getType()), i);
      const Vec v = scalar_constant(s, dtype);
      items.push_back(dtype == DType::kBool ? static_cast<llvm::Constant*>(b_.getInt8(s.i != 0)) : llvm::cast<llvm::Constant>(v.re));
      if (v.im) items.push_back(llvm::cast<llvm::Constant>(v.im));
    }
    auto* type = llvm::ArrayType::get(memory_type(dtype), items.size());
    auto* global = new llvm::GlobalVariable(module_, type, true, llvm::GlobalValue::PrivateLinkage,
                                            llvm::ConstantArray::get(type, items), "tile", nullptr,
                                            llvm::GlobalValue::NotThreadLocal, constant_address_space());
    it = constants_.try_emplace(op, Buffer{generic_pointer(global), dtype, count, 0}).first;
  }
  return read(it->second, pos);
}

Vec Emitter::compute_iota(tile::IotaOp op, const Pos& pos) {
  const DType dtype = tile::dtype_of(op.getType());
  Coords c = coordinates(pos, tile::shape_of(op.getType()));
  const auto axis = static_cast<std::size_t>(op.getAxis());
  Vec v;
  if (c.per_lane) {
    v.re = c.axis[axis];
  } else {
    v.re = b_.CreateZExtOrTrunc(c.axis[axis], b_.getInt32Ty());
    if (pos.lanes > 1) {
      Coords one = c;
      one.axis = {c.axis[axis]};
      one.lane_axis = axis == c.lane_axis ? 0 : 1;
      v.re = per_lane(one).axis[0];
    }
  }
  return dtype == DType::kInt32 ? v : cast(v, DType::kInt32, dtype, ir::Cast::k_wrap, op);
}

Vec Emitter::compute_take(tile::TakeOp op, const Pos& pos) {
  const DType dtype = tile::dtype_of(op.getType());
  const auto axis = static_cast<std::size_t>(op.getAxis());
  const llvm::ArrayRef<std::int64_t> from = tile::shape_of(op.getSource().getType());
  llvm::Value* index = pull(op.getIndices(), pos).re;
  llvm::Type* type = index->getType();
  llvm::Value* ok = b_.CreateICmpULT(index, llvm::ConstantInt::get(type, static_cast<std::uint64_t>(from[axis])));
  llvm::Value* safe = b_.CreateSelect(ok, index, llvm::Constant::getNullValue(type));
  Coords c = per_lane(coordinates(pos, tile::shape_of(op.getType())));
  c.axis[axis] = b_.CreateZExtOrTrunc(safe, type->getWithNewBitWidth(32));
  return select(ok, pull_at(op.getSource(), c), zero(dtype, pos.lanes));
}

// -- what a loop needs -------------------------------------------------------------------------------------------------
struct Emitter::Sight {
  Walk walk;
  llvm::DenseMap<mlir::Value, bool> seen;         ///< value -> all paths to it keep positions
  llvm::SmallVector<mlir::Value, 8> stored;       ///< in post-order
};

void Emitter::visit(mlir::Value v, bool identity, Sight& sight) {
  const DType dtype = tile::dtype_of(v.getType());
  sight.walk.widest = std::max(sight.walk.widest, register_bytes(dtype));
  if (!is_tile(v) || available(v)) return;
  auto [it, fresh] = sight.seen.try_emplace(v, identity);
  if (!fresh && (!it->second || identity)) return;
  it->second = identity;
  mlir::Operation* op = v.getDefiningOp();
  if (!op || Analysis::is_root(op)) return;
  sight.walk.heavy = sight.walk.heavy || Analysis::is_heavy(op);
  if (fresh && mlir::isa<tile::LoadOp>(op)) sight.walk.accesses.push_back(op);
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (mlir::isa<tile::ViewType>(operand.getType()) || !is_tile(operand)) continue;
    const bool same = Analysis::is_positional(op) || (mlir::isa<tile::TakeOp>(op) && i == 1) ||
                      (mlir::isa<tile::BroadcastOp>(op) && tile::size_of(operand.getType()) == tile::size_of(v.getType()));
    visit(operand, identity && same, sight);
  }
  const Placement p = analysis_.placement(v);
  if (fresh && (p == Placement::kStored || p == Placement::kEager || forced_.contains(v))) sight.stored.push_back(v);
}

Emitter::Walk Emitter::prepare(llvm::ArrayRef<mlir::Value> roots, bool identity) {
  while (true) {
    Sight sight;
    for (mlir::Value v : roots) visit(v, identity, sight);
    bool again = false;
    for (mlir::Value v : sight.stored) {
      if (sight.seen[v]) continue;
      materialise(v);
      again = true;
      break;
    }
    if (again && !failed()) continue;
    sight.walk.written.assign(sight.stored.begin(), sight.stored.end());
    for (mlir::Value v : sight.walk.written)
      if (!storage_.contains(v)) storage_[v] = make_storage(v);
    return sight.walk;
  }
}

void Emitter::write_walked(const Walk& walk, const Pos& pos) {
  for (mlir::Value v : walk.written) write(storage_[v], pos, pull(v, pos));
}

void Emitter::walked(const Walk& walk) {
  if (walk.written.empty()) return;
  for (mlir::Value v : walk.written) buffers_[v] = storage_[v];
  if (llvm::any_of(walk.written, [&](mlir::Value v) { return storage_[v].home < 0; })) barrier();
}

void Emitter::versioned(llvm::ArrayRef<mlir::Operation*> accesses, llvm::ArrayRef<const Access*> extra,
                        llvm::function_ref<void()> emit) {
  llvm::Value* inside = b_.getTrue();
  for (mlir::Operation* op : accesses)
    if (llvm::Value* i = accesses_[op].inside) inside = b_.CreateAnd(inside, i);
  for (const Access* a : extra)
    if (a->inside) inside = b_.CreateAnd(inside, a->inside);
  const bool was = checked_;
  auto one = [&](bool checked) {
    Scope scope(*this);
    checked_ = checked;
    emit();
  };
  if (auto* known = llvm::dyn_cast<llvm::ConstantInt>(inside)) {
    one(known->isZero());
  } else {
    auto* fast = llvm::BasicBlock::Create(context_, "inside", function_);
    auto* slow = llvm::BasicBlock::Create(context_, "edge", function_);
    auto* done = llvm::BasicBlock::Create(context_, "done", function_);
    b_.CreateCondBr(inside, fast, slow);
    b_.SetInsertPoint(fast);
    one(false);
    b_.CreateBr(done);
    b_.SetInsertPoint(slow);
    one(true);
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
  }
  checked_ = was;
}

void Emitter::for_each(llvm::ArrayRef<mlir::Value> roots, llvm::ArrayRef<std::int64_t> shape, Body body,
                       llvm::ArrayRef<const Access*> extra, unsigned max_lanes) {
  std::int64_t count = 1;
  for (std::int64_t e : shape) count *= e;
  if (count == 0 || failed()) return;
  const Walk walk = prepare(roots, true);
  const unsigned lanes = std::min(lanes_for(walk.widest, count), max_lanes);
  bool masks = true;  // of vectors; else a version that tests bounds goes one lane at a time, which is little code
  auto check = [&](const Access& a) { masks = masks && (!a.inside || masked(a)); };
  for (mlir::Operation* op : walk.accesses) check(accesses_[op]);
  for (const Access* a : extra) check(*a);
  run_versions(walk, extra, shape, [&] {
    for_chunks(shape, checked_ && !masks && scalar_edges() ? 1 : lanes, [&](const Pos& pos) {
      write_walked(walk, pos);
      body(pos);
    });
  });
  walked(walk);
}

Buffer Emitter::materialise(mlir::Value v) {
  if (auto it = buffers_.find(v); it != buffers_.end()) return it->second;
  const Placement p = analysis_.placement(v);
  if (p == Placement::kLazy) forced_.insert(v);
  if (p == Placement::kRoot && v.getDefiningOp()) fail(v.getDefiningOp(), "internal: a tile is used before it is made");
  for_each({v}, tile::shape_of(v.getType()), [](const Pos&) {});
  if (!available(v)) buffers_[v] = make_buffer(tile::dtype_of(v.getType()), tile::size_of(v.getType()));  // empty or failed
  return buffers_[v];
}

Buffer Emitter::result_buffer(mlir::Value v) {
  auto it = storage_.find(v);
  if (it == storage_.end())
    it = storage_.try_emplace(v, make_buffer(tile::dtype_of(v.getType()), tile::size_of(v.getType()))).first;
  const Buffer buffer = it->second;
  buffers_[v] = buffer;
  return buffer;
}

}  // namespace epi::compiler
