#include "cases.h"

#include "epi/base/half.h"

namespace epi::nvptx_test {

using namespace epi::ir;

std::int64_t Tensor::count() const {
  std::int64_t n = 1;
  for (auto e : shape) n *= e;
  return n;
}

namespace {

template <class T>
void fill(Tensor& t, std::uint32_t seed) {
  for (std::int64_t i = 0; i < t.count(); ++i) {
    seed = seed * 1664525U + 1013904223U;
    const auto draw = static_cast<std::int32_t>(seed >> 8) - (1 << 23);
    T value{};
    if constexpr (std::is_same_v<T, bool>)
      value = (draw & 1) != 0;
    else if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(draw % 10);
    else if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(static_cast<double>(draw) / (1 << 22));
    else if constexpr (requires(T x) { x.real(); })
      value = T(static_cast<float>(draw) / (1 << 22), static_cast<float>(draw % 100) / 50);
    else
      value = T(static_cast<float>(draw) / (1 << 22));
    std::memcpy(t.bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
  }
}

Scalar f32s(double v) { return Scalar::of_float(DType::kFloat32, v); }

/// y[i] = f(x[i]) over tiles of `tile` in one program each.
Case map_case(const std::string& name, DType from, DType to, std::int64_t n, std::int64_t tile,
              const std::function<Value(Builder&, Value)>& f) {
  Case c;
  c.name = name;
  c.tensors = {random_tensor(from, {n}, 7), output_tensor(to, {n})};
  c.grid[0] = static_cast<std::uint32_t>((n + tile - 1) / tile);
  c.build = [=](Builder& b) {
    const Value at[] = {start(b, 0, tile)};
    const Shape shape{tile};
    b.store(b.args()[1], at, f(b, b.load(b.args()[0], at, shape)));
  };
  return c;
}

}  // namespace

Tensor random_tensor(DType dtype, const Shape& shape, std::uint32_t seed) {
  Tensor t{dtype, shape, {}, false, 0};
  t.bytes.resize(static_cast<std::size_t>(t.count()) * size_bytes(dtype));
  visit_dtype(dtype, [&]<class T>() { fill<T>(t, seed); });
  return t;
}

Tensor output_tensor(DType dtype, const Shape& shape) {
  Tensor t{dtype, shape, {}, true, 0};
  t.bytes.resize(static_cast<std::size_t>(t.count()) * size_bytes(dtype));
  return t;
}

// -- elementwise, views, memory ------------------------------------------------------------------------------------
std::vector<Case> elementwise_cases() {
  std::vector<Case> all;
  for (DType d : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16, DType::kInt8, DType::kInt32,
                  DType::kInt64, DType::kUInt8, DType::kComplex64})
    all.push_back(map_case("square_" + std::string(name(d)), d, d, 5000, 1024,
                           [](Builder& b, Value x) { return b.binary(Binary::k_mul, x, x); }));
  all.push_back(map_case("chain_f32", DType::kFloat32, DType::kFloat32, 4097, 512, [](Builder& b, Value x) {
    return b.binary(Binary::k_add, b.unary(Unary::k_exp, b.unary(Unary::k_neg, b.binary(Binary::k_mul, x, x))), x);
  }));
  for (Unary u : {Unary::k_sin, Unary::k_log1p, Unary::k_tanh, Unary::k_sqrt, Unary::k_erf, Unary::k_exp2})
    all.push_back(map_case("unary_" + std::to_string(static_cast<unsigned>(u)), DType::kFloat32, DType::kFloat32, 3000,
                           1000, [=](Builder& b, Value x) { return b.unary(u, x); }));
  all.push_back(map_case("floordiv_i32", DType::kInt32, DType::kInt32, 999, 256, [](Builder& b, Value x) {
    return b.binary(Binary::k_floordiv, b.binary(Binary::k_mul, x, i32(b, 7)), i32(b, -4));
  }));
  all.push_back(map_case("cast_f32_bf16", DType::kFloat32, DType::kBFloat16, 777, 256,
                         [](Builder& b, Value x) { return b.cast(x, DType::kBFloat16, Cast::k_wrap); }));
  all.push_back(map_case("cast_f64_f16", DType::kFloat64, DType::kFloat16, 777, 256,
                         [](Builder& b, Value x) { return b.cast(x, DType::kFloat16, Cast::k_wrap); }));
  all.push_back(map_case("select_bool", DType::kFloat32, DType::kBool, 513, 128, [](Builder& b, Value x) {
    return b.compare(Compare::k_lt, x, b.full(f32s(0.25), Shape{128}));
  }));
  Case t;
  t.name = "transpose";
  t.tensors = {random_tensor(DType::kFloat32, {70, 90}, 3), output_tensor(DType::kFloat32, {90, 70})};
  t.grid[0] = 3;
  t.grid[1] = 3;
  t.build = [](Builder& b) {
    const Value in[] = {start(b, 0, 32), start(b, 1, 32)};
    const Value out[] = {start(b, 1, 32), start(b, 0, 32)};
    const std::int64_t perm[] = {1, 0};
    b.store(b.args()[1], out, b.permute(b.load(b.args()[0], in, Shape{32, 32}), perm));
  };
  all.push_back(t);
  Case g;
  g.name = "gather_atomic";
  g.tensors = {random_tensor(DType::kInt32, {600}, 5), output_tensor(DType::kInt32, {16})};
  g.grid[0] = 5;
  g.build = [](Builder& b) {
    const Value at[] = {start(b, 0, 128)};
    Value x = b.load(b.args()[0], at, Shape{128});
    const Value index[] = {b.binary(Binary::k_add, x, b.full(Scalar::of_int(DType::kInt32, 9), Shape{128}))};
    b.atomic_rmw(Atomic::k_add, b.args()[1], index, b.full(Scalar::of_int(DType::kInt32, 1), Shape{128}));
  };
  all.push_back(g);
  return all;
}
}  // namespace epi::nvptx_test
