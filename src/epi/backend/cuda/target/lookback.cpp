// Look-back across programs: each publishes its aggregate, finds the nearest predecessor whose prefix is known, and
// folds the aggregates in between from left to right, so the bits never depend on timing. Scalars go through one warp,
// which sees 128 predecessors at a time (fewer, and the chain of prefixes is slower than memory); tiles through one
// thread an item.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "epi/backend/cuda/target/fold.h"

namespace epi::cuda {
namespace {

using llvm::Value;

constexpr std::uint32_t kAggregate = 1;
constexpr std::uint32_t kPrefix = 2;
constexpr std::size_t kWords = 4;  ///< predecessors that a lane looks at
constexpr std::int64_t kWindow = 32 * kWords;

class Lookback {
 public:
  Lookback(GpuEmitter& emitter, tile::LookbackOp op)
      : e(emitter),
        b(emitter.builder()),
        op_(op),
        f(emitter, op, op.getKind(), op.getCombine(), op.getAggregates()),
        items_(tile::size_of(op.getAggregates()[0].getType())) {
    std::uint64_t bytes = 0;
    for (DType d : f.dtypes) bytes += size_bytes(d);
    single_word_ = f.dtypes.size() == 1 && bytes <= 4;
    value_words_ = static_cast<std::int64_t>((bytes + 7) / 8);
    state_ = emitter.view(op.getState()).pointer;
    program_ = emitter.program_id(0);
  }

  void emit();

 private:
  // -- words
  Value* word_at(Value* program, Value* item, std::int64_t word);
  void store_word(Value* pointer, Value* value);
  Value* load_word(Value* pointer);
  Value* bits(const Vec& v, DType d);  ///< a value of at most 4 bytes as i32
  Vec from_bits(Value* word, DType d);
  llvm::SmallVector<Value*> pack(const Tuple& v);  ///< to value_words_ words
  Tuple unpack(llvm::ArrayRef<Value*> words);
  void publish(Value* item, const Tuple& v, std::uint32_t flag);
  /// The flag, and the value where it is 1 or 2 (at once for single words).
  Value* flag_of(Value* program, Value* item, Tuple& value);
  Tuple value_of(Value* program, Value* item, Value* flag);
  Tuple identity();

  // -- the two ways
  Tuple by_warp(const Tuple& own);
  void window(const GpuEmitter::Registers& before);
  Value* wait_for_prefix(llvm::ArrayRef<Value*> predecessors, llvm::ArrayRef<Value*> exists,
                         llvm::ArrayRef<GpuEmitter::Registers> values, const GpuEmitter::Registers& flags);
  Tuple by_thread(Value* item, const Tuple& own);
  void walk_back(Value* item, const GpuEmitter::Registers& before);
  void walk_back_and_forward(Value* item, const GpuEmitter::Registers& before);

