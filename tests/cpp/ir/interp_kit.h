// What the interpreter's tests share: arrays that know their dtype, a launch from a lambda that builds the kernel, and
// comparison by bits where any NaN equals any NaN.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "epi/ir/builder.h"
#include "epi/ir/interp.h"

namespace epi::ir::kit {

template <class T>
constexpr DType dtype_of() {
#define EPI_DTYPE(Enum, name, size, kind, ctype, dl, ts) \
  if (std::is_same_v<T, ctype>) return DType::Enum;
#include "epi/base/dtype.def"
#undef EPI_DTYPE
  return DType::kBool;
}

inline std::int64_t count_of(const Shape& shape) {
  std::int64_t n = 1;
  for (auto e : shape) n *= e;
  return n;
}
inline Shape contiguous(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// A row-major array, an argument of a launch.
template <class T>
class Array {
 public:
  /// `values`, zeros where they end.
  Array(const Shape& shape, const std::vector<T>& values)
      : shape_(shape), data_(new T[static_cast<std::size_t>(size())]()) {
    for (std::size_t i = 0; i < values.size(); ++i) data_[i] = values[i];
  }
  Array(std::initializer_list<T> values) : Array({static_cast<std::int64_t>(values.size())}, std::vector<T>(values)) {}
  Array(const Array& other) : Array(other.shape_, other.values()) {}

  [[nodiscard]] std::int64_t size() const { return count_of(shape_); }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  T* data() { return data_.get(); }
  T& operator[](std::int64_t i) { return data_[static_cast<std::size_t>(i)]; }
  const T& operator[](std::int64_t i) const { return data_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::vector<T> values() const { return std::vector<T>(data_.get(), data_.get() + size()); }
  [[nodiscard]] ArgSpec spec() const {
    const Shape dynamic(shape_.size(), kDynamic);
    return {true, {}, {dtype_of<T>(), dynamic, dynamic, Shape(shape_.size(), 1), 1, 0}, "x"};
  }
  InterpArg arg() { return {true, data_.get(), shape_, contiguous(shape_), {0, 0}, false}; }

 private:
  Shape shape_;
  std::unique_ptr<T[]> data_;
};

/// Zeros. (Array<std::int64_t> takes its numbers for values where it can.)
template <class T>
Array<T> make(const Shape& shape) {
  return Array<T>(shape, {});
}

struct Grid {
  std::uint32_t x = 1, y = 1, z = 1;
};

/// Builds a kernel over these arguments, and runs it.
inline Status run(const std::vector<ArgSpec>& specs, const std::vector<InterpArg>& args,
                  const std::function<void(Builder&)>& build, Grid grid = {}, const InterpOptions& options = {}) {
  Builder b("kernel", specs, /*ascending=*/true);
  build(b);
  Result<Module> module = b.finish();
  if (!module.ok()) return module.status().with_context("build");
  const std::uint32_t programs[3] = {grid.x, grid.y, grid.z};
  return interpret(*module, args, programs, options);
}
/// The same over arrays.
template <class... A>
Status launch(Grid grid, const InterpOptions& options, const std::function<void(Builder&)>& build, A&... arrays) {
  return run({arrays.spec()...}, {arrays.arg()...}, build, grid, options);
}
template <class... A>
Status launch(const std::function<void(Builder&)>& build, A&... arrays) {
  return launch(Grid{}, InterpOptions{}, build, arrays...);
}

inline Value number(Builder& b, DType d, std::int64_t v) { return b.constant({d, v, {static_cast<double>(v), 0}}); }
inline Value i64(Builder& b, std::int64_t v) { return number(b, DType::kInt64, v); }
inline Value i32(Builder& b, std::int64_t v) { return number(b, DType::kInt32, v); }
inline Value f32(Builder& b, double v) { return b.constant(Scalar::of_float(DType::kFloat32, v)); }
inline Values zeros(Builder& b, std::size_t rank) { return Values(rank, i64(b, 0)); }
inline Value load_all(Builder& b, Value view, const Shape& shape) {
  return b.load(view, zeros(b, shape.size()), shape);
}
inline void store_all(Builder& b, Value view, Value tile) {
  const std::size_t rank = b.type(view).shape.size();
  b.store(view, zeros(b, rank),
          b.type(tile).kind == TypeInfo::kScalar ? b.reshape(b.broadcast(tile, Shape{1}), Shape(rank, 1)) : tile);
}

/// f over whole input tiles, its result stored to an array of `shape`.
template <class R, class... T>
Array<R> compute(Shape shape, const std::function<Value(Builder&, const Values&)>& f, Array<T>... in) {
  Array<R> out = make<R>(shape);
  const Status status = launch(
      [&](Builder& b) {
        Values tiles;
        const std::vector<Shape> shapes{in.shape()...};
        for (std::size_t i = 0; i < shapes.size(); ++i) tiles.push_back(load_all(b, b.args()[i + 1], shapes[i]));
        store_all(b, b.args()[0], f(b, tiles));
      },
      out, in...);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

inline double plain(float x) { return x; }
inline double plain(double x) { return x; }
inline double plain(Half x) { return static_cast<float>(x); }
inline double plain(BFloat16 x) { return static_cast<float>(x); }
template <class T>
  requires std::is_integral_v<T>
auto plain(T x) {
  return +x;
}
template <class T>
std::complex<double> plain(std::complex<T> x) {
  return {x.real(), x.imag()};
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return a == b;
  else if constexpr (requires { a.real(); })
    return same(a.real(), b.real()) && same(a.imag(), b.imag());
  else
    return std::isnan(plain(a)) ? std::isnan(plain(b)) : std::memcmp(&a, &b, sizeof(T)) == 0;
}
template <class T>
void expect_same(const Array<T>& got, const std::vector<T>& wanted, const std::string& what = "") {
  ASSERT_EQ(static_cast<std::size_t>(got.size()), wanted.size()) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_TRUE(same(got[static_cast<std::int64_t>(i)], static_cast<T>(wanted[i])))
        << what << " element " << i << ": got " << plain(got[static_cast<std::int64_t>(i)]) << ", wanted "
        << plain(static_cast<T>(wanted[i]));
}
/// All pairs of values, as two arrays.
template <class T>
std::pair<Array<T>, Array<T>> pairs(const std::vector<T>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  std::pair<Array<T>, Array<T>> out{make<T>({n * n}), make<T>({n * n})};
  for (std::int64_t i = 0; i < n * n; ++i) {
    out.first[i] = values[static_cast<std::size_t>(i / n)];
    out.second[i] = values[static_cast<std::size_t>(i % n)];
  }
  return out;
}

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace epi::ir::kit
