// The chained scan across programs on host workers. The association is a left fold, so a program needs its
// predecessor's inclusive prefix and nothing else: it waits for it, adds its own aggregate and publishes. Programs are
// claimed in ascending order, so the one waited for is running or done. State: ir/lookback.h.
#include "epi/backend/cpu/target/cpu_emitter.h"
#include "epi/ir/constants.h"

#include <llvm/IR/IntrinsicsX86.h>

namespace epi::cpu {
namespace {

constexpr std::uint64_t kPrefixReady = 2;

}  // namespace

/// Where an item's words are and how values lie in them.
struct CpuEmitter::Chain {
  CpuEmitter& e;
  llvm::SmallVector<DType, 2> dtypes;
  compiler::ViewValue state;
  std::int64_t items;
  bool packed;           ///< flag and value in one word
  std::int64_t words;    ///< an item
  std::int64_t value_words;

  llvm::Value* word(llvm::Value* program, llvm::Value* item, std::int64_t offset) {
    auto& b = e.b_;
    llvm::Value* i = b.CreateAdd(b.CreateMul(program, b.getInt64(static_cast<std::uint64_t>(items))), item);
    i = b.CreateAdd(b.CreateMul(i, b.getInt64(static_cast<std::uint64_t>(words))), b.getInt64(static_cast<std::uint64_t>(offset)));
    return b.CreateGEP(b.getInt64Ty(), state.pointer, b.CreateMul(i, state.strides[0]));
  }
  llvm::LoadInst* load_word(llvm::Value* pointer) {
    llvm::LoadInst* l = e.b_.CreateAlignedLoad(e.b_.getInt64Ty(), pointer, llvm::Align(8));
    l->setAtomic(llvm::AtomicOrdering::Acquire);
    return l;
  }
  void store_word(llvm::Value* v, llvm::Value* pointer) {
    e.b_.CreateAlignedStore(v, pointer, llvm::Align(8))->setAtomic(llvm::AtomicOrdering::Release);
  }
  void publish(llvm::Value* program, llvm::Value* item, const Tuple& prefix);
  Tuple await(llvm::Value* program, llvm::Value* item);
  /// Address of value `k` in the prefix copy; values lie one after another, each at its own size.
  llvm::Value* place(llvm::Value* program, llvm::Value* item, std::size_t k) {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < k; ++i) offset += size_bytes(dtypes[i]);
    return e.b_.CreateConstGEP1_64(e.b_.getInt8Ty(), word(program, item, 1 + value_words), offset);
  }
};

void CpuEmitter::Chain::publish(llvm::Value* program, llvm::Value* item, const Tuple& prefix) {
  auto& b = e.b_;
  llvm::Value* flag = b.getInt64(kPrefixReady);
  if (packed) {
    const auto bits = static_cast<unsigned>(size_bytes(dtypes[0])) * 8;
    llvm::Value* v = dtypes[0] == DType::kBool ? prefix[0].re : b.CreateBitCast(prefix[0].re, b.getIntNTy(bits));
    store_word(b.CreateOr(b.CreateShl(b.CreateZExt(v, b.getInt64Ty()), 32), flag), word(program, item, 0));
    return;
  }
  for (std::size_t k = 0; k < dtypes.size(); ++k) e.store_memory(dtypes[k], prefix[k], place(program, item, k), llvm::Align(1), 0);
  store_word(flag, word(program, item, 0));
}

Tuple CpuEmitter::Chain::await(llvm::Value* program, llvm::Value* item) {
  auto& b = e.b_;
  auto* spin = llvm::BasicBlock::Create(e.context_, "spin", e.function_);
  auto* wait = llvm::BasicBlock::Create(e.context_, "wait", e.function_);
  auto* ready = llvm::BasicBlock::Create(e.context_, "ready", e.function_);
  llvm::Value* pointer = word(program, item, 0);
  b.CreateBr(spin);
  b.SetInsertPoint(spin);
  llvm::Value* w = load_word(pointer);
  b.CreateCondBr(b.CreateICmpEQ(b.CreateAnd(w, b.getInt64(0xff)), b.getInt64(kPrefixReady)), ready, wait);
  b.SetInsertPoint(wait);
  b.CreateIntrinsic(llvm::Intrinsic::x86_sse2_pause, {}, {});
  b.CreateBr(spin);
  b.SetInsertPoint(ready);
  if (packed) {
    const DType d = dtypes[0];
    llvm::Value* v = b.CreateTrunc(b.CreateLShr(w, 32), d == DType::kBool ? b.getInt1Ty() : b.getIntNTy(static_cast<unsigned>(size_bytes(d)) * 8));
    return {{b.CreateBitCast(v, e.register_type(d, 1))}};
  }
  Tuple out;
  for (std::size_t k = 0; k < dtypes.size(); ++k) out.push_back(e.load_memory(dtypes[k], place(program, item, k), 1, llvm::Align(1), 0));
  return out;
}

