// Elementwise programs, loads and stores with edges, casts of every pair of dtypes, every kind of kinds.def.
#include "harness.h"

namespace epi::test {
namespace {

using ir::Binary;
using ir::Builder;
using ir::Unary;
using ir::Value;

const DType kAll[] = {DType::kBool,   DType::kInt8,   DType::kInt16,   DType::kInt32,   DType::kInt64,
                      DType::kUInt8,  DType::kUInt16, DType::kUInt32,  DType::kUInt64,  DType::kFloat16,
                      DType::kBFloat16, DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128};

/// offsets = program id * tile along the first axis.
std::vector<Value> tile_offset(Builder& b, std::int64_t tile) {
  return {b.binary(Binary::k_mul, b.program_id(0), b.constant(ir::Scalar::of_int(DType::kInt32, tile)))};
}

char letter(DType d) { return kind(d) == 'u' ? 'i' : kind(d); }

/// out = f(in...) elementwise over n elements in tiles of `tile`.
void check_map(const std::vector<DType>& in, DType out, const std::function<Value(Builder&, const ir::Values&)>& f,
               std::int64_t n = 269, std::int64_t tile = 32, bool specials = true, double ulps = 0) {
  std::vector<Arg> args;
  std::vector<ir::ArgSpec> specs;
  for (std::size_t i = 0; i < in.size(); ++i) args.push_back(random_array(in[i], {n}, static_cast<unsigned>(7 + i), specials));
  args.push_back(zeros(out, {n}));
  for (std::size_t i = 0; i < args.size(); ++i) specs.push_back(spec(args[i], static_cast<std::int64_t>(i)));
  Builder b("map", specs);
  const std::vector<Value> at = tile_offset(b, tile);
  ir::Values loaded;
  for (std::size_t i = 0; i < in.size(); ++i) loaded.push_back(b.load(b.args()[i], at, std::vector<std::int64_t>{tile}));
  b.store(b.args().back(), at, f(b, loaded));
  ASSERT_TRUE(b.status().ok()) << b.status().message();
  const ir::Module m = finished(b);
  Options options;
  options.ulps = ulps;
  expect_same(m, args, {static_cast<std::uint32_t>((n + tile - 1) / tile)}, options);
}

TEST(Elementwise, AddOfTilesWithAnEdge) {
  check_map({DType::kFloat32, DType::kFloat32}, DType::kFloat32,
            [](Builder& b, const ir::Values& v) { return b.binary(Binary::k_add, v[0], v[1]); }, 1000, 256);
}

TEST(Elementwise, TilesThatAreNoMultipleOfAVector) {
  for (std::int64_t tile : {1, 2, 3, 5, 7, 12, 33, 100})
    check_map({DType::kFloat32, DType::kFloat32}, DType::kFloat32,
              [](Builder& b, const ir::Values& v) { return b.binary(Binary::k_mul, v[0], v[1]); }, 101, tile);
}

class EachUnary : public testing::TestWithParam<std::tuple<DType, int>> {};
TEST_P(EachUnary, MatchesTheInterpreter) {
  static const struct {
    const char* name;
    const char* letters;
  } kKinds[] = {
#define EPI_UNARY(n, t) {#n, t},
#define EPI_BINARY(n, t)
#define EPI_COMPARE(n)
#define EPI_COMBINE(n)
#define EPI_CAST(n)
#define EPI_ATOMIC(n)
#define EPI_ORDER(n)
#define EPI_SCOPE(n)
#include "epi/ir/kinds.def"
#undef EPI_UNARY
#undef EPI_BINARY
  };
  const auto [dtype, k] = GetParam();
  if (!std::strchr(kKinds[k].letters, letter(dtype))) return;  // the dialect has no such op
  const auto kind = static_cast<Unary>(k);
  DType out = dtype;
  if (kind == Unary::k_isnan || kind == Unary::k_isinf || kind == Unary::k_isfinite || kind == Unary::k_signbit) out = DType::kBool;
  if (is_complex(dtype) && (kind == Unary::k_real || kind == Unary::k_imag || kind == Unary::k_abs))
    out = dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
  check_map({dtype}, out, [kind = kind](Builder& b, const ir::Values& v) { return b.unary(kind, v[0]); });
}
INSTANTIATE_TEST_SUITE_P(Kinds, EachUnary, testing::Combine(testing::ValuesIn(kAll), testing::Range(0, 37)));

class EachBinary : public testing::TestWithParam<std::tuple<DType, int>> {};
TEST_P(EachBinary, MatchesTheInterpreter) {
  static const struct {
    const char* name;
    const char* letters;
  } kKinds[] = {
#define EPI_UNARY(n, t)
#define EPI_BINARY(n, t) {#n, t},
#include "epi/ir/kinds.def"
#undef EPI_UNARY
#undef EPI_BINARY
#undef EPI_COMPARE
#undef EPI_COMBINE
#undef EPI_CAST
#undef EPI_ATOMIC
#undef EPI_ORDER
#undef EPI_SCOPE
  };
  const auto [dtype, k] = GetParam();
  if (!std::strchr(kKinds[k].letters, letter(dtype))) return;
  const auto kind = static_cast<Binary>(k);
  DType out = dtype;
  if (kind == Binary::k_complex) {
    if (size_bytes(dtype) < 4) return;
    out = dtype == DType::kFloat32 ? DType::kComplex64 : DType::kComplex128;
  }
  check_map({dtype, dtype}, out, [kind = kind](Builder& b, const ir::Values& v) { return b.binary(kind, v[0], v[1]); });
}
INSTANTIATE_TEST_SUITE_P(Kinds, EachBinary, testing::Combine(testing::ValuesIn(kAll), testing::Range(0, 25)));

class EachDType : public testing::TestWithParam<DType> {};
TEST_P(EachDType, Compares) {
  for (int k = 0; k < (is_complex(GetParam()) ? 2 : 6); ++k)
    check_map({GetParam(), GetParam()}, DType::kBool,
              [k](Builder& b, const ir::Values& v) { return b.compare(static_cast<ir::Compare>(k), v[0], v[1]); });
}
TEST_P(EachDType, CastsToEveryOther) {
  for (DType to : kAll)
    for (ir::Cast mode : {ir::Cast::k_wrap, ir::Cast::k_saturate})
      if (to != GetParam()) check_map({GetParam()}, to, [&](Builder& b, const ir::Values& v) { return b.cast(v[0], to, mode); });
}
TEST_P(EachDType, Bitcasts) {
  if (GetParam() == DType::kBool) return;
  for (DType to : kAll)
    if (to != DType::kBool && to != GetParam() && size_bytes(to) == size_bytes(GetParam()))
      check_map({GetParam()}, to, [&](Builder& b, const ir::Values& v) { return b.bitcast(v[0], to); });
}
TEST_P(EachDType, Selects) {
  check_map({DType::kBool, GetParam(), GetParam()}, GetParam(),
            [](Builder& b, const ir::Values& v) { return b.select(v[0], v[1], v[2]); });
}
TEST_P(EachDType, FusesMultiplyAndAdd) {
  if (is_float(GetParam()))
    check_map({GetParam(), GetParam(), GetParam()}, GetParam(),
              [](Builder& b, const ir::Values& v) { return b.fma(v[0], v[1], v[2]); });
}
INSTANTIATE_TEST_SUITE_P(DTypes, EachDType, testing::ValuesIn(kAll));

/// 2-D: out = in transposed or not, row and column broadcast, offsets that hang over every edge.
TEST(Memory, TwoDimensionalTilesHangOverEveryEdge) {
  for (std::int64_t w : {8, 16, 5})
    for (int ox : {-3, 0, 2}) {
      std::vector<Arg> args = {random_array(DType::kFloat32, {13, 21}, 1), zeros(DType::kFloat32, {13, 21})};
      Builder b("edges", {spec(args[0], 0), spec(args[1], 1)});
      auto c = [&](std::int64_t v) { return b.constant(ir::Scalar::of_int(DType::kInt32, v)); };
      Value y = b.binary(Binary::k_add, b.binary(Binary::k_mul, b.program_id(1), c(4)), c(ox));
      Value x = b.binary(Binary::k_add, b.binary(Binary::k_mul, b.program_id(0), c(w)), c(ox));
      const std::vector<Value> at = {y, x};
      const ir::Scalar pad = ir::Scalar::of_float(DType::kFloat32, 9.5);
      Value v = b.load(b.args()[0], at, std::vector<std::int64_t>{4, w}, &pad);
      Value s = b.load(b.args()[0], std::vector<Value>{y, b.binary(Binary::k_add, x, c(1))}, std::vector<std::int64_t>{4, w}, &pad);
      b.store(b.args()[1], at, b.binary(Binary::k_add, v, s));
      const ir::Module m = finished(b);
      expect_same(m, args, {5, 4});
    }
}

TEST(Memory, StridedAndPermutedViews) {
  std::vector<Arg> args = {random_array(DType::kFloat64, {12, 30}, 1), zeros(DType::kFloat64, {15, 12})};
  args[0].strides = {30, 2};
  args[0].extents = {12, 15};
  Builder b("strided", {spec(args[0], 0), spec(args[1], 1)});
  const std::int64_t perm[] = {1, 0};
  Value t = b.permute_view(b.args()[0], perm);
  auto c = [&](std::int64_t v) { return b.constant(ir::Scalar::of_int(DType::kInt32, v)); };
  const std::vector<Value> at = {b.binary(Binary::k_mul, b.program_id(0), c(8)), c(0)};
  b.store(b.args()[1], at, b.load(t, at, std::vector<std::int64_t>{8, 16}));
  const ir::Module m = finished(b);
  expect_same(m, args, {2});
}

TEST(Memory, AStoreDoesNotOvertakeALoadOfTheSameArray) {
  std::vector<Arg> args = {random_array(DType::kInt32, {64}, 1)};
  Builder b("shift", {spec(args[0])});
  auto c = [&](std::int64_t v) { return b.constant(ir::Scalar::of_int(DType::kInt32, v)); };
  const std::vector<std::int64_t> shape = {32};
  Value first = b.load(b.args()[0], std::vector<Value>{c(0)}, shape);
  Value later = b.load(b.args()[0], std::vector<Value>{c(3)}, shape);
  b.store(b.args()[0], std::vector<Value>{c(1)}, later);      // overlaps what `first` read
  b.store(b.args()[0], std::vector<Value>{c(32)}, first);
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Memory, GatherAndScatter) {
  std::vector<Arg> args = {random_array(DType::kFloat32, {50}, 1), random_array(DType::kInt32, {64}, 2), zeros(DType::kFloat32, {40}),
                           random_array(DType::kBool, {64}, 3)};
  Builder b("gather", {spec(args[0], 0), spec(args[1], 1), spec(args[2], 2), spec(args[3], 3)});
  Value zero = b.constant(ir::Scalar::of_int(DType::kInt32, 0));
  const std::vector<std::int64_t> shape = {64};
  Value index = b.load(b.args()[1], std::vector<Value>{zero}, shape);
  Value mask = b.load(b.args()[3], std::vector<Value>{zero}, shape);
  const ir::Scalar pad = ir::Scalar::of_float(DType::kFloat32, -1);
  Value g = b.gather(b.args()[0], std::vector<Value>{index}, mask, &pad);
  b.scatter(b.args()[2], std::vector<Value>{b.iota(DType::kInt64, shape, 0)}, g);
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Memory, GatherAndScatterAlongTwoAxes) {
  std::vector<Arg> args = {random_array(DType::kFloat32, {6, 10}, 1), zeros(DType::kFloat32, {10, 6})};
  Builder b("gather2", {spec(args[0], 0), spec(args[1], 1)});
  const std::vector<std::int64_t> shape = {8, 16};  // hangs over both edges
  Value row = b.iota(DType::kInt32, shape, 0);
  Value column = b.iota(DType::kInt32, shape, 1);
  Value g = b.gather(b.args()[0], std::vector<Value>{row, column});
  b.scatter(b.args()[1], std::vector<Value>{column, row}, g);
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Elementwise, ShiftsOfScalarsByTheWidthAndMore) {  // vectors of most processors forgive what scalars do not
  for (DType d : {DType::kInt8, DType::kUInt8, DType::kInt32, DType::kUInt32, DType::kInt64, DType::kUInt64})
    for (Binary kind : {Binary::k_shl, Binary::k_shr}) {
      const std::uint64_t width = size_bytes(d) * 8;
      const std::uint64_t ones = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
      for (std::uint64_t by : {std::uint64_t{0}, std::uint64_t{1}, width - 1, width, width + 1, ones}) {
        std::vector<Arg> args = {scalar_arg(d, 0x9e3779b97f4a7c95U & ones), scalar_arg(d, by), zeros(d, {1})};
        Builder b("shift", {spec(args[0]), spec(args[1]), spec(args[2])});
        const std::vector<Value> at = {b.constant(ir::Scalar::of_int(DType::kInt32, 0))};
        Value shifted = b.binary(kind, b.args()[0], b.args()[1]);
        b.store(b.args()[2], at, b.broadcast(shifted, std::vector<std::int64_t>{1}));
        const ir::Module m = finished(b);
        expect_same(m, args, {1});
      }
    }
}

TEST(Cast, ADoubleIsRoundedToAHalfOnce) {
  const double tiny = 0x1p-40;  // past what a float holds beside 1: rounding to one first makes a tie
  std::vector<double> values;
  for (double v : {1 + 0x1p-11, 1 + 3 * 0x1p-11, 1 + 0x1p-8, 1 + 3 * 0x1p-8})
    for (double e : {-tiny, 0.0, tiny}) values.insert(values.end(), {v + e, -(v + e)});
  for (DType to : {DType::kFloat16, DType::kBFloat16}) {
    std::vector<Arg> args = {array_of(DType::kFloat64, values), zeros(to, {static_cast<std::int64_t>(values.size())})};
    Builder b("cast", {spec(args[0], 0), spec(args[1], 1)});
    const std::vector<Value> at = {b.constant(ir::Scalar::of_int(DType::kInt32, 0))};
    b.store(b.args()[1], at, b.cast(b.load(b.args()[0], at, std::vector<std::int64_t>{32}), to, ir::Cast::k_wrap));
    const ir::Module m = finished(b);
    expect_same(m, args, {1});
    // 1 + 2^-11 + 2^-40 is above a tie of halves, and far below one of bfloat16's.
    EXPECT_EQ(values_of<std::uint16_t>(args[1])[4], to == DType::kFloat16 ? 0x3c01 : 0x3f80);
  }
}

}  // namespace
}  // namespace epi::test
