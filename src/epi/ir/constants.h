// Scalars as MLIR attributes and back: what tile.constant, padding and identities hold.
#pragma once
#include "epi/ir/builder.h"
#include "epi/ir/dialect.h"

namespace epi::tile {

/// The attribute of `value` as a scalar of element type `element`: IntegerAttr (wrapped to the width), FloatAttr
/// (rounded to nearest even), or an ArrayAttr of two FloatAttrs for complex.
mlir::Attribute scalar_attr(mlir::Type element, const ir::Scalar& value);
/// The same scalar repeated over a tile's type.
mlir::DenseElementsAttr splat_attr(mlir::RankedTensorType type, const ir::Scalar& value);
/// The scalar that an attribute of element type `element` holds; a dense constant gives element `index`.
ir::Scalar scalar_of(mlir::Attribute attribute, mlir::Type element, int64_t index = 0);
/// The zero of an element type.
mlir::Attribute zero_attr(mlir::Type element);

}  // namespace epi::tile
