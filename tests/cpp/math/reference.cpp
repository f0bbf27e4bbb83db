// Reference functions, error measure and input generators of the math tests.
#include "reference.h"

#include <quadmath.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <random>

#include "hard_angles.h"

namespace epi::ir::math::testing {
namespace {

template <class T>
T log_add_exp(T x, T y) {
  if (x == y) return x + std::log(T(2));
  if (std::isnan(x) || std::isnan(y)) return x + y;
  const T top = std::fmax(x, y);
  return top + std::log1p(std::exp(-std::fabs(x - y)));
}

template <class T>
T sign_of(T x) {
  return std::isnan(x) ? x : T((x > 0) - (x < 0));
}

/// -0 below 0, which the C library leaves open.
template <class T>
T pick(T x, T y, bool low, bool nan_wins) {
  if (std::isnan(x) || std::isnan(y)) {
    if (nan_wins) return x + y;
    return std::isnan(x) ? y : x;
  }
  if (x == y) return std::signbit(x) == low ? x : y;
  return (x < y) == low ? x : y;
}

/// The functions that the C library has under the same name and meaning.
#define EPI_LIBM1(X)                                                                                             \
  X(exp)                                                                                                         \
  X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) \
      X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(sqrt) X(floor) X(ceil) X(trunc) X(rint) X(fabs)
#define EPI_LIBM2(X) X(atan2) X(pow) X(hypot) X(copysign) X(fmod)

template <class T>
T wide(MathFn fn, T x, T y) {
  switch (fn) {
#define EPI_CASE(name) \
  case MathFn::name:   \
    return std::name(x);
    EPI_LIBM1(EPI_CASE)
#undef EPI_CASE
#define EPI_CASE(name) \
  case MathFn::name:   \
    return std::name(x, y);
    EPI_LIBM2(EPI_CASE)
#undef EPI_CASE
    case MathFn::logaddexp:
      return log_add_exp(x, y);
    case MathFn::rsqrt:
      return 1 / std::sqrt(x);
    case MathFn::reciprocal:
      return 1 / x;
    case MathFn::square:
      return x * x;
    case MathFn::sign:
      return sign_of(x);
    case MathFn::minimum:
      return pick(x, y, true, true);
    case MathFn::maximum:
      return pick(x, y, false, true);
    case MathFn::fmin:
      return pick(x, y, true, false);
    case MathFn::fmax:
      return pick(x, y, false, false);
    case MathFn::nextafter:
    case MathFn::remainder:
    case MathFn::floor_divide:
      break;  // judged in the narrow format, below
  }
  return std::numeric_limits<T>::quiet_NaN();
}

/// NumPy's npy_divmod, written as NumPy writes it, in the format itself.
template <class F>
F numpy_divmod(F a, F b, bool want_remainder) {
  F mod = std::fmod(a, b);
  if (b == 0) return want_remainder ? mod : a / b;
  F div = (a - mod) / b;
  if (mod != 0) {
    if ((b < 0) != (mod < 0)) {
      mod += b;
      div -= F(1);
    }
  } else {
    mod = std::copysign(F(0), b);
  }
  F whole = std::copysign(F(0), a / b);
  if (div != 0) {
    whole = std::floor(div);
    if (div - whole > F(0.5)) whole += F(1);
  }
  return want_remainder ? mod : whole;
}

template <class F>
Wider<F> judge(MathFn fn, F x, F y) {
  if (fn == MathFn::nextafter) return std::nextafter(x, y);
  if (fn == MathFn::remainder) return numpy_divmod(x, y, true);
  if (fn == MathFn::floor_divide) return numpy_divmod(x, y, false);
  if constexpr (sizeof(F) == 8) {  // __float128 has the bits to round to double a second time without harm
    if (fn == MathFn::sqrt) return static_cast<F>(sqrtq(x));
    if (fn == MathFn::reciprocal) return static_cast<F>(__float128(1) / x);
    if (fn == MathFn::square) return static_cast<F>(__float128(x) * x);
  }
  return reference(fn, Wider<F>(x), Wider<F>(y));
}

template <class F>
void check(MathFn fn, F x, F y, bool exact, Worst& worst) {
  const F got = apply_scalar(fn, x, y);
  Wider<F> want = judge(fn, x, y), scale = want;
  if (exact) want = static_cast<F>(want);
  if (fn == MathFn::logaddexp && std::isfinite(want)) {
    scale = std::fmax(std::fabs(want), std::fmax(std::fabs(Wider<F>(x)), std::fabs(Wider<F>(y))));
  }
  worst.take(ulp_error(got, want, scale), double(x), double(y));
}

template <class F>
using WordFor = std::conditional_t<sizeof(F) == 4, std::uint32_t, std::uint64_t>;

/// Values where functions change their path or their nature.
constexpr double kLandmarks[] = {0.25,
                                 0.3465735902799726,
                                 0.41421356237309503,
                                 0.5,
                                 0.6931471805599453,
                                 0.70710678118654752,
                                 0.75,
                                 0.9,
                                 1,
                                 1.0397207708399179,
                                 1.4142135623730951,
                                 1.5,
                                 2,
                                 2.4142135623730951,
                                 3,
                                 3.92,
                                 4,
                                 5.9,
                                 9,
                                 9.01,
                                 18,
                                 19.06,
                                 22,
                                 37.4,
                                 60,
                                 87.33654475055310,
                                 88.72283905206835,
                                 89.4159862326283,
                                 103.97207708399179,
                                 126,
                                 128,
                                 149,
                                 150,
                                 708.396418532264,
                                 709.782712893384,
                                 710.475860073944,
                                 745.133219101941,
                                 1022,
                                 1024,
                                 1074,
                                 1075,
                                 0x1p17,
                                 0x1p24,
                                 0x1p29,
                                 0x1p30,
                                 0x1p53,
                                 0x1p63};

/// Each landmark and the format's own limits, with neighbours, both signs.
template <class F>
std::vector<F> landmarks() {
  using L = std::numeric_limits<F>;
  std::vector<F> base = {F(0), L::denorm_min(), L::min(), L::max(), L::infinity(), L::quiet_NaN(), L::epsilon()};
  for (double x : kLandmarks) base.push_back(F(x));
  if constexpr (sizeof(F) == 4)
    base.insert(base.end(), std::begin(kHardAngles32), std::end(kHardAngles32));
  else
    base.insert(base.end(), std::begin(kHardAngles64), std::end(kHardAngles64));
  std::vector<F> out;
  for (F b : base) {
    F low = b, high = b;
    for (int i = 0; i < 8; ++i) {
      for (F v : {low, high}) {
        out.push_back(v);
        out.push_back(-v);
      }
      low = std::nextafter(low, -L::infinity());
      high = std::nextafter(high, L::infinity());
    }
  }
  return out;
}

/// One random input of kind `i`: any bit pattern, an exponent near 1, near a multiple of pi/2, or of ordinary size.
template <class F>
F random_input(std::mt19937_64& rng, std::uint64_t i) {
  using Word = WordFor<F>;
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  switch (i % 8) {
    case 0:
    case 1:
      return std::bit_cast<F>(static_cast<Word>(rng()));
    case 2:
      return F(std::ldexp(unit(rng), static_cast<int>(rng() % 30) - 20));
    case 3: {
      const long double k = static_cast<long double>(rng() >> (rng() % 62 + 1));
      F near = F(k * 1.57079632679489661923132169163975144L);
      for (std::uint64_t j = rng() % 4; j > 0; --j) near = std::nextafter(near, F(unit(rng) * 1e300));
      return near;
    }
    case 4:
      return F(1 + std::ldexp(unit(rng), -static_cast<int>(rng() % 50)));
    case 5:
      return std::bit_cast<F>(static_cast<Word>(rng() >> (64 - 8 * sizeof(F) + 1 + rng() % (8 * sizeof(F) - 12))));
    case 6:
      return F(unit(rng) * 800);
    default:
      return F(unit(rng) * 4);
  }
}

template <class F>
Worst measure_samples(MathFn fn, std::uint64_t samples) {
  const bool exact = (sizeof(F) == 4 ? info(fn).ulp32 : info(fn).ulp64) == 0;
  Worst worst;
  const std::vector<F> marks = landmarks<F>();
  std::mt19937_64 rng(0x5eed + static_cast<std::uint64_t>(fn));
  if (info(fn).arity == 1) {
    for (F x : marks) check(fn, x, F(0), exact, worst);
    for (std::uint64_t i = 0; i < samples; ++i) check(fn, random_input<F>(rng, i), F(0), exact, worst);
    return worst;
  }
  for (std::size_t i = 0; i < marks.size(); i += 4) {
    for (std::size_t j = 0; j < marks.size(); j += 4) check(fn, marks[i], marks[j], exact, worst);
  }
  for (std::uint64_t i = 0; i < samples; ++i) {
    const F x = random_input<F>(rng, i), y = random_input<F>(rng, rng());
    check(fn, x, y, exact, worst);
    check(fn, x, F(x * (1 + F(std::ldexp(double(rng() % 1000), -static_cast<int>(rng() % 60))))), exact, worst);
    if (fn == MathFn::pow && x > 0) {  // results all over the range, thresholds included
      const F target = F(std::ldexp(double(static_cast<std::int64_t>(rng())), -63) * (sizeof(F) == 4 ? 152 : 1080));
      check(fn, x, F(target / std::log2(x)), exact, worst);
    }
  }
  return worst;
}

}  // namespace

