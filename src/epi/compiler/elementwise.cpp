// Arithmetic on lanes: each kind of kinds.def on each class of dtype. Corner cases: docs/design/semantics.md.
#include "epi/compiler/emitter.h"
#include "epi/ir/constants.h"
#include "epi/ir/math/math.h"

namespace epi::compiler {

using ir::Binary;
using ir::Compare;
using ir::Unary;
using ir::math::MathFn;
using V = llvm::Value*;

static V constant_like(V like, std::uint64_t v) { return llvm::ConstantInt::get(like->getType(), v); }
static V sign_mask(V bits) {
  return llvm::ConstantInt::get(bits->getType(), llvm::APInt::getSignMask(bits->getType()->getScalarSizeInBits()));
}
static unsigned lanes_of(V v) {
  auto* t = llvm::dyn_cast<llvm::FixedVectorType>(v->getType());
  return t ? t->getNumElements() : 1;
}
static bool is_half(DType d) { return is_float(d) && size_bytes(d) == 2; }

/// The bits of a float (halves are bits already) and back.
static V bits_of(llvm::IRBuilder<>& b, V v) {
  llvm::Type* t = v->getType();
  if (!t->isFPOrFPVectorTy()) return v;
  llvm::Type* i = b.getIntNTy(t->getScalarSizeInBits());
  return b.CreateBitCast(v, lanes_of(v) == 1 ? i : llvm::FixedVectorType::get(i, lanes_of(v)));
}

static std::optional<MathFn> math_of(Unary kind) {
  switch (kind) {
#define CASE(name) case Unary::k_##name: return MathFn::name;
    CASE(exp) CASE(exp2) CASE(expm1) CASE(log) CASE(log2) CASE(log10) CASE(log1p) CASE(sqrt) CASE(rsqrt) CASE(sin) CASE(cos)
    CASE(tan) CASE(asin) CASE(acos) CASE(atan) CASE(sinh) CASE(cosh) CASE(tanh) CASE(asinh) CASE(acosh) CASE(atanh) CASE(erf)
    CASE(floor) CASE(ceil) CASE(trunc) CASE(rint) CASE(sign)
    default: return std::nullopt;
  }
}
#undef CASE
static std::optional<MathFn> math_of(Binary kind) {
  switch (kind) {
#define CASE(name) case Binary::k_##name: return MathFn::name;
    CASE(pow) CASE(atan2) CASE(hypot) CASE(logaddexp) CASE(minimum) CASE(maximum) CASE(fmin) CASE(fmax) CASE(copysign)
    CASE(nextafter)
    case Binary::k_floordiv: return MathFn::floor_divide;
    case Binary::k_mod: return MathFn::remainder;
    case Binary::k_rem: return MathFn::fmod;
    default: return std::nullopt;
#undef CASE
  }
}

// -- one operand -----------------------------------------------------------------------------------------------------
Vec Emitter::unary(Unary kind, Vec v, DType dtype, mlir::Operation* op) {
  if (is_complex(dtype)) return unary_complex(kind, v, dtype, op);
  if (is_float(dtype)) return unary_float(kind, v, dtype, op);
  if (dtype == DType::kBool) return {b_.CreateNot(v.re)};
  return unary_integer(kind, v, dtype);
}

Vec Emitter::unary_integer(Unary kind, Vec v, DType dtype) {
  const bool is_signed = epi::kind(dtype) == 'i';
  V x = v.re;
  V zero = constant_like(x, 0);
  const unsigned lanes = lanes_of(x);
  switch (kind) {
    case Unary::k_neg: return {b_.CreateNeg(x)};
    case Unary::k_bitnot: return {b_.CreateNot(x)};
    case Unary::k_abs: return is_signed ? Vec{b_.CreateSelect(b_.CreateICmpSGT(x, zero), x, b_.CreateNeg(x))} : v;
    case Unary::k_sign: {
      V nonzero = b_.CreateZExt(b_.CreateICmpNE(x, zero), x->getType());
      return {is_signed ? b_.CreateSelect(b_.CreateICmpSLT(x, zero), b_.CreateNeg(constant_like(x, 1)), nonzero) : nonzero};
    }
    case Unary::k_isnan:
    case Unary::k_isinf: return this->zero(DType::kBool, lanes);
    case Unary::k_isfinite: return {b_.CreateNot(this->zero(DType::kBool, lanes).re)};
    default: return v;  // floor, ceil, trunc, rint
  }
}

Vec Emitter::unary_float(Unary kind, Vec v, DType dtype, mlir::Operation* op) {
  V bits = bits_of(b_, v.re);
  auto back = [&](V word) { return Vec{b_.CreateBitCast(word, v.re->getType())}; };
  auto magnitude = [&](V of) { return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, of); };
  switch (kind) {
    case Unary::k_neg: return back(b_.CreateXor(bits, sign_mask(bits)));
    case Unary::k_abs: return back(b_.CreateAnd(bits, b_.CreateNot(sign_mask(bits))));
    case Unary::k_signbit: return {b_.CreateICmpSLT(bits, constant_like(bits, 0))};
    default: break;
  }
  V x = widen(v.re, dtype);
  V inf = llvm::ConstantFP::getInfinity(x->getType());
  switch (kind) {
    case Unary::k_isnan: return {b_.CreateFCmpUNO(x, x)};
    case Unary::k_isinf: return {b_.CreateFCmpOEQ(magnitude(x), inf)};
    case Unary::k_isfinite: return {b_.CreateFCmpOLT(magnitude(x), inf)};
    default: break;
  }
  if (auto fn = math_of(kind)) return {narrow(math(*fn, x, x), dtype)};
  return fail(op, "no such function of floats", dtype, lanes_of(v.re));
}

