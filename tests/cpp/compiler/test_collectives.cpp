// Reductions, scans, shape ops that move elements, ranks, atomics, look-back and mma.
#include "harness.h"

namespace epi::test {
namespace {

using ir::Binary;
using ir::Builder;
using ir::Combine;
using ir::Value;
using ir::Values;
using Shape = std::vector<std::int64_t>;

Value i32(Builder& b, std::int64_t v) { return b.constant(ir::Scalar::of_int(DType::kInt32, v)); }
Values origin(Builder& b, std::size_t rank) { return Values(rank, i32(b, 0)); }

/// Reads the whole of argument 0 as one tile, applies f, stores it to argument 1.
void check_whole(DType in, const Shape& shape, DType out, const Shape& out_shape,
                 const std::function<Value(Builder&, Value)>& f, bool specials = true, double ulps = 0) {
  std::vector<Arg> args = {random_array(in, shape, 11, specials), zeros(out, out_shape)};
  Builder b("whole", {spec(args[0], 0), spec(args[1], 1)});
  Value x = b.load(b.args()[0], origin(b, shape.size()), shape);
  Value y = f(b, x);
  if (b.type(y).kind == ir::TypeInfo::kScalar) y = b.broadcast(y, out_shape);
  b.store(b.args()[1], origin(b, out_shape.size()), y);
  ASSERT_TRUE(b.status().ok()) << b.status().message();
  const ir::Module m = finished(b);
  Options o;
  o.ulps = ulps;
  expect_same(m, args, {1}, o);
}

Shape without(Shape s, int axis) {
  s.erase(s.begin() + axis);
  return s.empty() ? Shape{1} : s;
}

TEST(Reduce, EveryShapeAxisAndWidth) {
  for (const Shape& shape : {Shape{1}, {3}, {8}, {31}, {64}, {100}, {1000}, {1024}, {7, 5}, {4, 16}, {16, 4}, {5, 33}, {3, 128}, {2, 3, 4}, {3, 1, 8}, {40, 9}})
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (std::int64_t lanes : {0, 1, 4, 32, 512})
        check_whole(DType::kFloat32, shape, DType::kFloat32, without(shape, axis), [&](Builder& b, Value x) {
          const Values v = {x};
          return b.reduce(Combine::k_add, v, axis, lanes)[0];
        }, false);
}

class ReduceDType : public testing::TestWithParam<DType> {};
TEST_P(ReduceDType, EveryKind) {
  const DType d = GetParam();
  for (Combine k : {Combine::k_add, Combine::k_mul, Combine::k_minimum, Combine::k_maximum, Combine::k_bitand, Combine::k_bitor, Combine::k_bitxor}) {
    const bool bits = k >= Combine::k_bitand;
    if (d == DType::kBool ? k < Combine::k_minimum : is_complex(d) ? k > Combine::k_mul : is_float(d) && bits) continue;
    for (const Shape& shape : {Shape{77}, {3, 40}, {40, 6}})
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
        check_whole(d, shape, d, without(shape, axis), [&](Builder& b, Value x) {
          const Values v = {x};
          return b.reduce(k, v, axis)[0];
        });
  }
}
INSTANTIATE_TEST_SUITE_P(DTypes, ReduceDType,
                         testing::Values(DType::kBool, DType::kInt8, DType::kInt32, DType::kUInt16, DType::kInt64, DType::kFloat16,
                                         DType::kBFloat16, DType::kFloat32, DType::kFloat64, DType::kComplex64, DType::kComplex128));

TEST(Reduce, WhatAFoldStartsFromDoesNotShow) {  // all values lie on one side of zero
  for (DType d : {DType::kInt16, DType::kInt64, DType::kFloat16, DType::kFloat32, DType::kFloat64})
    for (const Shape& shape : {Shape{77}, {1000}, {100, 6}})
      for (Combine k : {Combine::k_minimum, Combine::k_maximum})
        check_whole(d, shape, d, without(shape, 0), [&](Builder& b, Value x) {
          const ir::Scalar one = is_integer(d) ? ir::Scalar::of_int(d, 1) : ir::Scalar::of_float(d, 1);
          Value above = b.binary(Binary::k_add, b.unary(ir::Unary::k_abs, x), b.broadcast(b.constant(one), shape));
          const Values v = {k == Combine::k_minimum ? above : b.unary(ir::Unary::k_neg, above)};
          return b.reduce(k, v, 0)[0];
        }, false);
}

/// argmax: the larger value, the lower index among equals.
Values arg_max(Builder& b, const Values& l, const Values& r) {
  Value better = b.compare(ir::Compare::k_gt, r[0], l[0]);
  Value same = b.binary(Binary::k_bitand, b.compare(ir::Compare::k_eq, r[0], l[0]), b.compare(ir::Compare::k_lt, r[1], l[1]));
  Value take = b.binary(Binary::k_bitor, better, same);
  return {b.select(take, r[0], l[0]), b.select(take, r[1], l[1])};
}

TEST(Reduce, ARegionOverTuples) {
  for (const Shape& shape : {Shape{50}, {512}, {4, 64}, {64, 4}})
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      check_whole(DType::kInt32, shape, DType::kInt32, without(shape, axis), [&](Builder& b, Value x) {
        const Values v = {x, b.iota(DType::kInt32, shape, axis)};
        return b.reduce(Combine::k_region, v, axis, 0, arg_max)[1];
      });
}

TEST(Reduce, RowSoftmax) {
  for (std::int64_t n : {64, 100, 1024}) {
    check_whole(DType::kFloat32, {3, n}, DType::kFloat32, {3, n}, [&](Builder& b, Value x) {
      const Values v = {x};
      Value max = b.reshape(b.reduce(Combine::k_maximum, v, 1)[0], Shape{3, 1});
      Value e = b.unary(ir::Unary::k_exp, b.binary(Binary::k_sub, x, max));
      const Values ev = {e};
      return b.binary(Binary::k_div, e, b.reshape(b.reduce(Combine::k_add, ev, 1)[0], Shape{3, 1}));
    }, false);
  }
}

TEST(Scan, EveryShapeAxisSegmentAndDirection) {
  for (const Shape& shape : {Shape{1}, {7}, {64}, {300}, {5, 40}, {40, 6}, {2, 9, 4}})
    for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
      for (bool reverse : {false, true})
        for (std::int64_t segment : {0, 1, 3, 8})
          check_whole(DType::kFloat32, shape, DType::kFloat32, shape, [&](Builder& b, Value x) {
            const Values v = {x};
            return b.scan(Combine::k_add, v, axis, reverse, segment)[0];
          }, false);
}

TEST(Scan, LongOnesGoSideBySide) {
  for (const Shape& shape : {Shape{1024}, {4096}, {3, 512}, {1000}})
    for (DType d : {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kComplex64, DType::kUInt8})
      check_whole(d, shape, d, shape, [&](Builder& b, Value x) {
        const Values v = {x};
        return b.scan(Combine::k_add, v, static_cast<int>(shape.size()) - 1)[0];
      }, false);
}

TEST(Scan, KindsAndDTypes) {
  for (DType d : {DType::kInt8, DType::kInt64, DType::kFloat16, DType::kFloat64, DType::kComplex64})
    for (Combine k : {Combine::k_add, Combine::k_mul})
      check_whole(d, {45}, d, {45}, [&](Builder& b, Value x) {
        const Values v = {x};
        return b.scan(k, v, 0, false, 4)[0];
      });
  check_whole(DType::kInt32, {200}, DType::kInt32, {200}, [&](Builder& b, Value x) {
    const Values v = {x, b.iota(DType::kInt32, Shape{200}, 0)};
    return b.scan(Combine::k_region, v, 0, false, 2, arg_max)[1];
  });
}

TEST(Shape, PermuteExtractCatInsertTake) {
  check_whole(DType::kFloat32, {8, 24}, DType::kFloat32, {24, 8}, [](Builder& b, Value x) { return b.permute(x, Shape{1, 0}); });
  check_whole(DType::kFloat32, {4, 6, 8}, DType::kFloat32, {8, 4, 6},
              [](Builder& b, Value x) { return b.permute(b.binary(Binary::k_add, x, x), Shape{2, 0, 1}); });
  check_whole(DType::kInt16, {8, 24}, DType::kInt16, {5, 16},
              [](Builder& b, Value x) { return b.extract(b.binary(Binary::k_add, x, x), Shape{2, 7}, Shape{5, 16}); });
  check_whole(DType::kFloat64, {8, 12}, DType::kFloat64, {24, 12}, [](Builder& b, Value x) {
    const Values v = {x, b.unary(ir::Unary::k_neg, x), x};
    return b.cat(v, 0);
  });
  check_whole(DType::kFloat32, {6, 10}, DType::kFloat32, {6, 20}, [](Builder& b, Value x) {
    const Values v = {x, b.unary(ir::Unary::k_neg, x)};
    return b.cat(v, 1);
  });
  check_whole(DType::kComplex64, {6, 1}, DType::kComplex64, {6, 2}, [](Builder& b, Value x) {
    const Values v = {x, b.unary(ir::Unary::k_conj, x)};
    return b.cat(v, 1);
  });
  check_whole(DType::kInt32, {8, 16}, DType::kInt32, {8, 16}, [](Builder& b, Value x) {
    return b.insert(b.unary(ir::Unary::k_neg, b.extract(x, Shape{0, 0}, Shape{3, 5})), x, Shape{4, 9});
  });
  for (int axis : {0, 1})
    check_whole(DType::kInt32, {8, 16}, DType::kInt32, {8, 16}, [&](Builder& b, Value x) {
      return b.take(b.binary(Binary::k_mul, x, x), b.binary(Binary::k_sub, b.binary(Binary::k_mod, x, i32(b, 20)), i32(b, 2)), axis);
    });
  check_whole(DType::kFloat32, {6, 10}, DType::kFloat32, {5, 12}, [](Builder& b, Value x) { return b.reshape(b.unary(ir::Unary::k_neg, x), Shape{5, 12}); });
}

TEST(Rank, IsStableAndCounts) {
  for (std::int64_t bins : {4, 100})
    check_whole(DType::kInt32, {300}, DType::kInt32, {300}, [&](Builder& b, Value x) {
      auto r = b.rank(x, bins);
      const Values c = {r.counts};
      Value total = b.reduce(Combine::k_add, c, 0)[0];
      return b.binary(Binary::k_add, b.binary(Binary::k_mul, r.ranks, i32(b, 1000)), total);
    }, false);
}

class AtomicDType : public testing::TestWithParam<DType> {};
TEST_P(AtomicDType, EveryKindGivesTheOldValue) {
  const DType d = GetParam();
  for (ir::Atomic k : {ir::Atomic::k_add, ir::Atomic::k_minimum, ir::Atomic::k_maximum, ir::Atomic::k_bitand, ir::Atomic::k_bitor, ir::Atomic::k_bitxor, ir::Atomic::k_exchange}) {
    std::vector<Arg> args = {random_array(d, {40}, 1, is_integer(d)), random_array(d, {64}, 2, is_integer(d)),
                             random_array(DType::kInt32, {64}, 3), zeros(d, {64})};
    Builder b("atomic", {spec(args[0], 0), spec(args[1], 1), spec(args[2], 2), spec(args[3], 3)});
    Value v = b.load(b.args()[1], origin(b, 1), Shape{64});
    Value i = b.load(b.args()[2], origin(b, 1), Shape{64});
    Value old = b.atomic_rmw(k, b.args()[0], Values{i}, v);
    if (!b.status().ok()) continue;  // the dialect has no such atomic
    b.store(b.args()[3], origin(b, 1), old);
    const ir::Module m = finished(b);
    expect_same(m, args, {1});
  }
}
INSTANTIATE_TEST_SUITE_P(DTypes, AtomicDType, testing::Values(DType::kInt32, DType::kUInt64, DType::kInt8, DType::kFloat32, DType::kFloat64, DType::kFloat16));

TEST(Atomic, CompareAndSwap) {
  std::vector<Arg> args = {random_array(DType::kInt32, {40}, 1), random_array(DType::kInt32, {64}, 3), zeros(DType::kInt32, {64})};
  Builder b("cas", {spec(args[0], 0), spec(args[1], 1), spec(args[2], 2)});
  Value i = b.load(b.args()[1], origin(b, 1), Shape{64});
  Value old = b.atomic_cas(b.args()[0], Values{i}, b.broadcast(i32(b, 7), Shape{64}), i);
  b.store(b.args()[2], origin(b, 1), old);
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Atomic, WorkersAddTogether) {
  std::vector<Arg> args = {zeros(DType::kInt64, {1})};
  Builder b("count", {spec(args[0])});
  b.atomic_rmw(ir::Atomic::k_add, b.args()[0], Values{i32(b, 0)}, b.cast(b.program_id(0), DType::kInt64, ir::Cast::k_wrap));
  const ir::Module m = finished(b);
  EXPECT_EQ(run_compiled(m, args, {1000}, "", 4), "");
  EXPECT_EQ(values_of<std::int64_t>(args[0])[0], 999 * 500);
}

/// A single-pass scan over programs: tile scan, look-back of the tile's total, add.
void check_lookback(DType d, Combine kind, std::int64_t items) {
  const std::uint32_t programs = 37;
  std::vector<Arg> args = {random_array(d, {programs, items}, 5), zeros(d, {programs, items}), zeros(DType::kUInt64, {4096})};
  args[2].compared = false;
  Builder b("lookback", {spec(args[0], 0), spec(args[1], 1), spec(args[2], 2)}, true);
  const Values at = {b.program_id(0), i32(b, 0)};
  Value x = b.reshape(b.load(b.args()[0], at, Shape{1, items}), Shape{items});
  const Values aggregate = {x};
  const ir::Scalar none[] = {{d, 0, {}}};
  Value before = b.lookback(kind, b.args()[2], aggregate, none)[0];
  b.store(b.args()[1], at, b.reshape(before, Shape{1, items}));
  const ir::Module m = finished(b);
  for (unsigned workers : {1U, 3U}) {
    std::vector<Arg> fresh = args;
    Options o;
    o.workers = workers;
    expect_same(m, fresh, {programs}, o);
  }
}
TEST(Lookback, LeftFoldWhateverTheTiming) {
  check_lookback(DType::kInt32, Combine::k_add, 1);
  check_lookback(DType::kFloat32, Combine::k_add, 8);
  check_lookback(DType::kFloat64, Combine::k_add, 4);
  check_lookback(DType::kInt16, Combine::k_maximum, 3);
}

void check_mma(DType in, DType acc, std::int64_t m, std::int64_t k, std::int64_t n, double ulps) {
  std::vector<Arg> args = {random_array(in, {m, k}, 1), random_array(in, {k, n}, 2), random_array(acc, {m, n}, 3)};
  Builder b("mma", {spec(args[0], 0), spec(args[1], 1), spec(args[2], 2)});
  Value x = b.load(b.args()[0], origin(b, 2), Shape{m, k});
  Value y = b.load(b.args()[1], origin(b, 2), Shape{k, n});
  Value c = b.load(b.args()[2], origin(b, 2), Shape{m, n});
  b.store(b.args()[2], origin(b, 2), b.mma(x, y, c));
  ASSERT_TRUE(b.status().ok()) << b.status().message();
  const ir::Module module = finished(b);
  Options o;
  o.ulps = ulps;
  expect_same(module, args, {1}, o);
}
TEST(Mma, EveryDTypeAndOddSizes) {
  check_mma(DType::kInt8, DType::kInt32, 8, 16, 24, 0);
  check_mma(DType::kInt32, DType::kInt64, 5, 7, 9, 0);
  for (auto [m, k, n] : {std::tuple{1, 1, 1}, {4, 8, 16}, {13, 5, 27}, {12, 16, 32}, {64, 32, 48}}) {
    check_mma(DType::kFloat32, DType::kFloat32, m, k, n, 1e5);
    check_mma(DType::kFloat64, DType::kFloat64, m, k, n, 1e5);
    check_mma(DType::kFloat16, DType::kFloat32, m, k, n, 1e5);
    check_mma(DType::kBFloat16, DType::kFloat32, m, k, n, 1e5);
  }
}

TEST(Mma, AccumulatesInALoop) {
  std::vector<Arg> args = {random_array(DType::kInt16, {16, 64}, 1), random_array(DType::kInt16, {64, 24}, 2), zeros(DType::kInt32, {16, 24})};
  Builder b("gemm", {spec(args[0], 0), spec(args[1], 1), spec(args[2], 2)});
  auto loop = b.begin_for(i32(b, 0), i32(b, 64), i32(b, 16), Values{b.full(ir::Scalar::of_int(DType::kInt32, 0), Shape{16, 24})});
  Value x = b.load(b.args()[0], Values{i32(b, 0), loop.index}, Shape{16, 16});
  Value y = b.load(b.args()[1], Values{loop.index, i32(b, 0)}, Shape{16, 24});
  auto out = b.end_for(Values{b.mma(x, y, loop.carried[0])});
  b.store(b.args()[2], origin(b, 2), out[0]);
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

}  // namespace
}  // namespace epi::test
