// Prints the largest measured error of every math function as the table of docs/design/math.md.
// Usage: ulp_table [stride through the f32 patterns, default 257] [random samples, default 1000000] [function]
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "reference.h"

int main(int argc, char** argv) {
  using namespace epi::ir::math;
  const std::uint64_t stride = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 257;
  const std::uint64_t samples = argc > 2 ? std::strtoull(argv[2], nullptr, 0) : 1000000;
  std::printf("| function | bound f32 | measured f32 | bound f64 | measured f64 | what |\n|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < std::size(kMathFns); ++i) {
    const MathFnInfo& row = kMathFns[i];
    if (argc > 3 && row.name != argv[3]) continue;
    const auto fn = static_cast<MathFn>(i);
    const testing::Worst w32 = testing::measure32(fn, stride, samples), w64 = testing::measure64(fn, samples);
    std::printf("| %s | %g | %.3f | %g | %.3f | %s |\n", row.name.data(), row.ulp32, w32.ulps, row.ulp64, w64.ulps,
                row.doc.data());
    std::fprintf(stderr, "%s: f32 at (%a, %a), f64 at (%a, %a)\n", row.name.data(), w32.x, w32.y, w64.x, w64.y);
    std::fflush(stdout);
  }
  return 0;
}