Vec Emitter::unary_complex(Unary kind, Vec v, DType dtype, mlir::Operation* op) {
  const DType part = dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  auto both = [&](Unary k, bool all) {
    V re = unary_float(k, {v.re}, part, op).re;
    V im = unary_float(k, {v.im}, part, op).re;
    return Vec{all ? b_.CreateAnd(re, im) : b_.CreateOr(re, im)};
  };
  switch (kind) {
    case Unary::k_neg: return {b_.CreateFNeg(v.re), b_.CreateFNeg(v.im)};
    case Unary::k_conj: return {v.re, b_.CreateFNeg(v.im)};
    case Unary::k_abs: return {math(MathFn::hypot, v.re, v.im)};
    case Unary::k_real: return {v.re};
    case Unary::k_imag: return {v.im};
    case Unary::k_isnan:
    case Unary::k_isinf: return both(kind, false);
    case Unary::k_isfinite: return both(kind, true);
    default: return fail(op, "no such function of complex numbers", dtype, lanes_of(v.re));
  }
}

// -- two operands ------------------------------------------------------------------------------------------------------
Vec Emitter::binary(Binary kind, Vec a, Vec b, DType dtype, mlir::Operation* op) {
  if (is_complex(dtype)) return binary_complex(kind, a, b, dtype, op);
  if (is_float(dtype)) return binary_float(kind, a, b, dtype, op);
  if (dtype != DType::kBool) return binary_integer(kind, a, b, dtype, op);
  switch (kind) {
    case Binary::k_minimum:
    case Binary::k_bitand: return {b_.CreateAnd(a.re, b.re)};
    case Binary::k_maximum:
    case Binary::k_bitor: return {b_.CreateOr(a.re, b.re)};
    case Binary::k_bitxor: return {b_.CreateXor(a.re, b.re)};
    default: return fail(op, "no such function of bools", dtype, lanes_of(a.re));
  }
}

/// Quotient or remainder, floored or truncated; a zero divisor gives 0, least // -1 wraps.
V Emitter::integer_divide(Binary kind, V a, V b, bool is_signed) {
  V zero = constant_like(a, 0);
  V by_zero = b_.CreateICmpEQ(b, zero);
  V safe = b_.CreateSelect(by_zero, constant_like(b, 1), b);
  const bool want_rest = kind == Binary::k_rem || kind == Binary::k_mod;
  if (!is_signed) {
    V r = want_rest ? b_.CreateURem(a, safe) : b_.CreateUDiv(a, safe);
    return b_.CreateSelect(by_zero, zero, r);
  }
  V minus_one = b_.CreateICmpEQ(b, llvm::Constant::getAllOnesValue(b->getType()));
  safe = b_.CreateSelect(minus_one, constant_like(b, 1), safe);
  V q = b_.CreateSelect(minus_one, b_.CreateNeg(a), b_.CreateSDiv(a, safe));
  V r = b_.CreateSub(a, b_.CreateMul(q, b));
  if (kind == Binary::k_floordiv || kind == Binary::k_mod) {
    V other_side = b_.CreateICmpSLT(b_.CreateXor(r, b), zero);
    V fix = b_.CreateAnd(b_.CreateICmpNE(r, zero), other_side);
    q = b_.CreateSelect(fix, b_.CreateSub(q, constant_like(q, 1)), q);
    r = b_.CreateSelect(fix, b_.CreateAdd(r, b), r);
  }
  return b_.CreateSelect(by_zero, zero, want_rest ? r : q);
}

