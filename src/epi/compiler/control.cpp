// Loops and branches. Scalars that a loop carries are phis; tiles that it carries live in one buffer each, updated in
// place where every chunk depends on its own old chunk only, else through a second buffer.
#include "epi/compiler/emitter.h"

namespace epi::compiler {
namespace {

bool is_tile(mlir::Value v) { return mlir::isa<mlir::RankedTensorType>(v.getType()); }

}  // namespace

Emitter::Loop Emitter::begin_loop(llvm::Value* from, llvm::Value* to, llvm::Value* step, llvm::ArrayRef<llvm::Value*> initial,
                                  bool known_trip) {
  Loop loop;
  loop.to = to;
  loop.step = step;
  loop.known_trip = known_trip;
  llvm::BasicBlock* before = b_.GetInsertBlock();
  loop.header = llvm::BasicBlock::Create(context_, "loop", function_);
  loop.exit = llvm::BasicBlock::Create(context_, "exit", function_);
  b_.CreateBr(loop.header);
  b_.SetInsertPoint(loop.header);
  loop.index = b_.CreatePHI(from->getType(), 2);
  loop.index->addIncoming(from, before);
  for (llvm::Value* v : initial) {
    loop.carried.push_back(b_.CreatePHI(v->getType(), 2));
    loop.carried.back()->addIncoming(v, before);
  }
  if (!known_trip) {
    auto* body = llvm::BasicBlock::Create(context_, "body", function_);
    b_.CreateCondBr(b_.CreateICmpSLT(loop.index, to), body, loop.exit);
    b_.SetInsertPoint(body);
  }
  push_scope();
  return loop;
}

void Emitter::end_loop(Loop& loop, llvm::ArrayRef<llvm::Value*> next) {
  pop_scope();
  llvm::Value* index = b_.CreateAdd(loop.index, loop.step, "", false, true);
  llvm::BasicBlock* latch = b_.GetInsertBlock();
  loop.index->addIncoming(index, latch);
  for (auto [phi, v] : llvm::zip(loop.carried, next)) phi->addIncoming(v, latch);
  if (loop.known_trip) {
    b_.CreateCondBr(b_.CreateICmpSLT(index, loop.to), loop.header, loop.exit);
    loop.results.assign(next.begin(), next.end());
  } else {
    b_.CreateBr(loop.header);
    loop.results.assign(loop.carried.begin(), loop.carried.end());
  }
  b_.SetInsertPoint(loop.exit);
}

void Emitter::if_then(llvm::Value* condition, llvm::function_ref<void()> then) {
  auto* yes = llvm::BasicBlock::Create(context_, "then", function_);
  auto* done = llvm::BasicBlock::Create(context_, "done", function_);
  b_.CreateCondBr(condition, yes, done);
  b_.SetInsertPoint(yes);
  {
    Scope scope(*this);
    then();
  }
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
}

// -- values that must be there before a loop ---------------------------------------------------------------------------
void Emitter::preload(mlir::Value v) {
  if (!is_tile(v) || available(v)) return;
  mlir::Operation* op = v.getDefiningOp();
  if (!op || Analysis::is_root(op)) return;
  const Placement p = analysis_.placement(v);
  if (p == Placement::kStored || p == Placement::kEager) {
    materialise(v);
    return;
  }
  for (mlir::Value operand : op->getOperands()) preload(operand);
}

void Emitter::preload(mlir::Operation* loop) {
  loop->walk([&](mlir::Operation* inner) {
    if (inner == loop) return;
    for (mlir::Value v : inner->getOperands()) {
      mlir::Operation* owner = v.getParentBlock()->getParentOp();
      if (owner != loop && !loop->isProperAncestor(owner)) preload(v);
    }
  });
}

// -- carried tiles -----------------------------------------------------------------------------------------------------
bool Emitter::reads_moved(mlir::Value v, llvm::ArrayRef<mlir::Value> carried, bool identity,
                          llvm::DenseMap<mlir::Value, bool>& seen) {
  if (!is_tile(v)) return false;
  if (llvm::is_contained(carried, v)) return !identity;
  if (available(v)) return false;
  mlir::Operation* op = v.getDefiningOp();
  if (!op || Analysis::is_root(op)) return false;
  if (!identity && (analysis_.placement(v) == Placement::kStored || forced_.contains(v))) return false;  // made beforehand
  auto [it, fresh] = seen.try_emplace(v, identity);
  if (!fresh && (!it->second || identity)) return false;
  it->second = identity;
  for (mlir::Value operand : op->getOperands()) {
    const bool same = Analysis::is_positional(op) || (mlir::isa<tile::TakeOp>(op) && operand == op->getOperand(1)) ||
                      (mlir::isa<tile::BroadcastOp>(op) && tile::size_of(operand.getType()) == tile::size_of(v.getType()));
    if (reads_moved(operand, carried, identity && same, seen)) return true;
  }
  return false;
}

void Emitter::assign(llvm::ArrayRef<mlir::Value> values, llvm::ArrayRef<Buffer> targets, llvm::ArrayRef<mlir::Value> carried) {
  llvm::SmallVector<mlir::Value, 4> from;
  llvm::SmallVector<Buffer, 4> to;
  for (auto [v, t] : llvm::zip(values, targets)) {
    auto it = buffers_.find(v);
    if (it != buffers_.end() && it->second.pointer == t.pointer && it->second.home == t.home) continue;
    from.push_back(v);
    to.push_back(t);
  }
  if (from.empty()) return;
  llvm::DenseMap<mlir::Value, bool> seen;
  bool direct = true;
  for (mlir::Value v : from)
    direct = direct && tile::size_of(v.getType()) == tile::size_of(from[0].getType()) && !reads_moved(v, carried, true, seen);
  if (direct) {
    for_each(from, tile::shape_of(from[0].getType()), [&](const Pos& pos) {
      llvm::SmallVector<Vec, 4> chunk;
      for (mlir::Value v : from) chunk.push_back(pull(v, pos));
      for (auto [b, v] : llvm::zip(to, chunk)) write(b, pos, v);
    });
    if (llvm::any_of(to, [](const Buffer& b) { return b.home < 0; })) barrier();
    return;
  }
  llvm::SmallVector<Buffer, 4> fresh;
  for (mlir::Value v : from) {
    const Buffer b = make_buffer(tile::dtype_of(v.getType()), tile::size_of(v.getType()));
    fresh.push_back(b);
    for_each({v}, tile::shape_of(v.getType()), [&](const Pos& pos) { write(b, pos, pull(v, pos)); });
  }
  barrier();
  for (auto [f, t] : llvm::zip(fresh, to))
    if (f.count)
      for_chunks({f.count}, lanes_for(static_cast<unsigned>(size_bytes(f.dtype)), f.count),
                 [&, f = f, t = t](const Pos& pos) { write(t, pos, read(f, pos)); });
  barrier();
}

static void split(mlir::ValueRange values, llvm::SmallVectorImpl<mlir::Value>& tiles, llvm::SmallVectorImpl<mlir::Value>& scalars) {
  for (mlir::Value v : values) (is_tile(v) ? tiles : scalars).push_back(v);
}

using Values = llvm::SmallVector<mlir::Value, 4>;

/// LLVM values of scalars in order, complex ones as two.
static llvm::SmallVector<llvm::Value*, 4> flat(Emitter& e, llvm::ArrayRef<mlir::Value> scalars) {
  llvm::SmallVector<llvm::Value*, 4> out;
  for (mlir::Value v : scalars) {
    const Vec s = e.scalar(v);
    out.push_back(s.re);
    if (s.im) out.push_back(s.im);
  }
  return out;
}

static void bind_flat(Emitter& e, llvm::ArrayRef<mlir::Value> scalars, llvm::ArrayRef<llvm::Value*> values) {
  std::size_t next = 0;
  for (mlir::Value v : scalars) {
    Vec s{values[next++]};
    if (is_complex(tile::dtype_of(v.getType()))) s.im = values[next++];
    e.set_scalar(v, s);
  }
}

void Emitter::emit_for(mlir::scf::ForOp op) {
  preload(op.getOperation());
  Values init_tiles, init_scalars, arg_tiles, arg_scalars, next_tiles, next_scalars, out_tiles, out_scalars;
  split(op.getInitArgs(), init_tiles, init_scalars);
  split(op.getRegionIterArgs(), arg_tiles, arg_scalars);
  split(op.getBody()->getTerminator()->getOperands(), next_tiles, next_scalars);
  split(op.getResults(), out_tiles, out_scalars);
  llvm::SmallVector<Buffer, 4> buffers;
  for (mlir::Value v : arg_tiles) buffers.push_back(make_storage(v));
  assign(init_tiles, buffers, {});
  const auto outside = buffers_;
  Loop loop = begin_loop(scalar(op.getLowerBound()).re, scalar(op.getUpperBound()).re, scalar(op.getStep()).re,
                         flat(*this, init_scalars), false);
  scalars_[op.getInductionVar()] = {loop.index};
  llvm::SmallVector<llvm::Value*, 4> phis(loop.carried.begin(), loop.carried.end());
  bind_flat(*this, arg_scalars, phis);
  for (auto [v, b] : llvm::zip(arg_tiles, buffers)) buffers_[v] = b;
  emit_block(*op.getBody());
  if (failed()) return;
  assign(next_tiles, buffers, arg_tiles);
  end_loop(loop, flat(*this, next_scalars));
  buffers_ = outside;
  bind_flat(*this, out_scalars, loop.results);
  for (auto [v, b] : llvm::zip(out_tiles, buffers)) buffers_[v] = b;
}

void Emitter::emit_while(mlir::scf::WhileOp op) {
  preload(op.getOperation());
  Values init_tiles, init_scalars, arg_tiles, arg_scalars, next_tiles, next_scalars;
  split(op.getInits(), init_tiles, init_scalars);
  split(op.getBeforeArguments(), arg_tiles, arg_scalars);
  split(op.getYieldOp().getOperands(), next_tiles, next_scalars);
  llvm::SmallVector<Buffer, 4> buffers;
  for (mlir::Value v : arg_tiles) buffers.push_back(make_buffer(tile::dtype_of(v.getType()), tile::size_of(v.getType())));
  assign(init_tiles, buffers, {});
  const auto outside = buffers_;
  llvm::SmallVector<llvm::Value*, 4> initial = flat(*this, init_scalars), phis;
  llvm::BasicBlock* entry = b_.GetInsertBlock();
  auto* header = llvm::BasicBlock::Create(context_, "while", function_);
  auto* body = llvm::BasicBlock::Create(context_, "do", function_);
  auto* exit = llvm::BasicBlock::Create(context_, "exit", function_);
  b_.CreateBr(header);
  b_.SetInsertPoint(header);
  for (llvm::Value* v : initial) {
    auto* phi = b_.CreatePHI(v->getType(), 2);
    phi->addIncoming(v, entry);
    phis.push_back(phi);
  }
  push_scope();
  bind_flat(*this, arg_scalars, phis);
  for (auto [v, b] : llvm::zip(arg_tiles, buffers)) buffers_[v] = b;
  emit_block(*op.getBeforeBody());
  if (failed()) return;
  mlir::scf::ConditionOp condition = op.getConditionOp();
  llvm::SmallVector<Buffer, 4> passed;  // of the condition's tiles, in order
  Values carried = arg_tiles;
  for (auto [v, out, arg] : llvm::zip(condition.getArgs(), op.getResults(), op.getAfterArguments())) {
    if (!is_tile(v)) continue;
    if (llvm::is_contained(arg_tiles, v)) {
      passed.push_back(buffers_[v]);
      carried.push_back(arg);
    } else {
      passed.push_back(result_buffer(out));
      assign({v}, {passed.back()}, {});
    }
  }
  Values given_tiles, given_scalars, after_tiles, after_scalars, out_tiles, out_scalars;
  split(condition.getArgs(), given_tiles, given_scalars);
  split(op.getAfterArguments(), after_tiles, after_scalars);
  split(op.getResults(), out_tiles, out_scalars);
  const llvm::SmallVector<llvm::Value*, 4> given = flat(*this, given_scalars);
  b_.CreateCondBr(scalar(condition.getCondition()).re, body, exit);
  b_.SetInsertPoint(body);
  push_scope();
  bind_flat(*this, after_scalars, given);
  for (auto [v, b] : llvm::zip(after_tiles, passed)) buffers_[v] = b;
  emit_block(*op.getAfterBody());
  if (failed()) return;
  assign(next_tiles, buffers, carried);
  const llvm::SmallVector<llvm::Value*, 4> next = flat(*this, next_scalars);
  for (auto [phi, v] : llvm::zip(phis, next)) llvm::cast<llvm::PHINode>(phi)->addIncoming(v, b_.GetInsertBlock());
  b_.CreateBr(header);
  pop_scope();
  pop_scope();
  b_.SetInsertPoint(exit);
  buffers_ = outside;
  bind_flat(*this, out_scalars, given);
  for (auto [v, b] : llvm::zip(out_tiles, passed)) buffers_[v] = b;
}

void Emitter::emit_if(mlir::scf::IfOp op) {
  Values out_tiles, out_scalars;
  split(op.getResults(), out_tiles, out_scalars);
  llvm::SmallVector<Buffer, 4> buffers;
  for (mlir::Value v : out_tiles) buffers.push_back(make_buffer(tile::dtype_of(v.getType()), tile::size_of(v.getType())));
  const auto outside = buffers_;
  auto* yes = llvm::BasicBlock::Create(context_, "then", function_);
  auto* no = llvm::BasicBlock::Create(context_, "else", function_);
  auto* done = llvm::BasicBlock::Create(context_, "done", function_);
  b_.CreateCondBr(scalar(op.getCondition()).re, yes, no);
  llvm::SmallVector<llvm::Value*, 4> results[2];
  llvm::BasicBlock* ends[2];
  for (int arm = 0; arm < 2; ++arm) {
    b_.SetInsertPoint(arm == 0 ? yes : no);
    mlir::Region& region = arm == 0 ? op.getThenRegion() : op.getElseRegion();
    Scope scope(*this);
    if (!region.empty()) {
      emit_block(region.front());
      if (failed()) return;
      Values tiles, scalars;
      split(region.front().getTerminator()->getOperands(), tiles, scalars);
      assign(tiles, buffers, {});
      results[arm] = flat(*this, scalars);
    }
    ends[arm] = b_.GetInsertBlock();
    b_.CreateBr(done);
    buffers_ = outside;
  }
  b_.SetInsertPoint(done);
  llvm::SmallVector<llvm::Value*, 4> merged;
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    auto* phi = b_.CreatePHI(results[0][i]->getType(), 2);
    phi->addIncoming(results[0][i], ends[0]);
    phi->addIncoming(results[1][i], ends[1]);
    merged.push_back(phi);
  }
  bind_flat(*this, out_scalars, merged);
  for (auto [v, b] : llvm::zip(out_tiles, buffers)) buffers_[v] = b;
}

}  // namespace epi::compiler
