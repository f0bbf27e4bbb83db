// Folds of the interpreter. Their association is checked with an operator that is neither associative nor commutative,
// against references that follow the wording of ops/tile.td element by element.
#include <map>
#include <numeric>
#include <optional>

#include "interp_kit.h"

namespace epi::ir::kit {
namespace {

using I = std::int64_t;
using List = std::vector<I>;
using Op = std::function<I(I, I)>;

/// 3 l + 5 r + 1, wrapping: every association and order gives another number.
I odd(I l, I r) { return static_cast<I>(3 * static_cast<std::uint64_t>(l) + 5 * static_cast<std::uint64_t>(r) + 1); }
Values odd_region(Builder& b, const Values& l, const Values& r) {
  const Value left = b.binary(Binary::k_mul, l[0], i64(b, 3));
  const Value right = b.binary(Binary::k_mul, r[0], i64(b, 5));
  return {b.binary(Binary::k_add, b.binary(Binary::k_add, left, right), i64(b, 1))};
}

I reduce_reference(const List& x, std::int64_t lanes, const Op& op) {
  const auto n = static_cast<std::int64_t>(x.size());
  if (lanes == 0 || lanes > n) lanes = n;
  std::map<std::int64_t, I> lane;  // the lanes that are present
  for (std::int64_t l = 0; l < lanes; ++l) {
    lane[l] = x[static_cast<std::size_t>(l)];
    for (std::int64_t i = l + lanes; i < n; i += lanes) lane[l] = op(lane[l], x[static_cast<std::size_t>(i)]);
  }
  std::int64_t p = 1;
  while (p < std::min(n, lanes)) p *= 2;
  for (std::int64_t h = p / 2; h >= 1; h /= 2)
    for (std::int64_t l = 0; l < h; ++l)
      if (lane.count(l) && lane.count(l + h)) lane[l] = op(lane[l], lane[l + h]);
  return lane[0];
}

using Maybe = std::optional<I>;
Maybe join(Maybe a, Maybe b, const Op& op) { return !a ? b : !b ? a : Maybe(op(*a, *b)); }

List scan_reference(List x, std::int64_t segment, bool reverse, const Op& op) {
  if (segment == 0) segment = 1;
  if (reverse) std::reverse(x.begin(), x.end());
  std::vector<List> segments;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % static_cast<std::size_t>(segment) == 0) segments.emplace_back();
    List& s = segments.back();
    s.push_back(s.empty() ? x[i] : op(s.back(), x[i]));
  }
  List out;
  Maybe groups_before;
  for (std::size_t g = 0; g < segments.size(); g += 32) {
    const std::size_t count = std::min<std::size_t>(32, segments.size() - g);
    List t;
    for (std::size_t s = 0; s < count; ++s) t.push_back(segments[g + s].back());
    for (std::size_t d : {1, 2, 4, 8, 16}) {
      const List old = t;
      for (std::size_t i = d; i < count; ++i) t[i] = op(old[i - d], old[i]);
    }
    for (std::size_t s = 0; s < count; ++s) {
      const Maybe before = join(groups_before, s ? Maybe(t[s - 1]) : Maybe(), op);
      for (I local : segments[g + s]) out.push_back(*join(before, local, op));
    }
    groups_before = join(groups_before, t.back(), op);
  }
  if (reverse) std::reverse(out.begin(), out.end());
  return out;
}

List numbers(std::int64_t n) {
  List out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back((i * 7919 + 13) % 1009 - 500);
  return out;
}

TEST(Reduce, AssociationIsLanesThenHalving) {
  for (std::int64_t n : {1, 2, 3, 5, 8, 31, 33, 64, 100, 257})
    for (std::int64_t lanes : {0, 1, 2, 8, 32, 128, 1024}) {
      const List x = numbers(n);
      const auto got = compute<I>(
          {1}, [&](Builder& b, const Values& v) { return b.reduce(Combine::k_region, v, 0, lanes, odd_region)[0]; },
          Array<I>({n}, x));
      EXPECT_EQ(got[0], reduce_reference(x, lanes, odd)) << n << " elements, " << lanes << " lanes";
    }
}