/// By squaring, in a loop; a negative exponent gives 0, or +-1 for those bases.
/// Narrow integers go through 32 bits: the low bits of a product do not depend on the width.
V Emitter::integer_power(V base, V exponent, bool is_signed) {
  if (llvm::Type* narrow = base->getType(); narrow->getScalarSizeInBits() < 32) {
    llvm::Type* wide = narrow->getWithNewBitWidth(32);
    auto widen = [&](V v) { return is_signed ? b_.CreateSExt(v, wide) : b_.CreateZExt(v, wide); };
    V w = widen(base);
    return b_.CreateTrunc(integer_power(w, widen(exponent), is_signed), narrow);
  }
  V zero = constant_like(base, 0);
  V one = constant_like(base, 1);
  llvm::BasicBlock* before = b_.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(context_, "power", function_);
  auto* go = llvm::BasicBlock::Create(context_, "square", function_);
  auto* done = llvm::BasicBlock::Create(context_, "done", function_);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  auto* result = b_.CreatePHI(base->getType(), 2);
  auto* square = b_.CreatePHI(base->getType(), 2);
  auto* rest = b_.CreatePHI(base->getType(), 2);
  result->addIncoming(one, before);
  square->addIncoming(base, before);
  rest->addIncoming(exponent, before);  // a negative one runs through its bits too; what comes of it is replaced below
  b_.CreateCondBr(any(b_.CreateICmpNE(rest, zero)), go, done);
  b_.SetInsertPoint(go);
  V odd = b_.CreateICmpNE(b_.CreateAnd(rest, one), zero);
  result->addIncoming(b_.CreateSelect(odd, b_.CreateMul(result, square), result), go);
  square->addIncoming(b_.CreateMul(square, square), go);
  rest->addIncoming(b_.CreateLShr(rest, one), go);
  b_.CreateBr(loop);
  b_.SetInsertPoint(done);
  if (!is_signed) return result;
  V minus = llvm::Constant::getAllOnesValue(base->getType());
  V odd_exponent = b_.CreateICmpNE(b_.CreateAnd(exponent, one), zero);
  V of_minus = b_.CreateSelect(odd_exponent, minus, one);
  V inverse = b_.CreateSelect(b_.CreateICmpEQ(base, one), one, b_.CreateSelect(b_.CreateICmpEQ(base, minus), of_minus, zero));
  return b_.CreateSelect(b_.CreateICmpSLT(exponent, zero), inverse, result);
}

