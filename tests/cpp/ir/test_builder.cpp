// Every call of the builder makes IR that verifies, prints and parses back to the same text; errors carry the place.
#include <gtest/gtest.h>

#include "epi/ir/builder.h"

namespace epi::ir {
namespace {

constexpr std::int64_t kD = kDynamic;

ArgSpec view(DType dtype, std::size_t rank, std::string name = "x", std::int64_t alias = 0) {
  ArgSpec arg;
  arg.is_view = true;
  arg.view = {dtype, Shape(rank, kD), Shape(rank, kD), Shape(rank, 1), 16, alias};
  arg.name = std::move(name);
  return arg;
}

ArgSpec scalar(DType dtype, std::string name = "s") { return {false, dtype, {}, std::move(name)}; }

/// The text of the finished module, after checking that it verifies and that print, parse, print is stable.
std::string finished(Builder& b) {
  Result<Module> module = b.finish();
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return {};
  const std::string text = module->print();
  Result<Module> again = Module::parse(text);
  EXPECT_TRUE(again.ok()) << again.status().message() << "\n" << text;
  if (again.ok()) {
    EXPECT_EQ(again->print(), text);
  }
  EXPECT_TRUE(module->verify().ok());
  return text;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }
#define EXPECT_HAS(text, part) EXPECT_TRUE(has(text, part)) << text

Value f32(Builder& b, double v) { return b.constant(Scalar::of_float(DType::kFloat32, v)); }
Value i32(Builder& b, std::int64_t v) { return b.constant(Scalar::of_int(DType::kInt32, v)); }
Value tile_of(Builder& b, DType d, const Shape& shape) { return b.full({d, 1, {1, 0}}, shape); }

TEST(Builder, EmptyKernelIsAModule) {
  Builder b("empty", {});
  const std::string text = finished(b);
  EXPECT_HAS(text, "func.func @empty() attributes {tile.kernel}");
}

TEST(Builder, ArgumentsKeepNamesAndTypes) {
  Builder b("k", {view(DType::kFloat32, 2, "left", 3), scalar(DType::kUInt8, "n")}, /*ascending=*/true);
  EXPECT_EQ(b.type(b.args()[0]).kind, TypeInfo::kView);
  EXPECT_EQ(b.type(b.args()[0]).shape, (Shape{kD, kD}));
  EXPECT_EQ(b.type(b.args()[1]).dtype, DType::kUInt8);
  const std::string text = finished(b);
  EXPECT_HAS(text,
             R"(!tile.view<?x?xf32, strides = [?, ?], div = [1, 1], align = 16, alias = 3> {tile.name = "left"})");
  EXPECT_HAS(text, R"(ui8 {tile.name = "n"})");
  EXPECT_HAS(text, "tile.ascending");
}

TEST(Builder, IndexAndViews) {
  Builder b("k", {view(DType::kFloat32, 2)});
  Value x = b.args()[0];
  Value pid = b.program_id(0);
  b.num_programs(2);
  EXPECT_EQ(b.type(b.dim(x, -1)).dtype, DType::kInt64);
  b.stride(x, 0);
  Value part = b.slice(x, 1, i32(b, 0), pid);
  Value turned = b.permute_view(part, std::vector<std::int64_t>{1, 0});
  EXPECT_EQ(b.type(turned).kind, TypeInfo::kView);
  const std::string text = finished(b);
  EXPECT_HAS(text, "tile.program_id 0");
  EXPECT_HAS(text, "tile.num_programs 2");
  EXPECT_HAS(text, "tile.permute_view %7 [1, 0]");
}

TEST(Builder, SliceKeepsTheAlignmentItCanProve) {
  ArgSpec arg = view(DType::kFloat32, 1);
  arg.view.strides = {1};
  Builder b("k", {arg, scalar(DType::kInt64)});
  b.slice(b.args()[0], 0, b.constant(Scalar::of_int(DType::kInt64, 0)), b.args()[1]);
  b.slice(b.args()[0], 0, b.args()[1], b.args()[1]);
  const std::string text = finished(b);
  EXPECT_HAS(text, "align = 16, alias = 0> -> <?xf32, strides = [1], div = [1], align = 16");
  EXPECT_HAS(text, "align = 16, alias = 0> -> <?xf32, strides = [1], div = [1], align = 4");
}

TEST(Builder, LoadAndStoreWidenOffsets) {
  Builder b("k", {view(DType::kFloat16, 2)});
  Value x = b.args()[0];
  Value row = b.program_id(0);
  const Scalar pad = Scalar::of_float(DType::kFloat16, 2.5);
  Value t = b.load(x, std::vector<Value>{row, b.dim(x, 0)}, std::vector<std::int64_t>{4, 8}, &pad);
  EXPECT_EQ(b.type(t).shape, (Shape{4, 8}));
  b.store(x, std::vector<Value>{row, row}, t, true);
  const std::string text = finished(b);
  EXPECT_HAS(text, "tile.cast wrap %0 : i32 -> i64");
  EXPECT_HAS(text, "{padding = 2.500000e+00 : f16}");
  EXPECT_HAS(text, "{inbounds}");
}

TEST(Builder, ViewsOfRankZeroLoadScalars) {
  Builder b("k", {view(DType::kFloat32, 0)});
  Value v = b.load(b.args()[0], {}, {});
  EXPECT_EQ(b.type(v).kind, TypeInfo::kScalar);
  b.store(b.args()[0], {}, v);
  Value g = b.gather(b.args()[0], {});
  b.scatter(b.args()[0], {}, g);
  finished(b);
}

TEST(Builder, AccessesPerElementBroadcast) {
  Builder b("k", {view(DType::kInt32, 2)});
  Value x = b.args()[0];
  Value rows = b.iota(DType::kUInt16, std::vector<std::int64_t>{4, 1}, 0);
  Value columns = b.iota(DType::kInt32, std::vector<std::int64_t>{8}, 0);
  Value mask = b.full(Scalar::of_int(DType::kBool, 1), std::vector<std::int64_t>{4, 8});
  const std::vector<Value> at{rows, columns};
  const Scalar pad = Scalar::of_int(DType::kInt32, -1);
  Value v = b.gather(x, at, mask, &pad);
  EXPECT_EQ(b.type(v).shape, (Shape{4, 8}));
  b.scatter(x, at, i32(b, 7), mask);
  EXPECT_EQ(b.type(b.atomic_rmw(Atomic::k_add, x, at, i32(b, 1), mask)).shape, (Shape{4, 8}));
  EXPECT_EQ(b.type(b.atomic_cas(x, at, i32(b, 1), v)).shape, (Shape{4, 8}));
  b.fence(Order::k_acq_rel, Scope::k_device);
  const std::string text = finished(b);
  EXPECT_HAS(text, "tile.atomic_rmw add acq_rel device");
  EXPECT_HAS(text, "tile.fence acq_rel device");
  EXPECT_HAS(text, "padding = -1 : i32");
}

class EveryDType : public testing::TestWithParam<int> {};
TEST_P(EveryDType, HasConstantsScalarAndTile) {
  const auto d = static_cast<DType>(GetParam());
  Builder b("k", {view(d, 1)});
  Value s = b.constant({d, 1, {1.5, -2.0}});
  EXPECT_EQ(b.type(s).dtype, d);
  Value t = b.full({d, 1, {1.5, -2.0}}, std::vector<std::int64_t>{4});
  EXPECT_EQ(b.type(t).dtype, d);
  const Scalar pad{d, 1, {1.5, -2.0}};
  Value zero = b.constant(Scalar::of_int(DType::kInt64, 0));
  b.store(b.args()[0], std::vector<Value>{zero},
          b.load(b.args()[0], std::vector<Value>{zero}, std::vector<std::int64_t>{4}, &pad));
  b.cast(s, DType::kFloat64, Cast::k_wrap);
  finished(b);
}
INSTANTIATE_TEST_SUITE_P(All, EveryDType, testing::Range(0, kDTypeCount));

TEST(Builder, ConstantsWrapAndRound) {
  Builder b("k", {});
  b.constant(Scalar::of_int(DType::kUInt8, 300));
  b.constant(Scalar::of_int(DType::kBool, 2));
  b.constant(Scalar::of_int(DType::kUInt64, -1));
  b.constant(Scalar::of_float(DType::kBFloat16, 1.00390625));  // halfway: to even
  b.constant(Scalar::of_float(DType::kFloat16, 65520.0));      // halfway to beyond the largest
  const std::string text = finished(b);
  EXPECT_HAS(text, "tile.constant(44 : ui8) : ui8");
  EXPECT_HAS(text, "tile.constant(true) : i1");
  EXPECT_HAS(text, "tile.constant(18446744073709551615 : ui64) : ui64");
  EXPECT_HAS(text, "tile.constant(1.000000e+00 : bf16) : bf16");
  EXPECT_HAS(text, "tile.constant(0x7C00 : f16) : f16");
}

TEST(Builder, ShapeOps) {
  Builder b("k", {});
  Value t = b.iota(DType::kFloat32, std::vector<std::int64_t>{2, 4}, -1);
  Value one = b.reshape(f32(b, 1), std::vector<std::int64_t>{1, 1});
  EXPECT_EQ(b.type(b.reshape(one, {})).kind, TypeInfo::kScalar);
  EXPECT_EQ(b.type(b.broadcast(one, std::vector<std::int64_t>{3, 2, 4})).shape, (Shape{3, 2, 4}));
  EXPECT_EQ(b.broadcast(t, std::vector<std::int64_t>{2, 4}), t);
  EXPECT_EQ(b.type(b.permute(t, std::vector<std::int64_t>{1, 0})).shape, (Shape{4, 2}));
  EXPECT_EQ(b.type(b.cat(std::vector<Value>{t, t, t}, 0)).shape, (Shape{6, 4}));
  Value part = b.extract(t, std::vector<std::int64_t>{1, 2}, std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(b.type(part).shape, (Shape{1, 2}));
  EXPECT_EQ(b.type(b.insert(part, t, std::vector<std::int64_t>{0, 0})).shape, (Shape{2, 4}));
  finished(b);
}

struct Kinds {
  std::string_view name, letters;
};
constexpr Kinds kUnary[] = {
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
constexpr Kinds kBinary[] = {
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

char letter(DType d) { return kind(d) == 'u' ? 'i' : kind(d); }

TEST(Builder, UnaryTakesExactlyItsRowsDtypes) {
  for (std::uint32_t k = 0; k < std::size(kUnary); ++k) {
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto dtype = static_cast<DType>(d);
      Builder b("k", {});
      Value r = b.unary(static_cast<Unary>(k), tile_of(b, dtype, {4}));
      const bool taken = kUnary[k].letters.find(letter(dtype)) != std::string_view::npos;
      EXPECT_EQ(static_cast<bool>(r), taken) << kUnary[k].name << " " << name(dtype);
      if (taken) {
        EXPECT_TRUE(b.finish().ok());
      }
    }
  }
}

TEST(Builder, BinaryTakesExactlyItsRowsDtypes) {
  for (std::uint32_t k = 0; k < std::size(kBinary); ++k) {
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto dtype = static_cast<DType>(d);
      Builder b("k", {});
      Value t = tile_of(b, dtype, {4});
      Value r = b.binary(static_cast<Binary>(k), t, t);
      bool taken = kBinary[k].letters.find(letter(dtype)) != std::string_view::npos;
      if (kBinary[k].name == "complex") taken = dtype == DType::kFloat32 || dtype == DType::kFloat64;
      EXPECT_EQ(static_cast<bool>(r), taken) << kBinary[k].name << " " << name(dtype);
      if (taken) {
        EXPECT_TRUE(b.finish().ok());
      }
    }
  }
}

TEST(Builder, ResultTypesOfUnary) {
  Builder b("k", {});
  Value c = b.constant({DType::kComplex64, 0, {1, 2}});
  EXPECT_EQ(b.type(b.unary(Unary::k_abs, c)).dtype, DType::kFloat32);
  EXPECT_EQ(b.type(b.unary(Unary::k_imag, c)).dtype, DType::kFloat32);
  EXPECT_EQ(b.type(b.unary(Unary::k_conj, c)).dtype, DType::kComplex64);
  EXPECT_EQ(b.type(b.unary(Unary::k_isnan, c)).dtype, DType::kBool);
  Value f = f32(b, 1);
  EXPECT_EQ(b.type(b.binary(Binary::k_complex, f, f)).dtype, DType::kComplex64);
  b.unary(Unary::k_exp2, f, /*approx=*/true);
  const std::string text = finished(b);
  EXPECT_HAS(text, "tile.unary exp2 %");
  EXPECT_HAS(text, "{approx}");
}

TEST(Builder, ArithmeticBroadcasts) {
  Builder b("k", {});
  Value row = b.iota(DType::kFloat32, std::vector<std::int64_t>{8}, 0);
  Value column = b.iota(DType::kFloat32, std::vector<std::int64_t>{4, 1}, 0);
  const Shape wanted{4, 8};
  EXPECT_EQ(b.type(b.binary(Binary::k_add, row, column)).shape, wanted);
  EXPECT_EQ(b.type(b.fma(row, f32(b, 2), column)).shape, wanted);
  Value less = b.compare(Compare::k_lt, row, column);
  EXPECT_EQ(b.type(less).dtype, DType::kBool);
  EXPECT_EQ(b.type(b.select(less, row, f32(b, 0))).shape, wanted);
  EXPECT_EQ(b.type(b.select(b.constant(Scalar::of_int(DType::kBool, 1)), row, f32(b, 0))).shape, (Shape{8}));
  EXPECT_EQ(b.type(b.cast(less, DType::kInt8, Cast::k_saturate)).dtype, DType::kInt8);
  EXPECT_EQ(b.cast(row, DType::kFloat32, Cast::k_wrap), row);
  EXPECT_EQ(b.type(b.bitcast(row, DType::kUInt32)).dtype, DType::kUInt32);
  Value n = b.iota(DType::kInt32, std::vector<std::int64_t>{8}, 0);
  b.binary(Binary::k_floordiv, n, i32(b, 2), /*flag_zero=*/true);
  EXPECT_HAS(finished(b), "{flag_zero}");
}

TEST(Builder, FoldsOfOneTile) {
  Builder b("k", {});
  Value t = tile_of(b, DType::kFloat32, {4, 8});
  EXPECT_EQ(b.type(b.reduce(Combine::k_add, std::vector<Value>{t}, -1, 4)[0]).shape, (Shape{4}));
  Value v = tile_of(b, DType::kFloat32, {8});
  EXPECT_EQ(b.type(b.reduce(Combine::k_maximum, std::vector<Value>{v}, 0)[0]).kind, TypeInfo::kScalar);
  EXPECT_EQ(b.type(b.scan(Combine::k_mul, std::vector<Value>{t}, 1, true, 2)[0]).shape, (Shape{4, 8}));
  const std::string text = finished(b);
  EXPECT_HAS(text, "lanes = 4");
  EXPECT_HAS(text, "reverse, segment = 2");
}

Values arg_maximum(Builder& b, const Values& l, const Values& r) {
  Value more = b.compare(Compare::k_gt, r[0], l[0]);
  return {b.select(more, r[0], l[0]), b.select(more, r[1], l[1])};
}

TEST(Builder, FoldsWithARegion) {
  Builder b("k", {view(DType::kUInt64, 1)}, /*ascending=*/true);
  const std::vector<Value> pair{tile_of(b, DType::kFloat32, {8}),
                                b.iota(DType::kInt32, std::vector<std::int64_t>{8}, 0)};
  Values best = b.reduce(Combine::k_region, pair, 0, 0, arg_maximum);
  EXPECT_EQ(b.type(best[1]).dtype, DType::kInt32);
  EXPECT_EQ(b.scan(Combine::k_region, pair, 0, false, 0, arg_maximum).size(), 2U);
  const std::vector<Scalar> neutral{Scalar::of_float(DType::kFloat32, -1), Scalar::of_int(DType::kInt32, 0)};
  Values before = b.lookback(Combine::k_region, b.args()[0], best, neutral, arg_maximum);
  EXPECT_EQ(b.type(before[0]).dtype, DType::kFloat32);
  const std::vector<Scalar> zero{Scalar::of_float(DType::kFloat32, 0)};
  b.lookback(Combine::k_add, b.args()[0], std::vector<Value>{best[0]}, zero);
  EXPECT_HAS(finished(b), "tile.yield");
}

TEST(Builder, TakeRankMma) {
  Builder b("k", {});
  Value t = tile_of(b, DType::kFloat16, {16, 32});
  Value by = b.iota(DType::kUInt8, std::vector<std::int64_t>{16, 4}, 1);
  EXPECT_EQ(b.type(b.take(t, by, -1)).shape, (Shape{16, 4}));
  auto ranked = b.rank(b.iota(DType::kInt32, std::vector<std::int64_t>{64}, 0), 256);
  EXPECT_EQ(b.type(ranked.ranks).shape, (Shape{64}));
  EXPECT_EQ(b.type(ranked.counts).shape, (Shape{256}));
  Value acc = tile_of(b, DType::kFloat32, {16, 8});
  EXPECT_EQ(b.type(b.mma(t, tile_of(b, DType::kFloat16, {32, 8}), acc)).dtype, DType::kFloat32);
  finished(b);
}

TEST(Builder, ForCarriesValues) {
  Builder b("k", {scalar(DType::kInt32)});
  auto loop = b.begin_for(i32(b, 0), b.args()[0], i32(b, 1), std::vector<Value>{f32(b, 0), i32(b, 1)});
  EXPECT_EQ(b.type(loop.index).dtype, DType::kInt32);
  Value sum = b.binary(Binary::k_add, loop.carried[0], f32(b, 1));
  Values out = b.end_for(std::vector<Value>{sum, loop.carried[1]});
  EXPECT_EQ(out.size(), 2U);
  b.print("%f\n", std::vector<Value>{out[0]});
  EXPECT_HAS(finished(b), "scf.for %arg1 = ");
}

TEST(Builder, ForWithoutValues) {
  Builder b("k", {});
  b.begin_for(i32(b, 0), i32(b, 4), i32(b, 1), {});
  b.fence(Order::k_release, Scope::k_system);
  EXPECT_TRUE(b.end_for({}).empty());
  finished(b);
}

TEST(Builder, WhileSeesItsValuesInBothParts) {
  Builder b("k", {scalar(DType::kInt32)});
  Values before = b.begin_while(std::vector<Value>{b.args()[0]});
  Values body = b.while_body(b.compare(Compare::k_gt, before[0], i32(b, 0)));
  Values out = b.end_while(std::vector<Value>{b.binary(Binary::k_sub, body[0], i32(b, 1))});
  b.assert_(b.compare(Compare::k_eq, out[0], i32(b, 0)), "counted down");
  EXPECT_HAS(finished(b), "scf.condition");
}

TEST(Builder, IfWithAndWithoutResults) {
  Builder b("k", {scalar(DType::kBool), scalar(DType::kFloat32)});
  b.begin_if(b.args()[0]);
  Value a = b.binary(Binary::k_add, b.args()[1], f32(b, 1));
  b.begin_else();
  Value c = b.unary(Unary::k_neg, b.args()[1]);
  Values out = b.end_if(std::vector<Value>{a}, std::vector<Value>{c});
  EXPECT_EQ(b.type(out[0]).dtype, DType::kFloat32);
  b.begin_if(b.args()[0]);
  b.fence(Order::k_acquire, Scope::k_device);
  b.end_if({}, {});
  b.begin_if(b.args()[0]);
  Values kept = b.end_if(std::vector<Value>{f32(b, 3)}, std::vector<Value>{out[0]});
  EXPECT_EQ(kept.size(), 1U);
  EXPECT_HAS(finished(b), "scf.if %arg0 -> (f32)");
}

TEST(Builder, NestedControlInARegion) {
  Builder b("k", {});
  Values out = b.reduce(Combine::k_region, std::vector<Value>{tile_of(b, DType::kFloat32, {8})}, 0, 0,
                        [](Builder& r, const Values& l, const Values& v) {
                          r.begin_if(r.compare(Compare::k_lt, l[0], v[0]));
                          r.begin_else();
                          return r.end_if(std::vector<Value>{l[0]}, std::vector<Value>{v[0]});
                        });
  EXPECT_EQ(out.size(), 1U);
  finished(b);
}

TEST(Builder, LocationsAreInTheText) {
  Builder b("k", {});
  b.set_location({"user.py", 12, 5});
  b.program_id(0);
  Result<Module> m = b.finish();
  ASSERT_TRUE(m.ok());
  EXPECT_HAS(m->print(true), R"(loc("user.py":12:5))");
  EXPECT_FALSE(has(m->print(), "user.py"));
}

// -- errors ---------------------------------------------------------------------------------------------------------
TEST(BuilderErrors, FirstOneIsKeptWithItsPlace) {
  Builder b("k", {});
  b.set_location({"user.py", 7, 3});
  EXPECT_FALSE(b.binary(Binary::k_add, f32(b, 1), i32(b, 1)));
  b.set_location({"user.py", 8, 1});
  EXPECT_FALSE(b.program_id(9));
  EXPECT_EQ(b.status().code(), Code::kCompile);
  EXPECT_EQ(b.status().message(), "user.py:7:3: binary: add got float32 and int32; they must have one type");
  EXPECT_FALSE(b.finish().ok());
}

TEST(BuilderErrors, VerifiersErrorsReachTheStatus) {
  Builder b("k", {});
  b.set_location({"u.py", 1, 2});
  b.print("%d %d", std::vector<Value>{i32(b, 1)});
  EXPECT_EQ(b.status().message(), "u.py:1:2: 'tile.print' op format \"%d %d\" has 2 conversions for 1 values");
}

TEST(BuilderErrors, LaterCallsDoNothingAndKeepTheirCounts) {
  Builder b("k", {});
  b.program_id(3);
  auto loop = b.begin_for({}, {}, {}, std::vector<Value>{{}, {}});
  EXPECT_EQ(loop.carried.size(), 2U);
  EXPECT_EQ(b.end_for(loop.carried).size(), 2U);
  EXPECT_EQ(b.begin_while(std::vector<Value>{{}}).size(), 1U);
  EXPECT_EQ(b.while_body({}).size(), 1U);
  EXPECT_EQ(b.end_while(std::vector<Value>{{}}).size(), 1U);
  b.begin_if({});
  b.begin_else();
  EXPECT_EQ(b.end_if(std::vector<Value>{{}}, std::vector<Value>{{}}).size(), 1U);
  EXPECT_EQ(b.reduce(Combine::k_add, std::vector<Value>{{}}, 0).size(), 1U);
  EXPECT_FALSE(b.rank({}, 4).counts);
  EXPECT_HAS(b.status().message(), "axis 3");
}

std::string error_of(const std::function<void(Builder&)>& build) {
  Builder b("k", {view(DType::kFloat32, 2), scalar(DType::kInt32)});
  build(b);
  if (b.status().ok()) return b.finish().status().message();
  return b.status().message();
}

TEST(BuilderErrors, SayWhatWasGotAndWhatIsAccepted) {
  EXPECT_HAS(error_of([](Builder& b) { b.load(b.args()[1], {}, {}); }), "load: got int32; it takes a view");
  EXPECT_HAS(error_of([](Builder& b) { b.load(b.args()[0], std::vector<Value>{b.args()[1]}, Shape{4, 4}); }),
             "load: 1 offsets for a view of float32[?, ?]; its 2 axes need one each");
  EXPECT_HAS(error_of([](Builder& b) { b.gather(b.args()[0], std::vector<Value>{f32(b, 1), f32(b, 1)}); }),
             "gather: index is float32; it must be integer");
  EXPECT_HAS(error_of([](Builder& b) { b.begin_if(b.args()[1]); }), "if: condition is int32; it must be a bool scalar");
  EXPECT_HAS(error_of([](Builder& b) { b.end_for({}); }), "end_for: no body is open");
  EXPECT_HAS(error_of([](Builder& b) { b.begin_if(b.constant(Scalar::of_int(DType::kBool, 1))); }),
             "finish: 1 loops or ifs are still open");
  EXPECT_HAS(error_of([](Builder& b) { b.binary(Binary::k_add, b.args()[0], f32(b, 1)); }),
             "binary: got view of float32[?, ?]; it takes scalars and tiles");
  EXPECT_HAS(error_of([](Builder& b) {
               b.binary(Binary::k_add, tile_of(b, DType::kInt8, {3}), tile_of(b, DType::kInt8, {4}));
             }),
             "binary: shapes [3] [4] do not broadcast together");
  EXPECT_HAS(error_of([](Builder& b) { b.unary(Unary::k_exp, b.args()[1]); }),
             "unary: exp got int32; it takes float operands");
  EXPECT_HAS(error_of([](Builder& b) { b.iota(DType::kInt32, Shape{-1}, 0); }), "iota: shape [-1]");
  EXPECT_HAS(error_of([](Builder& b) { b.dim(b.args()[0], 2); }), "axis 2 of something with 2 axes");
}

TEST(BuilderErrors, CarriedValuesKeepTheirTypes) {
  const std::string message = error_of([](Builder& b) {
    b.begin_for(i32(b, 0), b.args()[1], i32(b, 1), std::vector<Value>{f32(b, 0)});
    b.end_for(std::vector<Value>{tile_of(b, DType::kFloat32, {4})});
  });
  EXPECT_HAS(message, "for: carried value 0 is float32 at the start and float32[4] at the end of the body");
}

TEST(BuilderErrors, NullOperandIsAnError) {
  EXPECT_HAS(error_of([](Builder& b) { b.unary(Unary::k_neg, {}); }), "unary: an operand is null");
}

TEST(BuilderErrors, ASpentBuilderSaysSo) {
  Builder b("k", {});
  ASSERT_TRUE(b.finish().ok());
  EXPECT_FALSE(b.finish().ok());
}

TEST(ModuleErrors, ParseSaysWhere) {
  Result<Module> m = Module::parse("func.func @k() attributes {tile.kernel} {\n  tile.fence weak device\n  return\n}");
  ASSERT_FALSE(m.ok());
  EXPECT_EQ(m.status().message(),
            "tile:2:3: 'tile.fence' op order weak orders nothing; it must be acquire, release or acq_rel");
  EXPECT_HAS(Module::parse("func.func @f() { return }").status().message(), "0 functions with tile.kernel");
  EXPECT_HAS(Module::parse("func.func @k() attributes {tile.kernel} { %0 = arith.constant 1 : i32 return }")
                 .status()
                 .message(),
             "arith.constant is not an op of the tile stage");
}

}  // namespace
}  // namespace epi::ir