TEST(Reduce, FloatSumsFollowTheSameOrder) {
  std::vector<float> x;
  for (int i = 0; i < 1000; ++i) x.push_back(std::ldexp(1.0F + static_cast<float>(i) / 999.0F, i % 37 - 18));
  for (std::int64_t lanes : {0, 1, 16, 256}) {
    std::vector<float> lane(x.begin(), x.begin() + (lanes ? lanes : 1000));
    for (std::size_t i = lane.size(); i < x.size(); ++i) lane[i % lane.size()] += x[i];
    for (std::size_t h = 512; h >= 1; h /= 2)
      for (std::size_t l = 0; l < h && l + h < lane.size(); ++l) lane[l] += lane[l + h];
    expect_same(compute<float>(
                    {1}, [&](Builder& b, const Values& v) { return b.reduce(Combine::k_add, v, 0, lanes)[0]; },
                    Array<float>({1000}, x)),
                {lane[0]}, std::to_string(lanes) + " lanes");
  }
}

TEST(Reduce, AlongEachAxis) {
  const Array<I> x({2, 3, 2}, numbers(12));
  for (int axis = 0; axis < 3; ++axis) {
    Shape shape = x.shape();
    const std::int64_t n = shape[static_cast<std::size_t>(axis)];
    shape.erase(shape.begin() + axis);
    const std::int64_t inner = axis == 0 ? 6 : axis == 1 ? 2 : 1;
    List wanted;
    for (std::int64_t o = 0; o < 12 / n / inner; ++o)
      for (std::int64_t i = 0; i < inner; ++i) {
        List line;
        for (std::int64_t k = 0; k < n; ++k) line.push_back(x[(o * n + k) * inner + i]);
        wanted.push_back(reduce_reference(line, 2, odd));
      }
    expect_same(
        compute<I>(
            shape, [&](Builder& b, const Values& v) { return b.reduce(Combine::k_region, v, axis, 2, odd_region)[0]; },
            x),
        wanted);
  }
}

template <class T>
class Kinds : public testing::Test {};
using NumberTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                   std::uint32_t, std::uint64_t, Half, BFloat16, float, double>;
TYPED_TEST_SUITE(Kinds, NumberTypes);

template <class T>
T of(double v) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(v);
  else
    return T(static_cast<float>(v));
}

TYPED_TEST(Kinds, OfReduceAndScan) {
  using T = TypeParam;
  const Array<T> x{of<T>(5), of<T>(2), of<T>(7), of<T>(3)};
  auto reduced = [&](Combine kind) {
    return compute<T>({1}, [&](Builder& b, const Values& v) { return b.reduce(kind, v, 0)[0]; }, x)[0];
  };
  auto scanned = [&](Combine kind, bool reverse) {
    return compute<T>({4}, [&](Builder& b, const Values& v) { return b.scan(kind, v, 0, reverse)[0]; }, x);
  };
  EXPECT_TRUE(same(reduced(Combine::k_add), of<T>(17)));
  EXPECT_TRUE(same(reduced(Combine::k_minimum), of<T>(2)));
  EXPECT_TRUE(same(reduced(Combine::k_maximum), of<T>(7)));
  if constexpr (sizeof(T) > 1) {
    EXPECT_TRUE(same(reduced(Combine::k_mul), of<T>(210)));
  }
  expect_same(scanned(Combine::k_add, false), {of<T>(5), of<T>(7), of<T>(14), of<T>(17)});
  expect_same(scanned(Combine::k_add, true), {of<T>(17), of<T>(12), of<T>(10), of<T>(3)});
  expect_same(scanned(Combine::k_maximum, false), {of<T>(5), of<T>(5), of<T>(7), of<T>(7)});
  if constexpr (std::is_integral_v<T>) {
    EXPECT_EQ(reduced(Combine::k_bitand), T(5 & 2 & 7 & 3));
    EXPECT_EQ(reduced(Combine::k_bitor), T(7));
    EXPECT_EQ(reduced(Combine::k_bitxor), T(5 ^ 2 ^ 7 ^ 3));
  }
}

TYPED_TEST(Kinds, AnEmptyAxisGivesTheIdentity) {
  using T = TypeParam;
  using L = std::numeric_limits<T>;
  const Array<T> x({0, 2}, {});
  auto go = [&](Combine kind) {
    return compute<T>({2}, [&](Builder& b, const Values& v) { return b.reduce(kind, v, 0)[0]; }, x);
  };
  const T least = std::is_integral_v<T> ? L::lowest() : of<T>(-INFINITY);
  const T most = std::is_integral_v<T> ? L::max() : of<T>(INFINITY);
  expect_same(go(Combine::k_add), {of<T>(0), of<T>(0)});
  expect_same(go(Combine::k_mul), {of<T>(1), of<T>(1)});
  expect_same(go(Combine::k_minimum), {most, most});
  expect_same(go(Combine::k_maximum), {least, least});
  if constexpr (std::is_integral_v<T>) {
    expect_same(go(Combine::k_bitand), {static_cast<T>(-1), static_cast<T>(-1)});
    expect_same(go(Combine::k_bitor), {T(0), T(0)});
  }
}