  GpuEmitter& e;
  llvm::IRBuilder<>& b;
  tile::LookbackOp op_;
  Fold f;
  std::int64_t items_;
  bool single_word_ = false;
  std::int64_t value_words_ = 1;
  Value* state_ = nullptr;
  Value* program_ = nullptr;
};

// -- words ---------------------------------------------------------------------------------------------------------
Value* Lookback::word_at(Value* program, Value* item, std::int64_t word) {
  const std::int64_t words = single_word_ ? 1 : 1 + 2 * value_words_;
  Value* index = b.CreateMul(b.CreateZExt(program, b.getInt64Ty()), b.getInt64(static_cast<std::uint64_t>(items_)));
  index = b.CreateAdd(index, b.CreateZExt(item, b.getInt64Ty()));
  index = b.CreateAdd(b.CreateMul(index, b.getInt64(static_cast<std::uint64_t>(words))),
                      b.getInt64(static_cast<std::uint64_t>(word)));
  return b.CreateGEP(b.getInt64Ty(), state_, index);
}

void Lookback::store_word(Value* pointer, Value* value) {
  e.ptx().effect("st.relaxed.gpu.global.u64 [$0], $1;", "l,l", {b.CreatePtrToInt(pointer, b.getInt64Ty()), value});
}

Value* Lookback::load_word(Value* pointer) {
  return e.ptx().result(b.getInt64Ty(), "ld.relaxed.gpu.global.u64 $0, [$1];", "=l,l",
                        {b.CreatePtrToInt(pointer, b.getInt64Ty())});
}

Value* Lookback::bits(const Vec& v, DType d) {
  if (d == DType::kBool) return b.CreateZExt(v.re, b.getInt32Ty());
  const auto size = static_cast<unsigned>(size_bytes(d)) * 8;
  return b.CreateZExt(b.CreateBitCast(v.re, b.getIntNTy(size)), b.getInt32Ty());
}

Vec Lookback::from_bits(Value* word, DType d) {
  if (d == DType::kBool) return {b.CreateTrunc(word, b.getInt1Ty())};
  const auto size = static_cast<unsigned>(size_bytes(d)) * 8;
  return {b.CreateBitCast(b.CreateTrunc(word, b.getIntNTy(size)), e.register_type(d, 1))};
}

/// Values one after another at byte offsets, each part aligned as the sum of the sizes before it gives.
llvm::SmallVector<Value*> Lookback::pack(const Tuple& v) {
  auto* wide = b.getIntNTy(static_cast<unsigned>(value_words_) * 64);
  Value* all = llvm::ConstantInt::get(wide, 0);
  unsigned at = 0;
  const auto add = [&](Value* part) {
    const auto size =
        part->getType()->isIntegerTy(1) ? 8U : static_cast<unsigned>(part->getType()->getPrimitiveSizeInBits());
    Value* raw = part->getType()->isIntegerTy(1) ? part : b.CreateBitCast(part, b.getIntNTy(size));
    all = b.CreateOr(all, b.CreateShl(b.CreateZExt(raw, wide), at));
    at += size;
  };
  for (const Vec& x : v) {
    add(x.re);
    if (x.im != nullptr) add(x.im);
  }
  llvm::SmallVector<Value*> words;
  for (std::int64_t w = 0; w < value_words_; ++w)
    words.push_back(b.CreateTrunc(b.CreateLShr(all, static_cast<std::uint64_t>(64 * w)), b.getInt64Ty()));
  return words;
}

Tuple Lookback::unpack(llvm::ArrayRef<Value*> words) {
  auto* wide = b.getIntNTy(static_cast<unsigned>(value_words_) * 64);
  Value* all = llvm::ConstantInt::get(wide, 0);
  for (auto [w, word] : llvm::enumerate(words))
    all = b.CreateOr(all, b.CreateShl(b.CreateZExt(word, wide), static_cast<std::uint64_t>(64 * w)));
  unsigned at = 0;
  const auto part = [&](llvm::Type* type) -> Value* {
    const auto size = type->isIntegerTy(1) ? 8U : static_cast<unsigned>(type->getPrimitiveSizeInBits());
    Value* raw = b.CreateLShr(all, at);
    at += size;
    if (type->isIntegerTy(1)) return b.CreateTrunc(raw, type);
    return b.CreateBitCast(b.CreateTrunc(raw, b.getIntNTy(size)), type);
  };
  Tuple out;
  for (DType d : f.dtypes) {
    llvm::Type* type = e.register_type(d, 1);
    Vec v;
    v.re = part(type);
    if (is_complex(d)) v.im = part(type);
    out.push_back(v);
  }
  return out;
}

void Lookback::publish(Value* item, const Tuple& v, std::uint32_t flag) {
  if (single_word_) {
    Value* word = b.CreateOr(b.CreateZExt(bits(v[0], f.dtypes[0]), b.getInt64Ty()),
                             b.getInt64(static_cast<std::uint64_t>(flag) << 32));
    return store_word(word_at(program_, item, 0), word);
  }
  const std::int64_t first = flag == kAggregate ? 1 : 1 + value_words_;
  for (auto [w, word] : llvm::enumerate(pack(v)))
    store_word(word_at(program_, item, first + static_cast<std::int64_t>(w)), word);
  e.ptx().effect("st.release.gpu.global.u64 [$0], $1;", "l,l",
                 {b.CreatePtrToInt(word_at(program_, item, 0), b.getInt64Ty()), b.getInt64(flag)});
}

Value* Lookback::flag_of(Value* program, Value* item, Tuple& value) {
  Value* pointer = word_at(program, item, 0);
  if (single_word_) {
    Value* word = load_word(pointer);
    value = {from_bits(b.CreateTrunc(word, b.getInt32Ty()), f.dtypes[0])};
    return b.CreateTrunc(b.CreateLShr(word, 32), b.getInt32Ty());
  }
  Value* word = e.ptx().result(b.getInt64Ty(), "ld.acquire.gpu.global.u64 $0, [$1];", "=l,l",
                               {b.CreatePtrToInt(pointer, b.getInt64Ty())});
  return b.CreateTrunc(word, b.getInt32Ty());
}

Tuple Lookback::value_of(Value* program, Value* item, Value* flag) {
  llvm::SmallVector<Value*> words;
  Value* base = b.CreateSelect(b.CreateICmpEQ(flag, e.i32(kPrefix)),
                               b.getInt64(static_cast<std::uint64_t>(value_words_)), b.getInt64(0));
  for (std::int64_t w = 0; w < value_words_; ++w)
    words.push_back(load_word(b.CreateGEP(b.getInt64Ty(), word_at(program, item, 1 + w), base)));
  return unpack(words);
}

Tuple Lookback::identity() {
  Tuple out;
  for (auto [d, value] : llvm::zip(f.dtypes, op_.getIdentities())) out.push_back(e.constant(value, d, 1));
  return out;
}

// -- one thread an item --------------------------------------------------------------------------------------------
Tuple Lookback::by_thread(Value* item, const Tuple& own) {
  const auto before = e.make_registers(f.dtypes, 1);
  Value* first = b.CreateICmpEQ(program_, e.i32(0));
  e.put(before, identity());
  emit_if(
      b, first,
      [&] {
        publish(item, own, kPrefix);
        return LlvmValues{};
      },
      [&] {
        publish(item, own, kAggregate);
        return LlvmValues{};
      });
  e.if_then(b.CreateNot(first), [&] {
    if (single_word_ && f.exact())
      walk_back(item, before);
    else
      walk_back_and_forward(item, before);
    publish(item, f.combine(e.get(before), own), kPrefix);
  });
  return e.get(before);
}

/// To the nearest prefix, folding on the way: for combiners whose bits do not depend on the order. Four predecessors at
/// a time, so that their loads overlap; those after the first that is not there yet wait for the next turn.
void Lookback::walk_back(Value* item, const GpuEmitter::Registers& before) {
  constexpr std::int64_t kAhead = 4;
  const auto at = e.make_registers({DType::kInt32}, 1);
  e.put(at, {Vec{b.CreateSub(program_, e.i32(1))}});
  Tuple none;
  for (DType d : f.dtypes) none.push_back(e.identity(static_cast<ir::Combine>(op_.getKind()), d, 1));
  e.put(before, none);
  emit_while(b, [&] {
    Value* nearest = e.get(at)[0].re;
    llvm::SmallVector<Value*> flags;
    llvm::SmallVector<Tuple> values;
    for (std::int64_t j = 0; j < kAhead; ++j) {
      Value* program = b.CreateSub(nearest, e.i32(j));
      Value* exists = b.CreateICmpSGE(program, e.i32(0));
      Tuple value;
      Value* flag = flag_of(b.CreateSelect(exists, program, e.i32(0)), item, value);
      flags.push_back(b.CreateSelect(exists, flag, e.i32(0)));
      values.push_back(value);
    }
    Tuple sum = e.get(before);
    Value* going = b.getTrue();
    Value* found = b.getFalse();
    Value* steps = e.i32(0);
    for (auto [flag, value] : llvm::zip(flags, values)) {
      Value* taken = b.CreateAnd(going, b.CreateICmpNE(flag, e.i32(0)));
      Value* last = b.CreateAnd(taken, b.CreateICmpEQ(flag, e.i32(kPrefix)));
      sum = f.combine_if(taken, sum, value);
      steps = b.CreateAdd(steps, b.CreateZExt(taken, b.getInt32Ty()));
      found = b.CreateOr(found, last);
      going = b.CreateAnd(taken, b.CreateNot(last));
    }
    e.put(before, sum);
    e.put(at, {Vec{b.CreateSub(nearest, steps)}});
    return b.CreateNot(found);
  });
}

/// To the nearest prefix, then forward again, so that the fold goes from left to right.
void Lookback::walk_back_and_forward(Value* item, const GpuEmitter::Registers& before) {
  const auto at = e.make_registers({DType::kInt32}, 1);
  e.put(at, {Vec{b.CreateSub(program_, e.i32(1))}});
  emit_while(b, [&] {  // every predecessor has at least its aggregate on the way
    Tuple value;
    Value* seen = flag_of(e.get(at)[0].re, item, value);
    if (single_word_) e.put(before, value);
    Value* back = b.CreateSelect(b.CreateICmpEQ(seen, e.i32(kAggregate)), e.i32(1), e.i32(0));
    e.put(at, {Vec{b.CreateSub(e.get(at)[0].re, back)}});
    return b.CreateICmpNE(seen, e.i32(kPrefix));
  });
  if (!single_word_) e.put(before, value_of(e.get(at)[0].re, item, e.i32(kPrefix)));
  // A prefix that has appeared since replaces the fold, and is the same bits.
  Value* start = b.CreateAdd(e.get(at)[0].re, e.i32(1));
  e.if_then(b.CreateICmpULT(start, program_), [&] {
    auto loop = e.begin_loop(start, program_, e.i32(1));
    Tuple next;
    Value* seen = flag_of(loop.index, item, next);
    if (!single_word_) next = value_of(loop.index, item, seen);
    const Tuple folded = f.combine(e.get(before), next);
    e.put(before, e.select_tuple(b.CreateICmpEQ(seen, e.i32(kPrefix)), next, folded));
    e.end_loop(loop);
  });
}

// -- one warp, 128 predecessors at a time --------------------------------------------------------------------------
/// Waits until one of the last kWindow predecessors has its prefix and all nearer ones are there. Lane l of word j is
/// predecessor program - 1 - (32 j + l); gives the nearest with a prefix.
Value* Lookback::wait_for_prefix(llvm::ArrayRef<Value*> predecessors, llvm::ArrayRef<Value*> exists,
                                 llvm::ArrayRef<GpuEmitter::Registers> values, const GpuEmitter::Registers& flags) {
  const auto nearest = e.make_registers({DType::kInt32}, 1);
  const auto ballot = [&](Value* c) -> Value* {
    return b.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {}, {b.getInt32(-1), c});
  };
  emit_while(b, [&] {
    llvm::SmallVector<Value*> prefixes;
    llvm::SmallVector<Value*> ready;
    for (std::size_t j = 0; j < kWords; ++j) {
      Tuple v;
      Value* flag = flag_of(predecessors[j], e.i32(0), v);
      if (single_word_) e.put(values[j], v);
      e.put({flags[j]}, {Vec{flag}});
      prefixes.push_back(ballot(b.CreateAnd(exists[j], b.CreateICmpEQ(flag, e.i32(kPrefix)))));
      ready.push_back(ballot(b.CreateAnd(exists[j], b.CreateICmpNE(flag, e.i32(0)))));
    }
    Value* from = e.i32(-1);
    for (std::size_t j = kWords; j-- > 0;) {
      Value* first = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, prefixes[j], b.getFalse());
      first = b.CreateAdd(first, e.i32(static_cast<std::int64_t>(32 * j)));
      from = b.CreateSelect(b.CreateICmpNE(prefixes[j], e.i32(0)), first, from);
    }
    Value* done = b.CreateICmpSGE(from, e.i32(0));
    for (std::size_t j = 0; j < kWords; ++j) {
      Value* within = b.CreateSub(from, e.i32(static_cast<std::int64_t>(32 * j)));  // needed: lanes 0 .. within
      Value* part = b.CreateSub(b.CreateShl(e.i32(2), b.CreateAnd(within, e.i32(31))), e.i32(1));
      Value* needed = b.CreateSelect(b.CreateICmpSGE(within, e.i32(31)), e.i32(-1), part);
      needed = b.CreateSelect(b.CreateICmpSLT(within, e.i32(0)), e.i32(0), needed);
      done = b.CreateAnd(done, b.CreateICmpEQ(b.CreateAnd(ready[j], needed), needed));
    }
    e.put(nearest, {Vec{from}});
    return b.CreateNot(done);
  });
  return e.get(nearest)[0].re;
}

