// Folders: scalar integer arithmetic, comparisons and casts of constants (index computations are full of them), and
// identities that are exact for every value. Floats are never folded here: back ends own their bits.
#include "epi/ir/constants.h"
#include "epi/ir/infer.h"

namespace epi::tile {
namespace {

/// A scalar integer (or bool) constant.
std::optional<llvm::APInt> constant_of(mlir::Attribute attribute) {
  auto integer = mlir::dyn_cast_or_null<mlir::IntegerAttr>(attribute);
  if (!integer) return std::nullopt;
  return integer.getValue();
}

bool is_unsigned(mlir::Type type) {
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  return integer && (integer.isUnsigned() || integer.getWidth() == 1);
}

llvm::APInt floor_divide(const llvm::APInt& a, const llvm::APInt& b, bool is_unsigned) {
  if (is_unsigned) return a.udiv(b);
  llvm::APInt q;
  llvm::APInt r;
  llvm::APInt::sdivrem(a, b, q, r);
  return !r.isZero() && r.isNegative() != b.isNegative() ? q - 1 : q;
}

llvm::APInt shift(BinaryKind kind, const llvm::APInt& a, const llvm::APInt& by, bool is_unsigned) {
  const unsigned width = a.getBitWidth();
  const bool over = by.uge(width);  // a negative count is huge here
  const unsigned n = over ? width : static_cast<unsigned>(by.getZExtValue());
  if (kind == BinaryKind::k_shl) return over ? llvm::APInt(width, 0) : a.shl(n);
  if (is_unsigned) return over ? llvm::APInt(width, 0) : a.lshr(n);
  return a.ashr(over ? width - 1 : n);
}

std::optional<llvm::APInt> divide(BinaryKind kind, const llvm::APInt& a, const llvm::APInt& b, bool u) {
  if (b.isZero()) return llvm::APInt(a.getBitWidth(), 0);
  switch (kind) {
    case BinaryKind::k_floordiv:
      return floor_divide(a, b, u);
    case BinaryKind::k_mod:
      return a - floor_divide(a, b, u) * b;
    case BinaryKind::k_truncdiv:
      return u ? a.udiv(b) : a.sdiv(b);
    case BinaryKind::k_rem:
      return u ? a.urem(b) : a.srem(b);
    default:
      return std::nullopt;
  }
}

std::optional<llvm::APInt> evaluate(BinaryKind kind, const llvm::APInt& a, const llvm::APInt& b, bool u) {
  switch (kind) {
    case BinaryKind::k_add:
      return a + b;
    case BinaryKind::k_sub:
      return a - b;
    case BinaryKind::k_mul:
      return a * b;
    case BinaryKind::k_floordiv:
    case BinaryKind::k_mod:
    case BinaryKind::k_truncdiv:
    case BinaryKind::k_rem:
      return divide(kind, a, b, u);
    case BinaryKind::k_minimum:
    case BinaryKind::k_fmin:
      return (u ? a.ult(b) : a.slt(b)) ? a : b;
    case BinaryKind::k_maximum:
    case BinaryKind::k_fmax:
      return (u ? a.ugt(b) : a.sgt(b)) ? a : b;
    case BinaryKind::k_bitand:
      return a & b;
    case BinaryKind::k_bitor:
      return a | b;
    case BinaryKind::k_bitxor:
      return a ^ b;
    case BinaryKind::k_shl:
    case BinaryKind::k_shr:
      return shift(kind, a, b, u);
    default:
      return std::nullopt;
  }
}

bool evaluate(CompareKind kind, const llvm::APInt& a, const llvm::APInt& b, bool u) {
  switch (kind) {
    case CompareKind::k_eq:
      return a == b;
    case CompareKind::k_ne:
      return a != b;
    case CompareKind::k_lt:
      return u ? a.ult(b) : a.slt(b);
    case CompareKind::k_le:
      return u ? a.ule(b) : a.sle(b);
    case CompareKind::k_gt:
      return u ? a.ugt(b) : a.sgt(b);
    case CompareKind::k_ge:
      return u ? a.uge(b) : a.sge(b);
  }
  return false;
}

/// x op c gives x itself, for integers: + 0, - 0, * 1, // 1, shifts by 0, | 0, ^ 0.
bool keeps_lhs(BinaryKind kind, const llvm::APInt& c) {
  switch (kind) {
    case BinaryKind::k_add:
    case BinaryKind::k_sub:
    case BinaryKind::k_bitor:
    case BinaryKind::k_bitxor:
    case BinaryKind::k_shl:
    case BinaryKind::k_shr:
      return c.isZero();
    case BinaryKind::k_mul:
    case BinaryKind::k_floordiv:
    case BinaryKind::k_truncdiv:
      return c.isOne();
    default:
      return false;
  }
}

bool commutes(BinaryKind kind) {
  return kind == BinaryKind::k_add || kind == BinaryKind::k_mul || kind == BinaryKind::k_bitor ||
         kind == BinaryKind::k_bitxor;
}

/// A scalar integer constant, or the one value of an integer splat.
std::optional<llvm::APInt> uniform_of(mlir::Attribute attribute) {
  if (auto dense = mlir::dyn_cast_or_null<mlir::DenseIntElementsAttr>(attribute); dense && dense.isSplat())
    return dense.getSplatValue<llvm::APInt>();
  return constant_of(attribute);
}

}  // namespace

mlir::OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

mlir::OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  return getSource().getType() == getResult().getType() ? mlir::OpFoldResult(getSource()) : mlir::OpFoldResult();
}

