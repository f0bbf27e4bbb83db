// Builds Tile IR without MLIR in sight: what front ends and C++ users call. One Module holds one kernel and its helpers.
// Every call checks its operands and, where they are wrong, records a Status with the current location and returns a
// null Value; later calls on null Values do nothing, so a front end may check once, at finish(). Not thread-safe.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epi/base/dtype.h"
#include "epi/base/status.h"
#include "epi/ir/kinds.h"

namespace epi::ir {

inline constexpr std::int64_t kDynamic = INT64_MIN;  ///< an extent or stride known at launch only

using Shape = std::vector<std::int64_t>;

/// A value of the program: scalar, tile or view. A cheap handle; valid as long as its Module.
struct Value {
  void* impl = nullptr;
  explicit operator bool() const { return impl != nullptr; }
  bool operator==(const Value&) const = default;
};
using Values = std::vector<Value>;

/// What a value is.
struct TypeInfo {
  enum Kind : std::uint8_t { kScalar, kTile, kView } kind = kScalar;
  DType dtype = DType::kInt32;
  Shape shape;  ///< a tile's shape; a view's extents (kDynamic where known at launch only)
};

/// A view argument's specialisation: all of it is part of the cache key.
struct ViewSpec {
  DType dtype = DType::kFloat32;
  Shape extents;               ///< kDynamic or a constant
  Shape strides;               ///< in elements; kDynamic or a constant (1 for a contiguous last axis)
  Shape divisors;              ///< divides the stride (in elements); 1 where nothing is known
  std::int64_t align = 1;      ///< bytes; divides the base address
  std::int64_t alias = 0;      ///< views of different classes do not overlap
};

/// An argument of a kernel: a view, or a scalar of a dtype.
struct ArgSpec {
  bool is_view = false;
  DType dtype = DType::kInt32;  ///< scalars
  ViewSpec view;                ///< views
  std::string name;
};

struct SourceLocation {
  std::string file;
  int line = 0;
  int column = 0;
};

/// A scalar constant of any dtype.
struct Scalar {
  DType dtype = DType::kInt32;
  std::int64_t i = 0;         ///< bool, signed and unsigned integers (bits)
  std::complex<double> c{};   ///< floats (real part) and complex
  static Scalar of_int(DType d, std::int64_t v) { return {d, v, {}}; }
  static Scalar of_float(DType d, double v) { return {d, 0, {v, 0}}; }
};

/// A finished or growing program. Moves; owns the IR and its context.
class Module {
 public:
  Module();
  ~Module();
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  /// The textual IR (with locations on request).
  [[nodiscard]] std::string print(bool locations = false) const;
  /// Parses textual IR and verifies it.
  static Result<Module> parse(std::string_view text);
  /// Runs all verifiers of the tile stage.
  [[nodiscard]] Status verify() const;
  struct Impl;
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

class Builder {
 public:
  /// Starts the kernel `name`; arguments are then args().
  Builder(std::string name, std::vector<ArgSpec> args, bool ascending = false);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  void set_location(const SourceLocation& location);
  [[nodiscard]] const Values& args() const;
  [[nodiscard]] TypeInfo type(Value v) const;
  [[nodiscard]] const Status& status() const;  ///< the first error
  /// Adds the return, verifies, and gives the program up. The builder is spent.
  Result<Module> finish();

  // -- index and views
  Value program_id(int axis);
  Value num_programs(int axis);
  Value dim(Value view, int axis);
  Value stride(Value view, int axis);
  Value slice(Value view, int axis, Value start, Value stop);
  Value permute_view(Value view, std::span<const std::int64_t> perm);

  // -- memory. Offsets and indices may be any integer scalars; they are widened to i64.
  Value load(Value view, std::span<const Value> offsets, std::span<const std::int64_t> shape,
             const Scalar* padding = nullptr, bool inbounds = false);
  void store(Value view, std::span<const Value> offsets, Value tile, bool inbounds = false);
  Value gather(Value view, std::span<const Value> indices, Value mask = {}, const Scalar* padding = nullptr,
               bool inbounds = false);
  void scatter(Value view, std::span<const Value> indices, Value value, Value mask = {}, bool inbounds = false);
  Value atomic_rmw(Atomic kind, Value view, std::span<const Value> indices, Value value, Value mask = {},
                   Order order = Order::k_acq_rel, Scope scope = Scope::k_device);
  Value atomic_cas(Value view, std::span<const Value> indices, Value expected, Value desired, Value mask = {},
                   Order order = Order::k_acq_rel, Scope scope = Scope::k_device);
  void fence(Order order, Scope scope);

  // -- creation and shape
  Value constant(const Scalar& value);                                        ///< scalar
  Value full(const Scalar& value, std::span<const std::int64_t> shape);       ///< constant tile
  Value iota(DType dtype, std::span<const std::int64_t> shape, int axis);
  Value broadcast(Value v, std::span<const std::int64_t> shape);  ///< scalar or tile, NumPy's rules (ranks may grow)
  Value reshape(Value v, std::span<const std::int64_t> shape);    ///< empty shape: to a scalar
  Value permute(Value v, std::span<const std::int64_t> perm);
  Value cat(std::span<const Value> tiles, int axis);
  Value extract(Value v, std::span<const std::int64_t> offsets, std::span<const std::int64_t> shape);
  Value insert(Value source, Value target, std::span<const std::int64_t> offsets);

  // -- arithmetic. Operands must have one dtype already (promotion is the front end's); shapes broadcast here.
  Value unary(Unary kind, Value v, bool approx = false);
  Value binary(Binary kind, Value a, Value b, bool flag_zero = false);
  Value fma(Value a, Value b, Value c);
  Value compare(Compare kind, Value a, Value b);
  Value select(Value condition, Value on_true, Value on_false);
  Value cast(Value v, DType to, Cast mode);  ///< the value itself when it has the dtype
  Value bitcast(Value v, DType to);

  // -- collectives. `region` builds the combiner from scalars (left values, right values) and returns the results.
  using Region = std::function<Values(Builder&, const Values& left, const Values& right)>;
  Values reduce(Combine kind, std::span<const Value> tiles, int axis, std::int64_t lanes = 0, const Region& region = {});
  Values scan(Combine kind, std::span<const Value> tiles, int axis, bool reverse = false, std::int64_t segment = 0,
              const Region& region = {});
  Value take(Value source, Value indices, int axis);
  struct Ranked {
    Value ranks, counts;
  };
  Ranked rank(Value digits, std::int64_t bins);
  Values lookback(Combine kind, Value state, std::span<const Value> aggregates, std::span<const Scalar> identities,
                  const Region& region = {});
  Value mma(Value a, Value b, Value acc);

  // -- control. Bodies are built between begin and end; loops carry values.
  struct Loop {
    Value index;     ///< for: the induction variable, of the bounds' dtype
    Values carried;  ///< this iteration's values
  };
  Loop begin_for(Value start, Value stop, Value step, std::span<const Value> initial);  ///< i32 or i64; step > 0
  Values end_for(std::span<const Value> carried);
  Values begin_while(std::span<const Value> initial);       ///< the values that the condition sees
  Values while_body(Value condition);                       ///< ends the condition part; the same values in the body
  Values end_while(std::span<const Value> carried);
  void begin_if(Value condition);
  void begin_else();                                        ///< keeps the then-part's results until end_if
  Values end_if(std::span<const Value> then_results, std::span<const Value> else_results);

  // -- debug
  void assert_(Value condition, std::string_view message);
  void print(std::string_view format, std::span<const Value> values);

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace epi::ir
