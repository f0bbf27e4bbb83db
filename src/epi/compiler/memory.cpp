// Lanes to and from memory: views (with or without tests of bounds) and scratch buffers.
#include "epi/compiler/emitter.h"

#include <bit>
#include <numeric>
#include <optional>

namespace epi::compiler {
namespace {

constexpr std::int64_t kUnknownAlign = 1 << 20;

std::optional<std::int64_t> known(llvm::Value* v) {
  if (auto* c = llvm::dyn_cast<llvm::ConstantInt>(v)) return c->getSExtValue();
  return std::nullopt;
}

std::int64_t power_of_two_in(std::int64_t v) { return v == 0 ? kUnknownAlign : std::min(v & -v, kUnknownAlign); }

/// A divisor of an axis's stride: the constant, or what the view promises.
std::int64_t stride_divisor(const ViewValue& view, std::size_t axis) {
  const std::optional<std::int64_t> s = known(view.strides[axis]);
  return power_of_two_in(s ? *s : std::max<std::int64_t>(view.divisors[axis], 1));
}

}  // namespace

// -- types ---------------------------------------------------------------------------------------------------------
llvm::Type* Emitter::memory_type(DType dtype) {
  if (dtype == DType::kFloat32 || dtype == DType::kComplex64) return b_.getFloatTy();
  if (dtype == DType::kFloat64 || dtype == DType::kComplex128) return b_.getDoubleTy();
  return b_.getIntNTy(static_cast<unsigned>(size_bytes(dtype)) * 8);
}

llvm::Type* Emitter::register_type(DType dtype, unsigned lanes) {
  llvm::Type* one = dtype == DType::kBool ? b_.getInt1Ty() : memory_type(dtype);
  return lanes == 1 ? one : llvm::FixedVectorType::get(one, lanes);
}

llvm::Type* Emitter::element_struct(DType dtype) {
  return is_complex(dtype) ? llvm::ArrayType::get(memory_type(dtype), 2) : memory_type(dtype);
}

// -- plain accesses --------------------------------------------------------------------------------------------------
static llvm::SmallVector<int, 32> stride2(unsigned lanes, int first) {
  llvm::SmallVector<int, 32> m;
  for (unsigned l = 0; l < lanes; ++l) m.push_back(static_cast<int>(2 * l) + first);
  return m;
}

Vec Emitter::load_memory(DType dtype, llvm::Value* pointer, unsigned lanes, llvm::Align align, unsigned alias_scope) {
  llvm::Type* element = memory_type(dtype);
  const unsigned count = is_complex(dtype) ? 2 * lanes : lanes;
  llvm::Type* type = count == 1 ? element : llvm::FixedVectorType::get(element, count);
  llvm::LoadInst* l = b_.CreateAlignedLoad(type, pointer, align);
  tag(l, alias_scope);
  if (dtype == DType::kBool) return {b_.CreateICmpNE(l, llvm::Constant::getNullValue(type))};
  if (!is_complex(dtype)) return {l};
  if (lanes == 1) return {b_.CreateExtractElement(l, std::uint64_t{0}), b_.CreateExtractElement(l, std::uint64_t{1})};
  return {b_.CreateShuffleVector(l, stride2(lanes, 0)), b_.CreateShuffleVector(l, stride2(lanes, 1))};
}

/// What memory holds for a Vec: bool as bytes, complex interleaved.
static llvm::Value* stored_form(llvm::IRBuilder<>& b, DType dtype, Vec v) {
  if (dtype == DType::kBool) return b.CreateZExt(v.re, v.re->getType()->getWithNewBitWidth(8));
  if (!v.im) return v.re;
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(v.re->getType());
  if (!type) {
    llvm::Value* pair = llvm::PoisonValue::get(llvm::FixedVectorType::get(v.re->getType(), 2));
    pair = b.CreateInsertElement(pair, v.re, std::uint64_t{0});
    return b.CreateInsertElement(pair, v.im, std::uint64_t{1});
  }
  const int n = static_cast<int>(type->getNumElements());
  llvm::SmallVector<int, 32> m;
  for (int l = 0; l < n; ++l) m.append({l, l + n});
  return b.CreateShuffleVector(v.re, v.im, m);
}

void Emitter::store_memory(DType dtype, Vec v, llvm::Value* pointer, llvm::Align align, unsigned alias_scope) {
  tag(b_.CreateAlignedStore(stored_form(b_, dtype, v), pointer, align), alias_scope);
}

// -- scratch -----------------------------------------------------------------------------------------------------------
Vec Emitter::read(const Buffer& buffer, const Pos& pos) {
  llvm::Type* element = element_struct(buffer.dtype);
  const auto size = static_cast<std::int64_t>(size_bytes(buffer.dtype));
  if (pos.linear()) {
    const auto align = static_cast<std::uint64_t>(std::min<std::int64_t>(size * power_of_two_in(pos.multiple), 64));
    llvm::Value* p = b_.CreateInBoundsGEP(element, buffer.pointer, pos.index);
    return load_memory(buffer.dtype, p, pos.lanes, llvm::Align(align), buffer.alias_scope);
  }
  Vec out = zero(buffer.dtype, pos.lanes);
  for (unsigned l = 0; l < pos.lanes; ++l) {
    llvm::Value* i = b_.CreateZExt(b_.CreateExtractElement(pos.vector, l), b_.getInt64Ty());
    llvm::Value* p = b_.CreateInBoundsGEP(element, buffer.pointer, i);
    out = insert(out, load_memory(buffer.dtype, p, 1, llvm::Align(static_cast<std::uint64_t>(size)), buffer.alias_scope), l);
  }
  return out;
}

void Emitter::write(const Buffer& buffer, const Pos& pos, Vec value) {
  llvm::Type* element = element_struct(buffer.dtype);
  const auto size = static_cast<std::int64_t>(size_bytes(buffer.dtype));
  if (pos.linear()) {
    const auto align = static_cast<std::uint64_t>(std::min<std::int64_t>(size * power_of_two_in(pos.multiple), 64));
    llvm::Value* p = b_.CreateInBoundsGEP(element, buffer.pointer, pos.index);
    store_memory(buffer.dtype, value, p, llvm::Align(align), buffer.alias_scope);
    return;
  }
  for (unsigned l = 0; l < pos.lanes; ++l) {
    llvm::Value* i = b_.CreateZExt(b_.CreateExtractElement(pos.vector, l), b_.getInt64Ty());
    llvm::Value* p = b_.CreateInBoundsGEP(element, buffer.pointer, i);
    store_memory(buffer.dtype, extract(value, l), p, llvm::Align(static_cast<std::uint64_t>(size)), buffer.alias_scope);
  }
}

// -- views -------------------------------------------------------------------------------------------------------------
std::int64_t Emitter::known_divisor(mlir::Value v) const {
  mlir::Operation* op = v.getDefiningOp();
  if (auto c = mlir::dyn_cast_or_null<tile::ConstantOp>(op))
    if (auto i = mlir::dyn_cast<mlir::IntegerAttr>(c.getValue())) return power_of_two_in(i.getValue().getSExtValue());
  if (auto c = mlir::dyn_cast_or_null<tile::CastOp>(op))
    return is_integer(tile::dtype_of(c.getSource().getType())) ? known_divisor(c.getSource()) : 1;
  if (auto o = mlir::dyn_cast_or_null<tile::BinaryOp>(op)) {
    if (!is_integer(tile::dtype_of(o.getType()))) return 1;
    const std::int64_t l = known_divisor(o.getLhs());
    const std::int64_t r = known_divisor(o.getRhs());
    if (o.getKind() == tile::BinaryKind::k_mul) return std::min(l * r, kUnknownAlign);
    if (o.getKind() == tile::BinaryKind::k_add || o.getKind() == tile::BinaryKind::k_sub) return std::gcd(l, r);
  }
  auto arg = mlir::dyn_cast<mlir::BlockArgument>(v);
  if (!arg) return 1;
  auto loop = mlir::dyn_cast<mlir::scf::ForOp>(arg.getOwner()->getParentOp());
  if (loop && v == loop.getInductionVar())
    return std::gcd(known_divisor(loop.getLowerBound()), known_divisor(loop.getStep()));
  return 1;
}

Access Emitter::access(mlir::Value source, mlir::ValueRange offsets, llvm::ArrayRef<std::int64_t> tile, bool inbounds) {
  Access a;
  a.view = view(source);
  const auto size = static_cast<std::int64_t>(size_bytes(a.view.dtype));
  llvm::Value* position = b_.getInt64(0);
  llvm::Value* inside = b_.getTrue();
  std::int64_t align = std::max<std::int64_t>(a.view.align, 1);
  for (auto [axis, offset] : llvm::enumerate(offsets)) {
    llvm::Value* o = b_.CreateSExtOrTrunc(scalar(offset).re, b_.getInt64Ty());
    a.offsets.push_back(o);
    position = b_.CreateAdd(position, b_.CreateMul(o, a.view.strides[axis]));
    align = std::gcd(align, size * known_divisor(offset) * stride_divisor(a.view, axis));
    llvm::Value* last = b_.CreateAdd(o, b_.getInt64(static_cast<std::uint64_t>(tile[axis])));
    llvm::Value* below = b_.CreateICmpSLE(last, a.view.extents[axis]);
    inside = b_.CreateAnd(inside, b_.CreateAnd(b_.CreateICmpSGE(o, b_.getInt64(0)), below));
  }
  a.origin = b_.CreateGEP(element_struct(a.view.dtype), a.view.pointer, position);
  a.inside = inbounds ? nullptr : inside;
  a.origin_align = power_of_two_in(align);
  return a;
}

llvm::Align Emitter::chunk_align(const Access& access, const Coords& coords) {
  const auto size = static_cast<std::int64_t>(size_bytes(access.view.dtype));
  std::int64_t align = access.origin_align;
  for (std::size_t a = 0; a < coords.axis.size(); ++a) {
    if (auto c = known(coords.axis[a]); c && *c == 0) continue;
    const std::int64_t multiple = a == coords.lane_axis ? power_of_two_in(coords.lane_multiple) : 1;
    align = std::gcd(align, size * multiple * stride_divisor(access.view, a));
  }
  return llvm::Align(static_cast<std::uint64_t>(std::min<std::int64_t>(power_of_two_in(align), 64)));
}

llvm::Value* Emitter::chunk_pointer(const Access& access, const Coords& coords) {
  llvm::Value* offset = b_.getInt64(0);
  for (std::size_t a = 0; a < coords.axis.size(); ++a)
    offset = b_.CreateAdd(offset, b_.CreateMul(b_.CreateZExtOrTrunc(coords.axis[a], b_.getInt64Ty()), access.view.strides[a]));
  return b_.CreateGEP(element_struct(access.view.dtype), access.origin, offset);
}

/// i1: the uniform axes' coordinates are inside the view (and lane 0's along the lane axis).
llvm::Value* Emitter::uniform_inside(const Access& access, const Coords& coords, bool with_lane_axis) {
  llvm::Value* ok = b_.getTrue();
  for (std::size_t a = 0; a < coords.axis.size(); ++a) {
    if (a == coords.lane_axis && !with_lane_axis) continue;
    llvm::Value* c = b_.CreateAdd(access.offsets[a], b_.CreateZExtOrTrunc(coords.axis[a], b_.getInt64Ty()));
    ok = b_.CreateAnd(ok, b_.CreateICmpULT(c, access.view.extents[a]));
  }
  return ok;
}

/// <lanes x i1> (or i1): the lanes that lie inside the view.
llvm::Value* Emitter::lane_mask(const Access& access, const Coords& coords) {
  if (coords.lanes == 1) return uniform_inside(access, coords, true);
  const unsigned a = coords.lane_axis;
  llvm::Value* lanes = b_.getInt64(coords.lanes);
  llvm::Value* first = b_.CreateAdd(access.offsets[a], b_.CreateZExtOrTrunc(coords.axis[a], b_.getInt64Ty()));
  auto clamp = [&](llvm::Value* v) {
    v = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v, b_.getInt64(0));
    return b_.CreateTrunc(b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, v, lanes), b_.getInt32Ty());
  };
  llvm::Value* high = clamp(b_.CreateSub(access.view.extents[a], first));
  llvm::Value* low = clamp(b_.CreateNeg(first));
  high = b_.CreateSelect(uniform_inside(access, coords, false), high, b_.getInt32(0));
  llvm::Value* lane = lane_positions(at(std::int64_t{0}, coords.lanes));
  return b_.CreateAnd(b_.CreateICmpSGE(lane, b_.CreateVectorSplat(coords.lanes, low)),
                      b_.CreateICmpSLT(lane, b_.CreateVectorSplat(coords.lanes, high)));
}

