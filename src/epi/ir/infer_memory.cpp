// Types of ops on views and memory.
#include <numeric>

#include "epi/ir/infer.h"

namespace epi::tile {
namespace {

mlir::LogicalResult check_element(mlir::Type got, ViewType view, EmitError error) {
  if (element_of(got) == view.getElement()) return mlir::success();
  return error() << describe(got) << " for a " << describe(view) << "; dtypes must be equal";
}

mlir::LogicalResult check_rank(llvm::StringRef what, size_t got, ViewType view, EmitError error) {
  if (got == view.getRank()) return mlir::success();
  return error() << got << " " << what << " for a " << describe(view) << "; its " << view.getRank()
                 << " axes need one each";
}

mlir::LogicalResult check_order(MemoryOrder order, EmitError error) {
  if (order != MemoryOrder::k_weak) return mlir::success();
  return error() << "order weak; an atomic access is relaxed, acquire, release or acq_rel";
}

}  // namespace

MaybeType infer_slice(ViewType view, int64_t axis, std::optional<int64_t> start, EmitError error) {
  if (mlir::failed(check_axis(axis, view.getRank(), error))) return mlir::failure();
  llvm::SmallVector<int64_t> extents(view.getExtents());
  extents[axis] = mlir::ShapedType::kDynamic;
  int64_t align = view.getAlign();
  if (!start || *start != 0) {
    const int64_t stride = view.getStrides()[axis];
    const int64_t step = mlir::ShapedType::isDynamic(stride) ? view.getDivisors()[axis] : stride;
    align = std::gcd(align, step * bytes_of(view));
  }
  return mlir::Type(ViewType::get(view.getContext(), view.getElement(), extents, view.getStrides(), view.getDivisors(),
                                  std::max<int64_t>(align, 1), view.getAlias()));
}

MaybeType infer_permute_view(ViewType view, Sizes perm, EmitError error) {
  const size_t rank = view.getRank();
  llvm::SmallVector<bool> seen(rank, false);
  bool good = perm.size() == rank;
  for (size_t i = 0; good && i < rank; ++i) {
    good = perm[i] >= 0 && perm[i] < static_cast<int64_t>(rank) && !seen[perm[i]];
    if (good) seen[perm[i]] = true;
  }
  if (!good)
    return error() << "permutation " << describe(perm) << " of a " << describe(view) << "; it must name each of the "
                   << rank << " axes once";
  auto pick = [&](Sizes from) {
    llvm::SmallVector<int64_t> to;
    for (int64_t p : perm) to.push_back(from[p]);
    return to;
  };
  return mlir::Type(ViewType::get(view.getContext(), view.getElement(), pick(view.getExtents()),
                                  pick(view.getStrides()), pick(view.getDivisors()), view.getAlign(), view.getAlias()));
}

mlir::LogicalResult check_padding(mlir::Attribute padding, mlir::Type element, EmitError error) {
  if (auto typed = mlir::dyn_cast<mlir::TypedAttr>(padding); typed && typed.getType() == element)
    return mlir::success();
  if (auto complex = mlir::dyn_cast<mlir::ComplexType>(element))
    if (auto parts = mlir::dyn_cast<mlir::ArrayAttr>(padding); parts && parts.size() == 2)
      if (llvm::all_of(parts, [&](mlir::Attribute p) {
            auto f = mlir::dyn_cast<mlir::FloatAttr>(p);
            return f && f.getType() == complex.getElementType();
          }))
        return mlir::success();
  return error() << "constant " << padding << "; it must be a " << describe(element) << " scalar";
}

MaybeType infer_load(ViewType view, size_t offsets, Sizes shape, mlir::Attribute padding, EmitError error) {
  if (mlir::failed(check_rank("offsets", offsets, view, error)) ||
      mlir::failed(check_rank("tile extents", shape.size(), view, error)))
    return mlir::failure();
  if (padding && mlir::failed(check_padding(padding, view.getElement(), error))) return mlir::failure();
  return mlir::Type(mlir::RankedTensorType::get(shape, view.getElement()));
}

mlir::LogicalResult check_store(mlir::Type value, ViewType view, size_t offsets, EmitError error) {
  if (mlir::failed(check_rank("offsets", offsets, view, error)) ||
      mlir::failed(check_rank("tile extents", shape_of(value).size(), view, error)))
    return mlir::failure();
  return check_element(value, view, error);
}

MaybeType infer_access(ViewType view, mlir::TypeRange indices, mlir::Type mask, Sizes shape, EmitError error) {
  if (mlir::failed(check_rank("indices", indices.size(), view, error))) return mlir::failure();
  for (mlir::Type t : indices)
    if (shape_of(t) != shape || !(element_of(t).isSignlessInteger(32) || element_of(t).isSignlessInteger(64)))
      return error() << "index is " << describe(t) << "; it must be int32 or int64 of shape " << describe(shape);
  if (mask && (shape_of(mask) != shape || !is_bool(mask)))
    return error() << "mask is " << describe(mask) << "; it must be bool of shape " << describe(shape);
  return tile_or_scalar(shape, view.getElement());
}

mlir::LogicalResult check_value(mlir::Type value, ViewType view, Sizes shape, EmitError error) {
  if (shape_of(value) != shape)
    return error() << "value is " << describe(value) << "; it must have the indices' shape " << describe(shape);
  return check_element(value, view, error);
}

mlir::LogicalResult check_atomic(AtomicKind kind, MemoryOrder order, mlir::Type element, EmitError error) {
  llvm::StringRef letters;
  switch (kind) {
    case AtomicKind::k_add:
    case AtomicKind::k_minimum:
    case AtomicKind::k_maximum:
      letters = "if";
      break;
    case AtomicKind::k_bitand:
    case AtomicKind::k_bitor:
    case AtomicKind::k_bitxor:
      letters = "i";
      break;
    case AtomicKind::k_exchange:
      letters = "ifc";
      break;
  }
  if (!letters.contains(letter_of(element)) || bytes_of(element) > 8)
    return error() << stringifyAtomicKind(kind) << " of " << describe(element)
                   << "; add, minimum and maximum take integers and floats, bit operations integers, exchange anything "
                      "but bool of at most 8 bytes";
  return check_order(order, error);
}

mlir::LogicalResult check_cas(MemoryOrder order, mlir::Type element, EmitError error) {
  if (is_bool(element) || bytes_of(element) > 8)
    return error() << "compare-and-swap of " << describe(element) << "; it takes anything but bool of at most 8 bytes";
  return check_order(order, error);
}

mlir::FailureOr<size_t> count_conversions(llvm::StringRef format, EmitError error) {
  size_t count = 0;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    if (i + 1 < format.size() && format[i + 1] == '%') {
      ++i;
      continue;
    }
    size_t j = format.find_first_not_of("-+ #0123456789.lhzjt", i + 1);
    if (j == llvm::StringRef::npos || !llvm::StringRef("diouxXeEfFgGaA").contains(format[j]))
      return error() << "format \"" << format << "\" has a conversion that is none of d i o u x X e E f F g G a A";
    ++count;
    i = j;
  }
  return count;
}

}  // namespace epi::tile