Vec Emitter::binary_integer(Binary kind, Vec va, Vec vb, DType dtype, mlir::Operation* op) {
  const bool s = epi::kind(dtype) == 'i';
  V a = va.re;
  V b = vb.re;
  const unsigned width = a->getType()->getScalarSizeInBits();
  V over = nullptr;
  V count = nullptr;
  if (kind == Binary::k_shl || kind == Binary::k_shr) {
    over = b_.CreateICmpUGE(b, constant_like(b, width));
    count = b_.CreateSelect(over, constant_like(b, kind == Binary::k_shr && s ? width - 1 : 0), b);
  }
  switch (kind) {
    case Binary::k_add: return {b_.CreateAdd(a, b)};
    case Binary::k_sub: return {b_.CreateSub(a, b)};
    case Binary::k_mul: return {b_.CreateMul(a, b)};
    case Binary::k_floordiv:
    case Binary::k_mod:
    case Binary::k_truncdiv:
    case Binary::k_rem: return {integer_divide(kind, a, b, s)};
    case Binary::k_pow: return {integer_power(a, b, s)};
    case Binary::k_minimum:
    case Binary::k_fmin: return {b_.CreateBinaryIntrinsic(s ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b)};
    case Binary::k_maximum:
    case Binary::k_fmax: return {b_.CreateBinaryIntrinsic(s ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b)};
    case Binary::k_bitand: return {b_.CreateAnd(a, b)};
    case Binary::k_bitor: return {b_.CreateOr(a, b)};
    case Binary::k_bitxor: return {b_.CreateXor(a, b)};
    case Binary::k_shl: return {b_.CreateSelect(over, constant_like(a, 0), b_.CreateShl(a, count))};
    case Binary::k_shr:
      if (s) return {b_.CreateAShr(a, count)};
      return {b_.CreateSelect(over, constant_like(a, 0), b_.CreateLShr(a, count))};
    case Binary::k_mulhi: {
      llvm::Type* wide = a->getType()->getWithNewBitWidth(2 * width);
      V p = s ? b_.CreateMul(b_.CreateSExt(a, wide), b_.CreateSExt(b, wide)) : b_.CreateMul(b_.CreateZExt(a, wide), b_.CreateZExt(b, wide));
      return {b_.CreateTrunc(b_.CreateLShr(p, width), a->getType())};
    }
    default: return fail(op, "no such function of integers", dtype, lanes_of(a));
  }
}

Vec Emitter::binary_float(Binary kind, Vec va, Vec vb, DType dtype, mlir::Operation* op) {
  if (kind == Binary::k_complex) return {va.re, vb.re};
  if (is_half(dtype) && kind == Binary::k_copysign) {
    V m = sign_mask(va.re);
    return {b_.CreateOr(b_.CreateAnd(va.re, b_.CreateNot(m)), b_.CreateAnd(vb.re, m))};
  }
  V a = widen(va.re, dtype);
  V b = widen(vb.re, dtype);
  if (is_half(dtype) && kind == Binary::k_nextafter) {
    V one = constant_like(va.re, 1);
    V fzero = llvm::Constant::getNullValue(a->getType());
    V grow = b_.CreateICmpEQ(b_.CreateFCmpOLT(a, b), b_.CreateFCmpOGT(a, fzero));
    V step = b_.CreateSelect(grow, b_.CreateAdd(va.re, one), b_.CreateSub(va.re, one));
    V least = b_.CreateOr(b_.CreateAnd(vb.re, sign_mask(vb.re)), one);
    V moved = b_.CreateSelect(b_.CreateFCmpOEQ(a, fzero), least, step);
    V r = b_.CreateSelect(b_.CreateFCmpOEQ(a, b), vb.re, moved);
    V nan = constant_like(va.re, dtype == DType::kFloat16 ? 0x7e00 : 0x7fc0);
    return {b_.CreateSelect(b_.CreateFCmpUNO(a, b), nan, r)};
  }
  switch (kind) {
    case Binary::k_add: return {narrow(b_.CreateFAdd(a, b), dtype)};
    case Binary::k_sub: return {narrow(b_.CreateFSub(a, b), dtype)};
    case Binary::k_mul: return {narrow(b_.CreateFMul(a, b), dtype)};
    case Binary::k_div: return {narrow(b_.CreateFDiv(a, b), dtype)};
    default: break;
  }
  if (native_minmax() && a->getType()->getScalarType()->isFloatTy() && (kind == Binary::k_minimum || kind == Binary::k_maximum)) {
    const auto which = kind == Binary::k_minimum ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum;
    return {narrow(b_.CreateBinaryIntrinsic(which, a, b), dtype)};
  }
  if (auto fn = math_of(kind)) return {narrow(math(*fn, a, b), dtype)};
  return fail(op, "no such function of floats", dtype, lanes_of(va.re));
}