Emitter::LanePointer Emitter::lane_pointer(const Access& access, const Coords& coords, unsigned lane, bool check) {
  llvm::Value* offset = b_.getInt64(0);
  llvm::Value* ok = nullptr;
  for (std::size_t a = 0; a < coords.axis.size(); ++a) {
    llvm::Value* c = coords.axis[a];
    if (coords.per_lane && coords.lanes > 1) c = b_.CreateExtractElement(c, lane);
    c = b_.CreateZExtOrTrunc(c, b_.getInt64Ty());
    if (!coords.per_lane && a == coords.lane_axis) c = b_.CreateAdd(c, b_.getInt64(lane));
    offset = b_.CreateAdd(offset, b_.CreateMul(c, access.view.strides[a]));
    if (!check) continue;
    llvm::Value* in = b_.CreateICmpULT(b_.CreateAdd(access.offsets[a], c), access.view.extents[a]);
    ok = ok ? b_.CreateAnd(ok, in) : in;
  }
  return {b_.CreateGEP(element_struct(access.view.dtype), access.origin, offset), ok};
}

static llvm::Align component_align(const Access& access) {
  const auto size = static_cast<std::int64_t>(size_bytes(access.view.dtype)) / (is_complex(access.view.dtype) ? 2 : 1);
  return llvm::Align(static_cast<std::uint64_t>(power_of_two_in(std::gcd(std::max<std::int64_t>(access.view.align, 1), size))));
}

