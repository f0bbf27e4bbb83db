// The builder's creation, shape and arithmetic ops, and debug.
#include "epi/ir/builder_impl.h"

namespace epi::ir {
namespace {

tile::Sizes sizes(std::span<const std::int64_t> s) { return {s.data(), s.size()}; }

/// Brings operands to their common shape; false (and an error) where there is none.
bool align(Builder::Impl& i, const char* op, std::vector<mlir::Value>& values) {
  for (mlir::Value v : values)
    if (mlir::isa<tile::ViewType>(v.getType())) {
      i.error(op) << "got " << tile::describe(v.getType()) << "; it takes scalars and tiles";
      return false;
    }
  std::optional<Shape> shape = i.common_shape(op, values);
  if (!shape) return false;
  for (mlir::Value& v : values)
    if (!(v = i.broadcast(op, v, *shape))) return false;
  return true;
}

bool is_value(Builder::Impl& i, const char* op, Value v) {
  if (!mlir::isa<tile::ViewType>(unwrap(v).getType())) return true;
  i.error(op) << "got " << tile::describe(unwrap(v).getType()) << "; it takes scalars and tiles";
  return false;
}

bool valid_shape(Builder::Impl& i, const char* op, std::span<const std::int64_t> shape) {
  for (std::int64_t e : shape)
    if (e < 0) {
      i.error(op) << "shape " << tile::describe(sizes(shape)) << "; extents must not be negative";
      return false;
    }
  return true;
}

}  // namespace

// -- creation and shape
Value Builder::constant(const Scalar& value) {
  Impl& i = *impl_;
  if (!i.ready("constant")) return {};
  mlir::Type type = i.element(value.dtype);
  return i.result<tile::ConstantOp>(type, tile::scalar_attr(type, value));
}

Value Builder::full(const Scalar& value, std::span<const std::int64_t> shape) {
  Impl& i = *impl_;
  if (shape.empty()) return constant(value);
  if (!i.ready("full") || !valid_shape(i, "full", shape)) return {};
  auto type = mlir::RankedTensorType::get(sizes(shape), i.element(value.dtype));
  return i.result<tile::ConstantOp>(type, tile::splat_attr(type, value));
}

Value Builder::iota(DType dtype, std::span<const std::int64_t> shape, int axis) {
  Impl& i = *impl_;
  if (!i.ready("iota") || !valid_shape(i, "iota", shape)) return {};
  const std::int64_t at = Impl::wrap_axis(axis, shape.size());
  tile::MaybeType type = tile::infer_iota(sizes(shape), i.element(dtype), at, [&] { return i.error("iota"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::IotaOp>(*type, static_cast<std::uint64_t>(at));
}

Value Builder::broadcast(Value v, std::span<const std::int64_t> shape) {
  Impl& i = *impl_;
  if (!i.ready("broadcast", {v}) || !is_value(i, "broadcast", v) || !valid_shape(i, "broadcast", shape)) return {};
  mlir::Value out = i.broadcast("broadcast", unwrap(v), sizes(shape));
  return out ? wrap(out) : Value{};
}

Value Builder::reshape(Value v, std::span<const std::int64_t> shape) {
  Impl& i = *impl_;
  if (!i.ready("reshape", {v}) || !is_value(i, "reshape", v) || !valid_shape(i, "reshape", shape)) return {};
  mlir::Type from = unwrap(v).getType();
  tile::MaybeType type = tile::infer_reshape(from, sizes(shape), [&] { return i.error("reshape"); });
  if (mlir::failed(type)) return {};
  return *type == from ? v : i.result<tile::ReshapeOp>(*type, unwrap(v));
}

Value Builder::permute(Value v, std::span<const std::int64_t> perm) {
  Impl& i = *impl_;
  if (!i.ready("permute", {v}) || !is_value(i, "permute", v)) return {};
  tile::MaybeType type = tile::infer_permute(unwrap(v).getType(), sizes(perm), [&] { return i.error("permute"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::PermuteOp>(*type, unwrap(v), sizes(perm));
}

Value Builder::cat(std::span<const Value> tiles, int axis) {
  Impl& i = *impl_;
  if (!i.ready("cat", {}, tiles)) return {};
  std::vector<mlir::Value> values = unwrap(tiles);
  const std::size_t rank = values.empty() ? 0 : tile::shape_of(values[0].getType()).size();
  const std::int64_t at = Impl::wrap_axis(axis, rank);
  tile::MaybeType type = tile::infer_cat(mlir::ValueRange(values).getTypes(), at, [&] { return i.error("cat"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::CatOp>(*type, values, static_cast<std::uint64_t>(at));
}

Value Builder::extract(Value v, std::span<const std::int64_t> offsets, std::span<const std::int64_t> shape) {
  Impl& i = *impl_;
  if (!i.ready("extract", {v}) || !valid_shape(i, "extract", shape)) return {};
  tile::MaybeType type =
      tile::infer_extract(unwrap(v).getType(), sizes(offsets), sizes(shape), [&] { return i.error("extract"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::ExtractOp>(*type, unwrap(v), sizes(offsets));
}

Value Builder::insert(Value source, Value target, std::span<const std::int64_t> offsets) {
  Impl& i = *impl_;
  if (!i.ready("insert", {source, target})) return {};
  tile::MaybeType type = tile::infer_insert(unwrap(source).getType(), unwrap(target).getType(), sizes(offsets),
                                            [&] { return i.error("insert"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::InsertOp>(*type, unwrap(source), unwrap(target), sizes(offsets));
}

// -- arithmetic
Value Builder::unary(Unary kind, Value v, bool approx) {
  Impl& i = *impl_;
  if (!i.ready("unary", {v}) || !is_value(i, "unary", v)) return {};
  const auto k = static_cast<tile::UnaryKind>(kind);
  tile::MaybeType type = tile::infer_unary(k, unwrap(v).getType(), [&] { return i.error("unary"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::UnaryOp>(*type, k, unwrap(v), approx);
}

Value Builder::binary(Binary kind, Value a, Value b, bool flag_zero) {
  Impl& i = *impl_;
  if (!i.ready("binary", {a, b})) return {};
  std::vector<mlir::Value> v{unwrap(a), unwrap(b)};
  if (!align(i, "binary", v)) return {};
  const auto k = static_cast<tile::BinaryKind>(kind);
  tile::MaybeType type =
      tile::infer_binary(k, v[0].getType(), v[1].getType(), flag_zero, [&] { return i.error("binary"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::BinaryOp>(*type, k, v[0], v[1], flag_zero);
}

Value Builder::fma(Value a, Value b, Value c) {
  Impl& i = *impl_;
  if (!i.ready("fma", {a, b, c})) return {};
  std::vector<mlir::Value> v{unwrap(a), unwrap(b), unwrap(c)};
  if (!align(i, "fma", v)) return {};
  tile::MaybeType type =
      tile::infer_fma(v[0].getType(), v[1].getType(), v[2].getType(), [&] { return i.error("fma"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::FmaOp>(*type, v[0], v[1], v[2]);
}

Value Builder::compare(Compare kind, Value a, Value b) {
  Impl& i = *impl_;
  if (!i.ready("compare", {a, b})) return {};
  std::vector<mlir::Value> v{unwrap(a), unwrap(b)};
  if (!align(i, "compare", v)) return {};
  const auto k = static_cast<tile::CompareKind>(kind);
  tile::MaybeType type = tile::infer_compare(k, v[0].getType(), v[1].getType(), [&] { return i.error("compare"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::CompareOp>(*type, k, v[0], v[1]);
}

Value Builder::select(Value condition, Value on_true, Value on_false) {
  Impl& i = *impl_;
  if (!i.ready("select", {condition, on_true, on_false})) return {};
  std::vector<mlir::Value> v{unwrap(on_true), unwrap(on_false)};
  const bool scalar = !mlir::isa<mlir::RankedTensorType>(unwrap(condition).getType());
  if (!scalar) v.push_back(unwrap(condition));
  if (!align(i, "select", v)) return {};
  mlir::Value c = scalar ? unwrap(condition) : v[2];
  tile::MaybeType type =
      tile::infer_select(c.getType(), v[0].getType(), v[1].getType(), [&] { return i.error("select"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::SelectOp>(*type, c, v[0], v[1]);
}

Value Builder::cast(Value v, DType to, Cast mode) {
  Impl& i = *impl_;
  if (!i.ready("cast", {v}) || !is_value(i, "cast", v)) return {};
  mlir::Type from = unwrap(v).getType();
  if (tile::element_of(from) == i.element(to)) return v;
  return i.result<tile::CastOp>(tile::with_element(from, i.element(to)), static_cast<tile::CastMode>(mode), unwrap(v));
}

Value Builder::bitcast(Value v, DType to) {
  Impl& i = *impl_;
  if (!i.ready("bitcast", {v}) || !is_value(i, "bitcast", v)) return {};
  mlir::Type from = unwrap(v).getType();
  if (tile::element_of(from) == i.element(to)) return v;
  tile::MaybeType type = tile::infer_bitcast(from, i.element(to), [&] { return i.error("bitcast"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::BitcastOp>(*type, unwrap(v));
}

// -- debug
void Builder::assert_(Value condition, std::string_view message) {
  Impl& i = *impl_;
  if (!i.ready("assert", {condition}) || !is_value(i, "assert", condition)) return;
  i.make<tile::AssertOp>(unwrap(condition), llvm::StringRef(message.data(), message.size()));
}

void Builder::print(std::string_view format, std::span<const Value> values) {
  Impl& i = *impl_;
  if (!i.ready("print", {}, values)) return;
  for (Value v : values)
    if (!is_value(i, "print", v)) return;
  i.make<tile::PrintOp>(llvm::StringRef(format.data(), format.size()), unwrap(values));
}

}  // namespace epi::ir
