// The builder's collectives and contraction.
#include "epi/ir/builder_impl.h"

namespace epi::ir {
namespace {

mlir::IntegerAttr optional_attr(Builder::Impl& i, std::int64_t value) {
  return value ? i.b.getI64IntegerAttr(value) : mlir::IntegerAttr();
}

/// The values' types; an error where one is a view.
std::optional<std::vector<mlir::Type>> tile_types(Builder::Impl& i, const char* op, std::span<const mlir::Value> v) {
  std::vector<mlir::Type> out;
  for (mlir::Value value : v) {
    out.push_back(value.getType());
    if (!mlir::isa<tile::ViewType>(out.back())) continue;
    i.error(op) << "got " << tile::describe(out.back()) << "; it takes scalars and tiles";
    return std::nullopt;
  }
  return out;
}

bool region_agrees(Builder::Impl& i, const char* op, Combine kind, const Builder::Region& region) {
  if ((kind == Combine::k_region) == static_cast<bool>(region)) return true;
  i.error(op) << (region ? "a region for a named kind; only kind region takes one" : "kind region without a region");
  return false;
}

}  // namespace

Values Builder::Impl::finish_fold(Builder& self, mlir::Operation* op, mlir::Region& region, Combine kind,
                                  mlir::TypeRange sources, const Region& build) {
  const std::size_t n = sources.size();
  if (kind == Combine::k_region) {
    mlir::OpBuilder::InsertionGuard guard(b);
    llvm::SmallVector<mlir::Type> types;
    for (std::size_t k = 0; k < 2 * n; ++k) types.push_back(tile::element_of(sources[k % n]));
    mlir::Block* block = b.createBlock(&region, {}, types, llvm::SmallVector<mlir::Location>(2 * n, loc));
    const Values all = wrap(mlir::ValueRange(block->getArguments()));
    const auto half = all.begin() + static_cast<std::ptrdiff_t>(n);
    const Values results = build(self, Values(all.begin(), half), Values(half, all.end()));
    if (!ready("region", {}, results)) return Values(n);
    b.create<tile::YieldOp>(loc, unwrap(results));
  }
  if (mlir::failed(op->getName().verifyInvariants(op)) || mlir::failed(op->getName().verifyRegionInvariants(op)))
    return Values(n);
  return wrap(mlir::ValueRange(op->getResults()));
}

Values Builder::reduce(Combine kind, std::span<const Value> tiles, int axis, std::int64_t lanes, const Region& region) {
  Impl& i = *impl_;
  if (!i.ready("reduce", {}, tiles) || !region_agrees(i, "reduce", kind, region)) return Values(tiles.size());
  const std::vector<mlir::Value> v = unwrap(tiles);
  const auto types = tile_types(i, "reduce", v);
  if (!types) return Values(tiles.size());
  const std::int64_t at = Impl::wrap_axis(axis, types->empty() ? 0 : tile::shape_of(types->front()).size());
  const auto k = static_cast<tile::CombineKind>(kind);
  tile::MaybeTypes results = tile::infer_reduce(k, *types, at, [&] { return i.error("reduce"); });
  if (mlir::failed(results)) return Values(tiles.size());
  auto op = i.b.create<tile::ReduceOp>(i.loc, *results, k, v, static_cast<std::uint64_t>(at), optional_attr(i, lanes));
  return i.finish_fold(*this, op, op.getCombine(), kind, *types, region);
}

Values Builder::scan(Combine kind, std::span<const Value> tiles, int axis, bool reverse, std::int64_t segment,
                     const Region& region) {
  Impl& i = *impl_;
  if (!i.ready("scan", {}, tiles) || !region_agrees(i, "scan", kind, region)) return Values(tiles.size());
  const std::vector<mlir::Value> v = unwrap(tiles);
  const auto types = tile_types(i, "scan", v);
  if (!types) return Values(tiles.size());
  const std::int64_t at = Impl::wrap_axis(axis, types->empty() ? 0 : tile::shape_of(types->front()).size());
  const auto k = static_cast<tile::CombineKind>(kind);
  tile::MaybeTypes results = tile::infer_scan(k, *types, at, [&] { return i.error("scan"); });
  if (mlir::failed(results)) return Values(tiles.size());
  auto op = i.b.create<tile::ScanOp>(i.loc, *results, k, v, static_cast<std::uint64_t>(at), reverse,
                                     optional_attr(i, segment));
  return i.finish_fold(*this, op, op.getCombine(), kind, *types, region);
}

Value Builder::take(Value source, Value indices, int axis) {
  Impl& i = *impl_;
  if (!i.ready("take", {source, indices})) return {};
  mlir::Value by = unwrap(indices);
  mlir::Type element = tile::element_of(by.getType());
  if (mlir::isa<mlir::IntegerType>(element) && !element.isSignlessInteger() &&
      mlir::isa<mlir::RankedTensorType>(by.getType()))
    by = i.make<tile::CastOp>(tile::with_element(by.getType(), i.b.getI64Type()), tile::CastMode::k_wrap, by);
  const std::int64_t at = Impl::wrap_axis(axis, tile::shape_of(unwrap(source).getType()).size());
  tile::MaybeType type = tile::infer_take(unwrap(source).getType(), by.getType(), at, [&] { return i.error("take"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::TakeOp>(*type, unwrap(source), by, static_cast<std::uint64_t>(at));
}

Builder::Ranked Builder::rank(Value digits, std::int64_t bins) {
  Impl& i = *impl_;
  if (!i.ready("rank", {digits})) return {};
  tile::MaybeTypes types = tile::infer_rank(unwrap(digits).getType(), bins, [&] { return i.error("rank"); });
  if (mlir::failed(types)) return {};
  auto op = i.make<tile::RankOp>((*types)[0], (*types)[1], unwrap(digits));
  if (!op) return {};
  return {wrap(op.getRanks()), wrap(op.getCounts())};
}

Values Builder::lookback(Combine kind, Value state, std::span<const Value> aggregates,
                         std::span<const Scalar> identities, const Region& region) {
  Impl& i = *impl_;
  if (!i.ready("lookback", {state}, aggregates) || !region_agrees(i, "lookback", kind, region))
    return Values(aggregates.size());
  const std::vector<mlir::Value> v = unwrap(aggregates);
  const auto types = tile_types(i, "lookback", v);
  if (!types) return Values(aggregates.size());
  llvm::SmallVector<mlir::Attribute> neutral;
  for (const Scalar& s : identities) neutral.push_back(tile::scalar_attr(i.element(s.dtype), s));
  const auto k = static_cast<tile::CombineKind>(kind);
  mlir::ArrayAttr array = i.b.getArrayAttr(neutral);
  tile::MaybeTypes results =
      tile::infer_lookback(k, unwrap(state).getType(), *types, array, [&] { return i.error("lookback"); });
  if (mlir::failed(results)) return Values(aggregates.size());
  auto op = i.b.create<tile::LookbackOp>(i.loc, *results, k, unwrap(state), v, array);
  return i.finish_fold(*this, op, op.getCombine(), kind, *types, region);
}

Value Builder::mma(Value a, Value b, Value acc) {
  Impl& i = *impl_;
  if (!i.ready("mma", {a, b, acc})) return {};
  tile::MaybeType type =
      tile::infer_mma(unwrap(a).getType(), unwrap(b).getType(), unwrap(acc).getType(), [&] { return i.error("mma"); });
  if (mlir::failed(type)) return {};
  return i.result<tile::MmaOp>(*type, unwrap(a), unwrap(b), unwrap(acc));
}

}  // namespace epi::ir
