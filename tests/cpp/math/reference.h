// The reference side of the math tests: every function in a wider format by the C library, an error in ulps, and the
// inputs. f32 is judged by double, f64 by x87 long double; both carry at least 11 more bits than what they judge.
#pragma once

#include <cstdint>
#include <vector>

#include "epi/ir/math/math.h"
#include "epi/ir/math/scalar.h"

namespace epi::ir::math::testing {

template <class F>
struct WiderOf;
template <>
struct WiderOf<float> {
  using type = double;
};
template <>
struct WiderOf<double> {
  using type = long double;
};
template <class F>
using Wider = typename WiderOf<F>::type;

/// fn in the wider format.
double reference(MathFn fn, double x, double y);
long double reference(MathFn fn, long double x, long double y);

/// |got - want| in units of the last place of a float at `scale` (normally |want|); 0 where both are NaN, infinity
/// where one is or where signs of zero differ.
template <class F>
double ulp_error(F got, Wider<F> want, Wider<F> scale);

template <class F>
F apply_scalar(MathFn fn, F x, F y) {
  ScalarPolicy policy;
  return apply(policy, fn, sizeof(F) == 4 ? FloatWidth::k32 : FloatWidth::k64, x, y);
}

/// The worst error found, and where.
struct Worst {
  double ulps = 0;
  double x = 0, y = 0;
  std::uint64_t count = 0;
  void take(double error, double at_x, double at_y) {
    ++count;
    if (!(error <= ulps)) *this = {error, at_x, at_y, count};
  }
};

/// Runs fn over the standard inputs of its arity and format. `stride` (f32, one argument) is the step through all 2^32
/// patterns; `samples` the number of random inputs of the other cases.
Worst measure32(MathFn fn, std::uint64_t stride, std::uint64_t samples);
Worst measure64(MathFn fn, std::uint64_t samples);

/// True where EPI_MATH_FULL=1 asks for all patterns.
bool full_run();

}  // namespace epi::ir::math::testing
