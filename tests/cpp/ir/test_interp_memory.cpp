// Loads, stores, gathers, scatters and atomics; what checked mode finds.
#include "interp_kit.h"

namespace epi::ir::kit {
namespace {

using I = std::int32_t;

InterpOptions checked() {
  InterpOptions options;
  options.checked = true;
  return options;
}
void expect_error(const Status& status, Code code, std::string_view part) {
  EXPECT_EQ(status.code(), code);
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(Load, PadsOutsideOnEverySide) {
  const Array<I> x({2, 3}, {1, 2, 3, 4, 5, 6});
  auto go = [&](std::int64_t r, std::int64_t c, bool padded) {
    return compute<I>(
        {3, 2},
        [=](Builder& b, const Values&) {
          const Scalar nine = Scalar::of_int(DType::kInt32, 9);
          return b.load(b.args()[1], Values{i64(b, r), i64(b, c)}, Shape{3, 2}, padded ? &nine : nullptr);
        },
        x);
  };
  expect_same(go(0, 0, false), {1, 2, 4, 5, 0, 0});
  expect_same(go(-1, -1, true), {9, 9, 9, 1, 9, 4});
  expect_same(go(1, 2, true), {6, 9, 9, 9, 9, 9});
  expect_same(go(INT64_MAX - 1, 0, false), {0, 0, 0, 0, 0, 0});
  expect_same(go(0, INT64_MIN, false), {0, 0, 0, 0, 0, 0});
}

TEST(Load, ComplexPadding) {
  using C = std::complex<float>;
  const Scalar padding{DType::kComplex64, 0, {2, -1}};
  expect_same(compute<C>(
                  {2}, [&](Builder& b, const Values&) { return b.load(b.args()[1], zeros(b, 1), Shape{2}, &padding); },
                  Array<C>{C(1, 1)}),
              {C(1, 1), C(2, -1)});
}

TEST(Load, BytesOtherThanZeroAreTrue) {
  Array<std::uint8_t> x{0, 1, 2, 255};
  Array<bool> out = make<bool>({4});
  ArgSpec spec = x.spec();
  spec.view.dtype = DType::kBool;
  const Status status = run({spec, out.spec()}, {x.arg(), out.arg()},
                            [](Builder& b) { store_all(b, b.args()[1], load_all(b, b.args()[0], {4})); });
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(std::memcmp(out.data(), "\0\1\1\1", 4), 0);
}

TEST(Store, DropsWhatIsOutside) {
  Array<I> x({5}, {0, 0, 0, 0, 0});
  const Status status = launch(
      [](Builder& b) {
        const Value tile = b.binary(Binary::k_add, b.iota(DType::kInt32, Shape{4}, 0), i32(b, 1));
        b.store(b.args()[0], Values{i64(b, -2)}, tile);
        b.store(b.args()[0], Values{i64(b, 4)}, tile);
      },
      x);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(x, {3, 4, 0, 0, 1});
}

TEST(Programs, RunInAscendingOrderWithAxisZeroFastest) {
  Array<I> next = make<I>({1});
  Array<I> order = make<I>({2, 3, 2});
  const Status status = launch(
      {2, 3, 2}, {},
      [](Builder& b) {
        const Value one = b.constant(Scalar::of_int(DType::kInt32, 1));
        const Value ticket = b.atomic_rmw(Atomic::k_add, b.args()[0], Values{i64(b, 0)}, one);
        b.scatter(b.args()[1], Values{b.program_id(2), b.program_id(1), b.program_id(0)},
                  b.binary(Binary::k_add, ticket, b.num_programs(1)));
      },
      next, order);
  ASSERT_TRUE(status.ok()) << status.message();
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(order[i], i + 3);
}

TEST(Programs, NoneRunOnAnEmptyGrid) {
  Array<I> x({1}, {5});
  const Status status =
      launch({0, 4, 4}, {}, [](Builder& b) { b.scatter(b.args()[0], Values{i32(b, 0)}, i32(b, 1)); }, x);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(x[0], 5);
}

TEST(Gather, PadsOutsideAndUnderTheMask) {
  const Array<float> x({2, 2}, {1, 2, 3, 4});
  const Array<I> rows{0, 1, 1, 2, -1, 0};
  const Array<I> columns{1, 0, 1, 0, 0, 0};
  const Array<bool> mask{true, true, true, true, true, false};
  const Scalar seven = Scalar::of_float(DType::kFloat32, 7);
  expect_same(
      compute<float>(
          {6}, [&](Builder& b, const Values& v) { return b.gather(b.args()[1], Values{v[1], v[2]}, v[3], &seven); }, x,
          rows, columns, mask),
      {2, 3, 4, 7, 7, 7});
  expect_same(compute<float>(
                  {6}, [&](Builder& b, const Values& v) { return b.gather(b.args()[1], Values{v[1], v[2]}); }, x, rows,
                  columns),
              {2, 3, 4, 0, 0, 1});
}

TEST(Gather, ScalarsAndSixtyFourBitIndices) {
  const Array<float> x{1, 2, 3};
  expect_same(
      compute<float>({1}, [&](Builder& b, const Values&) { return b.gather(b.args()[1], Values{i64(b, 2)}); }, x), {3});
  expect_same(
      compute<float>(
          {1}, [&](Builder& b, const Values&) { return b.gather(b.args()[1], Values{i64(b, (1LL << 32) + 1)}); }, x),
      {0});
}

TEST(Scatter, TheLastDuplicateWinsAndMaskedOrOutsideAreDropped) {
  Array<I> x = make<I>({4});
  Array<I> indices{1, 2, 1, 9, -1, 3};
  Array<bool> mask{true, true, true, true, true, false};
  const Status status = launch(
      [](Builder& b) {
        const Value values = b.binary(Binary::k_add, b.iota(DType::kInt32, Shape{6}, 0), i32(b, 10));
        b.scatter(b.args()[0], Values{load_all(b, b.args()[1], {6})}, values, load_all(b, b.args()[2], {6}));
      },
      x, indices, mask);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(x, {0, 12, 11, 0});
}

template <class T>
void atomic_case(Atomic kind, T start, std::vector<T> values, std::vector<T> olds, T end) {
  Array<T> x({1}, {start});
  Array<T> in({static_cast<std::int64_t>(values.size())}, values);
  Array<T> out = make<T>(in.shape());
  const Status status = launch(
      [&](Builder& b) {
        const Value v = load_all(b, b.args()[1], in.shape());
        store_all(b, b.args()[2],
                  b.atomic_rmw(kind, b.args()[0], Values{b.full(Scalar::of_int(DType::kInt32, 0), in.shape())}, v));
      },
      x, in, out);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(out, olds);
  expect_same(x, {end});
}

TEST(Atomics, EachKindInRowMajorOrder) {
  atomic_case<I>(Atomic::k_add, 1, {2, 3, -4}, {1, 3, 6}, 2);
  atomic_case<I>(Atomic::k_minimum, 1, {2, -3, 0}, {1, 1, -3}, -3);
  atomic_case<I>(Atomic::k_maximum, 1, {2, -3, 5}, {1, 2, 2}, 5);
  atomic_case<std::uint32_t>(Atomic::k_maximum, 1, {0x80000000U, 2}, {1, 0x80000000U}, 0x80000000U);
  atomic_case<I>(Atomic::k_bitand, 7, {6, 12}, {7, 6}, 4);
  atomic_case<I>(Atomic::k_bitor, 1, {6, 8}, {1, 7}, 15);
  atomic_case<I>(Atomic::k_bitxor, 1, {3, 3}, {1, 2}, 1);
  atomic_case<I>(Atomic::k_exchange, 1, {5, 6}, {1, 5}, 6);
  atomic_case<float>(Atomic::k_add, 1, {0.5F, 1e9F, -1e9F}, {1, 1.5F, 1e9F}, 0);
  atomic_case<std::int64_t>(Atomic::k_add, INT64_MAX, {1}, {INT64_MAX}, INT64_MIN);
}

TEST(Atomics, DroppedOnesGiveZeroAndTouchNothing) {
  Array<I> x({2}, {5, 6});
  Array<I> out = make<I>({3});
  const Status status = launch(
      [](Builder& b) {
        const Value index = b.iota(DType::kInt32, Shape{3}, 0);
        const Value mask = b.compare(Compare::k_ne, index, i32(b, 0));
        store_all(b, b.args()[1],
                  b.atomic_rmw(Atomic::k_add, b.args()[0], Values{index},
                               b.full(Scalar::of_int(DType::kInt32, 1), Shape{3}), mask));
      },
      x, out);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(out, {0, 6, 0});
  expect_same(x, {5, 7});
}

TEST(Atomics, CompareAndSwapIsBitwise) {
  Array<I> x({2}, {5, 6});
  Array<I> out = make<I>({2});
  const Status status = launch(
      [](Builder& b) {
        const Value index = b.iota(DType::kInt32, Shape{2}, 0);
        store_all(b, b.args()[1],
                  b.atomic_cas(b.args()[0], Values{index}, b.full(Scalar::of_int(DType::kInt32, 5), Shape{2}),
                               b.full(Scalar::of_int(DType::kInt32, 9), Shape{2})));
        b.fence(Order::k_acq_rel, Scope::k_device);
      },
      x, out);
  ASSERT_TRUE(status.ok()) << status.message();
  expect_same(out, {5, 6});
  expect_same(x, {9, 6});
}

// -- checked mode
// --------------------------------------------------------------------------------------------------------
void at_line(Builder& b, int line) { b.set_location({"user.py", line, 7}); }

TEST(Checked, BrokenPromiseOfInboundsIsAnErrorThere) {
  auto broken = [](auto access) {
    return [access](Builder& b) {
      at_line(b, 12);
      access(b);
    };
  };
  auto check = [&](auto access, std::string_view element) {
    Array<I> x = make<I>({4});
    expect_error(
        launch({1, 2, 1}, checked(), broken(access), x), Code::kIndex,
        "user.py:12:7: element " + std::string(element) + " is outside argument 0 of shape [4] (program [0, 0, 0])");
    EXPECT_TRUE(launch({1, 1, 1}, {}, broken(access), x).ok());  // harmless where nobody checks
    expect_same(x, {0, 0, 0, 0});
  };
  check([](Builder& b) { b.load(b.args()[0], Values{i64(b, 2)}, Shape{4}, nullptr, true); }, "[4]");
  check(
      [](Builder& b) {
        b.store(b.args()[0], Values{i64(b, -1)}, b.full(Scalar::of_int(DType::kInt32, 0), Shape{4}), true);
      },
      "[-1]");
  check([](Builder& b) { b.gather(b.args()[0], Values{i32(b, 7)}, {}, nullptr, true); }, "[7]");
  check([](Builder& b) { b.scatter(b.args()[0], Values{i32(b, -3)}, i32(b, 1), {}, true); }, "[-3]");
}

TEST(Checked, AccessesThatPromiseNothingMayLeaveTheView) {
  Array<I> x = make<I>({4});
  EXPECT_TRUE(launch({}, checked(), [](Builder& b) { b.load(b.args()[0], Values{i64(b, 2)}, Shape{4}); }, x).ok());
}

TEST(Checked, RacesNameBothPrograms) {
  using Body = std::function<void(Builder&)>;
  auto two = [](const Body& body) {
    Array<I> x = make<I>({4});
    return launch(
        {2, 1, 1}, checked(),
        [&](Builder& b) {
          at_line(b, 3);
          body(b);
        },
        x);
  };
  auto write = [](Builder& b, Value index) { b.scatter(b.args()[0], Values{index}, i32(b, 1)); };
  auto read = [](Builder& b, Value index) { b.gather(b.args()[0], Values{index}); };
  auto add = [](Builder& b, Value index) { b.atomic_rmw(Atomic::k_add, b.args()[0], Values{index}, i32(b, 1)); };
  auto first_then_second = [](auto first, auto second) {
    return [first, second](Builder& b) {
      b.begin_if(b.compare(Compare::k_eq, b.program_id(0), i32(b, 0)));
      first(b, i32(b, 2));
      b.begin_else();
      second(b, i32(b, 2));
      b.end_if({}, {});
    };
  };
  expect_error(
      two([&](Builder& b) { write(b, i32(b, 1)); }), Code::kDevice,
      "user.py:3:7: race: writes element [1] of argument 0, which program [0, 0, 0] writes (program [1, 0, 0])");
  expect_error(two(first_then_second(read, write)), Code::kDevice,
               "race: writes element [2] of argument 0, which program [0, 0, 0] reads");
  expect_error(two(first_then_second(write, read)), Code::kDevice,
               "race: reads element [2] of argument 0, which program [0, 0, 0] writes");
  expect_error(two(first_then_second(add, write)), Code::kDevice, "which program [0, 0, 0] updates atomically");
  expect_error(two(first_then_second(add, read)), Code::kDevice, "which program [0, 0, 0] updates atomically");
  expect_error(two(first_then_second(read, add)), Code::kDevice, "race: updates atomically element [2]");
  EXPECT_TRUE(two([&](Builder& b) { add(b, i32(b, 1)); }).ok());
  EXPECT_TRUE(two([&](Builder& b) { read(b, i32(b, 1)); }).ok());
  EXPECT_TRUE(two([&](Builder& b) { write(b, b.program_id(0)), read(b, b.program_id(0)); }).ok());
}

TEST(Checked, ReadersBetweenOnesOwnAreSeen) {
  // Program 0 reads, program 1 reads, and program 1 then writes: program 0's read is not forgotten.
  Array<I> x = make<I>({1});
  expect_error(launch(
                   {2, 1, 1}, checked(),
                   [](Builder& b) {
                     b.gather(b.args()[0], Values{i32(b, 0)});
                     b.scatter(b.args()[0], Values{i32(b, 0)}, i32(b, 1),
                               b.compare(Compare::k_eq, b.program_id(0), i32(b, 1)));
                   },
                   x),
               Code::kDevice, "which program [0, 0, 0] reads");
}

/// Program 0 writes x[0], publishes through x[1]; program 1 waits there and reads x[0].
Status handshake(const std::function<void(Builder&)>& publish, const std::function<void(Builder&)>& wait) {
  Array<I> x = make<I>({2});
  return launch(
      {2, 1, 1}, checked(),
      [&](Builder& b) {
        b.begin_if(b.compare(Compare::k_eq, b.program_id(0), i32(b, 0)));
        b.scatter(b.args()[0], Values{i32(b, 0)}, i32(b, 1));
        publish(b);
        b.begin_else();
        wait(b);
        b.gather(b.args()[0], Values{i32(b, 0)});
        b.end_if({}, {});
      },
      x);
}
std::function<void(Builder&)> atomic(Order order, Scope scope = Scope::k_device) {
  return [=](Builder& b) { b.atomic_rmw(Atomic::k_add, b.args()[0], Values{i32(b, 1)}, i32(b, 1), {}, order, scope); };
}

TEST(Checked, ReleaseAndAcquireOrderPrograms) {
  EXPECT_TRUE(handshake(atomic(Order::k_release), atomic(Order::k_acquire)).ok());
  EXPECT_TRUE(handshake(atomic(Order::k_acq_rel), atomic(Order::k_acq_rel)).ok());
  for (const auto& status : {handshake(atomic(Order::k_relaxed), atomic(Order::k_acquire)),
                             handshake(atomic(Order::k_release), atomic(Order::k_relaxed)),
                             handshake(atomic(Order::k_acq_rel, Scope::k_program), atomic(Order::k_acq_rel))})
    expect_error(status, Code::kDevice, "race: reads element [0]");
}

TEST(Checked, FencesOrderRelaxedAtomics) {
  const auto relaxed = atomic(Order::k_relaxed);
  auto fence = [](Builder& b, Order order) { b.fence(order, Scope::k_device); };
  const auto publish = [&](Builder& b) { fence(b, Order::k_release), relaxed(b); };
  const auto wait = [&](Builder& b) { relaxed(b), fence(b, Order::k_acquire); };
  EXPECT_TRUE(handshake(publish, wait).ok());
  EXPECT_FALSE(handshake(relaxed, wait).ok());
  EXPECT_FALSE(handshake(publish, relaxed).ok());
  EXPECT_FALSE(handshake([&](Builder& b) { relaxed(b), fence(b, Order::k_release); }, wait).ok());
  EXPECT_FALSE(handshake(publish, [&](Builder& b) { fence(b, Order::k_acquire), relaxed(b); }).ok());
}

TEST(Checked, WhatComesAfterTheReleaseIsNotPublished) {
  EXPECT_FALSE(handshake(
                   [](Builder& b) {
                     atomic(Order::k_release)(b);
                     b.scatter(b.args()[0], Values{i32(b, 0)}, i32(b, 2));
                   },
                   atomic(Order::k_acquire))
                   .ok());
}

TEST(Checked, OrderIsTransitiveAndAtomicsCarryItOn) {
  // 0 writes and releases; 1 hands on without looking (a read-modify-write between); 2 acquires and reads.
  for (Order middle : {Order::k_relaxed, Order::k_release, Order::k_acq_rel}) {
    Array<I> x = make<I>({2});
    const Status status = launch(
        {3, 1, 1}, checked(),
        [&](Builder& b) {
          const Value pid = b.program_id(0);
          b.scatter(b.args()[0], Values{i32(b, 0)}, i32(b, 1), b.compare(Compare::k_eq, pid, i32(b, 0)));
          b.begin_if(b.compare(Compare::k_eq, pid, i32(b, 1)));
          atomic(middle)(b);
          b.begin_else();
          atomic(Order::k_acq_rel)(b);
          b.end_if({}, {});
          b.gather(b.args()[0], Values{i32(b, 0)}, b.compare(Compare::k_eq, pid, i32(b, 2)));
        },
        x);
    EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST(Checked, LookbackOrdersPrograms) {
  Array<I> x = make<I>({1});
  auto go = [&](bool before) {
    Array<std::uint64_t> state = make<std::uint64_t>({8});
    return launch(
        {3, 1, 1}, checked(),
        [&](Builder& b) {
          const Value first = b.compare(Compare::k_eq, b.program_id(0), i32(b, 0));
          if (before) b.scatter(b.args()[0], Values{i32(b, 0)}, i32(b, 1), first);
          b.lookback(Combine::k_add, b.args()[1], Values{i32(b, 1)},
                     std::vector<Scalar>{Scalar::of_int(DType::kInt32, 0)});
          if (!before) b.scatter(b.args()[0], Values{i32(b, 0)}, i32(b, 1), first);
          b.gather(b.args()[0], Values{i32(b, 0)});
        },
        x, state);
  };
  EXPECT_TRUE(go(true).ok());
  expect_error(go(false), Code::kDevice, "race: reads element [0]");
}

TEST(Checked, OverlappingViewsOfDifferentDTypesMeet) {
  Array<std::uint32_t> x = make<std::uint32_t>({2});
  ArgSpec bytes = x.spec();
  bytes.view.dtype = DType::kUInt8;
  InterpArg as_bytes = x.arg();
  as_bytes.extents = {8};
  expect_error(run(
                   {x.spec(), bytes}, {x.arg(), as_bytes},
                   [](Builder& b) {
                     b.begin_if(b.compare(Compare::k_eq, b.program_id(0), i32(b, 0)));
                     b.scatter(b.args()[0], Values{i32(b, 1)}, b.constant(Scalar::of_int(DType::kUInt32, 1)));
                     b.begin_else();
                     b.gather(b.args()[1], Values{i32(b, 7)});
                     b.end_if({}, {});
                   },
                   {2, 1, 1}, checked()),
               Code::kDevice, "race: reads element [7] of argument 1");
}

TEST(Checked, ReadsOfWhatNobodyWrote) {
  Array<I> x = make<I>({2});
  InterpArg fresh = x.arg();
  fresh.uninitialised = true;
  auto go = [&](int index, bool check) {
    return run(
        {x.spec()}, {fresh},
        [=](Builder& b) {
          at_line(b, 5);
          b.scatter(b.args()[0], Values{i32(b, 0)}, i32(b, 1));
          b.gather(b.args()[0], Values{i32(b, index)});
        },
        {}, check ? checked() : InterpOptions{});
  };
  EXPECT_TRUE(go(0, true).ok());
  EXPECT_TRUE(go(1, false).ok());
  expect_error(go(1, true), Code::kDevice, "user.py:5:7: reads element [1] of argument 0, which nobody wrote");
}

TEST(Checked, IntegerDivisionByZero) {
  Array<I> x({2}, {1, 0});
  auto go = [&](Binary kind, bool flag, bool check) {
    return launch(
        {}, check ? checked() : InterpOptions{},
        [=](Builder& b) {
          at_line(b, 8);
          const Value v = load_all(b, b.args()[0], {2});
          b.binary(kind, v, v, flag);
        },
        x);
  };
  for (Binary kind : {Binary::k_floordiv, Binary::k_mod, Binary::k_truncdiv, Binary::k_rem}) {
    expect_error(go(kind, false, true), Code::kDevice, "user.py:8:7: integer division by zero at element 1");
    expect_error(go(kind, true, false), Code::kDevice, "integer division by zero at element 1");
    EXPECT_TRUE(go(kind, false, false).ok());
  }
}

}  // namespace
}  // namespace epi::ir::kit
