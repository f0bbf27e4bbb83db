// Conversions on lanes, constants, and the plumbing of lanes (splat, insert, extract).
#include "epi/compiler/emitter.h"
#include "epi/ir/constants.h"

#include <limits>

namespace epi::compiler {

using V = llvm::Value*;

static unsigned lanes_of(V v) {
  auto* t = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return t ? t->getNumElements() : 1;
}
static llvm::Type* with(V like, llvm::Type* element) {
  const unsigned n = lanes_of(like);
  return n == 1 ? element : llvm::FixedVectorType::get(element, n);
}
static V constant_like(V like, std::uint64_t v) { return llvm::ConstantInt::get(like->getType(), v); }
static bool is_half(DType d) { return is_float(d) && size_bytes(d) == 2; }

// -- halves ------------------------------------------------------------------------------------------------------------
V Emitter::widen(V v, DType dtype) {
  if (dtype == DType::kFloat16) return b_.CreateFPExt(b_.CreateBitCast(v, with(v, b_.getHalfTy())), with(v, b_.getFloatTy()));
  if (dtype != DType::kBFloat16) return v;
  V word = b_.CreateShl(b_.CreateZExt(v, with(v, b_.getInt32Ty())), 16);
  return b_.CreateBitCast(word, with(v, b_.getFloatTy()));
}

V Emitter::narrow(V v, DType dtype) {
  if (dtype == DType::kFloat16)
    return b_.CreateBitCast(b_.CreateFPTrunc(v, with(v, b_.getHalfTy())), with(v, b_.getInt16Ty()));
  if (dtype != DType::kBFloat16) return v;
  V u = b_.CreateBitCast(v, with(v, b_.getInt32Ty()));
  V odd = b_.CreateAnd(b_.CreateLShr(u, 16), constant_like(u, 1));
  V rounded = b_.CreateAdd(b_.CreateAdd(u, constant_like(u, 0x7fff)), odd);
  V nan = b_.CreateOr(u, constant_like(u, 0x400000));
  return b_.CreateTrunc(b_.CreateLShr(b_.CreateSelect(b_.CreateFCmpUNO(v, v), nan, rounded), 16), with(v, b_.getInt16Ty()));
}

/// Truncated where inexact, last bit set: one more rounding to 22 bits or fewer then rounds as if there were only one.
V Emitter::to_odd(V d) {
  V x = b_.CreateFPTrunc(d, with(d, b_.getFloatTy()));
  V back = b_.CreateFPExt(x, d->getType());
  V inexact = b_.CreateFCmpONE(back, d);
  V away = b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back), b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, d));
  V bits = b_.CreateBitCast(x, with(d, b_.getInt32Ty()));
  V odd = b_.CreateOr(b_.CreateSub(bits, b_.CreateZExt(away, bits->getType())), constant_like(bits, 1));
  return b_.CreateSelect(inexact, b_.CreateBitCast(odd, x->getType()), x);
}

// -- numbers -------------------------------------------------------------------------------------------------------------
V Emitter::number_to_float(V v, DType from, DType to) {
  llvm::Type* type = with(v, to == DType::kFloat64 ? b_.getDoubleTy() : b_.getFloatTy());
  if (is_float(from)) {
    V w = widen(v, from);
    if (to == DType::kFloat64) return from == DType::kFloat64 ? w : b_.CreateFPExt(w, type);
    if (to == DType::kFloat32) return from == DType::kFloat64 ? b_.CreateFPTrunc(w, type) : w;
    if (from == DType::kFloat64 && to == DType::kFloat16 && native_half_from_double())
      return b_.CreateBitCast(b_.CreateFPTrunc(w, with(v, b_.getHalfTy())), with(v, b_.getInt16Ty()));
    return narrow(from == DType::kFloat64 ? to_odd(w) : w, to);
  }
  const bool s = epi::kind(from) == 'i';
  auto convert = [&](V i, llvm::Type* t) { return s ? b_.CreateSIToFP(i, t) : b_.CreateUIToFP(i, t); };
  if (!is_half(to)) return convert(v, type);
  if (size_bytes(from) <= 2) return narrow(convert(v, type), to);
  if (size_bytes(from) == 8) {  // keep what a half's rounding can see: 48 bits and a sticky one
    V low = b_.CreateAnd(v, constant_like(v, 0xffff));
    V sticky = b_.CreateSelect(b_.CreateICmpEQ(low, constant_like(v, 0)), constant_like(v, 0), constant_like(v, 0x8000));
    V cut = b_.CreateOr(b_.CreateSub(v, low), sticky);
    V size = s ? b_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, v, b_.getFalse()) : v;
    v = b_.CreateSelect(b_.CreateICmpULT(size, constant_like(v, std::uint64_t{1} << 40)), v, cut);
  }
  return narrow(to_odd(convert(v, with(v, b_.getDoubleTy()))), to);
}