/// One lane at a time.
Vec Emitter::load_lanes(const Access& access, const Coords& coords, Vec padding, bool check) {
  const DType dtype = access.view.dtype;
  const unsigned scope = view_scope(access.view.alias);
  Vec out = zero(dtype, coords.lanes);
  for (unsigned l = 0; l < coords.lanes; ++l) {
    const LanePointer p = lane_pointer(access, coords, l, check);
    const Vec one = p.ok ? load_if(dtype, p.pointer, p.ok, padding, component_align(access), scope)
                         : load_memory(dtype, p.pointer, 1, component_align(access), scope);
    out = insert(out, one, l);
  }
  return out;
}

Vec Emitter::load_if(DType dtype, llvm::Value* pointer, llvm::Value* ok, Vec otherwise, llvm::Align align, unsigned scope) {
  llvm::Type* type = memory_type(dtype);
  if (dtype == DType::kBool) {
    llvm::Value* byte = checked_load(type, pointer, ok, b_.CreateZExt(otherwise.re, type), align, scope);
    return {b_.CreateICmpNE(byte, llvm::ConstantInt::get(type, 0))};
  }
  Vec out{checked_load(type, pointer, ok, otherwise.re, align, scope)};
  if (is_complex(dtype))
    out.im = checked_load(type, b_.CreateConstGEP1_32(type, pointer, 1), ok, otherwise.im, align, scope);
  return out;
}

