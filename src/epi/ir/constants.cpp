// Scalars as attributes. Doubles hold every float dtype exactly, so a Scalar loses nothing on the way back.
#include "epi/ir/constants.h"

namespace epi::tile {
namespace {

llvm::APFloat rounded(mlir::Type type, double value) {
  llvm::APFloat out(value);
  bool loses = false;
  out.convert(mlir::cast<mlir::FloatType>(type).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return out;
}

double widened(llvm::APFloat value) {
  bool loses = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

llvm::APInt wrapped(mlir::Type type, int64_t value) {
  const unsigned width = mlir::cast<mlir::IntegerType>(type).getWidth();
  return llvm::APInt(64, static_cast<uint64_t>(width == 1 ? value != 0 : value)).trunc(width);
}

int64_t bits_of(mlir::Type type, const llvm::APInt& value) {
  const auto integer = mlir::cast<mlir::IntegerType>(type);
  const bool zero_extend = integer.isUnsigned() || integer.getWidth() == 1;
  return zero_extend ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue();
}

}  // namespace

mlir::Attribute scalar_attr(mlir::Type element, const ir::Scalar& value) {
  if (mlir::isa<mlir::IntegerType>(element)) return mlir::IntegerAttr::get(element, wrapped(element, value.i));
  if (mlir::isa<mlir::FloatType>(element)) return mlir::FloatAttr::get(element, rounded(element, value.c.real()));
  mlir::Type part = mlir::cast<mlir::ComplexType>(element).getElementType();
  return mlir::ArrayAttr::get(element.getContext(), {mlir::FloatAttr::get(part, rounded(part, value.c.real())),
                                                     mlir::FloatAttr::get(part, rounded(part, value.c.imag()))});
}

mlir::DenseElementsAttr splat_attr(mlir::RankedTensorType type, const ir::Scalar& value) {
  mlir::Type element = type.getElementType();
  if (mlir::isa<mlir::IntegerType>(element)) return mlir::DenseElementsAttr::get(type, wrapped(element, value.i));
  if (mlir::isa<mlir::FloatType>(element)) return mlir::DenseElementsAttr::get(type, rounded(element, value.c.real()));
  mlir::Type part = mlir::cast<mlir::ComplexType>(element).getElementType();
  return mlir::DenseElementsAttr::get(
      type, std::complex<llvm::APFloat>(rounded(part, value.c.real()), rounded(part, value.c.imag())));
}

ir::Scalar scalar_of(mlir::Attribute attribute, mlir::Type element, int64_t index) {
  ir::Scalar out;
  out.dtype = dtype_of(element);
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(attribute)) {
    const int64_t at = dense.isSplat() ? 0 : index;
    if (mlir::isa<mlir::IntegerType>(element)) {
      out.i = bits_of(element, *(dense.value_begin<llvm::APInt>() + at));
    } else if (mlir::isa<mlir::FloatType>(element)) {
      out.c = widened(*(dense.value_begin<llvm::APFloat>() + at));
    } else {
      const std::complex<llvm::APFloat> v = *(dense.value_begin<std::complex<llvm::APFloat>>() + at);
      out.c = {widened(v.real()), widened(v.imag())};
    }
    return out;
  }
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) {
    out.i = bits_of(element, integer.getValue());
  } else if (auto real = mlir::dyn_cast<mlir::FloatAttr>(attribute)) {
    out.c = widened(real.getValue());
  } else {
    auto parts = mlir::cast<mlir::ArrayAttr>(attribute);
    out.c = {widened(mlir::cast<mlir::FloatAttr>(parts[0]).getValue()),
             widened(mlir::cast<mlir::FloatAttr>(parts[1]).getValue())};
  }
  return out;
}

mlir::Attribute zero_attr(mlir::Type element) { return scalar_attr(element, {dtype_of(element), 0, {}}); }

}  // namespace epi::tile
