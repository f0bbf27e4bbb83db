// Typed handles on a policy's values, so that the functions read as formulas and a mask or an integer is never taken
// for a float even where the policy has one C++ type for all. Each operator is exactly one primitive; fma is always
// explicit.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "epi/ir/math/policy.h"

namespace epi::ir::math {

/// Facts of a float format, W bits wide.
template <int W>
struct Format;
template <>
struct Format<32> {
  using Float = float;
  using Word = std::int32_t;
  static constexpr int kMantissa = 23;  ///< stored bits
  static constexpr int kBias = 127;
  static constexpr float kMagic = 0x1.8p23f;  ///< x + kMagic holds rint(x) in its low bits
  static constexpr Word kOne = 0x3f800000;
};
template <>
struct Format<64> {
  using Float = double;
  using Word = std::int64_t;
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
  static constexpr double kMagic = 0x1.8p52;
  static constexpr Word kOne = 0x3ff0000000000000;
};
template <int W>
using FloatOf = typename Format<W>::Float;
template <int W>
using WordOf = typename Format<W>::Word;
template <int W>
inline constexpr WordOf<W> kMagicBits = std::bit_cast<WordOf<W>>(Format<W>::kMagic);
template <int W>
inline constexpr FloatOf<W> kInf = std::numeric_limits<FloatOf<W>>::infinity();
template <int W>
inline constexpr FloatOf<W> kNan = std::numeric_limits<FloatOf<W>>::quiet_NaN();
template <int W>
inline constexpr FloatOf<W> kMinNormal = std::numeric_limits<FloatOf<W>>::min();
template <int W>
inline constexpr FloatOf<W> kMaxFinite = std::numeric_limits<FloatOf<W>>::max();

template <class B, int W>
struct PolicyFloat {
  using type = typename B::F32;
};
template <class B>
struct PolicyFloat<B, 64> {
  using type = typename B::F64;
};
template <class B, int W>
struct PolicyInt {
  using type = typename B::I32;
};
template <class B>
struct PolicyInt<B, 64> {
  using type = typename B::I64;
};

/// One bit a lane.
template <class B>
struct Mask {
  B* b;
  typename B::M v;
  friend Mask operator&(Mask a, Mask c) { return {a.b, a.b->mand(a.v, c.v)}; }
  friend Mask operator|(Mask a, Mask c) { return {a.b, a.b->mor(a.v, c.v)}; }
  friend Mask operator!(Mask a) { return {a.b, a.b->mnot(a.v)}; }
};

/// An integer of W bits; constants mix in.
template <class B, int W>
struct Int {
  using K = WordOf<W>;
  B* b;
  typename PolicyInt<B, W>::type v;

  [[nodiscard]] Int constant(K k) const {
    if constexpr (W == 32)
      return {b, b->i32(k)};
    else
      return {b, b->i64(k)};
  }
  friend Int operator+(Int a, Int c) { return {a.b, a.b->iadd(a.v, c.v)}; }
  friend Int operator-(Int a, Int c) { return {a.b, a.b->isub(a.v, c.v)}; }
  friend Int operator*(Int a, Int c) { return {a.b, a.b->imul(a.v, c.v)}; }
  friend Int operator&(Int a, Int c) { return {a.b, a.b->iand(a.v, c.v)}; }
  friend Int operator|(Int a, Int c) { return {a.b, a.b->ior(a.v, c.v)}; }
  friend Int operator^(Int a, Int c) { return {a.b, a.b->ixor(a.v, c.v)}; }
  friend Int operator+(Int a, K c) { return a + a.constant(c); }
  friend Int operator-(Int a, K c) { return a - a.constant(c); }
  friend Int operator-(K a, Int c) { return c.constant(a) - c; }
  friend Int operator&(Int a, K c) { return a & a.constant(c); }
  friend Int operator|(Int a, K c) { return a | a.constant(c); }
  friend Int operator^(Int a, K c) { return a ^ a.constant(c); }
  friend Mask<B> operator==(Int a, Int c) { return {a.b, a.b->icmp_eq(a.v, c.v)}; }
  friend Mask<B> operator==(Int a, K c) { return a == a.constant(c); }
  friend Mask<B> operator<(Int a, Int c) { return {a.b, a.b->icmp_slt(a.v, c.v)}; }
  friend Mask<B> operator<(Int a, K c) { return a < a.constant(c); }
  friend Int shl(Int a, Int n) { return {a.b, a.b->shl(a.v, n.v)}; }
  friend Int shl(Int a, int n) { return shl(a, a.constant(n)); }
  friend Int lshr(Int a, Int n) { return {a.b, a.b->lshr(a.v, n.v)}; }
  friend Int lshr(Int a, int n) { return lshr(a, a.constant(n)); }
  friend Int ashr(Int a, int n) { return {a.b, a.b->ashr(a.v, a.constant(n).v)}; }
};

/// A float of W bits; constants mix in and are of the same width.
template <class B, int W>
struct Real {
  using K = FloatOf<W>;
  B* b;
  typename PolicyFloat<B, W>::type v;