void Emitter::store_if(DType dtype, Vec value, llvm::Value* pointer, llvm::Value* ok, llvm::Align align, unsigned scope) {
  llvm::Type* type = memory_type(dtype);
  checked_store(dtype == DType::kBool ? b_.CreateZExt(value.re, type) : value.re, pointer, ok, align, scope);
  if (value.im) checked_store(value.im, b_.CreateConstGEP1_32(type, pointer, 1), ok, align, scope);
}

Vec Emitter::load_masked(const Access& access, const Coords& coords, llvm::Value* pointer, Vec padding, llvm::Align align) {
  const DType dtype = access.view.dtype;
  llvm::Type* type = llvm::FixedVectorType::get(memory_type(dtype), coords.lanes);
  llvm::Value* pass = splat(padding, coords.lanes).re;
  if (dtype == DType::kBool) pass = b_.CreateZExt(pass, type);
  llvm::CallInst* l = b_.CreateMaskedLoad(type, pointer, align, lane_mask(access, coords), pass);
  tag(l, view_scope(access.view.alias));
  if (dtype == DType::kBool) return {b_.CreateICmpNE(l, llvm::Constant::getNullValue(type))};
  return {l};
}

/// Whether a chunk under a mask is one instruction.
bool Emitter::masked(const Access& access) {
  const bool unit = access.view.strides.empty() || known(access.view.strides.back()) == 1;
  return unit && !is_complex(access.view.dtype) && masked_memory(access.view.dtype);
}

