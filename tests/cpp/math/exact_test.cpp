// What ulps do not show: monotone joints, symmetry, identities, and that lanes do not disturb each other under a policy
// that treats a vector the way the compiler does.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>

#include "reference.h"

namespace epi::ir::math::testing {
namespace {

constexpr std::size_t kLanes = 4;
template <class T>
using Lanes = std::array<T, kLanes>;

/// Four lanes of ScalarPolicy, with one any-lane branch for all: the shape of a vector back end.
struct LanePolicy {
  using F32 = Lanes<float>;
  using F64 = Lanes<double>;
  using I32 = Lanes<std::int32_t>;
  using I64 = Lanes<std::int64_t>;
  using M = Lanes<bool>;
  using S = ScalarPolicy;

  template <class Fn, class... A>
  static auto map(Fn fn, const A&... a) {
    Lanes<decltype(fn(a[0]...))> out{};
    for (std::size_t i = 0; i < kLanes; ++i) out[i] = fn(a[i]...);
    return out;
  }
  template <class T>
  static Lanes<T> fill(T x) {
    return {x, x, x, x};
  }
  static F32 f32(float x) { return fill(x); }
  static F64 f64(double x) { return fill(x); }
  static I32 i32(std::int32_t x) { return fill(x); }
  static I64 i64(std::int64_t x) { return fill(x); }
#define EPI_LIFT(name)                                         \
  template <class... A>                                        \
  static auto name(const A&... a) {                            \
    return map([](auto... x) { return S::name(x...); }, a...); \
  }
  EPI_LIFT(fadd)
  EPI_LIFT(fsub)
  EPI_LIFT(fmul)
  EPI_LIFT(fdiv)
  EPI_LIFT(fma) EPI_LIFT(fsqrt) EPI_LIFT(fneg) EPI_LIFT(fabs) EPI_LIFT(frint) EPI_LIFT(ffloor) EPI_LIFT(fceil)
      EPI_LIFT(ftrunc) EPI_LIFT(fcmp_lt) EPI_LIFT(fcmp_le) EPI_LIFT(fcmp_eq) EPI_LIFT(fcmp_ne) EPI_LIFT(iadd)
          EPI_LIFT(isub) EPI_LIFT(imul) EPI_LIFT(iand) EPI_LIFT(ior) EPI_LIFT(ixor) EPI_LIFT(shl) EPI_LIFT(lshr)
              EPI_LIFT(ashr) EPI_LIFT(icmp_eq) EPI_LIFT(icmp_slt) EPI_LIFT(bits) EPI_LIFT(from_bits) EPI_LIFT(widen)
                  EPI_LIFT(narrow) EPI_LIFT(zext) EPI_LIFT(low) EPI_LIFT(mand) EPI_LIFT(mor) EPI_LIFT(mnot)
                      EPI_LIFT(select)
#undef EPI_LIFT
                          static I64 lookup(const Table& table, const I64& index) {
    return map(
        [&](std::int64_t i) {
          EXPECT_TRUE(i >= 0 && i < std::int64_t{table.count}) << table.name << "[" << i << "]";
          return S::lookup(table, i >= 0 && i < std::int64_t{table.count} ? i : 0);
        },
        index);
  }
  static bool any(const M& m) { return m[0] || m[1] || m[2] || m[3]; }
  template <class... V>
  static std::tuple<V...> merge(const M& m, const std::tuple<V...>& a, const std::tuple<V...>& c) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return std::tuple<V...>{select(m, std::get<I>(a), std::get<I>(c))...};
    }(std::index_sequence_for<V...>{});
  }
  template <class... V, class Then>
  static std::tuple<V...> if_any(M m, std::tuple<V...> otherwise, Then&& then) {
    return any(m) ? merge(m, then(), otherwise) : otherwise;
  }
  template <class... V, class Cond, class Body>
  static std::tuple<V...> while_any(std::tuple<V...> state, Cond&& cond, Body&& body) {
    for (M m = cond(state); any(m); m = cond(state)) state = merge(m, body(state), state);
    return state;
  }
};
static_assert(Policy<LanePolicy>);

