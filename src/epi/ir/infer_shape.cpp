// Types of ops that make, reshape or fold tiles.
#include <numeric>

#include <llvm/Support/raw_ostream.h>

#include "epi/ir/infer.h"

namespace epi::tile {
namespace {

using Shape = llvm::SmallVector<int64_t>;

mlir::Type i32(mlir::Type like) { return mlir::IntegerType::get(like.getContext(), 32); }

mlir::LogicalResult check_tile(llvm::StringRef what, mlir::Type type, EmitError error) {
  if (mlir::isa<mlir::RankedTensorType>(type)) return mlir::success();
  return error() << what << " is " << describe(type) << "; it must be a tile";
}

mlir::LogicalResult check_part(Sizes part, Sizes whole, Sizes offsets, EmitError error) {
  if (part.size() != whole.size() || offsets.size() != whole.size())
    return error() << "part " << describe(part) << " at offsets " << describe(offsets) << " of a tile "
                   << describe(whole) << "; part and offsets need one number an axis";
  for (size_t i = 0; i < whole.size(); ++i)
    if (offsets[i] < 0 || offsets[i] + part[i] > whole[i])
      return error() << "part " << describe(part) << " at offsets " << describe(offsets) << " leaves the tile "
                     << describe(whole) << " on axis " << i;
  return mlir::success();
}

/// What reduce and scan ask of their sources.
mlir::LogicalResult check_fold(CombineKind kind, mlir::TypeRange sources, EmitError error) {
  if (sources.empty()) return error() << "no source; at least one is needed";
  if (kind != CombineKind::k_region && sources.size() != 1)
    return error() << stringifyCombineKind(kind) << " got " << sources.size() << " sources; several need a region";
  for (mlir::Type t : sources) {
    if (shape_of(t) != shape_of(sources[0]) ||
        mlir::isa<mlir::RankedTensorType>(t) != mlir::isa<mlir::RankedTensorType>(sources[0]))
      return error() << "sources are " << describe(sources[0]) << " and " << describe(t)
                     << "; they must have one shape";
    if (mlir::failed(check_combine(kind, t, error))) return mlir::failure();
  }
  return mlir::success();
}

}  // namespace

std::string describe(Sizes shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i) out += ", ";
    out += mlir::ShapedType::isDynamic(shape[i]) ? "?" : std::to_string(shape[i]);
  }
  return out + "]";
}

std::string describe(mlir::Type type) {
  if (!type) return "nothing";
  const std::optional<DType> dtype = find_dtype(type);
  if (!dtype) {
    std::string out;
    llvm::raw_string_ostream(out) << type;
    return out;
  }
  std::string out = *dtype == DType::kBool ? "bool" : std::string(name(*dtype));
  if (auto view = mlir::dyn_cast<ViewType>(type)) return "view of " + out + describe(view.getExtents());
  if (auto tile = mlir::dyn_cast<mlir::RankedTensorType>(type)) return out + describe(tile.getShape());
  return out;
}

mlir::Type tile_or_scalar(Sizes shape, mlir::Type element) {
  return shape.empty() ? element : mlir::RankedTensorType::get(shape, element);
}

mlir::Type with_element(mlir::Type like, mlir::Type element) {
  auto tile = mlir::dyn_cast<mlir::RankedTensorType>(like);
  return tile ? mlir::RankedTensorType::get(tile.getShape(), element) : element;
}

char letter_of(mlir::Type type) {
  mlir::Type e = element_of(type);
  if (e.isInteger(1)) return 'b';
  return mlir::isa<mlir::FloatType>(e) ? 'f' : mlir::isa<mlir::ComplexType>(e) ? 'c' : 'i';
}

mlir::LogicalResult check_axis(int64_t axis, size_t rank, EmitError error) {
  if (axis >= 0 && axis < static_cast<int64_t>(rank)) return mlir::success();
  return error() << "axis " << axis << " of something with " << rank << " axes; it must be in [0, " << rank << ")";
}

MaybeType infer_iota(Sizes shape, mlir::Type element, int64_t axis, EmitError error) {
  if (mlir::failed(check_axis(axis, shape.size(), error))) return mlir::failure();
  if (const char c = letter_of(element); c != 'i' && c != 'f')
    return error() << "element is " << describe(element) << "; iota makes integers or floats";
  return tile_or_scalar(shape, element);
}

