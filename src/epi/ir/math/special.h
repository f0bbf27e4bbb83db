// erf and logaddexp.
#pragma once

#include "epi/ir/math/coefficients.h"
#include "epi/ir/math/exp.h"
#include "epi/ir/math/inverse.h"
#include "epi/ir/math/value.h"

namespace epi::ir::math {

/// Near zero a series; from 1 on 1 - exp(log(erfc)), where the exponential's error is scaled down by erfc / erf.
template <class B, int W>
R<B, W> erf(R<B, W> x) {
  using F = FloatOf<W>;
  constexpr auto& kNear = []() -> auto& {
    if constexpr (W == 32)
      return kErfNear32;
    else
      return kErfNear64;
  }();
  constexpr auto& kFar = []() -> auto& {
    if constexpr (W == 32)
      return kErfFar32;
    else
      return kErfFar64;
  }();
  R<B, W> a = at_most(fabs(x), W == 32 ? F(4) : F(6));  // erf is 1 there
  R<B, W> z = a * a;
  R<B, W> near = fma(a, horner(z, kNear), a);
  R<B, W> g = horner(a - F(2), kFar);
  auto [t, n, r] = reduce_exp(g);
  R<B, W> p = fma(fma(horner(r, ExpTable<W>::kTail), r, 1), r, 1);
  R<B, W> far = fma(-p, power_of_two(t), F(1));
  return copysign(select(a > F(1), far, near), x);
}

/// The larger plus log1p(exp(-distance)); equal infinities are their own distance 0.
template <class B, int W>
R<B, W> logaddexp(R<B, W> x, R<B, W> y) {
  R<B, W> top = select(x < y, y, x);
  R<B, W> distance = select(x == y, FloatOf<W>(0), fabs(x - y));
  R<B, W> e = exp(-distance);
  R<B, W> sum = top + log1p_pair({e, e.constant(0)}, e.constant(0));
  return select(is_nan(x) | is_nan(y), x + y, sum);
}

}  // namespace epi::ir::math
