// Reductions, scans, ranks, permutations: collectives of one program.
#include "cases.h"

namespace epi::nvptx_test {

using namespace epi::ir;

namespace {

/// out = reduce(in, axis) of one whole tile.
Case reduce_case(const std::string& name, DType d, const Shape& shape, int axis, Combine kind, std::int64_t lanes = 0) {
  Case c;
  c.name = "reduce_" + name;
  Shape result = shape;
  result.erase(result.begin() + axis);
  if (result.empty()) result = {1};
  c.tensors = {random_tensor(d, shape, 11), output_tensor(d, result)};
  c.build = [=](Builder& b) {
    const Values zeros(shape.size(), i64(b, 0));
    const Value tiles[] = {b.load(b.args()[0], zeros, shape)};
    Value r = b.reduce(kind, tiles, axis, lanes)[0];
    if (b.type(r).kind == TypeInfo::kScalar) r = b.reshape(r, Shape{1});
    b.store(b.args()[1], Values(result.size(), i64(b, 0)), r);
  };
  return c;
}

Case scan_case(const std::string& name, DType d, const Shape& shape, int axis, Combine kind, bool reverse,
               std::int64_t segment = 0) {
  Case c;
  c.name = "scan_" + name;
  c.tensors = {random_tensor(d, shape, 13), output_tensor(d, shape)};
  c.build = [=](Builder& b) {
    const Values zeros(shape.size(), i64(b, 0));
    const Value tiles[] = {b.load(b.args()[0], zeros, shape)};
    b.store(b.args()[1], zeros, b.scan(kind, tiles, axis, reverse, segment)[0]);
  };
  return c;
}

/// argmax by a region on (value, index) pairs.
Case argmax_case(std::int64_t n) {
  Case c;
  c.name = "argmax_" + std::to_string(n);
  c.tensors = {random_tensor(DType::kFloat32, {n}, 17), output_tensor(DType::kInt32, {1})};
  c.build = [=](Builder& b) {
    const Value zero[] = {i64(b, 0)};
    const Value tiles[] = {b.load(b.args()[0], zero, Shape{n}), b.iota(DType::kInt32, Shape{n}, 0)};
    const Values r = b.reduce(Combine::k_region, tiles, 0, 0, [](Builder& bb, const Values& l, const Values& x) {
      Value greater = bb.compare(Compare::k_gt, x[0], l[0]);
      Value tie =
          bb.binary(Binary::k_bitand, bb.compare(Compare::k_eq, x[0], l[0]), bb.compare(Compare::k_lt, x[1], l[1]));
      Value take = bb.binary(Binary::k_bitor, greater, tie);
      return Values{bb.select(take, x[0], l[0]), bb.select(take, x[1], l[1])};
    });
    b.store(b.args()[1], zero, b.reshape(r[1], Shape{1}));
  };
  return c;
}

Case softmax_case(std::int64_t rows, std::int64_t n, std::int64_t tile) {
  Case c;
  c.name = "softmax_" + std::to_string(n);
  c.tensors = {random_tensor(DType::kFloat32, {rows, n}, 19), output_tensor(DType::kFloat32, {rows, n})};
  c.tensors[0].alias = 0;
  c.tensors[1].alias = 1;
  c.grid[0] = static_cast<std::uint32_t>(rows);
  c.build = [=](Builder& b) {
    const Value at[] = {start(b, 0, 1), i64(b, 0)};
    const Scalar low = Scalar::of_float(DType::kFloat32, -INFINITY);
    Value x = b.reshape(b.load(b.args()[0], at, Shape{1, tile}, &low), Shape{tile});
    const Value xs[] = {x};
    Value e = b.unary(Unary::k_exp, b.binary(Binary::k_sub, x, b.reduce(Combine::k_maximum, xs, 0)[0]));
    const Value es[] = {e};
    Value y = b.binary(Binary::k_div, e, b.reduce(Combine::k_add, es, 0)[0]);
    b.store(b.args()[1], at, b.reshape(y, Shape{1, tile}));
  };
  return c;
}

Case rank_case(std::int64_t n, std::int64_t bins) {
  Case c;
  c.name = "rank_" + std::to_string(n) + "_" + std::to_string(bins);
  c.tensors = {random_tensor(DType::kInt32, {n}, 23), output_tensor(DType::kInt32, {n}),
               output_tensor(DType::kInt32, {bins})};
  for (int i = 0; i < 3; ++i) c.tensors[static_cast<std::size_t>(i)].alias = i;
  c.build = [=](Builder& b) {
    const Value zero[] = {i64(b, 0)};
    Value x = b.load(b.args()[0], zero, Shape{n});
    auto r = b.rank(b.binary(Binary::k_add, x, b.full(Scalar::of_int(DType::kInt32, 9), Shape{n})), bins);
    b.store(b.args()[1], zero, r.ranks);
    b.store(b.args()[2], zero, r.counts);
  };
  return c;
}

Case take_case() {
  Case c;
  c.name = "take_reverse";
  c.tensors = {random_tensor(DType::kFloat32, {500}, 29), output_tensor(DType::kFloat32, {500})};
  c.build = [](Builder& b) {
    const Value zero[] = {i64(b, 0)};
    Value x = b.load(b.args()[0], zero, Shape{500});
    Value index = b.binary(Binary::k_sub, b.full(Scalar::of_int(DType::kInt32, 499), Shape{500}),
                           b.iota(DType::kInt32, Shape{500}, 0));
    b.store(b.args()[1], zero, b.take(b.binary(Binary::k_add, x, x), index, 0));
  };
  return c;
}

}  // namespace

std::vector<Case> fold_cases() {
  using D = DType;
  std::vector<Case> all = {
      reduce_case("f32_1024", D::kFloat32, {1024}, 0, Combine::k_add),
      reduce_case("f32_8192", D::kFloat32, {8192}, 0, Combine::k_add),
      reduce_case("f32_1000", D::kFloat32, {1000}, 0, Combine::k_add),
      reduce_case("f32_37", D::kFloat32, {37}, 0, Combine::k_add),
      reduce_case("f32_5", D::kFloat32, {5}, 0, Combine::k_mul),
      reduce_case("f32_1", D::kFloat32, {1}, 0, Combine::k_add),
      reduce_case("f64_3001", D::kFloat64, {3001}, 0, Combine::k_add),
      reduce_case("f16_2048", D::kFloat16, {2048}, 0, Combine::k_maximum),
      reduce_case("i32_max", D::kInt32, {4096}, 0, Combine::k_maximum),
      reduce_case("u8_xor", D::kUInt8, {4096}, 0, Combine::k_bitxor),
      reduce_case("c64", D::kComplex64, {1500}, 0, Combine::k_add),
      reduce_case("lanes_8", D::kFloat32, {1000}, 0, Combine::k_add, 8),
      reduce_case("lanes_4096", D::kFloat32, {10000}, 0, Combine::k_add, 4096),
      reduce_case("rows_16x256", D::kFloat32, {16, 256}, 1, Combine::k_add),
      reduce_case("rows_7x100", D::kFloat32, {7, 100}, 1, Combine::k_add),
      reduce_case("rows_100x9", D::kFloat32, {100, 9}, 1, Combine::k_add),
      reduce_case("rows_5x33", D::kInt64, {5, 33}, 1, Combine::k_minimum),
      reduce_case("columns_64x48", D::kFloat32, {64, 48}, 0, Combine::k_add),
      reduce_case("columns_33x300", D::kFloat32, {33, 300}, 0, Combine::k_add),
      reduce_case("middle_4x9x20", D::kFloat32, {4, 9, 20}, 1, Combine::k_add),
      scan_case("i32_8192", D::kInt32, {8192}, 0, Combine::k_add, false),
      scan_case("f32_8192", D::kFloat32, {8192}, 0, Combine::k_add, false),
      scan_case("f32_1000", D::kFloat32, {1000}, 0, Combine::k_add, false),
      scan_case("f32_999", D::kFloat32, {999}, 0, Combine::k_add, false),
      scan_case("f32_reverse", D::kFloat32, {2048}, 0, Combine::k_add, true),
      scan_case("f64_max", D::kFloat64, {3000}, 0, Combine::k_maximum, true),
      scan_case("segment_3", D::kFloat32, {1000}, 0, Combine::k_add, false, 3),
      scan_case("rows", D::kFloat32, {20, 130}, 1, Combine::k_add, false),
      scan_case("columns", D::kFloat32, {130, 20}, 0, Combine::k_add, true),
      argmax_case(1000),
      argmax_case(4096),
      softmax_case(9, 1000, 1024),
      softmax_case(3, 8192, 8192),
      rank_case(3000, 16),
      rank_case(4096, 256),
      take_case(),
  };
  return all;
}

// -- chains across programs ----------------------------------------------------------------------------------------
namespace {

Case chain_case(const std::string& name, DType d, std::int64_t n, std::int64_t tile) {
  Case c;
  c.name = "chain_" + name;
  c.ascending = true;
  const std::int64_t programs = (n + tile - 1) / tile;
  const std::int64_t words = d == DType::kFloat64 || d == DType::kInt64 ? 3 : 1;
  c.tensors = {random_tensor(d, {n}, 31), output_tensor(d, {n}), output_tensor(DType::kUInt64, {words * programs})};
  for (int i = 0; i < 3; ++i) c.tensors[static_cast<std::size_t>(i)].alias = i;
  c.tensors[2].written = false;
  c.grid[0] = static_cast<std::uint32_t>(programs);
  c.build = [=](Builder& b) {
    const Value at[] = {start(b, 0, tile)};
    const Value xs[] = {b.load(b.args()[0], at, Shape{tile})};
    Value s = b.scan(Combine::k_add, xs, 0)[0];
    const std::int64_t last[] = {tile - 1};
    const Value total[] = {b.reshape(b.extract(s, last, Shape{1}), Shape{})};
    const Scalar zero[] = {Scalar{d, 0, {}}};
    Value before = b.lookback(Combine::k_add, b.args()[2], total, zero)[0];
    b.store(b.args()[1], at, b.binary(Binary::k_add, s, before));
  };
  return c;
}

/// Affine maps x -> a x + b composed: not commutative.
Case affine_case(std::int64_t programs) {
  Case c;
  c.name = "chain_affine";
  c.ascending = true;
  c.tensors = {random_tensor(DType::kFloat32, {2, programs}, 37), output_tensor(DType::kFloat32, {2, programs}),
               output_tensor(DType::kUInt64, {3 * programs})};
  for (int i = 0; i < 3; ++i) c.tensors[static_cast<std::size_t>(i)].alias = i;
  c.tensors[2].written = false;
  c.grid[0] = static_cast<std::uint32_t>(programs);
  c.build = [=](Builder& b) {
    const Value p = b.program_id(0);
    Values pair;
    for (int k = 0; k < 2; ++k) pair.push_back(b.gather(b.args()[0], Values{i32(b, k), p}));
    const Scalar identity[] = {Scalar::of_float(DType::kFloat32, 1), Scalar::of_float(DType::kFloat32, 0)};
    const Values before =
        b.lookback(Combine::k_region, b.args()[2], pair, identity, [](Builder& bb, const Values& l, const Values& r) {
          return Values{bb.binary(Binary::k_mul, l[0], r[0]),
                        bb.binary(Binary::k_add, bb.binary(Binary::k_mul, r[0], l[1]), r[1])};
        });
    for (int k = 0; k < 2; ++k) b.scatter(b.args()[1], Values{i32(b, k), p}, before[static_cast<std::size_t>(k)]);
  };
  return c;
}

/// 256 counters looked back, as a radix pass does.
Case counters_case(std::int64_t programs) {
  Case c;
  c.name = "chain_counters";
  c.ascending = true;
  c.tensors = {random_tensor(DType::kInt32, {programs, 256}, 41), output_tensor(DType::kInt32, {programs, 256}),
               output_tensor(DType::kUInt64, {programs * 256})};
  for (int i = 0; i < 3; ++i) c.tensors[static_cast<std::size_t>(i)].alias = i;
  c.tensors[2].written = false;
  c.grid[0] = static_cast<std::uint32_t>(programs);
  c.build = [=](Builder& b) {
    const Value at[] = {start(b, 0, 1), i64(b, 0)};
    const Value x[] = {b.reshape(b.load(b.args()[0], at, Shape{1, 256}), Shape{256})};
    const Scalar zero[] = {Scalar::of_int(DType::kInt32, 0)};
    Value before = b.lookback(Combine::k_add, b.args()[2], x, zero)[0];
    b.store(b.args()[1], at, b.reshape(before, Shape{1, 256}));
  };
  return c;
}

}  // namespace

std::vector<Case> chain_cases() {
  return {chain_case("i32", DType::kInt32, 20000, 1024), chain_case("f32", DType::kFloat32, 100000, 512),
          chain_case("f64", DType::kFloat64, 9000, 512), affine_case(200), counters_case(100)};
}

}  // namespace epi::nvptx_test