mlir::OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getSource().getType() == getResult().getType()) return getSource();
  auto before = getSource().getDefiningOp<ReshapeOp>();
  if (before && before.getSource().getType() == getResult().getType()) return before.getSource();
  return {};
}

mlir::OpFoldResult PermuteOp::fold(FoldAdaptor) {
  for (size_t i = 0; i < getPerm().size(); ++i)
    if (getPerm()[i] != static_cast<int64_t>(i)) return {};
  return getSource();
}

mlir::OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  if (!mlir::isa<mlir::IntegerType>(element_of(getLhs().getType()))) return {};
  const std::optional<llvm::APInt> rhs = uniform_of(adaptor.getRhs());
  if (getFlagZero() && (!rhs || rhs->isZero())) return {};
  if (rhs && keeps_lhs(getKind(), *rhs)) return getLhs();
  const std::optional<llvm::APInt> lhs = uniform_of(adaptor.getLhs());
  if (lhs && commutes(getKind()) && keeps_lhs(getKind(), *lhs)) return getRhs();
  mlir::Type type = getResult().getType();
  if (!lhs || !rhs || mlir::isa<mlir::RankedTensorType>(type)) return {};
  const std::optional<llvm::APInt> value = evaluate(getKind(), *lhs, *rhs, is_unsigned(type));
  return value ? mlir::OpFoldResult(mlir::IntegerAttr::get(type, *value)) : mlir::OpFoldResult();
}

mlir::OpFoldResult CompareOp::fold(FoldAdaptor adaptor) {
  const std::optional<llvm::APInt> lhs = constant_of(adaptor.getLhs());
  const std::optional<llvm::APInt> rhs = constant_of(adaptor.getRhs());
  if (!lhs || !rhs) return {};
  return mlir::BoolAttr::get(getContext(), evaluate(getKind(), *lhs, *rhs, is_unsigned(getLhs().getType())));
}

mlir::OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getOnTrue() == getOnFalse()) return getOnTrue();
  const std::optional<llvm::APInt> condition = uniform_of(adaptor.getCondition());
  if (!condition) return {};
  return condition->isZero() ? getOnFalse() : getOnTrue();
}

mlir::OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  const std::optional<llvm::APInt> value = constant_of(adaptor.getSource());
  auto to = mlir::dyn_cast<mlir::IntegerType>(getResult().getType());
  if (!value || !to || getMode() != CastMode::k_wrap) return {};
  if (to.getWidth() == 1) return mlir::BoolAttr::get(getContext(), !value->isZero());
  const bool zero_extend = is_unsigned(getSource().getType());
  const unsigned width = to.getWidth();
  return mlir::IntegerAttr::get(to, zero_extend ? value->zextOrTrunc(width) : value->sextOrTrunc(width));
}

}  // namespace epi::tile