template <class F>
bool same(F a, F c) {
  return (a != a && c != c) || (a == c && std::signbit(a) == std::signbit(c));
}

/// Lanes of all kinds side by side give what each gives alone; indices into tables stay in range (LanePolicy checks).
template <class F>
void expect_lanes_agree(FloatWidth width) {
  using Word = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 rng(7);
  LanePolicy lanes;
  for (std::size_t f = 0; f < std::size(kMathFns); ++f) {
    const auto fn = static_cast<MathFn>(f);
    for (int round = 0; round < 500; ++round) {
      Lanes<F> x{}, y{};
      for (std::size_t i = 0; i < kLanes; ++i) {
        x[i] = i % 2 == 0 ? std::bit_cast<F>(static_cast<Word>(rng())) : F(rng() % 1000) / F(100);
        y[i] = i < 2 ? std::bit_cast<F>(static_cast<Word>(rng())) : F(rng() % 1000) / F(100);
      }
      const Lanes<F> got = apply(lanes, fn, width, x, y);
      for (std::size_t i = 0; i < kLanes; ++i) {
        ASSERT_TRUE(same(got[i], apply_scalar(fn, x[i], y[i]))) << info(fn).name << " " << x[i] << " " << y[i];
      }
    }
  }
}
TEST(Lanes, agree_with_scalars_in_f32) { expect_lanes_agree<float>(FloatWidth::k32); }
TEST(Lanes, agree_with_scalars_in_f64) { expect_lanes_agree<double>(FloatWidth::k64); }

TEST(Exact, pow_of_two_is_exact) {
  for (int e = -149; e <= 127; ++e) {
    EXPECT_EQ(apply_scalar(MathFn::pow, 2.0f, float(e)), std::ldexp(1.0f, e));
    EXPECT_EQ(apply_scalar(MathFn::exp2, float(e), 0.0f), std::ldexp(1.0f, e));
  }
  for (int e = -1074; e <= 1023; ++e) {
    EXPECT_EQ(apply_scalar(MathFn::pow, 2.0, double(e)), std::ldexp(1.0, e));
    EXPECT_EQ(apply_scalar(MathFn::exp2, double(e), 0.0), std::ldexp(1.0, e));
    EXPECT_EQ(apply_scalar(MathFn::log2, std::ldexp(1.0, e), 0.0), double(e));
  }
}

TEST(Exact, odd_functions_are_odd) {
  std::mt19937_64 rng(11);
  for (MathFn fn : {MathFn::sin, MathFn::tan, MathFn::asin, MathFn::atan, MathFn::sinh, MathFn::tanh, MathFn::asinh,
                    MathFn::atanh, MathFn::erf}) {
    for (int i = 0; i < 5000; ++i) {
      const double x = std::bit_cast<double>(rng());
      ASSERT_TRUE(same(apply_scalar(fn, -x, 0.0), -apply_scalar(fn, x, 0.0))) << info(fn).name << " " << x;
    }
  }
}

TEST(Exact, fmod_of_far_apart_operands_takes_many_turns) {
  EXPECT_EQ(apply_scalar(MathFn::fmod, 0x1.fffffffffffffp1023, 0x1.8p-1073),
            std::fmod(0x1.fffffffffffffp1023, 0x1.8p-1073));
  EXPECT_EQ(apply_scalar(MathFn::fmod, 1e308, 3.0), std::fmod(1e308, 3.0));
  EXPECT_EQ(apply_scalar(MathFn::fmod, 0x1.fffffep127f, 0x1.8p-147f), std::fmod(0x1.fffffep127f, 0x1.8p-147f));
}

}  // namespace
}  // namespace epi::ir::math::testing
