// Where lanes lie: linear positions to coordinates and back. Divisions by extents are memoised, and loops seed what they
// know, so that most chunks cost none.
#include "epi/compiler/emitter.h"

#include <numeric>

namespace epi::compiler {
namespace {

/// The last axis with more than one element; the last one where there is none.
unsigned last_wide_axis(llvm::ArrayRef<std::int64_t> shape) {
  for (std::size_t a = shape.size(); a-- > 0;)
    if (shape[a] != 1) return static_cast<unsigned>(a);
  return shape.empty() ? 0 : static_cast<unsigned>(shape.size() - 1);
}

}  // namespace

llvm::Value* Emitter::constant_index(std::int64_t v) { return llvm::ConstantInt::getSigned(index_type(), v); }

Pos Emitter::at(std::int64_t position, unsigned lanes) { return at(constant_index(position), lanes, position ? position & -position : 1 << 30); }

Pos Emitter::at(llvm::Value* index, unsigned lanes, std::int64_t multiple) {
  Pos p;
  p.lanes = lanes;
  p.index = index;
  p.multiple = multiple;
  if (multiple % lanes == 0) p.within = lanes;
  return p;
}

Pos Emitter::at_lanes(llvm::Value* positions) {
  Pos p;
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(positions->getType());
  if (!type) return at(b_.CreateZExtOrTrunc(positions, index_type()));
  p.lanes = type->getNumElements();
  p.vector = positions;
  return p;
}

static llvm::Value* counting(llvm::IRBuilder<>& b, unsigned lanes) {
  llvm::SmallVector<llvm::Constant*, 16> c;
  for (unsigned l = 0; l < lanes; ++l) c.push_back(b.getInt32(l));
  return llvm::ConstantVector::get(c);
}

llvm::Value* Emitter::lane_positions(const Pos& pos) {
  if (!pos.linear()) return pos.vector;
  for (auto& memo : scopes_)
    if (auto it = memo->lanes.find({pos.index, pos.lanes}); it != memo->lanes.end()) return it->second;
  llvm::Value* first = b_.CreateTrunc(pos.index, b_.getInt32Ty());
  llvm::Value* v = pos.lanes == 1 ? first : b_.CreateAdd(b_.CreateVectorSplat(pos.lanes, first), counting(b_, pos.lanes));
  return scopes_.back()->lanes[{pos.index, pos.lanes}] = v;
}

std::pair<llvm::Value*, llvm::Value*> Emitter::divmod(llvm::Value* index, std::int64_t extent) {
  for (auto& memo : scopes_)
    if (auto it = memo->divmods.find({index, extent}); it != memo->divmods.end()) return it->second;
  llvm::Value* e = llvm::ConstantInt::get(index->getType(), static_cast<std::uint64_t>(extent));
  llvm::Value* q = b_.CreateUDiv(index, e);
  llvm::Value* r = extent == 1 ? llvm::Constant::getNullValue(index->getType()) : b_.CreateURem(index, e);
  return scopes_.back()->divmods[{index, extent}] = {q, r};
}

void Emitter::seed_divmod(llvm::Value* index, std::int64_t extent, llvm::Value* quotient, llvm::Value* remainder) {
  scopes_.back()->divmods[{index, extent}] = {quotient, remainder};
}

Emitter::Coords Emitter::coordinates(const Pos& pos, llvm::ArrayRef<std::int64_t> shape) {
  Coords c;
  c.lanes = pos.lanes;
  c.lane_axis = last_wide_axis(shape);
  const std::int64_t inner = shape.empty() ? 1 : shape[c.lane_axis];
  std::size_t first = 0;
  while (first < shape.size() && shape[first] == 1) ++first;
  const bool one_axis = first >= c.lane_axis;
  const bool aligned = pos.multiple % pos.lanes == 0 && inner % pos.lanes == 0;
  const bool uniform = pos.linear() && (pos.lanes == 1 || one_axis || aligned || (pos.within && inner % pos.within == 0));
  c.per_lane = !uniform;
  llvm::Value* rest = uniform ? pos.index : lane_positions(pos);
  c.axis.assign(shape.size(), llvm::Constant::getNullValue(rest->getType()));
  for (std::size_t a = shape.size(); a-- > first;) {
    if (shape[a] == 1) continue;
    if (a == first) {
      c.axis[a] = rest;
    } else {
      auto [q, r] = divmod(rest, shape[a]);
      c.axis[a] = r;
      rest = q;
    }
  }
  if (uniform) c.lane_multiple = one_axis ? pos.multiple : std::gcd(pos.multiple, inner);
  return c;
}

Emitter::Coords Emitter::per_lane(const Coords& coords) {
  if (coords.per_lane) return coords;
  Coords out = coords;
  out.per_lane = true;
  for (auto [a, v] : llvm::enumerate(out.axis)) {
    v = b_.CreateZExtOrTrunc(v, b_.getInt32Ty());
    if (coords.lanes == 1) continue;
    v = b_.CreateVectorSplat(coords.lanes, v);
    if (a == coords.lane_axis) v = b_.CreateAdd(v, counting(b_, coords.lanes));
  }
  return out;
}

llvm::Value* Emitter::linearise(const Coords& coords, llvm::ArrayRef<std::int64_t> shape) {
  llvm::Value* sum = nullptr;
  std::int64_t stride = 1;
  for (std::size_t a = shape.size(); a-- > 0;) {
    if (shape[a] == 1) continue;
    llvm::Value* term = coords.axis[a];
    if (stride != 1) term = b_.CreateMul(term, llvm::ConstantInt::get(term->getType(), static_cast<std::uint64_t>(stride)));
    sum = sum ? b_.CreateAdd(term, sum) : term;
    stride *= shape[a];
  }
  if (sum) return sum;
  llvm::Type* type = !coords.per_lane ? index_type() : coords.lanes == 1 ? static_cast<llvm::Type*>(b_.getInt32Ty())
                                                     : llvm::FixedVectorType::get(b_.getInt32Ty(), coords.lanes);
  return llvm::Constant::getNullValue(type);
}

Vec Emitter::pull_at(mlir::Value v, const Coords& coords) {
  const llvm::ArrayRef<std::int64_t> shape = tile::shape_of(v.getType());
  if (coords.per_lane) return pull(v, at_lanes(linearise(coords, shape)));
  const std::int64_t along = shape.empty() ? 1 : shape[coords.lane_axis];
  if (coords.lanes == 1 || along == 1) {  // all lanes read one element
    Pos one = at(linearise(coords, shape));
    return splat(pull(v, one), coords.lanes);
  }
  return pull(v, position_of(coords, shape));
}

Pos Emitter::position_of(const Coords& coords, llvm::ArrayRef<std::int64_t> shape) {
  const unsigned last = last_wide_axis(shape);
  if (coords.per_lane) return at_lanes(linearise(coords, shape));
  if (coords.lanes > 1 && last != coords.lane_axis) return at_lanes(linearise(per_lane(coords), shape));
  const std::int64_t along = shape.empty() ? 1 : shape[last];
  llvm::Value* index = linearise(coords, shape);
  Pos p = at(index, coords.lanes, coords.lanes == 1 ? 1 : std::gcd(coords.lane_multiple, along));
  bool outer = false;
  for (unsigned a = 0; a < last; ++a) outer = outer || shape[a] != 1;
  if (!outer && coords.lanes > 1) p.multiple = coords.lane_multiple;
  p.within = along;
  if (outer) seed_divmod(index, along, linearise(coords, shape.take_front(last)), coords.axis[last]);
  return p;
}

}  // namespace epi::compiler
