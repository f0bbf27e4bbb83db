// Creation, shape and views.
#include "interp_kit.h"

namespace epi::ir::kit {
namespace {

using I = std::int32_t;

Array<I> counting(const Shape& shape) {
  Array<I> out = make<I>(shape);
  for (std::int64_t i = 0; i < out.size(); ++i) out[i] = static_cast<I>(i);
  return out;
}

template <class T>
class EveryDType : public testing::Test {};
using AllTypes = testing::Types<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                std::uint16_t, std::uint32_t, std::uint64_t, Half, BFloat16, float, double,
                                std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(EveryDType, AllTypes);

TYPED_TEST(EveryDType, ConstantsLoadsStoresAndScalarArguments) {
  using T = TypeParam;
  T one{};
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    one = T(1.0F);
  else
    one = static_cast<T>(1);
  const DType d = dtype_of<T>();
  Array<T> in({2}, {one, T{}});
  Array<T> out = make<T>({5});
  InterpArg scalar;
  std::memcpy(scalar.bits, &one, sizeof one);
  const Status status =
      run({in.spec(), out.spec(), ArgSpec{false, d, {}, "s"}}, {in.arg(), out.arg(), scalar}, [&](Builder& b) {
        const Value loaded = load_all(b, b.args()[0], {2});
        const Value full = b.full(Scalar{d, 1, {1, 0}}, Shape{1});
        const Value constant = b.broadcast(b.constant(Scalar{d, 1, {1, 0}}), Shape{1});
        const Value argument = b.broadcast(b.args()[2], Shape{1});
        store_all(b, b.args()[1], b.cat(Values{loaded, full, constant, argument}, 0));
      });
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(out, {one, T{}, one, one, one});
}

TEST(Creation, ConstantsKeepExtremes) {
  Array<std::int64_t> i = make<std::int64_t>({1});
  Array<std::uint64_t> u = make<std::uint64_t>({1});
  Array<double> d = make<double>({2});
  Array<std::complex<double>> c = make<std::complex<double>>({1});
  const Status status = launch(
      [](Builder& b) {
        store_all(b, b.args()[0], b.full(Scalar::of_int(DType::kInt64, INT64_MIN), Shape{1}));
        store_all(b, b.args()[1], b.full(Scalar::of_int(DType::kUInt64, -1), Shape{1}));
        store_all(b, b.args()[2],
                  b.cat(Values{b.full(Scalar::of_float(DType::kFloat64, kNaN), Shape{1}),
                               b.full(Scalar::of_float(DType::kFloat64, -0.0), Shape{1})},
                        0));
        store_all(b, b.args()[3], b.full(Scalar{DType::kComplex128, 0, {1.5, -kInf}}, Shape{1}));
      },
      i, u, d, c);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(i[0], INT64_MIN);
  EXPECT_EQ(u[0], UINT64_MAX);
  expect_same(d, {kNaN, -0.0});
  expect_same(c, {{1.5, -kInf}});
}

TEST(Creation, IotaCountsAlongItsAxis) {
  auto go = [](int axis) {
    return compute<I>({2, 3}, [axis](Builder& b, const Values&) { return b.iota(DType::kInt32, Shape{2, 3}, axis); });
  };
  expect_same(go(0), {0, 0, 0, 1, 1, 1});
  expect_same(go(1), {0, 1, 2, 0, 1, 2});
  expect_same(compute<Half>({3}, [](Builder& b, const Values&) { return b.iota(DType::kFloat16, Shape{3}, 0); }),
              {Half(0), Half(1), Half(2)});
  EXPECT_EQ(
      compute<std::uint8_t>({300}, [](Builder& b, const Values&) { return b.iota(DType::kUInt8, Shape{300}, 0); })[299],
      43);
}

TEST(Shapes, Broadcast) {
  expect_same(
      compute<I>(
          {2, 3}, [](Builder& b, const Values& v) { return b.broadcast(v[0], Shape{2, 3}); }, Array<I>({2, 1}, {1, 2})),
      {1, 1, 1, 2, 2, 2});
  expect_same(
      compute<I>(
          {2, 3}, [](Builder& b, const Values& v) { return b.broadcast(v[0], Shape{2, 3}); }, Array<I>({3}, {1, 2, 3})),
      {1, 2, 3, 1, 2, 3});
  expect_same(compute<I>({2, 2}, [](Builder& b, const Values&) { return b.broadcast(i32(b, 7), Shape{2, 2}); }),
              {7, 7, 7, 7});
}

TEST(Shapes, ReshapePermuteCat) {
  expect_same(compute<I>(
                  {3, 2}, [](Builder& b, const Values& v) { return b.reshape(v[0], Shape{3, 2}); }, counting({2, 3})),
              {0, 1, 2, 3, 4, 5});
  expect_same(compute<I>(
                  {3, 2}, [](Builder& b, const Values& v) { return b.permute(v[0], Shape{1, 0}); }, counting({2, 3})),
              {0, 3, 1, 4, 2, 5});
  // result[i, j, k] = source[j, k, i]: axis 0 of the result is axis 2 of the source, and so on.
  expect_same(
      compute<I>(
          {2, 2, 3}, [](Builder& b, const Values& v) { return b.permute(v[0], Shape{2, 0, 1}); }, counting({2, 3, 2})),
      {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11});
  expect_same(compute<I>(
                  {2, 5}, [](Builder& b, const Values& v) { return b.cat(v, 1); }, counting({2, 3}), counting({2, 2})),
              {0, 1, 2, 0, 1, 3, 4, 5, 2, 3});
  expect_same(compute<I>(
                  {3, 2}, [](Builder& b, const Values& v) { return b.cat(v, 0); }, counting({1, 2}), counting({2, 2})),
              {0, 1, 0, 1, 2, 3});
}

TEST(Shapes, ExtractAndInsert) {
  expect_same(compute<I>(
                  {2, 2}, [](Builder& b, const Values& v) { return b.extract(v[0], Shape{1, 2}, Shape{2, 2}); },
                  counting({3, 4})),
              {6, 7, 10, 11});
  expect_same(compute<I>(
                  {2, 3},
                  [](Builder& b, const Values& v) {
                    const Value changed = b.insert(v[1], v[0], Shape{1, 1});
                    return b.binary(
                        Binary::k_add, changed,
                        b.binary(Binary::k_mul, v[0], b.full(Scalar::of_int(DType::kInt32, 100), Shape{1})));
                  },
                  counting({2, 3}), Array<I>({1, 2}, {50, 60})),
              {0, 101, 202, 303, 450, 560});
}

TEST(Shapes, ScalarsAndTilesOfOneElement) {
  expect_same(compute<I>(
                  {1},
                  [](Builder& b, const Values& v) {
                    const Value scalar = b.reshape(v[0], Shape{});
                    return b.reshape(b.binary(Binary::k_add, scalar, i32(b, 1)), Shape{1});
                  },
                  Array<I>({1, 1}, {41})),
              {42});
}

// -- views
// -------------------------------------------------------------------------------------------------------------
TEST(Views, DimAndStride) {
  Array<std::int64_t> out = make<std::int64_t>({4});
  Array<I> x = counting({3, 5});
  const Status status = launch(
      [](Builder& b) {
        for (int i = 0; i < 2; ++i) {
          b.store(b.args()[0], Values{i64(b, i)}, b.reshape(b.dim(b.args()[1], i), Shape{1}));
          b.store(b.args()[0], Values{i64(b, 2 + i)}, b.reshape(b.stride(b.args()[1], i), Shape{1}));
        }
      },
      out, x);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(out, {3, 5, 5, 1});
}

TEST(Views, SliceClampsAndNests) {
  auto go = [](std::int64_t start, std::int64_t stop) {
    Array<I> x = counting({6});
    return compute<I>(
        {4},
        [=](Builder& b, const Values&) {
          const Value part = b.slice(b.args()[1], 0, i64(b, start), i64(b, stop));
          return b.load(b.slice(part, 0, i64(b, 1), i64(b, 100)), zeros(b, 1), Shape{4});
        },
        x);
  };
  expect_same(go(1, 4), {2, 3, 0, 0});
  expect_same(go(-5, 3), {1, 2, 0, 0});
  expect_same(go(4, 2), {0, 0, 0, 0});
  expect_same(go(5, 100), {0, 0, 0, 0});
  expect_same(go(100, 200), {0, 0, 0, 0});
}

TEST(Views, PermutedStridedAndReversedMemory) {
  Array<I> x = counting({3, 4});
  Array<I> out = make<I>({4, 2});
  const Status status = launch(
      [](Builder& b) {
        const Value turned = b.permute_view(b.args()[0], Shape{1, 0});
        store_all(b, b.args()[1], b.load(turned, Values{i64(b, 0), i64(b, 1)}, Shape{4, 2}));
      },
      x, out);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(out, {4, 8, 5, 9, 6, 10, 7, 11});

  Array<I> flat = counting({6});
  Array<I> back = make<I>({3});
  InterpArg reversed = flat.arg();
  reversed.base = flat.data() + 5;
  reversed.extents = {3};
  reversed.strides = {-2};
  const Status again = run({flat.spec(), back.spec()}, {reversed, back.arg()}, [](Builder& b) {
    store_all(b, b.args()[1], load_all(b, b.args()[0], {3}));
    b.store(b.args()[0], Values{i64(b, 2)}, b.full(Scalar::of_int(DType::kInt32, 77), Shape{1}));
  });
  ASSERT_TRUE(again.ok()) << again.message();
  expect_same(back, {5, 3, 1});
  EXPECT_EQ(flat[1], 77);
}

TEST(Views, ArgumentsThatDoNotFitTheSpecialisationAreRefused) {
  Array<float> x = make<float>({8});
  auto build = [](Builder& b) { b.dim(b.args()[0], 0); };
  auto refused = [&](const ArgSpec& spec, const InterpArg& arg, std::string_view part) {
    const Status status = run({spec}, {arg}, build);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  };
  ArgSpec spec = x.spec();
  EXPECT_TRUE(run({spec}, {x.arg()}, build).ok());
  spec.view.extents = {9};
  refused(spec, x.arg(), "extent on axis 0 is 8; the kernel was specialised for 9");
  spec = x.spec();
  spec.view.strides = {2};
  refused(spec, x.arg(), "stride on axis 0 is 1");
  spec = x.spec();
  spec.view.divisors = {4};
  refused(spec, x.arg(), "multiples of 4");
  spec = x.spec();
  spec.view.align = 64;
  InterpArg odd = x.arg();
  odd.base = x.data() + 1;
  odd.extents = {7};
  refused(spec, odd, "multiple of 64 bytes");
  refused(x.spec(), InterpArg{}, "must be a view");
  InterpArg nowhere = x.arg();
  nowhere.base = nullptr;
  refused(x.spec(), nowhere, "no address");
  EXPECT_EQ(run({x.spec()}, {}, build).code(), Code::kInvalidArgument);
  ArgSpec other = x.spec();
  other.view.alias = 1;
  const Status overlap = run({x.spec(), other}, {x.arg(), x.arg()}, build);
  EXPECT_NE(overlap.message().find("overlap"), std::string::npos) << overlap.message();
}

}  // namespace
}  // namespace epi::ir::kit
