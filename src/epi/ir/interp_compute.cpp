// Index, creation, shape and elementwise ops.
#include "epi/ir/constants.h"
#include "epi/ir/interp_elementwise.h"
#include "epi/ir/interp_machine.h"

namespace epi::ir::interp {

// -- index ---------------------------------------------------------------------------------------------------------
template <>
Status execute(Machine& m, tile::ProgramIdOp op) {
  m.set(op.getResult(), Datum::scalar(DType::kInt32, static_cast<std::int32_t>(m.program(op.getAxis()))));
  return {};
}
template <>
Status execute(Machine& m, tile::NumProgramsOp op) {
  m.set(op.getResult(), Datum::scalar(DType::kInt32, static_cast<std::int32_t>(m.programs(op.getAxis()))));
  return {};
}

// -- creation --------------------------------------------------------------------------------------------------------
Datum datum_of(mlir::Attribute value, mlir::Type type) {
  mlir::Type element = tile::element_of(type);
  auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(value);
  const bool single = !dense || dense.isSplat();
  Datum out(tile::dtype_of(type), single ? 1 : tile::size_of(type));
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const Scalar scalar = tile::scalar_of(value, element, i);
    const char k = kind(scalar.dtype);
    const Datum exact = k == 'f'   ? Datum::scalar(DType::kFloat64, scalar.c.real())
                        : k == 'c' ? Datum::scalar(DType::kComplex128, scalar.c)
                                   : Datum::scalar(DType::kInt64, scalar.i);
    overwrite(out, i, cast(Cast::k_wrap, exact, scalar.dtype));
  }
  return repeat(out, tile::size_of(type));
}

template <>
Status execute(Machine& m, tile::ConstantOp op) {
  m.set(op.getResult(), datum_of(op.getValue(), op.getResult().getType()));
  return {};
}
template <>
Status execute(Machine& m, tile::IotaOp op) {
  mlir::Type type = op.getResult().getType();
  const std::size_t axis = op.getAxis();
  Datum out(DType::kInt64, tile::size_of(type));
  for_each_index(tile::shape_of(type),
                 [&](const Extents& at, std::int64_t i) { out.as<std::int64_t>()[i] = at[axis]; });
  m.set(op.getResult(), cast(Cast::k_wrap, out, tile::dtype_of(type)));
  return {};
}

// -- shape -----------------------------------------------------------------------------------------------------------
namespace {

/// The tile of `shape` whose element at c is source's element at linear index base + sum of c[i] * strides[i].
Datum pick(const Datum& source, llvm::ArrayRef<std::int64_t> shape, std::int64_t base, const Extents& strides) {
  Datum out(source.dtype(), product(shape));
  const std::size_t size = size_bytes(source.dtype());
  for_each_index(shape, [&](const Extents& at, std::int64_t i) {
    std::int64_t from = base;
    for (std::size_t a = 0; a < at.size(); ++a) from += at[a] * strides[a];
    std::memcpy(out.data() + i * static_cast<std::int64_t>(size),
                source.data() + from * static_cast<std::int64_t>(size), size);
  });
  return out;
}

std::int64_t linear(llvm::ArrayRef<std::int64_t> at, const Extents& strides) {
  std::int64_t sum = 0;
  for (std::size_t a = 0; a < at.size(); ++a) sum += at[a] * strides[a];
  return sum;
}

/// Writes `source` of shape `shape` into `target` of shape `whole`, from element `offsets`.
void put(Datum& target, llvm::ArrayRef<std::int64_t> whole, const Datum& source, llvm::ArrayRef<std::int64_t> shape,
         llvm::ArrayRef<std::int64_t> offsets) {
  const Extents strides = row_major(whole);
  const std::int64_t base = linear(offsets, strides);
  for_each_index(shape, [&](const Extents& at, std::int64_t i) {
    overwrite(target, base + linear(at, strides), part(source, i, 1));
  });
}

}  // namespace

