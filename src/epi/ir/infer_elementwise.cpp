// Types of elementwise ops. Which operands a kind takes is the letters of its row in kinds.def.
#include "epi/ir/infer.h"

namespace epi::tile {
namespace {

const char* operands_of(UnaryKind kind) {
  static constexpr const char* kLetters[] = {
#define EPI_UNARY(name, operands) operands,
#define EPI_BINARY(name, operands)
#define EPI_COMPARE(name)
#define EPI_COMBINE(name)
#define EPI_CAST(name)
#define EPI_ATOMIC(name)
#define EPI_ORDER(name)
#define EPI_SCOPE(name)
#include "epi/ir/kinds.def"
#undef EPI_UNARY
#undef EPI_BINARY
  };
  return kLetters[static_cast<unsigned>(kind)];
}

const char* operands_of(BinaryKind kind) {
  static constexpr const char* kLetters[] = {
#define EPI_UNARY(name, operands)
#define EPI_BINARY(name, operands) operands,
#include "epi/ir/kinds.def"
#undef EPI_UNARY
#undef EPI_BINARY
#undef EPI_COMPARE
#undef EPI_COMBINE
#undef EPI_CAST
#undef EPI_ATOMIC
#undef EPI_ORDER
#undef EPI_SCOPE
  };
  return kLetters[static_cast<unsigned>(kind)];
}

const char* operands_of(CombineKind kind) {
  switch (kind) {
    case CombineKind::k_add:
    case CombineKind::k_mul:
      return "ifc";
    case CombineKind::k_minimum:
    case CombineKind::k_maximum:
      return "ifb";
    case CombineKind::k_bitand:
    case CombineKind::k_bitor:
    case CombineKind::k_bitxor:
      return "ib";
    case CombineKind::k_region:
      return "ifcb";
  }
  return "";
}

std::string spell(llvm::StringRef letters) {
  std::string out;
  for (char c : letters) {
    if (!out.empty()) out += ", ";
    out += c == 'i' ? "integer" : c == 'f' ? "float" : c == 'c' ? "complex" : "bool";
  }
  return out;
}

mlir::LogicalResult check_letters(llvm::StringRef name, llvm::StringRef letters, mlir::Type type, EmitError error) {
  if (letters.contains(letter_of(type))) return mlir::success();
  return error() << name << " got " << describe(type) << "; it takes " << spell(letters) << " operands";
}

mlir::LogicalResult check_same(llvm::StringRef what, mlir::Type a, mlir::Type b, EmitError error) {
  if (a == b) return mlir::success();
  return error() << what << " got " << describe(a) << " and " << describe(b) << "; they must have one type";
}

bool is_division(BinaryKind kind) {
  return kind == BinaryKind::k_floordiv || kind == BinaryKind::k_mod || kind == BinaryKind::k_truncdiv ||
         kind == BinaryKind::k_rem;
}

}  // namespace

MaybeType infer_unary(UnaryKind kind, mlir::Type operand, EmitError error) {
  if (mlir::failed(check_letters(stringifyUnaryKind(kind), operands_of(kind), operand, error))) return mlir::failure();
  switch (kind) {
    case UnaryKind::k_isnan:
    case UnaryKind::k_isinf:
    case UnaryKind::k_isfinite:
    case UnaryKind::k_signbit:
      return with_element(operand, mlir::IntegerType::get(operand.getContext(), 1));
    case UnaryKind::k_abs:
    case UnaryKind::k_real:
    case UnaryKind::k_imag:
      if (auto c = mlir::dyn_cast<mlir::ComplexType>(element_of(operand)))
        return with_element(operand, c.getElementType());
      return operand;
    default:
      return operand;
  }
}

MaybeType infer_binary(BinaryKind kind, mlir::Type lhs, mlir::Type rhs, bool flag_zero, EmitError error) {
  const llvm::StringRef name = stringifyBinaryKind(kind);
  if (mlir::failed(check_same(name, lhs, rhs, error)) ||
      mlir::failed(check_letters(name, operands_of(kind), lhs, error)))
    return mlir::failure();
  if (flag_zero && !(is_division(kind) && letter_of(lhs) == 'i'))
    return error() << "flag_zero on " << name << " of " << describe(lhs) << "; it is for integer divisions";
  if (kind != BinaryKind::k_complex) return lhs;
  mlir::Type part = element_of(lhs);
  if (!part.isF32() && !part.isF64())
    return error() << "complex got " << describe(lhs) << " parts; it takes float32 or float64";
  return with_element(lhs, mlir::ComplexType::get(part));
}

MaybeType infer_compare(CompareKind kind, mlir::Type lhs, mlir::Type rhs, EmitError error) {
  const llvm::StringRef name = stringifyCompareKind(kind);
  if (mlir::failed(check_same(name, lhs, rhs, error))) return mlir::failure();
  if (letter_of(lhs) == 'c' && kind != CompareKind::k_eq && kind != CompareKind::k_ne)
    return error() << name << " got " << describe(lhs) << "; complex numbers take eq and ne only";
  return with_element(lhs, mlir::IntegerType::get(lhs.getContext(), 1));
}

MaybeType infer_fma(mlir::Type a, mlir::Type b, mlir::Type c, EmitError error) {
  if (mlir::failed(check_same("fma", a, b, error)) || mlir::failed(check_same("fma", a, c, error)) ||
      mlir::failed(check_letters("fma", "f", a, error)))
    return mlir::failure();
  return a;
}

MaybeType infer_select(mlir::Type condition, mlir::Type on_true, mlir::Type on_false, EmitError error) {
  if (mlir::failed(check_same("select", on_true, on_false, error))) return mlir::failure();
  if (!is_bool(condition) || (mlir::isa<mlir::RankedTensorType>(condition) && shape_of(condition) != shape_of(on_true)))
    return error() << "condition of select is " << describe(condition)
                   << "; it must be a bool scalar or a bool tile of " << describe(shape_of(on_true));
  return on_true;
}

MaybeType infer_cast(mlir::Type source, mlir::Type element, EmitError error) {
  if (element_of(source) == element)
    return error() << "cast of " << describe(source) << " to its own dtype; use the value itself";
  return with_element(source, element);
}

MaybeType infer_bitcast(mlir::Type source, mlir::Type element, EmitError error) {
  if (is_bool(source) || is_bool(element))
    return error() << "bitcast from " << describe(source) << " to " << describe(element) << "; bool takes cast only";
  if (bytes_of(source) != bytes_of(element))
    return error() << "bitcast from " << describe(source) << " to " << describe(element)
                   << "; both elements must have one size";
  return with_element(source, element);
}

mlir::LogicalResult check_combine(CombineKind kind, mlir::Type element, EmitError error) {
  return check_letters(stringifyCombineKind(kind), operands_of(kind), element, error);
}

}  // namespace epi::tile
