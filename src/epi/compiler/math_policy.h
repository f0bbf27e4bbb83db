// The math functions' policy (ir/math/policy.h) over LLVM values: one emitter's builder, any number of lanes. Rare paths
// branch on "any lane" and select in the branch. Used by math_policy.cpp only, which instantiates the functions.
#pragma once
#include <tuple>
#include <utility>

#include "epi/compiler/emitter.h"
#include "epi/ir/math/policy.h"

namespace epi::compiler {

class LaneMath {
 public:
  using V = llvm::Value*;
  using F32 = V;
  using F64 = V;
  using I32 = V;
  using I64 = V;
  using M = V;
  LaneMath(Emitter& emitter, unsigned lanes) : e_(emitter), b_(emitter.builder()), lanes_(lanes) {}

  V f32(float x) { return wide(llvm::ConstantFP::get(b_.getFloatTy(), llvm::APFloat(x))); }
  V f64(double x) { return wide(llvm::ConstantFP::get(b_.getDoubleTy(), llvm::APFloat(x))); }
  V i32(std::int32_t x) { return wide(b_.getInt32(static_cast<std::uint32_t>(x))); }
  V i64(std::int64_t x) { return wide(b_.getInt64(static_cast<std::uint64_t>(x))); }

  V fadd(V a, V c) { return b_.CreateFAdd(a, c); }
  V fsub(V a, V c) { return b_.CreateFSub(a, c); }
  V fmul(V a, V c) { return b_.CreateFMul(a, c); }
  V fdiv(V a, V c) { return b_.CreateFDiv(a, c); }
  V fma(V a, V c, V d) { return b_.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, c, d}); }
  V fsqrt(V a) { return one(llvm::Intrinsic::sqrt, a); }
  V fneg(V a) { return b_.CreateFNeg(a); }
  V fabs(V a) { return one(llvm::Intrinsic::fabs, a); }
  V frint(V a) { return one(llvm::Intrinsic::roundeven, a); }
  V ffloor(V a) { return one(llvm::Intrinsic::floor, a); }
  V fceil(V a) { return one(llvm::Intrinsic::ceil, a); }
  V ftrunc(V a) { return one(llvm::Intrinsic::trunc, a); }
  V fcmp_lt(V a, V c) { return b_.CreateFCmpOLT(a, c); }
  V fcmp_le(V a, V c) { return b_.CreateFCmpOLE(a, c); }
  V fcmp_eq(V a, V c) { return b_.CreateFCmpOEQ(a, c); }
  V fcmp_ne(V a, V c) { return b_.CreateFCmpUNE(a, c); }

  V iadd(V a, V c) { return b_.CreateAdd(a, c); }
  V isub(V a, V c) { return b_.CreateSub(a, c); }
  V imul(V a, V c) { return b_.CreateMul(a, c); }
  V iand(V a, V c) { return b_.CreateAnd(a, c); }
  V ior(V a, V c) { return b_.CreateOr(a, c); }
  V ixor(V a, V c) { return b_.CreateXor(a, c); }
  V shl(V a, V n) { return b_.CreateShl(a, n); }
  V lshr(V a, V n) { return b_.CreateLShr(a, n); }
  V ashr(V a, V n) { return b_.CreateAShr(a, n); }
  V icmp_eq(V a, V c) { return b_.CreateICmpEQ(a, c); }
  V icmp_slt(V a, V c) { return b_.CreateICmpSLT(a, c); }

  V bits(V a) {
    const bool f32 = a->getType()->getScalarType()->isFloatTy();
    return b_.CreateBitCast(a, like(f32 ? b_.getInt32Ty() : b_.getInt64Ty()));
  }
  V from_bits(V a) {
    return b_.CreateBitCast(a, like(a->getType()->getScalarType()->isIntegerTy(32) ? b_.getFloatTy() : b_.getDoubleTy()));
  }
  V widen(V a) { return b_.CreateFPExt(a, like(b_.getDoubleTy())); }
  V narrow(V a) { return b_.CreateFPTrunc(a, like(b_.getFloatTy())); }
  V zext(V a) { return b_.CreateZExt(a, like(b_.getInt64Ty())); }
  V low(V a) { return b_.CreateTrunc(a, like(b_.getInt32Ty())); }
  V lookup(const ir::math::Table& table, V i);

  V mand(V a, V c) { return b_.CreateAnd(a, c); }
  V mor(V a, V c) { return b_.CreateOr(a, c); }
  V mnot(V a) { return b_.CreateNot(a); }
  V select(V m, V a, V c) { return b_.CreateSelect(m, a, c); }

  template <class... T, class Then>
  std::tuple<T...> if_any(V m, std::tuple<T...> otherwise, Then&& then) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* rare = block("rare");
    auto* done = block("done");
    b_.CreateCondBr(e_.any(m), rare, done, unlikely());
    b_.SetInsertPoint(rare);
    std::tuple<T...> made = merge(m, then(), otherwise);
    llvm::BasicBlock* end = b_.GetInsertBlock();
    b_.CreateBr(done);
    b_.SetInsertPoint(done);
    return phis(made, end, otherwise, before);
  }

  template <class... T, class Cond, class Next>
  std::tuple<T...> while_any(std::tuple<T...> state, Cond&& cond, Next&& body) {
    llvm::BasicBlock* before = b_.GetInsertBlock();
    auto* loop = block("again");
    auto* go = block("turn");
    auto* done = block("done");
    b_.CreateBr(loop);
    b_.SetInsertPoint(loop);
    std::tuple<T...> now = phis(state, before, state, nullptr);
    V m = cond(now);
    b_.CreateCondBr(e_.any(m), go, done);
    b_.SetInsertPoint(go);
    std::tuple<T...> next = merge(m, body(now), now);
    incoming(now, next, b_.GetInsertBlock(), std::index_sequence_for<T...>{});
    b_.CreateBr(loop);
    b_.SetInsertPoint(done);
    return now;
  }

 private:
  llvm::Type* like(llvm::Type* scalar) { return lanes_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes_); }
  V wide(llvm::Constant* c) {
    return lanes_ == 1 ? c : llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes_), c);
  }
  V one(llvm::Intrinsic::ID id, V a) { return b_.CreateUnaryIntrinsic(id, a); }
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(b_.getContext(), name, b_.GetInsertBlock()->getParent());
  }
  llvm::MDNode* unlikely();
  template <class... T>
  std::tuple<T...> merge(V m, std::tuple<T...> a, std::tuple<T...> c) {
    return std::apply([&](auto... x) { return std::apply([&](auto... y) { return std::tuple<T...>{select(m, x, y)...}; }, c); }, a);
  }
  V phi(V a, llvm::BasicBlock* from_a, V c, llvm::BasicBlock* from_c) {
    auto* p = b_.CreatePHI(a->getType(), 2);
    p->addIncoming(a, from_a);
    if (from_c) p->addIncoming(c, from_c);
    return p;
  }
  template <class... T>
  std::tuple<T...> phis(std::tuple<T...> a, llvm::BasicBlock* from_a, std::tuple<T...> c, llvm::BasicBlock* from_c) {
    return std::apply([&](auto... x) {
      return std::apply([&](auto... y) { return std::tuple<T...>{phi(x, from_a, y, from_c)...}; }, c);
    }, a);
  }
  template <class Tuple, std::size_t... I>
  void incoming(Tuple& now, Tuple& next, llvm::BasicBlock* from, std::index_sequence<I...>) {
    (llvm::cast<llvm::PHINode>(std::get<I>(now))->addIncoming(std::get<I>(next), from), ...);
  }

  Emitter& e_;
  llvm::IRBuilder<>& b_;
  unsigned lanes_;
};

}  // namespace epi::compiler