template <>
Status execute(Machine& m, tile::BroadcastOp op) {
  const Datum& source = m.get(op.getSource());
  const auto from = tile::shape_of(op.getSource().getType());
  const auto to = tile::shape_of(op.getResult().getType());
  Extents strides = row_major(from);
  strides.resize(to.size(), 0);  // a scalar repeats along every axis
  for (std::size_t a = 0; a < from.size(); ++a)
    if (from[a] == 1) strides[a] = 0;
  m.set(op.getResult(), pick(source, to, 0, strides));
  return {};
}
template <>
Status execute(Machine& m, tile::ReshapeOp op) {
  m.set(op.getResult(), Datum(m.get(op.getSource())));
  return {};
}
template <>
Status execute(Machine& m, tile::PermuteOp op) {
  const Extents from = row_major(tile::shape_of(op.getSource().getType()));
  Extents strides;
  for (std::int64_t axis : op.getPerm()) strides.push_back(from[static_cast<std::size_t>(axis)]);
  m.set(op.getResult(), pick(m.get(op.getSource()), tile::shape_of(op.getResult().getType()), 0, strides));
  return {};
}
template <>
Status execute(Machine& m, tile::CatOp op) {
  mlir::Type type = op.getResult().getType();
  Datum out(tile::dtype_of(type), tile::size_of(type));
  Extents offsets(tile::shape_of(type).size(), 0);
  for (mlir::Value source : op.getSources()) {
    const auto shape = tile::shape_of(source.getType());
    put(out, tile::shape_of(type), m.get(source), shape, offsets);
    offsets[op.getAxis()] += shape[op.getAxis()];
  }
  m.set(op.getResult(), std::move(out));
  return {};
}
template <>
Status execute(Machine& m, tile::ExtractOp op) {
  const Extents strides = row_major(tile::shape_of(op.getSource().getType()));
  m.set(op.getResult(), pick(m.get(op.getSource()), tile::shape_of(op.getResult().getType()),
                             linear(op.getOffsets(), strides), strides));
  return {};
}
template <>
Status execute(Machine& m, tile::InsertOp op) {
  const Datum& target = m.get(op.getTarget());
  Datum out = part(target, 0, target.count());
  put(out, tile::shape_of(op.getTarget().getType()), m.get(op.getSource()), tile::shape_of(op.getSource().getType()),
      op.getOffsets());
  m.set(op.getResult(), std::move(out));
  return {};
}

// -- arithmetic
// --------------------------------------------------------------------------------------------------------
template <>
Status execute(Machine& m, tile::UnaryOp op) {
  m.set(op.getResult(), unary(static_cast<Unary>(op.getKind()), m.get(op.getOperand())));
  return {};
}
template <>
Status execute(Machine& m, tile::BinaryOp op) {
  using tile::BinaryKind;
  const Data x = m.aligned({op.getLhs(), op.getRhs()});
  const BinaryKind k = op.getKind();
  const bool divides =
      k == BinaryKind::k_floordiv || k == BinaryKind::k_mod || k == BinaryKind::k_truncdiv || k == BinaryKind::k_rem;
  if (divides && (op.getFlagZero() || m.checked()))
    if (const std::int64_t at = first_zero(x[1]); at >= 0)
      EPI_RETURN_IF_ERROR(
          m.flag(m.error(Code::kDevice, op, "integer division by zero at element " + std::to_string(at))));
  m.set(op.getResult(), binary(static_cast<Binary>(k), x[0], x[1]));
  return {};
}
template <>
Status execute(Machine& m, tile::FmaOp op) {
  const Data x = m.aligned({op.getA(), op.getB(), op.getC()});
  m.set(op.getResult(), fused_multiply_add(x[0], x[1], x[2]));
  return {};
}
template <>
Status execute(Machine& m, tile::CompareOp op) {
  const Data x = m.aligned({op.getLhs(), op.getRhs()});
  m.set(op.getResult(), compare(static_cast<Compare>(op.getKind()), x[0], x[1]));
  return {};
}
template <>
Status execute(Machine& m, tile::SelectOp op) {
  const Data x = m.aligned({op.getCondition(), op.getOnTrue(), op.getOnFalse()});
  m.set(op.getResult(), select(x[0], x[1], x[2]));
  return {};
}
template <>
Status execute(Machine& m, tile::CastOp op) {
  m.set(op.getResult(),
        cast(static_cast<Cast>(op.getMode()), m.get(op.getSource()), tile::dtype_of(op.getResult().getType())));
  return {};
}
template <>
Status execute(Machine& m, tile::BitcastOp op) {
  m.set(op.getResult(), bitcast(m.get(op.getSource()), tile::dtype_of(op.getResult().getType())));
  return {};
}

}  // namespace epi::ir::interp