TEST(Reduce, BoolsComplexAndNaN) {
  expect_same(compute<bool>(
                  {1}, [](Builder& b, const Values& v) { return b.reduce(Combine::k_bitand, v, 0)[0]; },
                  Array<bool>{true, false, true}),
              {false});
  expect_same(compute<bool>(
                  {1}, [](Builder& b, const Values& v) { return b.reduce(Combine::k_maximum, v, 0)[0]; },
                  Array<bool>{true, false}),
              {true});
  expect_same(compute<bool>(
                  {1}, [](Builder& b, const Values& v) { return b.reduce(Combine::k_bitand, v, 0)[0]; },
                  Array<bool>(Shape{0}, {})),
              {true});
  using C = std::complex<float>;
  expect_same(compute<C>(
                  {1}, [](Builder& b, const Values& v) { return b.reduce(Combine::k_mul, v, 0)[0]; },
                  Array<C>{C(1, 2), C(3, -1)}),
              {C(5, 5)});
  expect_same(compute<float>(
                  {1}, [](Builder& b, const Values& v) { return b.reduce(Combine::k_maximum, v, 0)[0]; },
                  Array<float>{1, NAN, 3}),
              {NAN});
}

/// (value, index) of the greatest value, the lower index of equals.
Values argmax(Builder& b, const Values& l, const Values& r) {
  const Value better = b.compare(Compare::k_gt, l[0], r[0]);
  const Value tie =
      b.binary(Binary::k_bitand, b.compare(Compare::k_eq, l[0], r[0]), b.compare(Compare::k_lt, l[1], r[1]));
  const Value left = b.binary(Binary::k_bitor, better, tie);
  return {b.select(left, l[0], r[0]), b.select(left, l[1], r[1])};
}

TEST(Reduce, TuplesThroughARegion) {
  Array<float> x{3, 9, 1, 9, 2};
  Array<float> value = make<float>({1});
  Array<std::int32_t> index = make<std::int32_t>({1});
  const Status status = launch(
      [](Builder& b) {
        const Values best = b.reduce(
            Combine::k_region, Values{load_all(b, b.args()[0], {5}), b.iota(DType::kInt32, Shape{5}, 0)}, 0, 2, argmax);
        store_all(b, b.args()[1], best[0]);
        store_all(b, b.args()[2], best[1]);
      },
      x, value, index);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(value[0], 9);
  EXPECT_EQ(index[0], 1);
}

TEST(Reduce, RegionsMayBranchAndUseOuterScalars) {
  const List x = numbers(37);
  const auto got = compute<I>(
      {1},
      [&](Builder& b, const Values& v) {
        const Value five = b.cast(b.binary(Binary::k_add, b.program_id(0), i32(b, 5)), DType::kInt64, Cast::k_wrap);
        return b.reduce(Combine::k_region, v, 0, 4, [&](Builder& k, const Values& l, const Values& r) -> Values {
          k.begin_if(k.compare(Compare::k_lt, l[0], r[0]));
          const Value a = k.binary(Binary::k_add, l[0], five);
          k.begin_else();
          const Value c = k.binary(Binary::k_sub, r[0], l[0]);
          return k.end_if(Values{a}, Values{c});
        })[0];
      },
      Array<I>({37}, x));
  EXPECT_EQ(got[0], reduce_reference(x, 4, [](I l, I r) { return l < r ? l + 5 : r - l; }));
}

TEST(Scan, AssociationIsSegmentsGroupsOfThirtyTwoThenLeftToRight) {
  for (std::int64_t n : {1, 2, 5, 31, 32, 33, 64, 65, 100, 300})
    for (std::int64_t segment : {0, 1, 2, 3, 8, 500})
      for (bool reverse : {false, true}) {
        const List x = numbers(n);
        const auto got = compute<I>(
            {n},
            [&](Builder& b, const Values& v) {
              return b.scan(Combine::k_region, v, 0, reverse, segment, odd_region)[0];
            },
            Array<I>({n}, x));
        expect_same(got, scan_reference(x, segment, reverse, odd),
                    std::to_string(n) + " by " + std::to_string(segment) + (reverse ? " reversed" : ""));
      }
}

