// The builder's views and memory accesses.
#include "epi/ir/builder_impl.h"

namespace epi::ir {
namespace {

/// The operands of an access per element, in one shape.
struct Access {
  tile::ViewType view;
  Shape shape;
  std::vector<mlir::Value> indices;
  mlir::Value mask;
  std::vector<mlir::Value> values;
};

std::optional<Access> prepare(Builder::Impl& i, const char* op, Value view, std::span<const Value> indices, Value mask,
                              std::initializer_list<Value> values) {
  if (!i.ready(op, {view}, indices) || !i.ready(op, values)) return std::nullopt;
  Access out;
  out.view = i.view_of(op, view);
  if (!out.view) return std::nullopt;
  std::vector<mlir::Value> all;
  for (Value v : indices) {
    mlir::Value index = unwrap(v);
    mlir::Type element = tile::element_of(index.getType());
    if (!mlir::isa<mlir::IntegerType>(element) || element.isInteger(1)) {
      i.error(op) << "index is " << tile::describe(index.getType()) << "; it must be integer";
      return std::nullopt;
    }
    if (!element.isSignlessInteger(32) && !element.isSignlessInteger(64))
      index =
          i.make<tile::CastOp>(tile::with_element(index.getType(), i.b.getI64Type()), tile::CastMode::k_wrap, index);
    all.push_back(index);
  }
  if (mask) all.push_back(unwrap(mask));
  for (Value v : values) all.push_back(unwrap(v));
  std::optional<Shape> shape = i.common_shape(op, all);
  if (!shape) return std::nullopt;
  out.shape = *shape;
  for (mlir::Value& v : all)
    if (!(v = i.broadcast(op, v, out.shape))) return std::nullopt;
  auto next = all.begin();
  out.indices.assign(next, next + static_cast<std::ptrdiff_t>(indices.size()));
  next += static_cast<std::ptrdiff_t>(indices.size());
  if (mask) out.mask = *next++;
  out.values.assign(next, all.end());
  return out;
}

std::vector<mlir::Type> types_of(std::span<const mlir::Value> values) {
  std::vector<mlir::Type> out;
  for (mlir::Value v : values) out.push_back(v.getType());
  return out;
}

/// The typing rules' verdict on an access; a null type where it is wrong.
mlir::Type check(Builder::Impl& i, const char* op, const Access& a) {
  auto error = [&] { return i.error(op); };
  const std::vector<mlir::Type> types = types_of(a.indices);
  tile::MaybeType type = tile::infer_access(a.view, types, a.mask ? a.mask.getType() : mlir::Type(), a.shape, error);
  if (mlir::failed(type)) return nullptr;
  for (mlir::Value v : a.values)
    if (mlir::failed(tile::check_value(v.getType(), a.view, a.shape, error))) return nullptr;
  return *type;
}

std::optional<std::int64_t> constant_of(Value v) {
  auto constant = unwrap(v).getDefiningOp<tile::ConstantOp>();
  auto value = constant ? mlir::dyn_cast<mlir::IntegerAttr>(constant.getValue()) : nullptr;
  if (!value) return std::nullopt;
  return tile::scalar_of(value, constant.getResult().getType()).i;
}

}  // namespace

mlir::Attribute Builder::Impl::padding(const char* op, tile::ViewType view, const Scalar* value) {
  if (!value) return nullptr;
  mlir::Attribute out = tile::scalar_attr(element(value->dtype), *value);
  if (mlir::failed(tile::check_padding(out, view.getElement(), [&] { return error(op) << "padding: "; })))
    return nullptr;
  return out;
}

Value Builder::program_id(int axis) {
  if (!impl_->ready("program_id")) return {};
  return impl_->result<tile::ProgramIdOp>(impl_->b.getI32Type(), static_cast<std::uint32_t>(axis));
}

Value Builder::num_programs(int axis) {
  if (!impl_->ready("num_programs")) return {};
  return impl_->result<tile::NumProgramsOp>(impl_->b.getI32Type(), static_cast<std::uint32_t>(axis));
}

Value Builder::dim(Value view, int axis) {
  Impl& i = *impl_;
  if (!i.ready("dim", {view})) return {};
  tile::ViewType type = i.view_of("dim", view);
  if (!type) return {};
  const auto at = static_cast<std::uint32_t>(Impl::wrap_axis(axis, type.getRank()));
  return i.result<tile::DimOp>(i.b.getI64Type(), unwrap(view), at);
}

Value Builder::stride(Value view, int axis) {
  Impl& i = *impl_;
  if (!i.ready("stride", {view})) return {};
  tile::ViewType type = i.view_of("stride", view);
  if (!type) return {};
  const auto at = static_cast<std::uint32_t>(Impl::wrap_axis(axis, type.getRank()));
  return i.result<tile::StrideOp>(i.b.getI64Type(), unwrap(view), at);
}

Value Builder::slice(Value view, int axis, Value start, Value stop) {
  Impl& i = *impl_;
  if (!i.ready("slice", {view, start, stop})) return {};
  tile::ViewType type = i.view_of("slice", view);
  if (!type) return {};
  const std::int64_t at = Impl::wrap_axis(axis, type.getRank());
  tile::MaybeType result = tile::infer_slice(type, at, constant_of(start), [&] { return i.error("slice"); });
  mlir::Value from = i.offset("slice", start);
  mlir::Value to = from ? i.offset("slice", stop) : nullptr;
  if (mlir::failed(result) || !to) return {};
  return i.result<tile::SliceOp>(*result, unwrap(view), static_cast<std::uint32_t>(at), from, to);
}

Value Builder::permute_view(Value view, std::span<const std::int64_t> perm) {
  Impl& i = *impl_;
  if (!i.ready("permute_view", {view})) return {};
  tile::ViewType type = i.view_of("permute_view", view);
  if (!type) return {};
  const tile::Sizes order(perm.data(), perm.size());
  tile::MaybeType result = tile::infer_permute_view(type, order, [&] { return i.error("permute_view"); });
  if (mlir::failed(result)) return {};
  return i.result<tile::PermuteViewOp>(*result, unwrap(view), order);
}

Value Builder::load(Value view, std::span<const Value> offsets, std::span<const std::int64_t> shape,
                    const Scalar* padding, bool inbounds) {
  Impl& i = *impl_;
  if (!i.ready("load", {view}, offsets)) return {};
  tile::ViewType type = i.view_of("load", view);
  if (!type) return {};
  std::vector<mlir::Value> at;
  for (Value v : offsets) at.push_back(i.offset("load", v));
  mlir::Attribute pad = i.padding("load", type, padding);
  if (i.failed()) return {};
  const tile::Sizes extents(shape.data(), shape.size());
  tile::MaybeType result = tile::infer_load(type, at.size(), extents, pad, [&] { return i.error("load"); });
  if (mlir::failed(result)) return {};
  Value out = i.result<tile::LoadOp>(*result, unwrap(view), at, pad, inbounds);
  if (!out || !shape.empty()) return out;
  return i.result<tile::ReshapeOp>(type.getElement(), unwrap(out));
}

void Builder::store(Value view, std::span<const Value> offsets, Value value, bool inbounds) {
  Impl& i = *impl_;
  if (!i.ready("store", {view, value}, offsets)) return;
  tile::ViewType type = i.view_of("store", view);
  if (!type) return;
  std::vector<mlir::Value> at;
  for (Value v : offsets) at.push_back(i.offset("store", v));
  if (i.failed()) return;
  mlir::Value stored = unwrap(value);
  auto error = [&] { return i.error("store"); };
  if (mlir::failed(tile::check_store(stored.getType(), type, at.size(), error))) return;
  if (!mlir::isa<mlir::RankedTensorType>(stored.getType()))
    stored = i.make<tile::ReshapeOp>(mlir::RankedTensorType::get({}, stored.getType()), stored);
  i.make<tile::StoreOp>(stored, unwrap(view), at, inbounds);
}

Value Builder::gather(Value view, std::span<const Value> indices, Value mask, const Scalar* padding, bool inbounds) {
  Impl& i = *impl_;
  std::optional<Access> a = prepare(i, "gather", view, indices, mask, {});
  if (!a) return {};
  mlir::Type type = check(i, "gather", *a);
  mlir::Attribute pad = i.padding("gather", a->view, padding);
  if (i.failed()) return {};
  return i.result<tile::GatherOp>(type, unwrap(view), a->indices, a->mask, pad, inbounds);
}

void Builder::scatter(Value view, std::span<const Value> indices, Value value, Value mask, bool inbounds) {
  Impl& i = *impl_;
  std::optional<Access> a = prepare(i, "scatter", view, indices, mask, {value});
  if (!a || !check(i, "scatter", *a)) return;
  i.make<tile::ScatterOp>(a->values[0], unwrap(view), a->indices, a->mask, inbounds);
}

Value Builder::atomic_rmw(Atomic kind, Value view, std::span<const Value> indices, Value value, Value mask, Order order,
                          Scope scope) {
  Impl& i = *impl_;
  std::optional<Access> a = prepare(i, "atomic_rmw", view, indices, mask, {value});
  mlir::Type type = a ? check(i, "atomic_rmw", *a) : mlir::Type();
  if (!type) return {};
  return i.result<tile::AtomicRmwOp>(type, static_cast<tile::AtomicKind>(kind), static_cast<tile::MemoryOrder>(order),
                                     static_cast<tile::MemoryScope>(scope), a->values[0], unwrap(view), a->indices,
                                     a->mask);
}

Value Builder::atomic_cas(Value view, std::span<const Value> indices, Value expected, Value desired, Value mask,
                          Order order, Scope scope) {
  Impl& i = *impl_;
  std::optional<Access> a = prepare(i, "atomic_cas", view, indices, mask, {expected, desired});
  mlir::Type type = a ? check(i, "atomic_cas", *a) : mlir::Type();
  if (!type) return {};
  return i.result<tile::AtomicCasOp>(type, static_cast<tile::MemoryOrder>(order), static_cast<tile::MemoryScope>(scope),
                                     a->values[0], a->values[1], unwrap(view), a->indices, a->mask);
}

void Builder::fence(Order order, Scope scope) {
  if (!impl_->ready("fence")) return;
  impl_->make<tile::FenceOp>(static_cast<tile::MemoryOrder>(order), static_cast<tile::MemoryScope>(scope));
}

}  // namespace epi::ir
