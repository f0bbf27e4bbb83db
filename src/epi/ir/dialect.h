// The tile dialect's C++ classes. MLIR is visible here: only ir/, compiler/ and backend/*/target include this.
#pragma once
#include <mlir/Bytecode/BytecodeOpInterface.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/Attributes.h>
#include <mlir/IR/Builders.h>
#include <mlir/IR/BuiltinAttributes.h>
#include <mlir/IR/BuiltinOps.h>
#include <mlir/IR/BuiltinTypes.h>
#include <mlir/IR/Dialect.h>
#include <mlir/IR/OpDefinition.h>
#include <mlir/IR/OpImplementation.h>
#include <mlir/IR/OwningOpRef.h>
#include <mlir/Interfaces/ControlFlowInterfaces.h>
#include <mlir/Interfaces/InferTypeOpInterface.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>

#include "epi/base/dtype.h"
#include "epi/base/status.h"
#include "epi/ir/dialect.h.inc"
#include "epi/ir/enums.h.inc"
#include "epi/ir/kinds.h"
#define GET_ATTRDEF_CLASSES
#include "epi/ir/attrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "epi/ir/types.h.inc"
#define GET_OP_CLASSES
#include "epi/ir/ops.h.inc"

namespace epi::tile {

/// A kernel is a func.func with this unit attribute; helper functions are func.func without it.
inline constexpr char kKernelAttr[] = "tile.kernel";
/// Programs start in ascending linear order (lookback needs it).
inline constexpr char kAscendingAttr[] = "tile.ascending";

/// The MLIR element type of a dtype: signless for bool and signed integers, unsigned for unsigned ones.
mlir::Type element_type(mlir::MLIRContext* context, DType dtype);
/// The dtype of an element type (or of a tile's or view's element), which must have one.
DType dtype_of(mlir::Type type);
/// The same; nothing where the type has no dtype (index, i4, ...).
std::optional<DType> find_dtype(mlir::Type type);
/// A tile's shape; empty for scalars.
inline llvm::ArrayRef<int64_t> shape_of(mlir::Type type) {
  auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tile ? tile.getShape() : llvm::ArrayRef<int64_t>{};
}
/// Elements of a tile; 1 for scalars.
inline int64_t size_of(mlir::Type type) {
  auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tile ? tile.getNumElements() : 1;
}
inline mlir::Type element_of(mlir::Type type) {
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type)) return tile.getElementType();
  if (auto view = mlir::dyn_cast<ViewType>(type)) return view.getElement();
  return type;
}
/// A context with tile, func and scf loaded, threading off.
std::unique_ptr<mlir::MLIRContext> make_context();

}  // namespace epi::tile
