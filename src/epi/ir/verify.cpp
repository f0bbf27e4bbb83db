// The verifiers of the tile ops: each asks the typing rules (infer.h) what its result must be, and compares.
#include "epi/ir/infer.h"

namespace epi::tile {
namespace {

mlir::LogicalResult check_result(mlir::Operation* op, MaybeType wanted, unsigned i = 0) {
  if (mlir::failed(wanted)) return mlir::failure();
  if (op->getResult(i).getType() == *wanted) return mlir::success();
  return op->emitOpError() << "result is " << op->getResult(i).getType() << "; it must be " << *wanted;
}

mlir::LogicalResult check_results(mlir::Operation* op, const MaybeTypes& wanted) {
  if (mlir::failed(wanted)) return mlir::failure();
  if (op->getNumResults() != wanted->size())
    return op->emitOpError() << op->getNumResults() << " results; there must be " << wanted->size();
  for (unsigned i = 0; i < wanted->size(); ++i)
    if (mlir::failed(check_result(op, (*wanted)[i], i))) return mlir::failure();
  return mlir::success();
}

/// A fold's region: present exactly for kind = region, scalar, elementwise, without effects, yields one value a source.
mlir::LogicalResult check_region(mlir::Operation* op, CombineKind kind, mlir::TypeRange sources, mlir::Region& region) {
  if (kind != CombineKind::k_region) {
    if (region.empty()) return mlir::success();
    return op->emitOpError() << stringifyCombineKind(kind) << " has a region; only kind region takes one";
  }
  if (region.empty()) return op->emitOpError() << "kind region has no region";
  const size_t n = sources.size();
  mlir::Block& block = region.front();
  if (block.getNumArguments() != 2 * n)
    return op->emitOpError() << "region has " << block.getNumArguments() << " arguments; it must have " << 2 * n
                             << ", the left values and then the right ones";
  for (size_t i = 0; i < 2 * n; ++i)
    if (block.getArgument(i).getType() != element_of(sources[i % n]))
      return op->emitOpError() << "region argument " << i << " is " << describe(block.getArgument(i).getType())
                               << "; it must be " << describe(element_of(sources[i % n]));
  mlir::Operation* yield = block.getTerminator();
  if (yield->getNumOperands() != n)
    return op->emitOpError() << "region yields " << yield->getNumOperands() << " values; it must yield " << n;
  for (size_t i = 0; i < n; ++i)
    if (yield->getOperand(i).getType() != element_of(sources[i]))
      return op->emitOpError() << "region yields " << describe(yield->getOperand(i).getType()) << " as value " << i
                               << "; it must be " << describe(element_of(sources[i]));
  auto bad = region.walk([&](mlir::Operation* inner) {
    if (!mlir::isMemoryEffectFree(inner)) {
      op->emitOpError() << "region contains " << inner->getName() << "; it must be without effects on memory";
      return mlir::WalkResult::interrupt();
    }
    for (mlir::Type t : llvm::concat<const mlir::Type>(llvm::to_vector(inner->getOperandTypes()),
                                                       llvm::to_vector(inner->getResultTypes())))
      if (!find_dtype(t) || t != element_of(t)) {
        op->emitOpError() << "region contains " << inner->getName() << " on " << describe(t) << "; it works on scalars";
        return mlir::WalkResult::interrupt();
      }
    return mlir::WalkResult::advance();
  });
  return mlir::failure(bad.wasInterrupted());
}

mlir::LogicalResult check_grid_axis(mlir::Operation* op, int32_t axis) {
  if (axis >= 0 && axis < 3) return mlir::success();
  return op->emitOpError() << "axis " << axis << "; a grid's axes are 0, 1 and 2";
}

bool is_power_of_two(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

}  // namespace

#define ERROR [&] { return emitOpError(); }

// -- index and views
mlir::LogicalResult ProgramIdOp::verify() { return check_grid_axis(*this, static_cast<int32_t>(getAxis())); }
mlir::LogicalResult NumProgramsOp::verify() { return check_grid_axis(*this, static_cast<int32_t>(getAxis())); }
mlir::LogicalResult DimOp::verify() {
  return check_axis(static_cast<int32_t>(getAxis()), getView().getType().getRank(), ERROR);
}
mlir::LogicalResult StrideOp::verify() {
  return check_axis(static_cast<int32_t>(getAxis()), getView().getType().getRank(), ERROR);
}
mlir::LogicalResult SliceOp::verify() {
  // The base moves by an amount that only a constant start bounds: any alignment up to the source's may be claimed by
  // who knows it, but it must divide it.
  const ViewType source = getView().getType();
  const ViewType result = getResult().getType();
  MaybeType wanted = infer_slice(source, static_cast<int32_t>(getAxis()), 0, ERROR);
  if (mlir::failed(wanted)) return mlir::failure();
  auto full = mlir::cast<ViewType>(*wanted);
  if (source.getAlign() % result.getAlign() != 0)
    return emitOpError() << "result has alignment " << result.getAlign() << "; it must divide the source's, "
                         << source.getAlign();
  return check_result(*this,
                      mlir::Type(ViewType::get(getContext(), full.getElement(), full.getExtents(), full.getStrides(),
                                               full.getDivisors(), result.getAlign(), full.getAlias())));
}
mlir::LogicalResult PermuteViewOp::verify() {
  return check_result(*this, infer_permute_view(getView().getType(), getPerm(), ERROR));
}

// -- memory
mlir::LogicalResult LoadOp::verify() {
  return check_result(*this, infer_load(getView().getType(), getOffsets().size(), shape_of(getResult().getType()),
                                        getPaddingAttr(), ERROR));
}
mlir::LogicalResult StoreOp::verify() {
  return check_store(getValue().getType(), getView().getType(), getOffsets().size(), ERROR);
}
mlir::LogicalResult GatherOp::verify() {
  if (getPaddingAttr() && mlir::failed(check_padding(getPaddingAttr(), getView().getType().getElement(), ERROR)))
    return mlir::failure();
  return check_result(
      *this, infer_access(getView().getType(), getIndices().getTypes(), getMask() ? getMask().getType() : mlir::Type(),
                          shape_of(getResult().getType()), ERROR));
}
mlir::LogicalResult ScatterOp::verify() {
  const Sizes shape = shape_of(getValue().getType());
  if (mlir::failed(infer_access(getView().getType(), getIndices().getTypes(),
                                getMask() ? getMask().getType() : mlir::Type(), shape, ERROR)))
    return mlir::failure();
  return check_value(getValue().getType(), getView().getType(), shape, ERROR);
}
mlir::LogicalResult AtomicRmwOp::verify() {
  const ViewType view = getView().getType();
  const Sizes shape = shape_of(getResult().getType());
  if (mlir::failed(check_atomic(getKind(), getOrder(), view.getElement(), ERROR)) ||
      mlir::failed(check_value(getValue().getType(), view, shape, ERROR)))
    return mlir::failure();
  return check_result(
      *this, infer_access(view, getIndices().getTypes(), getMask() ? getMask().getType() : mlir::Type(), shape, ERROR));
}
mlir::LogicalResult AtomicCasOp::verify() {
  const ViewType view = getView().getType();
  const Sizes shape = shape_of(getResult().getType());
  if (mlir::failed(check_cas(getOrder(), view.getElement(), ERROR)) ||
      mlir::failed(check_value(getExpected().getType(), view, shape, ERROR)) ||
      mlir::failed(check_value(getDesired().getType(), view, shape, ERROR)))
    return mlir::failure();
  return check_result(
      *this, infer_access(view, getIndices().getTypes(), getMask() ? getMask().getType() : mlir::Type(), shape, ERROR));
}
mlir::LogicalResult FenceOp::verify() {
  if (getOrder() != MemoryOrder::k_weak && getOrder() != MemoryOrder::k_relaxed) return mlir::success();
  return emitOpError() << "order " << stringifyMemoryOrder(getOrder())
                       << " orders nothing; it must be acquire, release or acq_rel";
}

// -- creation and shape
mlir::LogicalResult ConstantOp::verify() {
  mlir::Type type = getResult().getType();
  if (!mlir::isa<mlir::RankedTensorType>(type)) return check_padding(getValue(), type, ERROR);
  auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(getValue());
  if (dense && dense.getType() == type) return mlir::success();
  return emitOpError() << "value is " << getValue() << "; it must be a dense constant of type " << type;
}
mlir::LogicalResult IotaOp::verify() {
  mlir::Type type = getResult().getType();
  return check_result(*this, [&]() -> MaybeType {
    MaybeType t = infer_iota(shape_of(type), element_of(type), static_cast<int64_t>(getAxis()), ERROR);
    return t;
  }());
}
mlir::LogicalResult BroadcastOp::verify() {
  return check_result(*this, infer_broadcast(getSource().getType(), shape_of(getResult().getType()), ERROR));
}
mlir::LogicalResult ReshapeOp::verify() {
  mlir::Type type = getResult().getType();
  MaybeType wanted = infer_reshape(getSource().getType(), shape_of(type), ERROR);
  if (mlir::failed(wanted)) return mlir::failure();
  // Rank 0 is the one shape that both a scalar and a tile have.
  if (element_of(type) == element_of(*wanted)) return mlir::success();
  return check_result(*this, wanted);
}
mlir::LogicalResult PermuteOp::verify() {
  return check_result(*this, infer_permute(getSource().getType(), getPerm(), ERROR));
}
mlir::LogicalResult CatOp::verify() {
  return check_result(*this, infer_cat(getSources().getTypes(), static_cast<int64_t>(getAxis()), ERROR));
}
mlir::LogicalResult ExtractOp::verify() {
  return check_result(*this,
                      infer_extract(getSource().getType(), getOffsets(), shape_of(getResult().getType()), ERROR));
}
mlir::LogicalResult InsertOp::verify() {
  return check_result(*this, infer_insert(getSource().getType(), getTarget().getType(), getOffsets(), ERROR));
}

// -- arithmetic
mlir::LogicalResult UnaryOp::verify() {
  return check_result(*this, infer_unary(getKind(), getOperand().getType(), ERROR));
}
mlir::LogicalResult BinaryOp::verify() {
  return check_result(*this, infer_binary(getKind(), getLhs().getType(), getRhs().getType(), getFlagZero(), ERROR));
}
mlir::LogicalResult FmaOp::verify() {
  return check_result(*this, infer_fma(getA().getType(), getB().getType(), getC().getType(), ERROR));
}
mlir::LogicalResult CompareOp::verify() {
  return check_result(*this, infer_compare(getKind(), getLhs().getType(), getRhs().getType(), ERROR));
}
mlir::LogicalResult SelectOp::verify() {
  return check_result(*this,
                      infer_select(getCondition().getType(), getOnTrue().getType(), getOnFalse().getType(), ERROR));
}
mlir::LogicalResult CastOp::verify() {
  return check_result(*this, infer_cast(getSource().getType(), element_of(getResult().getType()), ERROR));
}
mlir::LogicalResult BitcastOp::verify() {
  return check_result(*this, infer_bitcast(getSource().getType(), element_of(getResult().getType()), ERROR));
}

// -- collectives
mlir::LogicalResult ReduceOp::verify() {
  if (getLanes() && !is_power_of_two(static_cast<int64_t>(*getLanes())))
    return emitOpError() << "lanes is " << static_cast<int64_t>(*getLanes()) << "; it must be a power of two";
  mlir::TypeRange types = getSources().getTypes();
  if (mlir::failed(check_results(*this, infer_reduce(getKind(), types, static_cast<int64_t>(getAxis()), ERROR))))
    return mlir::failure();
  return check_region(*this, getKind(), types, getCombine());
}
mlir::LogicalResult ScanOp::verify() {
  if (getSegment() && static_cast<int64_t>(*getSegment()) < 1)
    return emitOpError() << "segment is " << static_cast<int64_t>(*getSegment()) << "; it must be at least 1";
  mlir::TypeRange types = getSources().getTypes();
  if (mlir::failed(check_results(*this, infer_scan(getKind(), types, static_cast<int64_t>(getAxis()), ERROR))))
    return mlir::failure();
  return check_region(*this, getKind(), types, getCombine());
}
mlir::LogicalResult TakeOp::verify() {
  return check_result(
      *this, infer_take(getSource().getType(), getIndices().getType(), static_cast<int64_t>(getAxis()), ERROR));
}
mlir::LogicalResult RankOp::verify() {
  const Sizes bins = shape_of(getCounts().getType());
  return check_results(*this, infer_rank(getDigits().getType(), bins.size() == 1 ? bins[0] : 0, ERROR));
}
mlir::LogicalResult LookbackOp::verify() {
  mlir::TypeRange types = getAggregates().getTypes();
  if (mlir::failed(
          check_results(*this, infer_lookback(getKind(), getState().getType(), types, getIdentities(), ERROR))) ||
      mlir::failed(check_region(*this, getKind(), types, getCombine())))
    return mlir::failure();
  auto function = (*this)->getParentOfType<mlir::func::FuncOp>();
  if (function && function->hasAttr(kKernelAttr) && !function->hasAttr(kAscendingAttr))
    return emitOpError() << "in kernel " << function.getName() << " without " << kAscendingAttr
                         << "; programs must start in ascending order";
  return mlir::success();
}
mlir::LogicalResult MmaOp::verify() {
  return check_result(*this, infer_mma(getA().getType(), getB().getType(), getAcc().getType(), ERROR));
}

// -- debug
mlir::LogicalResult AssertOp::verify() {
  if (is_bool(getCondition().getType())) return mlir::success();
  return emitOpError() << "condition is " << describe(getCondition().getType()) << "; it must be bool";
}
mlir::LogicalResult PrintOp::verify() {
  mlir::FailureOr<size_t> wanted = count_conversions(getFormat(), ERROR);
  if (mlir::failed(wanted)) return mlir::failure();
  if (*wanted == getValues().size()) return mlir::success();
  return emitOpError() << "format \"" << getFormat() << "\" has " << *wanted << " conversions for "
                       << getValues().size() << " values";
}

#undef ERROR

}  // namespace epi::tile