MaybeType infer_broadcast(mlir::Type source, Sizes shape, EmitError error) {
  const Sizes from = shape_of(source);
  bool fits = !mlir::isa<mlir::RankedTensorType>(source) || from.size() == shape.size();
  for (size_t i = 0; fits && i < from.size(); ++i) fits = from[i] == shape[i] || from[i] == 1;
  if (!fits)
    return error() << "cannot broadcast " << describe(source) << " to shape " << describe(shape)
                   << "; extents must be equal or 1";
  return mlir::Type(mlir::RankedTensorType::get(shape, element_of(source)));
}

MaybeType infer_reshape(mlir::Type source, Sizes shape, EmitError error) {
  const int64_t size = std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
  if (size != size_of(source))
    return error() << "cannot reshape " << describe(source) << " to " << describe(shape) << "; " << size_of(source)
                   << " elements are not " << size;
  return tile_or_scalar(shape, element_of(source));
}

MaybeType infer_permute(mlir::Type source, Sizes perm, EmitError error) {
  if (mlir::failed(check_tile("source", source, error))) return mlir::failure();
  const Sizes from = shape_of(source);
  Shape shape(from.size(), -1);
  bool good = perm.size() == from.size();
  llvm::SmallVector<bool> seen(from.size(), false);
  for (size_t i = 0; good && i < perm.size(); ++i) {
    good = perm[i] >= 0 && perm[i] < static_cast<int64_t>(from.size()) && !seen[perm[i]];
    if (!good) break;
    seen[perm[i]] = true;
    shape[i] = from[perm[i]];
  }
  if (!good)
    return error() << "permutation " << describe(perm) << " of " << describe(source) << "; it must name each of the "
                   << from.size() << " axes once";
  return mlir::Type(mlir::RankedTensorType::get(shape, element_of(source)));
}

MaybeType infer_cat(mlir::TypeRange sources, int64_t axis, EmitError error) {
  if (sources.empty()) return error() << "no tile; at least one is needed";
  for (mlir::Type t : sources)
    if (mlir::failed(check_tile("source", t, error))) return mlir::failure();
  Shape shape(shape_of(sources[0]));
  if (mlir::failed(check_axis(axis, shape.size(), error))) return mlir::failure();
  for (mlir::Type t : sources.drop_front()) {
    const Sizes other = shape_of(t);
    bool fits = other.size() == shape.size() && element_of(t) == element_of(sources[0]);
    for (size_t i = 0; fits && i < other.size(); ++i) fits = static_cast<int64_t>(i) == axis || other[i] == shape[i];
    if (!fits)
      return error() << "cannot put " << describe(t) << " after " << describe(sources[0]) << " on axis " << axis
                     << "; dtype and other extents must be equal";
    shape[axis] += other[axis];
  }
  return mlir::Type(mlir::RankedTensorType::get(shape, element_of(sources[0])));
}

MaybeType infer_extract(mlir::Type source, Sizes offsets, Sizes shape, EmitError error) {
  if (mlir::failed(check_tile("source", source, error)) ||
      mlir::failed(check_part(shape, shape_of(source), offsets, error)))
    return mlir::failure();
  return mlir::Type(mlir::RankedTensorType::get(shape, element_of(source)));
}

MaybeType infer_insert(mlir::Type source, mlir::Type target, Sizes offsets, EmitError error) {
  if (mlir::failed(check_tile("source", source, error)) || mlir::failed(check_tile("target", target, error)) ||
      mlir::failed(check_part(shape_of(source), shape_of(target), offsets, error)))
    return mlir::failure();
  if (element_of(source) != element_of(target))
    return error() << "cannot insert " << describe(source) << " into " << describe(target) << "; dtypes must be equal";
  return target;
}

MaybeTypes infer_reduce(CombineKind kind, mlir::TypeRange sources, int64_t axis, EmitError error) {
  if (mlir::failed(check_fold(kind, sources, error)) ||
      mlir::failed(check_axis(axis, shape_of(sources[0]).size(), error)))
    return mlir::failure();
  Shape shape(shape_of(sources[0]));
  if (shape[axis] == 0 && kind == CombineKind::k_region)
    return error() << "a region folds " << describe(sources[0]) << " along axis " << axis
                   << ", which is empty; only a kind with an identity may";
  shape.erase(shape.begin() + axis);
  llvm::SmallVector<mlir::Type> results;
  for (mlir::Type t : sources) results.push_back(tile_or_scalar(shape, element_of(t)));
  return results;
}

