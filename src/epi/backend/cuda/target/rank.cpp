// Stable ranks of digits. Each warp counts its own part of the tile, 32 neighbours at a time: threads with equal digits
// find each other with match.any, the first of them moves the warp's counter. Counters are then scanned over digits and
// warps.
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "epi/backend/cuda/target/gpu_emitter.h"

namespace epi::cuda {
namespace {

using llvm::Value;

class Rank {
 public:
  Rank(GpuEmitter& emitter, tile::RankOp op)
      : e(emitter),
        b(emitter.builder()),
        op_(op),
        n_(tile::size_of(op.getDigits().getType())),
        bins_(tile::size_of(op.getCounts().getType())),
        warps_(emitter.threads() / 32),
        rounds_((n_ + 32 * warps_ - 1) / (32 * warps_)) {}

  void emit() {
    const auto walk = e.prepare({op_.getDigits()}, false);
    counters_ = e.make_buffer(DType::kInt32, warps_ * (bins_ + 1));
    within_ = e.make_buffer(DType::kInt32, n_);
    e.for_chunks({warps_ * (bins_ + 1)}, 1, [&](const Pos& pos) { e.write(counters_, pos, {e.i32(0)}); });
    e.barrier();
    const Buffer ranks = e.result_buffer(op_.getRanks());
    const Buffer counts = e.result_buffer(op_.getCounts());
    e.versioned(walk.accesses, {}, [&] { count(); });
    e.walked(walk);
    e.barrier();
    sum_warps(counts);
    e.barrier();
    scan_bins();
    e.barrier();
    e.versioned(walk.accesses, {}, [&] { finish(ranks); });
    e.barrier();
  }

 private:
  /// Position of the thread's item of a round.
  Value* item(Value* round) {
    Value* group = b.CreateAdd(b.CreateMul(e.warp(), e.i32(rounds_)), round);
    return b.CreateAdd(b.CreateMul(group, e.i32(32)), e.lane());
  }
  /// The item's digit, or bins_ where it is none.
  Value* digit(Value* at) {
    Value* d = e.pull(op_.getDigits(), e.at(at)).re;
    return b.CreateSelect(b.CreateICmpULT(d, e.i32(bins_)), d, e.i32(bins_));
  }
  Value* counter(Value* d) { return b.CreateAdd(b.CreateMul(e.warp(), e.i32(bins_ + 1)), d); }

  void count();
  void sum_warps(const Buffer& counts);
  void scan_bins();
  void finish(const Buffer& ranks);

  GpuEmitter& e;
  llvm::IRBuilder<>& b;
  tile::RankOp op_;
  std::int64_t n_;
  std::int64_t bins_;
  std::int64_t warps_;
  std::int64_t rounds_;
  Buffer counters_;  ///< [warp][digit]: counts, then where the warp's items of the digit start
  Buffer starts_;    ///< [digit]: total, then where the digit starts
  Buffer within_;    ///< [item]: items of its warp before it that have its digit
};

void Rank::count() {
  auto loop = e.begin_loop(e.i32(0), e.i32(rounds_), e.i32(1));
  Value* at = item(loop.index);
  Value* exists = b.CreateICmpULT(at, e.i32(n_));
  Value* safe = b.CreateSelect(exists, at, e.i32(n_ - 1));
  // Threads beyond the end form a group of their own, which counts nothing.
  Value* d = b.CreateSelect(exists, digit(safe), e.i32(bins_ + 1));
  Value* peers = b.CreateIntrinsic(llvm::Intrinsic::nvvm_match_any_sync_i32, {}, {b.getInt32(-1), d});
  Value* below = b.CreateSub(b.CreateShl(e.i32(1), e.lane()), e.i32(1));
  Value* before = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, b.CreateAnd(peers, below));
  e.if_then(exists, [&] {
    Value* old = e.read(counters_, e.at(counter(d))).re;
    e.write(within_, e.at(at), {b.CreateAdd(old, before)});
  });
  e.ptx().sync_warp();
  e.if_then(b.CreateAnd(exists, b.CreateICmpEQ(before, e.i32(0))), [&] {
    Value* old = e.read(counters_, e.at(counter(d))).re;
    e.write(counters_, e.at(counter(d)), {b.CreateAdd(old, b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, peers))});
  });
  e.ptx().sync_warp();
  e.end_loop(loop);
}

/// Each counter becomes the sum of the earlier warps' counters of its digit; counts get the digit's total.
void Rank::sum_warps(const Buffer& counts) {
  starts_ = e.make_buffer(DType::kInt32, bins_ + 1);
  e.for_chunks({bins_ + 1}, 1, [&](const Pos& pos) {
    Value* sum = e.i32(0);
    for (std::int64_t w = 0; w < warps_; ++w) {
      const Pos at = e.at(b.CreateAdd(pos.index, e.i32(w * (bins_ + 1))));
      Value* mine = e.read(counters_, at).re;
      e.write(counters_, at, {sum});
      sum = b.CreateAdd(sum, mine);
    }
    e.write(starts_, pos, {sum});
    e.if_then(b.CreateICmpULT(pos.index, e.i32(bins_)), [&] { e.write(counts, pos, {sum}); });
  });
}

/// The digits' totals become where each digit starts: one warp, 32 digits at a time.
void Rank::scan_bins() {
  e.if_then(b.CreateICmpULT(e.tid(), e.i32(32)), [&] {
    const auto carry = e.make_registers({DType::kInt32}, 1);
    e.put(carry, {Vec{e.i32(0)}});
    auto loop = e.begin_loop(e.i32(0), e.i32((bins_ + 32) / 32 * 32), e.i32(32));
    Value* at = b.CreateAdd(loop.index, e.lane());
    Value* exists = b.CreateICmpULE(at, e.i32(bins_));
    Value* mine = e.read(starts_, e.at(b.CreateSelect(exists, at, e.i32(0)))).re;
    mine = b.CreateSelect(exists, mine, e.i32(0));
    Value* sum = mine;
    for (unsigned d = 1; d < 32; d *= 2) {
      Value* left = e.shuffle_up({Vec{sum}}, d)[0].re;
      sum = b.CreateAdd(sum, b.CreateSelect(b.CreateICmpUGE(e.lane(), e.i32(d)), left, e.i32(0)));
    }
    Value* start = b.CreateAdd(e.get(carry)[0].re, b.CreateSub(sum, mine));
    e.if_then(exists, [&] { e.write(starts_, e.at(at), {start}); });
    Value* all = e.shuffle_from({Vec{sum}}, e.i32(31))[0].re;
    e.put(carry, {Vec{b.CreateAdd(e.get(carry)[0].re, all)}});
    e.end_loop(loop);
  });
}

void Rank::finish(const Buffer& ranks) {
  auto loop = e.begin_loop(e.i32(0), e.i32(rounds_), e.i32(1));
  Value* at = item(loop.index);
  e.if_then(b.CreateICmpULT(at, e.i32(n_)), [&] {
    Value* d = digit(at);
    Value* start = b.CreateAdd(e.read(starts_, e.at(d)).re, e.read(counters_, e.at(counter(d))).re);
    e.write(ranks, e.at(at), {b.CreateAdd(start, e.read(within_, e.at(at)).re)});
  });
  e.end_loop(loop);
}

}  // namespace

void GpuEmitter::emit_rank(tile::RankOp op) { Rank(*this, op).emit(); }

}  // namespace epi::cuda