TEST(Scan, AlongEachAxisAndWithTuples) {
  const Array<I> x({2, 3, 2}, numbers(12));
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t n = x.shape()[static_cast<std::size_t>(axis)];
    const std::int64_t inner = axis == 0 ? 6 : axis == 1 ? 2 : 1;
    List wanted(12);
    for (std::int64_t o = 0; o < 12 / n / inner; ++o)
      for (std::int64_t i = 0; i < inner; ++i) {
        List line;
        for (std::int64_t k = 0; k < n; ++k) line.push_back(x[(o * n + k) * inner + i]);
        const List out = scan_reference(line, 2, false, odd);
        for (std::int64_t k = 0; k < n; ++k)
          wanted[static_cast<std::size_t>((o * n + k) * inner + i)] = out[static_cast<std::size_t>(k)];
      }
    expect_same(
        compute<I>(
            x.shape(),
            [&](Builder& b, const Values& v) { return b.scan(Combine::k_region, v, axis, false, 2, odd_region)[0]; },
            x),
        wanted);
  }
  expect_same(compute<std::int32_t>(
                  {5},
                  [](Builder& b, const Values& v) {
                    return b.scan(Combine::k_region, Values{v[0], b.iota(DType::kInt32, Shape{5}, 0)}, 0, false, 0,
                                  argmax)[1];
                  },
                  Array<float>{3, 9, 1, 9, 10}),
              {0, 1, 1, 1, 4});
  expect_same(
      compute<I>(
          {0}, [](Builder& b, const Values& v) { return b.scan(Combine::k_add, v, 0)[0]; }, Array<I>(Shape{0}, {})),
      List{});
}

TEST(Take, PermutesAndGivesZeroOutside) {
  const Array<I> x({2, 3}, {1, 2, 3, 4, 5, 6});
  const Array<std::int32_t> i({2, 4}, {2, 0, 3, 1, -1, 1, 1, 2});
  expect_same(compute<I>(
                  {2, 4}, [](Builder& b, const Values& v) { return b.take(v[0], v[1], 1); }, x, i),
              {3, 1, 0, 2, 0, 5, 5, 6});
  const Array<std::int32_t> j({1, 3}, {1, 0, 2});
  expect_same(compute<I>({1, 3}, [](Builder& b, const Values& v) { return b.take(v[0], v[1], 0); }, x, j), {4, 2, 0});
}

TEST(Rank, IsStableAndCounts) {
  Array<std::int32_t> digits{2, 0, 2, 7, 1, 0, -1, 2};
  Array<std::int32_t> ranks = make<std::int32_t>({8});
  Array<std::int32_t> counts = make<std::int32_t>({4});
  const Status status = launch(
      [](Builder& b) {
        const Builder::Ranked r = b.rank(load_all(b, b.args()[0], {8}), 4);
        store_all(b, b.args()[1], r.ranks);
        store_all(b, b.args()[2], r.counts);
      },
      digits, ranks, counts);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(ranks, {3, 0, 4, 6, 2, 1, 7, 5});
  expect_same(counts, {2, 1, 3, 0});
}

// -- look-back
// -----------------------------------------------------------------------------------------------------------
TEST(Lookback, IsALeftFoldWithoutTheIdentity) {
  const std::uint32_t programs = 9;
  const List x = numbers(programs);
  Array<I> in({programs}, x);
  Array<I> out = make<I>({programs});
  Array<std::uint64_t> state = make<std::uint64_t>({64});
  const Status status = launch(
      {programs, 1, 1}, {},
      [](Builder& b) {
        const Value pid = b.program_id(0);
        const Value mine = b.gather(b.args()[0], Values{pid});
        const Values before = b.lookback(Combine::k_region, b.args()[2], Values{mine},
                                         std::vector<Scalar>{Scalar::of_int(DType::kInt64, -77)}, odd_region);
        b.scatter(b.args()[1], Values{pid}, before[0]);
      },
      in, out, state);
  ASSERT_TRUE(status.ok()) << status.message();
  List wanted{-77, x[0]};
  while (wanted.size() < programs) wanted.push_back(odd(wanted.back(), x[wanted.size() - 1]));
  expect_same(out, wanted);
}

