// The policy of plain C++ scalars: what the interpreter and the tests run. It keeps policy.h's rules only in a unit
// compiled with -ffp-contract=off (GCC fuses `a * b + c` otherwise when the target has FMA).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "epi/ir/math/policy.h"

namespace epi::ir::math {

/// Stateless; lanes are one.
struct ScalarPolicy {
  using F32 = float;
  using F64 = double;
  using I32 = std::int32_t;
  using I64 = std::int64_t;
  using M = bool;

  static F32 f32(float x) { return x; }
  static F64 f64(double x) { return x; }
  static I32 i32(std::int32_t x) { return x; }
  static I64 i64(std::int64_t x) { return x; }

  template <class F>
  static F fadd(F a, F c) {
    return a + c;
  }
  template <class F>
  static F fsub(F a, F c) {
    return a - c;
  }
  template <class F>
  static F fmul(F a, F c) {
    return a * c;
  }
  template <class F>
  static F fdiv(F a, F c) {
    return a / c;
  }
  template <class F>
  static F fma(F a, F c, F d) {
    return std::fma(a, c, d);
  }
  template <class F>
  static F fsqrt(F a) {
    return std::sqrt(a);
  }
  template <class F>
  static F fneg(F a) {
    return -a;
  }
  template <class F>
  static F fabs(F a) {
    return std::fabs(a);
  }
  template <class F>
  static F frint(F a) {
    return std::nearbyint(a);
  }
  template <class F>
  static F ffloor(F a) {
    return std::floor(a);
  }
  template <class F>
  static F fceil(F a) {
    return std::ceil(a);
  }
  template <class F>
  static F ftrunc(F a) {
    return std::trunc(a);
  }
  template <class F>
  static M fcmp_lt(F a, F c) {
    return a < c;
  }
  template <class F>
  static M fcmp_le(F a, F c) {
    return a <= c;
  }
  template <class F>
  static M fcmp_eq(F a, F c) {
    return a == c;
  }
  template <class F>
  static M fcmp_ne(F a, F c) {
    return a != c;
  }

  template <class I>
  static I iadd(I a, I c) {
    return signed_of(unsigned_of(a) + unsigned_of(c));
  }
  template <class I>
  static I isub(I a, I c) {
    return signed_of(unsigned_of(a) - unsigned_of(c));
  }
  template <class I>
  static I imul(I a, I c) {
    return signed_of(unsigned_of(a) * unsigned_of(c));
  }
  template <class I>
  static I iand(I a, I c) {
    return a & c;
  }
  template <class I>
  static I ior(I a, I c) {
    return a | c;
  }
  template <class I>
  static I ixor(I a, I c) {
    return a ^ c;
  }
  template <class I>
  static I shl(I a, I n) {
    return signed_of(unsigned_of(a) << n);
  }
  template <class I>
  static I lshr(I a, I n) {
    return signed_of(unsigned_of(a) >> n);
  }
  template <class I>
  static I ashr(I a, I n) {
    return a >> n;
  }
  template <class I>
  static M icmp_eq(I a, I c) {
    return a == c;
  }
  template <class I>
  static M icmp_slt(I a, I c) {
    return a < c;
  }

  static I32 bits(F32 a) { return std::bit_cast<I32>(a); }
  static I64 bits(F64 a) { return std::bit_cast<I64>(a); }
  static F32 from_bits(I32 a) { return std::bit_cast<F32>(a); }
  static F64 from_bits(I64 a) { return std::bit_cast<F64>(a); }
  static F64 widen(F32 a) { return static_cast<F64>(a); }
  static F32 narrow(F64 a) { return static_cast<F32>(a); }
  static I64 zext(I32 a) { return static_cast<I64>(unsigned_of(a)); }
  static I32 low(I64 a) { return static_cast<I32>(a); }
  static I64 lookup(const Table& table, I64 i) { return signed_of(table.words[i]); }

  static M mand(M a, M c) { return a && c; }
  static M mor(M a, M c) { return a || c; }
  static M mnot(M a) { return !a; }
  template <class V>
  static V select(M m, V a, V c) {
    return m ? a : c;
  }

  template <class... V, class Then>
  static std::tuple<V...> if_any(M m, std::tuple<V...> otherwise, Then&& then) {
    if (m) return then();
    return otherwise;
  }
  template <class... V, class Cond, class Body>
  static std::tuple<V...> while_any(std::tuple<V...> state, Cond&& cond, Body&& body) {
    while (cond(state)) state = body(state);
    return state;
  }

 private:
  static std::uint32_t unsigned_of(std::int32_t a) { return static_cast<std::uint32_t>(a); }
  static std::uint64_t unsigned_of(std::int64_t a) { return static_cast<std::uint64_t>(a); }
  static std::int32_t signed_of(std::uint32_t a) { return static_cast<std::int32_t>(a); }
  static std::int64_t signed_of(std::uint64_t a) { return static_cast<std::int64_t>(a); }
};

static_assert(Policy<ScalarPolicy>);

}  // namespace epi::ir::math
