// The ops' generated definitions. Verifiers are in verify.cpp, folders in fold.cpp, typing rules in infer*.cpp.
#include "epi/ir/dialect.h"

namespace epi::tile {
namespace {

// Enums in the ops' syntax are bare words.
template <class Attr>
mlir::ParseResult parseEnum(mlir::OpAsmParser& p, Attr& attr) {
  attr = mlir::cast_or_null<Attr>(Attr::parse(p, {}));
  return mlir::success(static_cast<bool>(attr));
}
template <class Attr>
void printEnum(mlir::OpAsmPrinter& p, mlir::Operation*, Attr attr) {
  p << stringifyEnum(attr.getValue());
}

}  // namespace
}  // namespace epi::tile

#define GET_OP_CLASSES
#include "epi/ir/ops.cpp.inc"