  [[nodiscard]] Real constant(K k) const {
    if constexpr (W == 32)
      return {b, b->f32(k)};
    else
      return {b, b->f64(k)};
  }
  friend Real operator+(Real a, Real c) { return {a.b, a.b->fadd(a.v, c.v)}; }
  friend Real operator-(Real a, Real c) { return {a.b, a.b->fsub(a.v, c.v)}; }
  friend Real operator*(Real a, Real c) { return {a.b, a.b->fmul(a.v, c.v)}; }
  friend Real operator/(Real a, Real c) { return {a.b, a.b->fdiv(a.v, c.v)}; }
  friend Real operator-(Real a) { return {a.b, a.b->fneg(a.v)}; }
  friend Real operator+(Real a, K c) { return a + a.constant(c); }
  friend Real operator-(Real a, K c) { return a - a.constant(c); }
  friend Real operator*(Real a, K c) { return a * a.constant(c); }
  friend Real operator/(Real a, K c) { return a / a.constant(c); }
  friend Real operator+(K a, Real c) { return c.constant(a) + c; }
  friend Real operator-(K a, Real c) { return c.constant(a) - c; }
  friend Real operator*(K a, Real c) { return c.constant(a) * c; }
  friend Real operator/(K a, Real c) { return c.constant(a) / c; }
  friend Mask<B> operator<(Real a, Real c) { return {a.b, a.b->fcmp_lt(a.v, c.v)}; }
  friend Mask<B> operator<=(Real a, Real c) { return {a.b, a.b->fcmp_le(a.v, c.v)}; }
  friend Mask<B> operator>(Real a, Real c) { return c < a; }
  friend Mask<B> operator>=(Real a, Real c) { return c <= a; }
  friend Mask<B> operator==(Real a, Real c) { return {a.b, a.b->fcmp_eq(a.v, c.v)}; }
  friend Mask<B> operator!=(Real a, Real c) { return {a.b, a.b->fcmp_ne(a.v, c.v)}; }
  friend Mask<B> operator<(Real a, K c) { return a < a.constant(c); }
  friend Mask<B> operator<=(Real a, K c) { return a <= a.constant(c); }
  friend Mask<B> operator>(Real a, K c) { return a > a.constant(c); }
  friend Mask<B> operator>=(Real a, K c) { return a >= a.constant(c); }
  friend Mask<B> operator==(Real a, K c) { return a == a.constant(c); }
  friend Mask<B> operator!=(Real a, K c) { return a != a.constant(c); }
};

/// `k` without deduction, so that a plain 1.0 fits both widths.
template <class T>
using Plain = std::type_identity_t<T>;
template <class B, int W>
using R = Real<B, W>;

template <class B, int W>
R<B, W> fma(R<B, W> a, R<B, W> c, R<B, W> d) {
  return {a.b, a.b->fma(a.v, c.v, d.v)};
}
template <class B, int W>
R<B, W> fma(R<B, W> a, R<B, W> c, Plain<FloatOf<W>> d) {
  return fma(a, c, a.constant(d));
}
template <class B, int W>
R<B, W> fma(R<B, W> a, Plain<FloatOf<W>> c, R<B, W> d) {
  return fma(a, a.constant(c), d);
}
template <class B, int W>
R<B, W> fma(R<B, W> a, Plain<FloatOf<W>> c, Plain<FloatOf<W>> d) {
  return fma(a, a.constant(c), a.constant(d));
}
template <class B, int W>
R<B, W> fabs(R<B, W> a) {
  return {a.b, a.b->fabs(a.v)};
}
template <class B, int W>
R<B, W> sqrt(R<B, W> a) {
  return {a.b, a.b->fsqrt(a.v)};
}
template <class B, int W>
R<B, W> rint(R<B, W> a) {
  return {a.b, a.b->frint(a.v)};
}
template <class B, int W>
R<B, W> floor(R<B, W> a) {
  return {a.b, a.b->ffloor(a.v)};
}
template <class B, int W>
R<B, W> ceil(R<B, W> a) {
  return {a.b, a.b->fceil(a.v)};
}
template <class B, int W>
R<B, W> trunc(R<B, W> a) {
  return {a.b, a.b->ftrunc(a.v)};
}

template <class B, int W>
R<B, W> select(Mask<B> m, R<B, W> a, R<B, W> c) {
  return {a.b, a.b->select(m.v, a.v, c.v)};
}
template <class B, int W>
R<B, W> select(Mask<B> m, Plain<FloatOf<W>> a, R<B, W> c) {
  return select(m, c.constant(a), c);
}
template <class B, int W>
R<B, W> select(Mask<B> m, R<B, W> a, Plain<FloatOf<W>> c) {
  return select(m, a, a.constant(c));
}
template <class B, int W>
Int<B, W> select(Mask<B> m, Int<B, W> a, Int<B, W> c) {
  return {a.b, a.b->select(m.v, a.v, c.v)};
}

template <class B, int W>
Int<B, W> bits(R<B, W> a) {
  return {a.b, a.b->bits(a.v)};
}
template <class B, int W>
R<B, W> from_bits(Int<B, W> a) {
  return {a.b, a.b->from_bits(a.v)};
}
template <class B>
R<B, 64> widen(R<B, 32> a) {
  return {a.b, a.b->widen(a.v)};
}
template <class B>
R<B, 32> narrow(R<B, 64> a) {
  return {a.b, a.b->narrow(a.v)};
}
template <class B>
Int<B, 64> zext(Int<B, 32> a) {
  return {a.b, a.b->zext(a.v)};
}
template <class B>
Int<B, 32> low(Int<B, 64> a) {
  return {a.b, a.b->low(a.v)};
}
template <class B>
Int<B, 64> lookup(const Table& t, Int<B, 64> i) {
  return {i.b, i.b->lookup(t, i.v)};
}

template <class B, int W>
Mask<B> is_nan(R<B, W> a) {
  return a != a;
}
/// x where x <= hi or x is NaN, else hi.
template <class B, int W>
R<B, W> at_most(R<B, W> x, Plain<FloatOf<W>> hi) {
  R<B, W> top = x.constant(hi);
  return select(top < x, top, x);
}
/// x where x >= lo or x is NaN, else lo.
template <class B, int W>
R<B, W> at_least(R<B, W> x, Plain<FloatOf<W>> lo) {
  R<B, W> bottom = x.constant(lo);
  return select(x < bottom, bottom, x);
}
template <int W>
inline constexpr WordOf<W> kSignBit = std::numeric_limits<WordOf<W>>::min();
/// The magnitude of a with the sign of s.
template <class B, int W>
R<B, W> copysign(R<B, W> a, R<B, W> s) {
  Int<B, W> sign = bits(s) & kSignBit<W>;
  return from_bits((bits(a) & std::numeric_limits<WordOf<W>>::max()) | sign);
}
/// a with its sign flipped where s is negative.
template <class B, int W>
R<B, W> flip_sign(R<B, W> a, R<B, W> s) {
  return from_bits(bits(a) ^ (bits(s) & kSignBit<W>));
}

/// c[0] + c[1] z + ... by Horner's rule.
template <class B, int W, std::size_t N>
R<B, W> horner(R<B, W> z, const FloatOf<W> (&c)[N]) {
  R<B, W> p = z.constant(c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;) p = fma(p, z, c[i]);
  return p;
}

/// An unevaluated sum hi + lo, |lo| at most about an ulp of hi.
template <class B, int W>
struct Pair {
  R<B, W> hi, lo;
};
/// a + c exactly, for |a| >= |c| or a == 0.
template <class B, int W>
Pair<B, W> fast_two_sum(R<B, W> a, R<B, W> c) {
  R<B, W> s = a + c;
  return {s, c - (s - a)};
}
/// a + c exactly.
template <class B, int W>
Pair<B, W> two_sum(R<B, W> a, R<B, W> c) {
  R<B, W> s = a + c, t = s - a;
  return {s, (a - (s - t)) + (c - t)};
}
/// a * c exactly (barring underflow).
template <class B, int W>
Pair<B, W> two_product(R<B, W> a, R<B, W> c) {
  R<B, W> p = a * c;
  return {p, fma(a, c, -p)};
}
/// a / c with one division, about 0.6 ulp; finite operands, c of ordinary size.
template <class B, int W>
R<B, W> quotient(Pair<B, W> a, Pair<B, W> c) {
  R<B, W> reciprocal = FloatOf<W>(1) / c.hi, q = a.hi * reciprocal;
  R<B, W> rest = fma(-q, c.lo, fma(-q, c.hi, a.hi) + a.lo);
  return fma(rest, reciprocal, q);
}
/// (a.hi + a.lo) * (c.hi + c.lo), relative error a few 2^-2p.
template <class B, int W>
Pair<B, W> product(Pair<B, W> a, Pair<B, W> c) {
  Pair<B, W> p = two_product(a.hi, c.hi);
  return fast_two_sum(p.hi, fma(a.hi, c.lo, fma(a.lo, c.hi, p.lo)));
}

}  // namespace epi::ir::math