Vec Emitter::binary_complex(Binary kind, Vec a, Vec b, DType dtype, mlir::Operation* op) {
  auto mul = [&](V x, V y) { return b_.CreateFMul(x, y); };
  auto add = [&](V x, V y) { return b_.CreateFAdd(x, y); };
  auto sub = [&](V x, V y) { return b_.CreateFSub(x, y); };
  switch (kind) {
    case Binary::k_add: return {add(a.re, b.re), add(a.im, b.im)};
    case Binary::k_sub: return {sub(a.re, b.re), sub(a.im, b.im)};
    case Binary::k_mul: return {sub(mul(a.re, b.re), mul(a.im, b.im)), add(mul(a.re, b.im), mul(a.im, b.re))};
    case Binary::k_div: break;
    default: return fail(op, "no such function of complex numbers", dtype, lanes_of(a.re));
  }
  // Smith's division: both ways, the right one selected.
  V zero = llvm::Constant::getNullValue(a.re->getType());
  V one = llvm::ConstantFP::get(a.re->getType(), 1.0);
  V re = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, b.re);
  V im = b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, b.im);
  V by_re = b_.CreateFCmpOGE(re, im);
  V both_zero = b_.CreateAnd(b_.CreateFCmpOEQ(re, zero), b_.CreateFCmpOEQ(im, zero));
  V large = b_.CreateSelect(by_re, b.re, b.im);
  V small = b_.CreateSelect(by_re, b.im, b.re);
  V ratio = b_.CreateFDiv(small, large);
  V scale = b_.CreateFDiv(one, add(large, mul(small, ratio)));
  V of_re = b_.CreateSelect(by_re, add(a.re, mul(a.im, ratio)), add(mul(a.re, ratio), a.im));
  V of_im = b_.CreateSelect(by_re, sub(a.im, mul(a.re, ratio)), sub(mul(a.im, ratio), a.re));
  return {b_.CreateSelect(both_zero, b_.CreateFDiv(a.re, re), mul(of_re, scale)),
          b_.CreateSelect(both_zero, b_.CreateFDiv(a.im, re), mul(of_im, scale))};
}

// -- comparison, selection, fma ----------------------------------------------------------------------------------------
Vec Emitter::compare(Compare kind, Vec a, Vec b, DType dtype, mlir::Operation* op) {
  (void)op;
  using P = llvm::CmpInst;
  if (is_complex(dtype)) {
    V eq = b_.CreateAnd(b_.CreateFCmpOEQ(a.re, b.re), b_.CreateFCmpOEQ(a.im, b.im));
    return {kind == Compare::k_eq ? eq : b_.CreateNot(eq)};
  }
  if (is_float(dtype)) {
    static constexpr P::Predicate kFloat[] = {P::FCMP_OEQ, P::FCMP_UNE, P::FCMP_OLT, P::FCMP_OLE, P::FCMP_OGT, P::FCMP_OGE};
    return {b_.CreateFCmp(kFloat[static_cast<unsigned>(kind)], widen(a.re, dtype), widen(b.re, dtype))};
  }
  static constexpr P::Predicate kSigned[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_SLT, P::ICMP_SLE, P::ICMP_SGT, P::ICMP_SGE};
  static constexpr P::Predicate kUnsigned[] = {P::ICMP_EQ, P::ICMP_NE, P::ICMP_ULT, P::ICMP_ULE, P::ICMP_UGT, P::ICMP_UGE};
  const bool s = epi::kind(dtype) == 'i';
  return {b_.CreateICmp((s ? kSigned : kUnsigned)[static_cast<unsigned>(kind)], a.re, b.re)};
}

Vec Emitter::select(V mask, Vec a, Vec b) {
  return {b_.CreateSelect(mask, a.re, b.re), a.im ? b_.CreateSelect(mask, a.im, b.im) : nullptr};
}

Vec Emitter::fma(Vec a, Vec b, Vec c, DType dtype) {
  if (!is_half(dtype)) return {b_.CreateIntrinsic(llvm::Intrinsic::fma, {a.re->getType()}, {a.re, b.re, c.re})};
  // The product is exact in f64; the sum is rounded to odd, then once to the half.
  llvm::Type* f64 = widen(a.re, dtype)->getType()->getWithNewType(b_.getDoubleTy());
  auto wide = [&](Vec v) { return b_.CreateFPExt(widen(v.re, dtype), f64); };
  V p = b_.CreateFMul(wide(a), wide(b));
  V q = wide(c);
  V s = b_.CreateFAdd(p, q);
  V t = b_.CreateFSub(s, p);
  V error = b_.CreateFAdd(b_.CreateFSub(p, b_.CreateFSub(s, t)), b_.CreateFSub(q, t));
  V zero = llvm::Constant::getNullValue(f64);
  V bits = bits_of(b_, s);
  V away = b_.CreateICmpEQ(b_.CreateFCmpOLT(error, zero), b_.CreateFCmpOGT(s, zero));
  V odd = b_.CreateOr(b_.CreateSub(bits, b_.CreateZExt(away, bits->getType())), constant_like(bits, 1));
  V finite = b_.CreateFCmpOLT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, s), llvm::ConstantFP::getInfinity(f64));
  V inexact = b_.CreateAnd(finite, b_.CreateFCmpONE(error, zero));
  V sum = b_.CreateSelect(inexact, b_.CreateBitCast(odd, f64), s);
  return {number_to_float(sum, DType::kFloat64, dtype)};
}