void CpuEmitter::emit_lookback(tile::LookbackOp op) {
  const auto kind = static_cast<ir::Combine>(op.getKind());
  Chain chain{*this, {}, view(op.getState()), tile::size_of(op.getAggregates()[0].getType()), false, 1, 0};
  std::int64_t bytes = 0;
  for (mlir::Value v : op.getAggregates()) {
    chain.dtypes.push_back(tile::dtype_of(v.getType()));
    bytes += static_cast<std::int64_t>(size_bytes(chain.dtypes.back()));
  }
  chain.packed = chain.dtypes.size() == 1 && bytes <= 4;
  chain.value_words = (bytes + 7) / 8;
  if (!chain.packed) chain.words = 1 + 2 * chain.value_words;
  auto one_item = [&](llvm::Value* item, const Tuple& aggregate) {
    llvm::Value* me = b_.CreateZExt(program_id(0), b_.getInt64Ty());
    auto* first = llvm::BasicBlock::Create(context_, "first", function_);
    auto* later = llvm::BasicBlock::Create(context_, "later", function_);
    auto* done = llvm::BasicBlock::Create(context_, "looked", function_);
    b_.CreateCondBr(b_.CreateICmpEQ(me, b_.getInt64(0)), first, later);
    b_.SetInsertPoint(first);
    Tuple none;
    for (auto [identity, d] : llvm::zip(op.getIdentities(), chain.dtypes)) none.push_back(constant(identity, d, 1));
    b_.CreateBr(done);
    b_.SetInsertPoint(later);
    const Tuple before = chain.await(b_.CreateSub(me, b_.getInt64(1)), item);
    const llvm::SmallVector<Vec, 2> sum = combine(kind, op.getCombine(), before, aggregate, chain.dtypes, op);
    llvm::BasicBlock* end = b_.GetInsertBlock();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    auto merge = [&](llvm::Value* a, llvm::Value* z) -> llvm::Value* {
      if (!a) return nullptr;
      auto* phi = b_.CreatePHI(a->getType(), 2);
      phi->addIncoming(a, first);
      phi->addIncoming(z, end);
      return phi;
    };
    Tuple exclusive, inclusive;
    for (std::size_t k = 0; k < none.size(); ++k) exclusive.push_back({merge(none[k].re, before[k].re), merge(none[k].im, before[k].im)});
    for (std::size_t k = 0; k < none.size(); ++k) inclusive.push_back({merge(aggregate[k].re, sum[k].re), merge(aggregate[k].im, sum[k].im)});
    chain.publish(me, item, inclusive);
    return exclusive;
  };
  if (!mlir::isa<mlir::RankedTensorType>(op.getAggregates()[0].getType())) {
    Tuple aggregate;
    for (mlir::Value v : op.getAggregates()) aggregate.push_back(scalar(v));
    const Tuple out = one_item(b_.getInt64(0), aggregate);
    for (auto [r, v] : llvm::zip(op.getResults(), out)) set_scalar(r, v);
    return;
  }
  llvm::SmallVector<Buffer, 2> results;
  for (mlir::Value r : op.getResults()) results.push_back(result_buffer(r));
  const llvm::SmallVector<mlir::Value, 2> roots(op.getAggregates());
  for_each(roots, tile::shape_of(roots[0].getType()), [&](const Pos& pos) {
    Tuple aggregate;
    for (mlir::Value v : roots) aggregate.push_back(pull(v, pos));
    const Tuple out = one_item(pos.index, aggregate);
    for (auto [b, v] : llvm::zip(results, out)) write(b, pos, v);
  }, {}, 1);
}

}  // namespace epi::cpu
