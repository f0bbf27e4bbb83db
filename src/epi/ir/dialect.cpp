// The dialect itself: registration, the view type's syntax, dtype mapping. Op verifiers are in verify.cpp.
#include "epi/ir/dialect.h"

#include <llvm/ADT/TypeSwitch.h>
#include <mlir/IR/DialectImplementation.h>

#include "epi/ir/dialect.cpp.inc"
#include "epi/ir/enums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "epi/ir/attrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "epi/ir/types.cpp.inc"

namespace epi::tile {

void TileDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "epi/ir/attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "epi/ir/types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "epi/ir/ops.cpp.inc"
      >();
}

mlir::Operation* TileDialect::materializeConstant(mlir::OpBuilder& builder, mlir::Attribute value, mlir::Type type,
                                                  mlir::Location loc) {
  return builder.create<ConstantOp>(loc, type, value);
}

// -- the view type ---------------------------------------------------------------------------------------------
namespace {

mlir::ParseResult parse_size(mlir::AsmParser& p, int64_t& value) {
  if (succeeded(p.parseOptionalQuestion())) {
    value = mlir::ShapedType::kDynamic;
    return mlir::success();
  }
  return p.parseInteger(value);
}

mlir::ParseResult parse_sizes(mlir::AsmParser& p, llvm::SmallVectorImpl<int64_t>& out) {
  return p.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                   [&] { return parse_size(p, out.emplace_back()); });
}

void print_sizes(mlir::AsmPrinter& p, llvm::ArrayRef<int64_t> sizes) {
  p << '[';
  llvm::interleaveComma(sizes, p, [&](int64_t s) {
    if (mlir::ShapedType::isDynamic(s))
      p << '?';
    else
      p << s;
  });
  p << ']';
}

}  // namespace

mlir::Type ViewType::parse(mlir::AsmParser& p) {
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<int64_t> strides;
  llvm::SmallVector<int64_t> divisors;
  int64_t align = 1;
  int64_t alias = 0;
  mlir::Type element;
  if (p.parseLess() || p.parseDimensionList(extents, true, true) || p.parseType(element) || p.parseComma() ||
      p.parseKeyword("strides") || p.parseEqual() || parse_sizes(p, strides) || p.parseComma() ||
      p.parseKeyword("div") || p.parseEqual() || parse_sizes(p, divisors) || p.parseComma() ||
      p.parseKeyword("align") || p.parseEqual() || p.parseInteger(align) || p.parseComma() ||
      p.parseKeyword("alias") || p.parseEqual() || p.parseInteger(alias) || p.parseGreater())
    return {};
  return p.getChecked<ViewType>(p.getContext(), element, extents, strides, divisors, align, alias);
}

void ViewType::print(mlir::AsmPrinter& p) const {
  p << '<';
  p.printDimensionList(getExtents());
  p << (getRank() ? "x" : "") << getElement() << ", strides = ";
  print_sizes(p, getStrides());
  p << ", div = ";
  print_sizes(p, getDivisors());
  p << ", align = " << getAlign() << ", alias = " << getAlias() << '>';
}

mlir::LogicalResult ViewType::verify(llvm::function_ref<mlir::InFlightDiagnostic()> error, mlir::Type element,
                                     llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> strides,
                                     llvm::ArrayRef<int64_t> divisors, int64_t align, int64_t) {
  if (strides.size() != extents.size() || divisors.size() != extents.size())
    return error() << "a view needs one stride and one divisor for each of its " << extents.size() << " axes";
  if (!find_dtype(element)) return error() << "a view's element is " << element << ", which is not a dtype";
  for (int64_t e : extents)
    if (e < 0 && !mlir::ShapedType::isDynamic(e)) return error() << "a view's extent must not be negative, got " << e;
  for (int64_t d : divisors)
    if (d < 1) return error() << "a view's divisors must be at least 1, got " << d;
  if (align < 1) return error() << "a view's alignment must be at least 1, got " << align;
  return mlir::success();
}

// -- dtypes ----------------------------------------------------------------------------------------------------
mlir::Type element_type(mlir::MLIRContext* c, DType dtype) {
  const unsigned bits = static_cast<unsigned>(size_bytes(dtype)) * 8;
  switch (kind(dtype)) {
    case 'b': return mlir::IntegerType::get(c, 1);
    case 'i': return mlir::IntegerType::get(c, bits);
    case 'u': return mlir::IntegerType::get(c, bits, mlir::IntegerType::Unsigned);
    case 'c':
      return mlir::ComplexType::get(bits == 64 ? mlir::FloatType::getF32(c) : mlir::FloatType::getF64(c));
    default: break;
  }
  if (dtype == DType::kBFloat16) return mlir::FloatType::getBF16(c);
  return bits == 16 ? mlir::FloatType::getF16(c) : bits == 32 ? mlir::FloatType::getF32(c) : mlir::FloatType::getF64(c);
}

std::optional<DType> find_dtype(mlir::Type type) {
  mlir::Type e = element_of(type);
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(e)) {
    const bool is_unsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
      case 1: return is_unsigned ? std::nullopt : std::optional(DType::kBool);
      case 8: return is_unsigned ? DType::kUInt8 : DType::kInt8;
      case 16: return is_unsigned ? DType::kUInt16 : DType::kInt16;
      case 32: return is_unsigned ? DType::kUInt32 : DType::kInt32;
      case 64: return is_unsigned ? DType::kUInt64 : DType::kInt64;
      default: return std::nullopt;
    }
  }
  if (e.isF16()) return DType::kFloat16;
  if (e.isBF16()) return DType::kBFloat16;
  if (e.isF32()) return DType::kFloat32;
  if (e.isF64()) return DType::kFloat64;
  if (auto c = mlir::dyn_cast<mlir::ComplexType>(e)) {
    if (c.getElementType().isF32()) return DType::kComplex64;
    if (c.getElementType().isF64()) return DType::kComplex128;
  }
  return std::nullopt;
}

DType dtype_of(mlir::Type type) {
  const std::optional<DType> found = find_dtype(type);
  EPI_CHECK(found.has_value());
  return *found;
}

std::unique_ptr<mlir::MLIRContext> make_context() {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<TileDialect, mlir::func::FuncDialect, mlir::scf::SCFDialect>();
  return context;
}

// -- kinds.h and the dialect name the same numbers ---------------------------------------------------------------
static_assert(static_cast<unsigned>(ir::Unary::k_conj) == static_cast<unsigned>(UnaryKind::k_conj));
static_assert(static_cast<unsigned>(ir::Binary::k_complex) == static_cast<unsigned>(BinaryKind::k_complex));
static_assert(static_cast<unsigned>(ir::Compare::k_ge) == static_cast<unsigned>(CompareKind::k_ge));
static_assert(static_cast<unsigned>(ir::Combine::k_region) == static_cast<unsigned>(CombineKind::k_region));
static_assert(static_cast<unsigned>(ir::Scope::k_system) == static_cast<unsigned>(MemoryScope::k_system));

}  // namespace epi::tile