MaybeTypes infer_scan(CombineKind kind, mlir::TypeRange sources, int64_t axis, EmitError error) {
  if (mlir::failed(check_fold(kind, sources, error)) ||
      mlir::failed(check_axis(axis, shape_of(sources[0]).size(), error)))
    return mlir::failure();
  return llvm::SmallVector<mlir::Type>(sources);
}

MaybeType infer_take(mlir::Type source, mlir::Type indices, int64_t axis, EmitError error) {
  if (mlir::failed(check_tile("source", source, error)) || mlir::failed(check_tile("indices", indices, error)) ||
      mlir::failed(check_axis(axis, shape_of(source).size(), error)))
    return mlir::failure();
  const Sizes from = shape_of(source);
  const Sizes by = shape_of(indices);
  bool fits = by.size() == from.size();
  for (size_t i = 0; fits && i < by.size(); ++i) fits = static_cast<int64_t>(i) == axis || by[i] == from[i];
  if (!fits || !(element_of(indices).isSignlessInteger(32) || element_of(indices).isSignlessInteger(64)))
    return error() << "indices are " << describe(indices) << " for " << describe(source) << " on axis " << axis
                   << "; they must be int32 or int64 of its shape but for that axis";
  return mlir::Type(mlir::RankedTensorType::get(by, element_of(source)));
}

MaybeTypes infer_rank(mlir::Type digits, int64_t bins, EmitError error) {
  if (!mlir::isa<mlir::RankedTensorType>(digits) || shape_of(digits).size() != 1 || element_of(digits) != i32(digits))
    return error() << "digits are " << describe(digits) << "; they must be a 1-D int32 tile";
  if (bins < 1) return error() << bins << " bins; at least one is needed";
  return llvm::SmallVector<mlir::Type>{digits, mlir::RankedTensorType::get({bins}, i32(digits))};
}

MaybeTypes infer_lookback(CombineKind kind, mlir::Type state, mlir::TypeRange aggregates, mlir::ArrayAttr identities,
                          EmitError error) {
  auto view = mlir::dyn_cast<ViewType>(state);
  if (!view || view.getRank() != 1 || !view.getElement().isUnsignedInteger(64))
    return error() << "state is " << describe(state) << "; it must be a 1-D view of uint64";
  if (mlir::failed(check_fold(kind, aggregates, error))) return mlir::failure();
  if (identities.size() != aggregates.size())
    return error() << identities.size() << " identities for " << aggregates.size() << " aggregates; one each is needed";
  for (auto [identity, aggregate] : llvm::zip(identities, aggregates))
    if (mlir::failed(check_padding(identity, element_of(aggregate), error))) return mlir::failure();
  return llvm::SmallVector<mlir::Type>(aggregates);
}

MaybeType infer_mma(mlir::Type a, mlir::Type b, mlir::Type acc, EmitError error) {
  const Sizes sa = shape_of(a);
  const Sizes sb = shape_of(b);
  const Sizes sc = shape_of(acc);
  if (sa.size() != 2 || sb.size() != 2 || sc.size() != 2 || sa[1] != sb[0] || sc[0] != sa[0] || sc[1] != sb[1])
    return error() << "shapes of a, b and acc are " << describe(sa) << ", " << describe(sb) << " and " << describe(sc)
                   << "; they must be [M, K], [K, N] and [M, N]";
  const char c = letter_of(a);
  bool fits = letter_of(b) == c && letter_of(acc) == c && (c == 'f' || c == 'i');
  fits = fits && bytes_of(acc) >= bytes_of(a) && bytes_of(a) == bytes_of(b);
  if (c == 'f')
    fits = fits && element_of(a) == element_of(b) && !element_of(acc).isBF16() &&
           !(element_of(a).isBF16() && bytes_of(acc) < 4);
  if (c == 'i') fits = fits && bytes_of(acc) >= 4;
  if (!fits)
    return error() << "cannot multiply " << describe(a) << " by " << describe(b) << " into " << describe(acc)
                   << "; a and b must be floats of one dtype or integers of one size, acc at least as wide (float16, "
                      "float32, float64; 32 or 64 bit integers)";
  return acc;
}

}  // namespace epi::tile