void Lookback::window(const GpuEmitter::Registers& before) {
  llvm::SmallVector<Value*> predecessors;
  llvm::SmallVector<Value*> exists;
  llvm::SmallVector<GpuEmitter::Registers> values;
  for (std::size_t j = 0; j < kWords; ++j) {
    Value* mine = b.CreateSub(b.CreateSub(program_, e.i32(static_cast<std::int64_t>(1 + 32 * j))), e.lane());
    exists.push_back(b.CreateICmpSGE(mine, e.i32(0)));
    predecessors.push_back(b.CreateSelect(exists.back(), mine, e.i32(0)));
    values.push_back(e.make_registers(f.dtypes, 1));
  }
  const auto flags = e.make_registers(llvm::SmallVector<DType>(kWords, DType::kInt32), 1);
  Value* from = wait_for_prefix(predecessors, exists, values, flags);
  for (std::size_t j = 0; j < kWords && !single_word_; ++j)
    e.put(values[j], value_of(predecessors[j], e.i32(0), e.get({flags[j]})[0].re));
  // In program order on a shelf, the nearest last.
  const auto shelf = e.make_shelf(f.dtypes, kWindow);
  for (std::size_t j = 0; j < kWords; ++j)
    e.write(shelf, b.CreateSub(e.i32(kWindow - 1 - static_cast<std::int64_t>(32 * j)), e.lane()), e.get(values[j]));
  e.ptx().sync_warp();
  Value* oldest = b.CreateSub(e.i32(kWindow - 1), from);
  e.put(before, f.exact() ? f.fold_any_order(shelf, oldest, e.i32(kWindow - 1), kWindow)
                          : f.fold_in_order(shelf, oldest, e.i32(kWindow - 1)));
}

