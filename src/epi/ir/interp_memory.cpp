// Views and memory. An element outside its view is padding to read and nothing to write; checked mode looks at each.
#include "epi/ir/interp_elementwise.h"
#include "epi/ir/interp_machine.h"

namespace epi::ir::interp {
namespace {

bool inside(const View& view, std::span<const std::int64_t> at) {
  for (std::size_t a = 0; a < at.size(); ++a)
    if (at[a] < 0 || at[a] >= view.extents[a]) return false;
  return true;
}

std::byte* address(const View& view, std::span<const std::int64_t> at) {
  std::int64_t offset = 0;
  for (std::size_t a = 0; a < at.size(); ++a) offset += at[a] * view.strides[a];
  return view.base + offset * static_cast<std::int64_t>(size_bytes(view.dtype));
}

/// Bytes of memory to a value's: a bool is true where its byte is not 0.
void copy_in(DType dtype, std::byte* to, const std::byte* from) {
  std::memcpy(to, from, size_bytes(dtype));
  if (dtype == DType::kBool && *to != std::byte{0}) *to = std::byte{1};
}

Status outside(Machine& m, mlir::Operation* op, const View& view, std::span<const std::int64_t> at) {
  return m.error(Code::kIndex, op,
                 "element " + describe(at) + " is outside argument " + std::to_string(view.argument) + " of shape " +
                     describe(view.extents));
}

/// Calls access(element of the tile, its address, its coordinates) for each element of `shape` at `offsets` in a view.
/// Those outside are left out, or an error where `promised` in checked mode.
template <class F>
Status for_each_in_tile(Machine& m, mlir::Operation* op, const View& view, llvm::ArrayRef<std::int64_t> shape,
                        const Extents& offsets, bool promised, F access) {
  Status status;
  Extents place(offsets.size());
  for_each_index(shape, [&](const Extents& at, std::int64_t i) {
    if (!status.ok()) return;
    for (std::size_t a = 0; a < at.size(); ++a)  // past the last integer is outside, too
      place[a] = static_cast<std::int64_t>(static_cast<std::uint64_t>(offsets[a]) + static_cast<std::uint64_t>(at[a]));
    if (inside(view, place))
      status = access(i, address(view, place), place);
    else if (promised && m.checked())
      status = outside(m, op, view, place);
  });
  return status;
}

/// The same for one index per axis and element, where the mask (if any) is true.
template <class F>
Status for_each_indexed(Machine& m, mlir::Operation* op, const View& view, mlir::ValueRange indices, mlir::Value mask,
                        std::int64_t count, bool promised, F access) {
  std::vector<Extents> along;
  for (mlir::Value index : indices) along.push_back(to_int64(m.get(index)));
  const Datum chosen = mask ? repeat(m.get(mask), count) : repeat(Datum::scalar(DType::kBool, true), count);
  Extents place(along.size());
  for (std::int64_t i = 0; i < count; ++i) {
    if (!chosen.as<bool>()[static_cast<std::size_t>(i)]) continue;
    for (std::size_t a = 0; a < along.size(); ++a) place[a] = along[a][static_cast<std::size_t>(i)];
    if (inside(view, place))
      EPI_RETURN_IF_ERROR(access(i, address(view, place), place));
    else if (promised && m.checked())
      return outside(m, op, view, place);
  }
  return {};
}

Extents offsets_of(Machine& m, mlir::ValueRange offsets) {
  Extents out;
  for (mlir::Value v : offsets) out.push_back(to_int64(m.get(v))[0]);
  return out;
}

/// A tile or scalar full of padding.
Datum padded(mlir::Attribute padding, mlir::Type type) {
  Datum zeros(tile::dtype_of(type), tile::size_of(type));
  return padding ? repeat(datum_of(padding, tile::element_of(type)), zeros.count()) : zeros;
}

/// A Datum of its own, even where it shares its memory now.
Datum own(const Datum& d) { return part(d, 0, d.count()); }

Datum updated(tile::AtomicKind kind, const Datum& old, const Datum& value) {
  switch (kind) {
    case tile::AtomicKind::k_add:
      return binary(Binary::k_add, old, value);
    case tile::AtomicKind::k_minimum:
      return binary(Binary::k_minimum, old, value);
    case tile::AtomicKind::k_maximum:
      return binary(Binary::k_maximum, old, value);
    case tile::AtomicKind::k_bitand:
      return binary(Binary::k_bitand, old, value);
    case tile::AtomicKind::k_bitor:
      return binary(Binary::k_bitor, old, value);
    case tile::AtomicKind::k_bitxor:
      return binary(Binary::k_bitxor, old, value);
    case tile::AtomicKind::k_exchange:
      return value;
  }
  __builtin_unreachable();
}

bool acquires(tile::MemoryOrder order) {
  return order == tile::MemoryOrder::k_acquire || order == tile::MemoryOrder::k_acq_rel;
}
bool releases(tile::MemoryOrder order) {
  return order == tile::MemoryOrder::k_release || order == tile::MemoryOrder::k_acq_rel;
}

/// What both atomic ops do: the results are what was there, and change(i, old) is what comes there.
template <class Op, class F>
Status atomically(Machine& m, Op op, F change) {
  const View& view = m.get(op.getView()).view();
  mlir::Type type = op.getResult().getType();
  Datum olds(view.dtype, tile::size_of(type));
  auto access = [&](std::int64_t i, std::byte* p, const Extents& at) -> Status {
    EPI_RETURN_IF_ERROR(m.note(op, view, at, p, Access::kAtomic));
    Datum old(view.dtype, 1);
    copy_in(view.dtype, old.data(), p);
    const Datum now = change(i, old);
    std::memcpy(p, now.data(), now.bytes());
    overwrite(olds, i, old);
    return {};
  };
  const bool synchronises = m.checked() && op.getScope() != tile::MemoryScope::k_program;
  std::vector<std::byte*> addresses;
  auto collect = [&](std::int64_t, std::byte* p, const Extents&) { return addresses.push_back(p), Status(); };
  if (synchronises) {
    EPI_RETURN_IF_ERROR(for_each_indexed(m, op, view, op.getIndices(), op.getMask(), olds.count(), false, collect));
    m.order().acquire(addresses, acquires(op.getOrder()));
  }
  EPI_RETURN_IF_ERROR(for_each_indexed(m, op, view, op.getIndices(), op.getMask(), olds.count(), false, access));
  if (synchronises) m.order().release(addresses, releases(op.getOrder()));
  m.set(op.getResult(), std::move(olds));
  return {};
}

}  // namespace

// -- views
// -------------------------------------------------------------------------------------------------------------
template <>
Status execute(Machine& m, tile::DimOp op) {
  m.set(op.getResult(), Datum::scalar(DType::kInt64, m.get(op.getView()).view().extents[op.getAxis()]));
  return {};
}
template <>
Status execute(Machine& m, tile::StrideOp op) {
  m.set(op.getResult(), Datum::scalar(DType::kInt64, m.get(op.getView()).view().strides[op.getAxis()]));
  return {};
}
template <>
Status execute(Machine& m, tile::SliceOp op) {
  View view = m.get(op.getView()).view();
  const std::size_t axis = op.getAxis();
  const std::int64_t extent = view.extents[axis];
  const std::int64_t start = std::clamp<std::int64_t>(m.get(op.getStart()).as<std::int64_t>()[0], 0, extent);
  const std::int64_t stop = std::clamp<std::int64_t>(m.get(op.getStop()).as<std::int64_t>()[0], start, extent);
  if (stop > start) view.base += start * view.strides[axis] * static_cast<std::int64_t>(size_bytes(view.dtype));
  view.extents[axis] = stop - start;
  m.set(op.getResult(), Datum(std::move(view)));
  return {};
}
template <>
Status execute(Machine& m, tile::PermuteViewOp op) {
  const View& source = m.get(op.getView()).view();
  View view = source;
  for (std::size_t i = 0; i < view.extents.size(); ++i) {
    view.extents[i] = source.extents[static_cast<std::size_t>(op.getPerm()[i])];
    view.strides[i] = source.strides[static_cast<std::size_t>(op.getPerm()[i])];
  }
  m.set(op.getResult(), Datum(std::move(view)));
  return {};
}

// -- memory
// ------------------------------------------------------------------------------------------------------------
template <>
Status execute(Machine& m, tile::LoadOp op) {
  const View& view = m.get(op.getView()).view();
  mlir::Type type = op.getResult().getType();
  Datum out = padded(op.getPaddingAttr(), type);
  const auto size = static_cast<std::int64_t>(size_bytes(view.dtype));
  auto access = [&](std::int64_t i, std::byte* p, const Extents& at) -> Status {
    EPI_RETURN_IF_ERROR(m.note(op, view, at, p, Access::kRead));
    copy_in(view.dtype, out.data() + i * size, p);
    return {};
  };
  EPI_RETURN_IF_ERROR(
      for_each_in_tile(m, op, view, tile::shape_of(type), offsets_of(m, op.getOffsets()), op.getInbounds(), access));
  m.set(op.getResult(), std::move(out));
  return {};
}
template <>
Status execute(Machine& m, tile::StoreOp op) {
  const View& view = m.get(op.getView()).view();
  const Datum& value = m.get(op.getValue());
  const auto size = static_cast<std::int64_t>(size_bytes(view.dtype));
  auto access = [&](std::int64_t i, std::byte* p, const Extents& at) -> Status {
    EPI_RETURN_IF_ERROR(m.note(op, view, at, p, Access::kWrite));
    std::memcpy(p, value.data() + i * size, static_cast<std::size_t>(size));
    return {};
  };
  return for_each_in_tile(m, op, view, tile::shape_of(op.getValue().getType()), offsets_of(m, op.getOffsets()),
                          op.getInbounds(), access);
}
template <>
Status execute(Machine& m, tile::GatherOp op) {
  const View& view = m.get(op.getView()).view();
  Datum out = own(padded(op.getPaddingAttr(), op.getResult().getType()));
  const auto size = static_cast<std::int64_t>(size_bytes(view.dtype));
  auto access = [&](std::int64_t i, std::byte* p, const Extents& at) -> Status {
    EPI_RETURN_IF_ERROR(m.note(op, view, at, p, Access::kRead));
    copy_in(view.dtype, out.data() + i * size, p);
    return {};
  };
  EPI_RETURN_IF_ERROR(
      for_each_indexed(m, op, view, op.getIndices(), op.getMask(), out.count(), op.getInbounds(), access));
  m.set(op.getResult(), std::move(out));
  return {};
}
template <>
Status execute(Machine& m, tile::ScatterOp op) {
  const View& view = m.get(op.getView()).view();
  const Datum& value = m.get(op.getValue());
  const auto size = static_cast<std::int64_t>(size_bytes(view.dtype));
  auto access = [&](std::int64_t i, std::byte* p, const Extents& at) -> Status {
    EPI_RETURN_IF_ERROR(m.note(op, view, at, p, Access::kWrite));
    std::memcpy(p, value.data() + i * size, static_cast<std::size_t>(size));
    return {};
  };
  return for_each_indexed(m, op, view, op.getIndices(), op.getMask(), value.count(), op.getInbounds(), access);
}
template <>
Status execute(Machine& m, tile::AtomicRmwOp op) {
  const Datum& value = m.get(op.getValue());
  return atomically(m, op,
                    [&](std::int64_t i, const Datum& old) { return updated(op.getKind(), old, part(value, i, 1)); });
}
template <>
Status execute(Machine& m, tile::AtomicCasOp op) {
  const Datum& expected = m.get(op.getExpected());
  const Datum& desired = m.get(op.getDesired());
  return atomically(m, op, [&](std::int64_t i, const Datum& old) {
    const bool same = std::memcmp(old.data(), part(expected, i, 1).data(), old.bytes()) == 0;
    return same ? part(desired, i, 1) : old;
  });
}
template <>
Status execute(Machine& m, tile::FenceOp op) {
  // Programs run one after another; only the search for races cares.
  if (m.checked() && op.getScope() != tile::MemoryScope::k_program)
    m.order().fence(acquires(op.getOrder()), releases(op.getOrder()));
  return {};
}

}  // namespace epi::ir::interp