Vec Emitter::load_at(const Access& access, const Coords& coords, Vec padding) {
  const DType dtype = access.view.dtype;
  const bool check = checked_ && access.inside;
  if (coords.per_lane) return load_lanes(access, coords, padding, check);
  const std::optional<std::int64_t> stride = coords.axis.empty() ? 1 : known(access.view.strides[coords.lane_axis]);
  const unsigned scope = view_scope(access.view.alias);
  llvm::Value* pointer = chunk_pointer(access, coords);
  const llvm::Align align = std::min(chunk_align(access, coords), llvm::Align(static_cast<std::uint64_t>(
      std::bit_ceil(size_bytes(dtype) * coords.lanes))));
  if (coords.lanes == 1) {
    if (!check) return load_memory(dtype, pointer, 1, align, scope);
    return load_if(dtype, pointer, uniform_inside(access, coords, true), padding, component_align(access), scope);
  }
  if (stride == 1 && !check) return load_memory(dtype, pointer, coords.lanes, align, scope);
  if (stride == 1 && !is_complex(dtype) && masked_memory(dtype)) return load_masked(access, coords, pointer, padding, align);
  if (stride == 0 && !check) return splat(load_memory(dtype, pointer, 1, align, scope), coords.lanes);
  return load_lanes(access, coords, padding, check);
}

void Emitter::store_at(const Access& access, const Coords& coords, Vec value) {
  const DType dtype = access.view.dtype;
  const bool check = checked_ && access.inside;
  const unsigned scope = view_scope(access.view.alias);
  const std::optional<std::int64_t> stride =
      coords.axis.empty() ? 1 : coords.per_lane ? std::nullopt : known(access.view.strides[coords.lane_axis]);
  if (!coords.per_lane && (coords.lanes == 1 || stride == 1)) {
    llvm::Value* pointer = chunk_pointer(access, coords);
    const llvm::Align align = std::min(chunk_align(access, coords), llvm::Align(static_cast<std::uint64_t>(
        std::bit_ceil(size_bytes(dtype) * coords.lanes))));
    if (!check) return store_memory(dtype, value, pointer, align, scope);
    if (coords.lanes == 1)
      return store_if(dtype, value, pointer, uniform_inside(access, coords, true), component_align(access), scope);
    if (!is_complex(dtype) && masked_memory(dtype)) {
      tag(b_.CreateMaskedStore(stored_form(b_, dtype, value), pointer, align, lane_mask(access, coords)), scope);
      return;
    }
  }
  for (unsigned l = 0; l < coords.lanes; ++l) {
    const LanePointer p = lane_pointer(access, coords, l, check);
    if (p.ok) store_if(dtype, extract(value, l), p.pointer, p.ok, component_align(access), scope);
    else store_memory(dtype, extract(value, l), p.pointer, component_align(access), scope);
  }
}

}  // namespace epi::compiler