double reference(MathFn fn, double x, double y) { return wide(fn, x, y); }
long double reference(MathFn fn, long double x, long double y) { return wide(fn, x, y); }

template <class F>
double ulp_error(F got, Wider<F> want, Wider<F> scale) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  using L = std::numeric_limits<F>;
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : kWrong;
  if (want == 0 && got == 0) return std::signbit(want) == std::signbit(got) ? 0 : kWrong;
  if (std::isinf(want)) return Wider<F>(got) == want ? 0 : kWrong;
  Wider<F> value = got;
  if (std::isinf(got)) value = std::copysign(std::ldexp(Wider<F>(1), L::max_exponent), value);
  if (std::isinf(got) && std::fabs(want) >= std::fabs(value))
    return std::signbit(want) == std::signbit(got) ? 0 : kWrong;
  const int exponent = scale == 0 ? L::min_exponent : std::max(std::ilogb(scale) + 1, L::min_exponent);
  const Wider<F> ulp = std::ldexp(Wider<F>(1), std::min(exponent, L::max_exponent) - L::digits);
  return static_cast<double>(std::fabs(value - want) / ulp);
}
template double ulp_error<float>(float, double, double);
template double ulp_error<double>(double, long double, long double);

Worst measure32(MathFn fn, std::uint64_t stride, std::uint64_t samples) {
  Worst worst = measure_samples<float>(fn, samples);
  if (info(fn).arity == 2) return worst;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += stride) {
    check(fn, std::bit_cast<float>(static_cast<std::uint32_t>(bits)), 0.0f, info(fn).ulp32 == 0, worst);
  }
  return worst;
}

Worst measure64(MathFn fn, std::uint64_t samples) { return measure_samples<double>(fn, samples); }

bool full_run() {
  const char* full = std::getenv("EPI_MATH_FULL");
  return full != nullptr && full[0] == '1';
}

}  // namespace epi::ir::math::testing