TEST(Lookback, TuplesOfTilesAndAChainForEachRowOfPrograms) {
  Array<std::int32_t> out = make<std::int32_t>({2, 3, 4});
  Array<std::uint64_t> state = make<std::uint64_t>({256});
  const Status status = launch(
      {3, 2, 1}, {},
      [](Builder& b) {
        const Value pid = b.program_id(0);
        const Value row = b.program_id(1);
        const Value counts = b.binary(Binary::k_add, b.iota(DType::kInt32, Shape{4}, 0),
                                      b.binary(Binary::k_add, pid, b.binary(Binary::k_mul, row, i32(b, 10))));
        const Values before =
            b.lookback(Combine::k_region, b.args()[1], Values{counts, b.cast(counts, DType::kFloat32, Cast::k_wrap)},
                       std::vector<Scalar>{Scalar::of_int(DType::kInt32, 0), Scalar::of_float(DType::kFloat32, 0)},
                       [](Builder& k, const Values& l, const Values& r) -> Values {
                         return {k.binary(Binary::k_add, l[0], r[0]), k.binary(Binary::k_maximum, l[1], r[1])};
                       });
        b.store(b.args()[0], Values{row, pid, i32(b, 0)}, b.reshape(before[0], Shape{1, 1, 4}));
      },
      out, state);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(out, {0, 0, 0, 0, 0, 1, 2, 3, 1, 3, 5, 7, 0, 0, 0, 0, 10, 11, 12, 13, 21, 23, 25, 27});
}

TEST(Lookback, AProgramThatStaysAwayIsAnError) {
  Array<std::uint64_t> state = make<std::uint64_t>({64});
  const Status status = launch(
      {3, 1, 1}, {},
      [](Builder& b) {
        b.begin_if(b.compare(Compare::k_ne, b.program_id(0), i32(b, 1)));
        b.lookback(Combine::k_add, b.args()[0], Values{i32(b, 1)},
                   std::vector<Scalar>{Scalar::of_int(DType::kInt32, 0)});
        b.end_if({}, {});
      },
      state);
  EXPECT_EQ(status.code(), Code::kDevice);
  EXPECT_NE(status.message().find("program 1 along axis 0 has not been here"), std::string::npos) << status.message();
}

TEST(Lookback, CheckedModeLooksAtTheState) {
  InterpOptions checked;
  checked.checked = true;
  auto go = [&](Array<std::uint64_t>& state) {
    return launch(
        {3, 1, 1}, checked,
        [](Builder& b) {
          b.lookback(Combine::k_add, b.args()[0], Values{i64(b, 1)},
                     std::vector<Scalar>{Scalar::of_int(DType::kInt64, 0)});
        },
        state);
  };
  Array<std::uint64_t> state = make<std::uint64_t>({9});
  EXPECT_TRUE(go(state).ok());
  EXPECT_NE(go(state).message().find("word 0 of the state is not 0"), std::string::npos);  // used twice
  Array<std::uint64_t> small = make<std::uint64_t>({8});
  EXPECT_NE(go(small).message().find("the state has 8 words; 3 programs need 9"), std::string::npos);
}

// -- mma
// -----------------------------------------------------------------------------------------------------------------
template <class T, class Acc>
void mma_case(const std::function<Acc(Acc, T, T)>& step) {
  Array<T> a = make<T>({2, 3});
  Array<T> c = make<T>({3, 2});
  Array<Acc> acc = make<Acc>({2, 2});
  for (std::int64_t i = 0; i < 6; ++i)
    a[i] = of<T>(static_cast<double>(i) + 1.5), c[i] = of<T>(2.25 - static_cast<double>(i));
  for (std::int64_t i = 0; i < 4; ++i) acc[i] = of<Acc>(static_cast<double>(100 * i));
  std::vector<Acc> wanted;
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 2; ++j) {
      Acc sum = acc[i * 2 + j];
      for (std::int64_t k = 0; k < 3; ++k) sum = step(sum, a[i * 3 + k], c[k * 2 + j]);
      wanted.push_back(sum);
    }
  expect_same(
      compute<Acc>({2, 2}, [](Builder& b, const Values& v) { return b.mma(v[0], v[1], v[2]); }, a, c, acc), wanted);
}

TEST(Mma, ProductsAndSumsInTheAccumulatorsType) {
  mma_case<float, float>([](float s, float x, float y) { return s + x * y; });
  mma_case<double, double>([](double s, double x, double y) { return s + x * y; });
  mma_case<Half, float>([](float s, Half x, Half y) { return s + float(x) * float(y); });
  mma_case<BFloat16, float>([](float s, BFloat16 x, BFloat16 y) { return s + float(x) * float(y); });
  mma_case<Half, Half>([](Half s, Half x, Half y) { return Half(float(s) + float(Half(float(x) * float(y)))); });
  mma_case<std::int8_t, std::int32_t>([](std::int32_t s, std::int8_t x, std::int8_t y) { return s + x * y; });
  mma_case<std::uint8_t, std::int32_t>([](std::int32_t s, std::uint8_t x, std::uint8_t y) { return s + x * y; });
}

}  // namespace
}  // namespace epi::ir::kit