V Emitter::float_to_integer(V v, DType to, ir::Cast mode) {
  const unsigned bits = static_cast<unsigned>(size_bytes(to)) * 8;
  const bool s = epi::kind(to) == 'i';
  llvm::Type* type = with(v, b_.getIntNTy(bits));
  if (mode == ir::Cast::k_saturate)
    return b_.CreateIntrinsic(s ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat, {type, v->getType()}, {v});
  // As C compiles it on x86: through i32 (narrow types), i64 (u32), and u64 in two halves; out of range is the least.
  auto through = [&](V x, unsigned width) {
    llvm::Type* wide = with(v, b_.getIntNTy(width));
    V limit = llvm::ConstantFP::get(x->getType(), width == 64 ? 0x1p63 : 0x1p31);
    V fits = b_.CreateAnd(b_.CreateFCmpOGE(x, b_.CreateFNeg(limit)), b_.CreateFCmpOLT(x, limit));
    V safe = b_.CreateSelect(fits, x, llvm::Constant::getNullValue(x->getType()));
    V least = llvm::ConstantInt::get(wide, llvm::APInt::getSignedMinValue(width));
    return b_.CreateSelect(fits, b_.CreateFPToSI(safe, wide), least);
  };
  if (to == DType::kUInt64) {
    V half = llvm::ConstantFP::get(v->getType(), 0x1p63);
    V high = b_.CreateFCmpOGE(v, half);
    V upper = b_.CreateXor(through(b_.CreateFSub(v, half), 64), constant_like(b_.CreateBitCast(through(v, 64), type), std::uint64_t{1} << 63));
    return b_.CreateSelect(high, upper, through(v, 64));
  }
  return b_.CreateTrunc(through(v, bits == 64 || to == DType::kUInt32 ? 64 : 32), type);
}

V Emitter::integer_to_integer(V v, DType from, DType to, ir::Cast mode) {
  const auto from_bits = static_cast<unsigned>(size_bytes(from)) * 8;
  const auto to_bits = static_cast<unsigned>(size_bytes(to)) * 8;
  const bool s = epi::kind(from) == 'i';
  const bool to_signed = epi::kind(to) == 'i';
  llvm::Type* type = with(v, b_.getIntNTy(to_bits));
  if (mode == ir::Cast::k_saturate) {
    using I = llvm::Intrinsic::IndependentIntrinsics;
    const unsigned top = to_signed ? to_bits - 1 : to_bits;            // value bits of the target
    const unsigned have = s ? from_bits - 1 : from_bits;
    if (top < have) {
      V most = llvm::ConstantInt::get(v->getType(), llvm::APInt::getLowBitsSet(from_bits, top));
      v = b_.CreateBinaryIntrinsic(s ? I::smin : I::umin, v, most);
    }
    if (s && !to_signed) v = b_.CreateBinaryIntrinsic(I::smax, v, constant_like(v, 0));
    if (s && to_signed && to_bits < from_bits) {
      V least = llvm::ConstantInt::get(v->getType(), llvm::APInt::getSignedMinValue(to_bits).sext(from_bits));
      v = b_.CreateBinaryIntrinsic(I::smax, v, least);
    }
  }
  return s ? b_.CreateSExtOrTrunc(v, type) : b_.CreateZExtOrTrunc(v, type);
}

Vec Emitter::cast(Vec v, DType from, DType to, ir::Cast mode, mlir::Operation* op) {
  if (from == to) return v;
  auto part = [](DType d) { return d == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64; };
  if (is_complex(from)) {
    if (to == DType::kBool)
      return {b_.CreateOr(cast({v.re}, part(from), to, mode, op).re, cast({v.im}, part(from), to, mode, op).re)};
    if (!is_complex(to)) return cast({v.re}, part(from), to, mode, op);
    return {cast({v.re}, part(from), part(to), mode, op).re, cast({v.im}, part(from), part(to), mode, op).re};
  }
  if (is_complex(to)) {
    V re = cast(v, from, part(to), mode, op).re;
    return {re, llvm::Constant::getNullValue(re->getType())};
  }
  if (to == DType::kBool) {
    V x = widen(v.re, from);
    V zero = llvm::Constant::getNullValue(x->getType());
    return {is_float(from) ? b_.CreateFCmpUNE(x, zero) : b_.CreateICmpNE(x, zero)};
  }
  if (from == DType::kBool) {
    V i = b_.CreateZExt(v.re, with(v.re, b_.getInt8Ty()));
    return cast({i}, DType::kUInt8, to, ir::Cast::k_wrap, op);
  }
  if (is_float(to)) return {number_to_float(v.re, from, to)};
  if (is_float(from)) return {float_to_integer(widen(v.re, from), to, mode)};
  return {integer_to_integer(v.re, from, to, mode)};
}