Tuple Lookback::by_warp(const Tuple& own) {
  const auto before = e.make_registers(f.dtypes, 1);
  e.put(before, identity());
  Value* first = b.CreateICmpEQ(program_, e.i32(0));
  e.if_then(b.CreateICmpULT(e.tid(), e.i32(32)), [&] {
    Value* elected = b.CreateICmpEQ(e.lane(), e.i32(0));
    emit_if(
        b, first,
        [&] {
          e.if_then(elected, [&] { publish(e.i32(0), own, kPrefix); });
          return LlvmValues{};
        },
        [&] {
          e.if_then(elected, [&] { publish(e.i32(0), own, kAggregate); });
          window(before);
          e.if_then(elected, [&] { publish(e.i32(0), f.combine(e.get(before), own), kPrefix); });
          return LlvmValues{};
        });
  });
  return e.broadcast(e.get(before), f.dtypes, true);
}

void Lookback::emit() {
  if (!mlir::isa<mlir::RankedTensorType>(op_.getAggregates()[0].getType())) {
    Tuple own;
    for (mlir::Value v : op_.getAggregates()) own.push_back(e.scalar(v));
    const Tuple result = by_warp(own);
    for (std::size_t k = 0; k < result.size(); ++k) e.set_scalar(op_.getResult(static_cast<unsigned>(k)), result[k]);
    return;
  }
  llvm::SmallVector<Buffer, 2> results;
  for (mlir::Value r : op_.getResults()) results.push_back(e.result_buffer(r));
  const auto walk = e.prepare(f.sources(), true);
  e.versioned(walk.accesses, {}, [&] {
    e.for_chunks({items_}, 1, [&](const Pos& pos) {
      e.write_walked(walk, pos);
      const Tuple before = by_thread(pos.index, f.pull(pos));
      for (std::size_t k = 0; k < results.size(); ++k) e.write(results[k], pos, before[k]);
    });
  });
  e.walked(walk);
  e.barrier();
}

}  // namespace

void GpuEmitter::emit_lookback(tile::LookbackOp op) { Lookback(*this, op).emit(); }

}  // namespace epi::cuda
