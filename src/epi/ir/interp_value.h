// The interpreter's values: scalars and tiles as flat, row-major elements; views as address, extents and strides. No
// MLIR here. A Datum is immutable once its maker hands it on, so copies may share memory.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "epi/base/dtype.h"
#include "epi/base/status.h"

namespace epi::ir::interp {

using Extents = std::vector<std::int64_t>;

/// An array in memory.
struct View {
  DType dtype = DType::kInt32;
  std::byte* base = nullptr;
  Extents extents;
  Extents strides;   ///< in elements
  int argument = 0;  ///< which argument it came from
};

/// `count` elements of a dtype (a scalar is one element), or a view. The shape is the IR type's business.
class Datum {
 public:
  Datum() = default;
  /// Zero-filled elements.
  Datum(DType dtype, std::int64_t count) : dtype_(dtype), count_(count) {
    if (bytes() > kInline) heap_ = std::make_shared<std::byte[]>(bytes());
  }
  explicit Datum(View view) : dtype_(view.dtype), view_(std::make_shared<const View>(std::move(view))) {}
  template <class T>
  static Datum scalar(DType dtype, T value) {
    Datum d(dtype, 1);
    d.as<T>()[0] = value;
    return d;
  }

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count_) * size_bytes(dtype_); }
  [[nodiscard]] bool is_view() const { return view_ != nullptr; }
  [[nodiscard]] const View& view() const { return *view_; }
  std::byte* data() { return heap_ ? heap_.get() : inline_.data(); }
  [[nodiscard]] const std::byte* data() const { return heap_ ? heap_.get() : inline_.data(); }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(count_)};
  }
  template <class T>
  [[nodiscard]] std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data()), static_cast<std::size_t>(count_)};
  }

 private:
  static constexpr std::size_t kInline = 16;
  DType dtype_ = DType::kInt32;
  std::int64_t count_ = 0;
  alignas(16) std::array<std::byte, kInline> inline_{};
  std::shared_ptr<std::byte[]> heap_;
  std::shared_ptr<const View> view_;
};
using Data = std::vector<Datum>;

/// Elements [begin, begin + count) of `source`.
inline Datum part(const Datum& source, std::int64_t begin, std::int64_t count) {
  Datum out(source.dtype(), count);
  if (count)
    std::memcpy(out.data(), source.data() + begin * static_cast<std::int64_t>(size_bytes(source.dtype())), out.bytes());
  return out;
}
/// Writes all of `source` over the elements of `target` from `begin`.
inline void overwrite(Datum& target, std::int64_t begin, const Datum& source) {
  if (source.count())
    std::memcpy(target.data() + begin * static_cast<std::int64_t>(size_bytes(source.dtype())), source.data(),
                source.bytes());
}
/// `count` copies of a single element; `source` itself where it has that many already.
inline Datum repeat(const Datum& source, std::int64_t count) {
  if (source.count() == count) return source;
  Datum out(source.dtype(), count);
  for (std::int64_t i = 0; i < count; ++i) overwrite(out, i, source);
  return out;
}

inline std::int64_t product(std::span<const std::int64_t> extents) {
  std::int64_t n = 1;
  for (std::int64_t e : extents) n *= e;
  return n;
}
/// Strides, in elements, of a row-major array.
inline Extents row_major(std::span<const std::int64_t> shape) {
  Extents strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}
/// Calls f(coordinates, linear index) for each element of `shape` in row-major order.
template <class F>
void for_each_index(std::span<const std::int64_t> shape, F&& f) {
  const std::int64_t n = product(shape);
  Extents at(shape.size(), 0);
  for (std::int64_t i = 0; i < n; ++i) {
    f(at, i);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
}

}  // namespace epi::ir::interp