Vec Emitter::bitcast(Vec v, DType from, DType to) {
  if (from == to) return v;
  const unsigned bits = static_cast<unsigned>(size_bytes(from)) * 8;
  llvm::Type* word = with(v.re, b_.getIntNTy(bits));
  V w = v.re;
  if (is_complex(from)) {
    llvm::Type* half = with(v.re, b_.getIntNTy(bits / 2));
    V high = b_.CreateShl(b_.CreateZExt(b_.CreateBitCast(v.im, half), word), bits / 2);
    w = b_.CreateOr(b_.CreateZExt(b_.CreateBitCast(v.re, half), word), high);
  }
  llvm::Type* type = register_type(to, lanes_of(v.re));
  if (!is_complex(to)) return {b_.CreateBitCast(w, type)};
  w = b_.CreateBitCast(w, word);
  llvm::Type* half = with(v.re, b_.getIntNTy(bits / 2));
  return {b_.CreateBitCast(b_.CreateTrunc(w, half), type), b_.CreateBitCast(b_.CreateTrunc(b_.CreateLShr(w, bits / 2), half), type)};
}

// -- constants -------------------------------------------------------------------------------------------------------------
Vec Emitter::scalar_constant(const ir::Scalar& value, DType dtype) {
  auto real = [&](double x) -> llvm::Constant* {
    if (!is_half(dtype)) return llvm::ConstantFP::get(memory_type(dtype), x);
    llvm::APFloat f(x);
    bool loses = false;
    f.convert(dtype == DType::kFloat16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &loses);
    return llvm::ConstantInt::get(context_, f.bitcastToAPInt());
  };
  if (dtype == DType::kBool) return {b_.getInt1(value.i != 0)};
  if (is_integer(dtype)) return {llvm::ConstantInt::get(memory_type(dtype), static_cast<std::uint64_t>(value.i))};
  if (is_complex(dtype)) return {real(value.c.real()), real(value.c.imag())};
  return {real(value.c.real())};
}

Vec Emitter::constant(mlir::Attribute value, DType dtype, unsigned lanes) {
  return splat(scalar_constant(tile::scalar_of(value, tile::element_type(kernel_.getContext(), dtype)), dtype), lanes);
}

Vec Emitter::zero(DType dtype, unsigned lanes) {
  llvm::Constant* z = llvm::Constant::getNullValue(register_type(dtype, lanes));
  return {z, is_complex(dtype) ? z : nullptr};
}

Vec Emitter::identity(ir::Combine kind, DType dtype, unsigned lanes) {
  ir::Scalar s{dtype, 0, {}};
  const bool u = epi::kind(dtype) == 'u';
  const auto bits = static_cast<unsigned>(size_bytes(dtype)) * 8;
  const std::uint64_t ones = ~std::uint64_t{0};
  switch (kind) {
    case ir::Combine::k_mul:
      s.i = 1;
      s.c = 1;
      break;
    case ir::Combine::k_minimum:
      s.i = dtype == DType::kBool ? 1 : static_cast<std::int64_t>(u ? ones : (std::uint64_t{1} << (bits - 1)) - 1);
      s.c = std::numeric_limits<double>::infinity();
      break;
    case ir::Combine::k_maximum:
      s.i = u || dtype == DType::kBool ? 0 : static_cast<std::int64_t>(std::uint64_t{1} << (bits - 1));
      s.c = -std::numeric_limits<double>::infinity();
      break;
    case ir::Combine::k_bitand: s.i = -1; break;
    default: break;
  }
  if (is_complex(dtype) && kind != ir::Combine::k_mul) s.c = 0;
  return splat(scalar_constant(s, dtype), lanes);
}

// -- lanes -------------------------------------------------------------------------------------------------------------------
Vec Emitter::splat(Vec v, unsigned lanes) {
  if (lanes == 1) return v;
  return {b_.CreateVectorSplat(lanes, v.re), v.im ? b_.CreateVectorSplat(lanes, v.im) : nullptr};
}

Vec Emitter::shuffle(Vec a, Vec b, llvm::ArrayRef<int> mask) {
  return {b_.CreateShuffleVector(a.re, b.re, mask), a.im ? b_.CreateShuffleVector(a.im, b.im, mask) : nullptr};
}

Vec Emitter::extract(Vec v, unsigned lane) {
  if (lanes_of(v.re) == 1) return v;
  return {b_.CreateExtractElement(v.re, lane), v.im ? b_.CreateExtractElement(v.im, lane) : nullptr};
}

Vec Emitter::insert(Vec v, Vec scalar, unsigned lane) {
  if (lanes_of(v.re) == 1) return scalar;
  return {b_.CreateInsertElement(v.re, scalar.re, lane), v.im ? b_.CreateInsertElement(v.im, scalar.im, lane) : nullptr};
}

V Emitter::any(V mask) {
  const unsigned n = lanes_of(mask);
  if (n == 1) return mask;
  llvm::Type* word = b_.getIntNTy(n);
  return b_.CreateICmpNE(b_.CreateBitCast(mask, word), llvm::ConstantInt::get(word, 0));
}

}  // namespace epi::compiler
