// Prints the largest measured error of every math function as the table of docs/design/math.md.
// Usage: ulp_table [stride through the f32 patterns, default 257] [random samples, default 1000000] [function]
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <tuple>

#include "reference.h"

namespace {

using namespace epi::ir::math;

/// ScalarPolicy, counting its primitives (constants are free).
struct CountingPolicy : ScalarPolicy {
  using S = ScalarPolicy;
  static inline int count = 0;
#define EPI_COUNT(name)      \
  template <class... A>      \
  static auto name(A... a) { \
    ++count;                 \
    return S::name(a...);    \
  }
  EPI_COUNT(fadd)
  EPI_COUNT(fsub)
  EPI_COUNT(fmul)
  EPI_COUNT(fdiv)
  EPI_COUNT(fma) EPI_COUNT(fsqrt) EPI_COUNT(fneg) EPI_COUNT(fabs) EPI_COUNT(frint) EPI_COUNT(ffloor) EPI_COUNT(fceil)
      EPI_COUNT(ftrunc) EPI_COUNT(fcmp_lt) EPI_COUNT(fcmp_le) EPI_COUNT(fcmp_eq) EPI_COUNT(fcmp_ne) EPI_COUNT(iadd)
          EPI_COUNT(isub) EPI_COUNT(imul) EPI_COUNT(iand) EPI_COUNT(ior) EPI_COUNT(ixor) EPI_COUNT(shl) EPI_COUNT(lshr)
              EPI_COUNT(ashr) EPI_COUNT(icmp_eq) EPI_COUNT(icmp_slt) EPI_COUNT(widen) EPI_COUNT(narrow) EPI_COUNT(mand)
                  EPI_COUNT(mor) EPI_COUNT(mnot) EPI_COUNT(select)
#undef EPI_COUNT
                      template <class... V, class Then>
                      static std::tuple<V...> if_any(M m, std::tuple<V...> otherwise, Then&& then) {
    ++count;
    return S::if_any(m, otherwise, then);
  }
  template <class... V, class Cond, class Body>
  static std::tuple<V...> while_any(std::tuple<V...> state, Cond&& cond, Body&& body) {
    ++count;
    return S::while_any(state, cond, body);
  }
};

/// Primitives on the common path.
template <class F>
int cost(MathFn fn) {
  CountingPolicy policy;
  CountingPolicy::count = 0;
  (void)apply(policy, fn, sizeof(F) == 4 ? FloatWidth::k32 : FloatWidth::k64, F(0.75), F(0.5));
  return CountingPolicy::count;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 257;
  const std::uint64_t samples = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1000000;
  std::printf(
      "| function | f32 bound | measured | primitives | f64 bound | measured | primitives | what |\n"
      "|---|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < std::size(kMathFns); ++i) {
    const MathFnInfo& row = kMathFns[i];
    if (argc > 3 && row.name != argv[3]) continue;
    const auto fn = static_cast<MathFn>(i);
    const testing::Worst w32 = testing::measure32(fn, stride, samples), w64 = testing::measure64(fn, samples);
    std::printf("| %s | %g | %.3f | %d | %g | %.3f | %d | %s |\n", row.name.data(), row.ulp32, w32.ulps,
                cost<float>(fn), row.ulp64, w64.ulps, cost<double>(fn), row.doc.data());
    std::fprintf(stderr, "%s: f32 at (%a, %a), f64 at (%a, %a)\n", row.name.data(), w32.x, w32.y, w64.x, w64.y);
    std::fflush(stdout);
  }
  return 0;
}
