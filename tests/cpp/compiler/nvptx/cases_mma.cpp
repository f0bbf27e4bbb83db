// Contractions, and the programs that are only timed.
#include "cases.h"

namespace epi::nvptx_test {

using namespace epi::ir;

namespace {

struct GemmTiles {
  std::int64_t m, n, k;
};

/// C = A @ B, with B given as N x K where `b_transposed` and A as K x M where `a_transposed`; bias adds a row, then
/// relu.
std::function<void(Builder&)> gemm_program(GemmTiles t, bool a_transposed, bool b_transposed, DType out, bool bias) {
  return [=](Builder& b) {
    const std::int64_t swap[] = {1, 0};
    Value a = a_transposed ? b.permute_view(b.args()[0], swap) : b.args()[0];
    Value bb = b_transposed ? b.permute_view(b.args()[1], swap) : b.args()[1];
    Value row = start(b, 0, t.m);
    Value col = start(b, 1, t.n);
    Value extent = b.dim(a, 1);
    Value trips = b.binary(Binary::k_floordiv, b.binary(Binary::k_add, extent, i64(b, t.k - 1)), i64(b, t.k));
    const Value zero[] = {b.full(Scalar::of_float(DType::kFloat32, 0), Shape{t.m, t.n})};
    auto loop = b.begin_for(i64(b, 0), trips, i64(b, 1), zero);
    Value k = b.binary(Binary::k_mul, loop.index, i64(b, t.k));
    const Value at_a[] = {row, k};
    const Value at_b[] = {k, col};
    const Value next[] = {b.mma(b.load(a, at_a, Shape{t.m, t.k}), b.load(bb, at_b, Shape{t.k, t.n}), loop.carried[0])};
    Value acc = b.end_for(next)[0];
    if (bias) {
      const Value at[] = {i64(b, 0), col};
      acc = b.binary(Binary::k_add, acc, b.broadcast(b.load(b.args()[3], at, Shape{1, t.n}), Shape{t.m, t.n}));
      acc = b.binary(Binary::k_maximum, acc, b.full(Scalar::of_float(DType::kFloat32, 0), Shape{t.m, t.n}));
    }
    const Value at_c[] = {row, col};
    b.store(b.args()[2], at_c, b.cast(acc, out, Cast::k_wrap));
  };
}

Case gemm_case(const std::string& name, DType in, DType out, GemmTiles t, std::int64_t m, std::int64_t n,
               std::int64_t k, bool ta = false, bool tb = false, bool bias = false) {
  Case c;
  c.name = "gemm_" + name;
  c.tensors = {random_tensor(in, ta ? Shape{k, m} : Shape{m, k}, 43),
               random_tensor(in, tb ? Shape{n, k} : Shape{k, n}, 47), output_tensor(out, {m, n})};
  if (bias) c.tensors.push_back(random_tensor(DType::kFloat32, {1, n}, 53));
  for (std::size_t i = 0; i < c.tensors.size(); ++i) c.tensors[i].alias = static_cast<std::int64_t>(i);
  c.grid[0] = static_cast<std::uint32_t>((m + t.m - 1) / t.m);
  c.grid[1] = static_cast<std::uint32_t>((n + t.n - 1) / t.n);
  c.build = gemm_program(t, ta, tb, out, bias);
  c.tolerance = out == DType::kFloat32 ? 1e-5 : out == DType::kFloat64 ? 1e-13 : 8e-3;
  return c;
}

Case timed(Case c) {
  c.timed_only = true;
  for (Tensor& t : c.tensors) t.bytes.clear();
  return c;
}

Case shaped(const std::string& name, std::vector<Tensor> tensors, std::uint32_t grid,
            std::function<void(Builder&)> build) {
  Case c;
  c.name = name;
  c.tensors = std::move(tensors);
  for (std::size_t i = 0; i < c.tensors.size(); ++i) c.tensors[i].alias = static_cast<std::int64_t>(i);
  c.grid[0] = grid;
  c.build = std::move(build);
  c.timed_only = true;
  return c;
}

Tensor sized(DType d, const Shape& shape, bool written = false) { return {d, shape, {}, written, 0}; }

}  // namespace

std::vector<Case> contraction_cases() {
  using D = DType;
  return {
      gemm_case("wgmma_nn", D::kBFloat16, D::kBFloat16, {128, 128, 64}, 256, 264, 200),
      gemm_case("wgmma_nt_bias", D::kBFloat16, D::kFloat32, {128, 256, 64}, 200, 300 / 4 * 4, 136, false, true, true),
      gemm_case("wgmma_tn", D::kFloat16, D::kFloat16, {128, 64, 64}, 256, 128, 128, true, false),
      gemm_case("wgmma_256", D::kBFloat16, D::kBFloat16, {256, 256, 64}, 256, 256, 192),
      gemm_case("mma_sync", D::kBFloat16, D::kBFloat16, {32, 32, 32}, 70, 66, 90),
      gemm_case("mma_sync_odd_pitch", D::kBFloat16, D::kFloat32, {64, 64, 64}, 70, 67, 91),
      gemm_case("f32", D::kFloat32, D::kFloat32, {32, 32, 16}, 50, 60, 40),
      gemm_case("edge_f32", D::kFloat32, D::kFloat32, {16, 24, 8}, 30, 30, 30),
  };
}

std::vector<Case> timed_cases() {
  using D = DType;
  std::vector<Case> all;
  for (GemmTiles t :
       {GemmTiles{128, 256, 64}, GemmTiles{128, 128, 64}, GemmTiles{256, 128, 64}, GemmTiles{256, 256, 64}}) {
    Case c;
    c.name = "time_gemm_8192_" + std::to_string(t.m) + "x" + std::to_string(t.n);
    const std::int64_t s = 8192;
    c.tensors = {sized(D::kBFloat16, {s, s}), sized(D::kBFloat16, {s, s}), sized(D::kBFloat16, {s, s}, true)};
    for (std::size_t i = 0; i < 3; ++i) c.tensors[i].alias = static_cast<std::int64_t>(i);
    c.grid[0] = static_cast<std::uint32_t>(s / t.m);
    c.grid[1] = static_cast<std::uint32_t>(s / t.n);
    c.build = gemm_program(t, false, false, D::kBFloat16, false);
    all.push_back(timed(c));
  }
  const std::int64_t n = std::int64_t{1} << 28;
  for (std::int64_t tile : {1024, 2048, 4096})
    all.push_back(shaped("time_add_" + std::to_string(tile),
                         {sized(D::kFloat32, {n}), sized(D::kFloat32, {n}), sized(D::kFloat32, {n}, true)},
                         static_cast<std::uint32_t>(n / tile), [=](Builder& b) {
                           const Value at[] = {start(b, 0, tile)};
                           b.store(b.args()[2], at,
                                   b.binary(Binary::k_add, b.load(b.args()[0], at, Shape{tile}),
                                            b.load(b.args()[1], at, Shape{tile})));
                         }));
  for (auto [rows, width] : {std::pair<std::int64_t, std::int64_t>{32768, 8192}, {4096, 1024}})
    all.push_back(shaped("time_softmax_" + std::to_string(width),
                         {sized(D::kFloat32, {rows, width}), sized(D::kFloat32, {rows, width}, true)},
                         static_cast<std::uint32_t>(rows), [=](Builder& b) {
                           const Value at[] = {start(b, 0, 1), i64(b, 0)};
                           Value x = b.reshape(b.load(b.args()[0], at, Shape{1, width}), Shape{width});
                           const Value xs[] = {x};
                           Value e = b.unary(Unary::k_exp,
                                             b.binary(Binary::k_sub, x, b.reduce(Combine::k_maximum, xs, 0)[0]));
                           const Value es[] = {e};
                           Value y = b.binary(Binary::k_div, e, b.reduce(Combine::k_add, es, 0)[0]);
                           b.store(b.args()[1], at, b.reshape(y, Shape{1, width}));
                         }));
  for (DType d : {D::kInt32, D::kFloat32})
    for (std::int64_t tile : {4096, 8192}) {
      const std::int64_t programs = n / tile;
      Case c = shaped("time_scan_" + std::string(name(d)) + "_" + std::to_string(tile),
                      {sized(d, {n}), sized(d, {n}, true), sized(D::kUInt64, {programs})},
                      static_cast<std::uint32_t>(programs), [=](Builder& b) {
                        const Value at[] = {start(b, 0, tile)};
                        const Value xs[] = {b.load(b.args()[0], at, Shape{tile})};
                        Value s = b.scan(Combine::k_add, xs, 0)[0];
                        const std::int64_t last[] = {tile - 1};
                        const Value total[] = {b.reshape(b.extract(s, last, Shape{1}), Shape{})};
                        const Scalar zero[] = {Scalar{d, 0, {}}};
                        Value before = b.lookback(Combine::k_add, b.args()[2], total, zero)[0];
                        b.store(b.args()[1], at, b.binary(Binary::k_add, s, before));
                      });
      c.ascending = true;
      all.push_back(c);
    }
  for (std::int64_t tile : {4096, 16384})
    all.push_back(shaped("time_sum_" + std::to_string(tile),
                         {sized(D::kFloat32, {n}), sized(D::kFloat32, {n / tile}, true)},
                         static_cast<std::uint32_t>(n / tile), [=](Builder& b) {
                           const Value at[] = {start(b, 0, tile)};
                           const Value xs[] = {b.load(b.args()[0], at, Shape{tile})};
                           const Value out[] = {start(b, 0, 1)};
                           b.store(b.args()[1], out, b.reshape(b.reduce(Combine::k_add, xs, 0)[0], Shape{1}));
                         }));
  return all;
}

}  // namespace epi::nvptx_test