// -- an op on lanes ------------------------------------------------------------------------------------------------------
Vec Emitter::elementwise(mlir::Operation* op, llvm::ArrayRef<Vec> v, unsigned lanes, const Pos* pos) {
  const DType out = tile::dtype_of(op->getResult(0).getType());
  const DType in = op->getNumOperands() ? tile::dtype_of(op->getOperand(0).getType()) : out;
  if (auto o = mlir::dyn_cast<tile::ConstantOp>(op)) return constant(o.getValue(), out, lanes);
  if (auto o = mlir::dyn_cast<tile::UnaryOp>(op)) return unary(static_cast<Unary>(o.getKind()), v[0], in, op);
  if (auto o = mlir::dyn_cast<tile::BinaryOp>(op)) {
    if (o.getFlagZero()) flag_zero(op, v[1], pos);
    return binary(static_cast<Binary>(o.getKind()), v[0], v[1], in, op);
  }
  if (auto o = mlir::dyn_cast<tile::CompareOp>(op)) return compare(static_cast<Compare>(o.getKind()), v[0], v[1], in, op);
  if (mlir::isa<tile::FmaOp>(op)) return fma(v[0], v[1], v[2], in);
  if (mlir::isa<tile::SelectOp>(op)) return select(v[0].re, v[1], v[2]);
  if (auto o = mlir::dyn_cast<tile::CastOp>(op)) return cast(v[0], in, out, static_cast<ir::Cast>(o.getMode()), op);
  if (mlir::isa<tile::BitcastOp>(op)) return bitcast(v[0], in, out);
  return fail(op, "the compiler does not know this op", out, lanes);
}

llvm::SmallVector<Vec, 2> Emitter::combine(ir::Combine kind, mlir::Region& region, llvm::ArrayRef<Vec> left,
                                           llvm::ArrayRef<Vec> right, llvm::ArrayRef<DType> dtypes, mlir::Operation* op) {
  static constexpr Binary kBinary[] = {Binary::k_add, Binary::k_mul, Binary::k_minimum, Binary::k_maximum,
                                       Binary::k_bitand, Binary::k_bitor, Binary::k_bitxor};
  if (kind != ir::Combine::k_region) return {binary(kBinary[static_cast<unsigned>(kind)], left[0], right[0], dtypes[0], op)};
  const unsigned lanes = lanes_of(left[0].re);
  mlir::Block& block = region.front();
  llvm::DenseMap<mlir::Value, Vec> values;
  for (auto [i, arg] : llvm::enumerate(block.getArguments())) values[arg] = i < left.size() ? left[i] : right[i - left.size()];
  auto get = [&](mlir::Value v) {
    auto it = values.find(v);
    return it != values.end() ? it->second : splat(scalar(v), lanes);
  };
  for (mlir::Operation& inner : block.without_terminator()) {
    if (inner.getNumRegions() || inner.getNumResults() != 1 || mlir::isa<mlir::RankedTensorType>(inner.getResult(0).getType())) {
      fail(&inner, "a combiner takes elementwise operations on scalars only");
      return llvm::SmallVector<Vec, 2>(left.begin(), left.end());
    }
    llvm::SmallVector<Vec, 4> operands;
    for (mlir::Value v : inner.getOperands()) operands.push_back(get(v));
    values[inner.getResult(0)] = elementwise(&inner, operands, lanes, nullptr);
  }
  llvm::SmallVector<Vec, 2> out;
  for (mlir::Value v : block.getTerminator()->getOperands()) out.push_back(get(v));
  return out;
}

}  // namespace epi::compiler
