// The typing rules of the tile ops, once: verifiers and the builder both ask here, so both say the same. Each function
// gives the result's type or reports through `error` what was got and what is accepted.
#pragma once
#include <llvm/ADT/STLFunctionalExtras.h>

#include "epi/ir/dialect.h"

namespace epi::tile {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;
using MaybeType = mlir::FailureOr<mlir::Type>;
using MaybeTypes = mlir::FailureOr<llvm::SmallVector<mlir::Type>>;
using Sizes = llvm::ArrayRef<int64_t>;

/// "float32", "float32[4, 8]", "view of float32[?, 8]": how messages name a type.
std::string describe(mlir::Type type);
std::string describe(Sizes shape);
/// A tile, or a scalar where `shape` is empty.
mlir::Type tile_or_scalar(Sizes shape, mlir::Type element);
/// `like` with another element type.
mlir::Type with_element(mlir::Type like, mlir::Type element);
/// Letter of a type's element: i (also unsigned), f, c or b.
char letter_of(mlir::Type type);
/// Whether the element is bool.
inline bool is_bool(mlir::Type type) { return element_of(type).isInteger(1); }
/// Bytes of one element as it lies in memory.
inline int64_t bytes_of(mlir::Type type) { return static_cast<int64_t>(size_bytes(dtype_of(type))); }

// -- elementwise (infer_elementwise.cpp)
MaybeType infer_unary(UnaryKind kind, mlir::Type operand, EmitError error);
MaybeType infer_binary(BinaryKind kind, mlir::Type lhs, mlir::Type rhs, bool flag_zero, EmitError error);
MaybeType infer_compare(CompareKind kind, mlir::Type lhs, mlir::Type rhs, EmitError error);
MaybeType infer_fma(mlir::Type a, mlir::Type b, mlir::Type c, EmitError error);
MaybeType infer_select(mlir::Type condition, mlir::Type on_true, mlir::Type on_false, EmitError error);
MaybeType infer_cast(mlir::Type source, mlir::Type element, EmitError error);
MaybeType infer_bitcast(mlir::Type source, mlir::Type element, EmitError error);
mlir::LogicalResult check_combine(CombineKind kind, mlir::Type element, EmitError error);

// -- shape (infer_shape.cpp)
mlir::LogicalResult check_axis(int64_t axis, size_t rank, EmitError error);
MaybeType infer_iota(Sizes shape, mlir::Type element, int64_t axis, EmitError error);
MaybeType infer_broadcast(mlir::Type source, Sizes shape, EmitError error);
MaybeType infer_reshape(mlir::Type source, Sizes shape, EmitError error);
MaybeType infer_permute(mlir::Type source, Sizes perm, EmitError error);
MaybeType infer_cat(mlir::TypeRange sources, int64_t axis, EmitError error);
MaybeType infer_extract(mlir::Type source, Sizes offsets, Sizes shape, EmitError error);
MaybeType infer_insert(mlir::Type source, mlir::Type target, Sizes offsets, EmitError error);
MaybeTypes infer_reduce(CombineKind kind, mlir::TypeRange sources, int64_t axis, EmitError error);
MaybeTypes infer_scan(CombineKind kind, mlir::TypeRange sources, int64_t axis, EmitError error);
MaybeType infer_take(mlir::Type source, mlir::Type indices, int64_t axis, EmitError error);
MaybeTypes infer_rank(mlir::Type digits, int64_t bins, EmitError error);
MaybeTypes infer_lookback(CombineKind kind, mlir::Type state, mlir::TypeRange aggregates, mlir::ArrayAttr identities,
                          EmitError error);
MaybeType infer_mma(mlir::Type a, mlir::Type b, mlir::Type acc, EmitError error);

// -- views and memory (infer_memory.cpp)
MaybeType infer_slice(ViewType view, int64_t axis, std::optional<int64_t> start, EmitError error);
MaybeType infer_permute_view(ViewType view, Sizes perm, EmitError error);
MaybeType infer_load(ViewType view, size_t offsets, Sizes shape, mlir::Attribute padding, EmitError error);
mlir::LogicalResult check_store(mlir::Type value, ViewType view, size_t offsets, EmitError error);
/// The result of an access per element; `mask` may be null. `values` have the view's element and the indices' shape.
MaybeType infer_access(ViewType view, mlir::TypeRange indices, mlir::Type mask, Sizes shape, EmitError error);
mlir::LogicalResult check_value(mlir::Type value, ViewType view, Sizes shape, EmitError error);
mlir::LogicalResult check_padding(mlir::Attribute padding, mlir::Type element, EmitError error);
mlir::LogicalResult check_atomic(AtomicKind kind, MemoryOrder order, mlir::Type element, EmitError error);
mlir::LogicalResult check_cas(MemoryOrder order, mlir::Type element, EmitError error);
/// The number of values that a C format asks for, or an error.
mlir::FailureOr<size_t> count_conversions(llvm::StringRef format, EmitError error);

}  // namespace epi::tile
