// From an op to its execute(): the table is the dialect's own list of ops, and the control flow in use.
#include "epi/ir/interp_machine.h"

namespace epi::ir::interp {
namespace {

template <class... Ops>
llvm::DenseMap<mlir::TypeID, Handler> make_handlers() {
  llvm::DenseMap<mlir::TypeID, Handler> table;
  ((table[mlir::TypeID::get<Ops>()] = [](Machine& m, mlir::Operation* op) { return execute(m, mlir::cast<Ops>(op)); }),
   ...);
  return table;
}

}  // namespace

Handler find_handler(mlir::Operation& op) {
  static const auto table = make_handlers<mlir::scf::ForOp, mlir::scf::WhileOp, mlir::scf::IfOp, mlir::func::CallOp,
#define GET_OP_LIST
#include "epi/ir/ops.cpp.inc"
                                          >();
  return table.lookup(op.getName().getTypeID());
}

}  // namespace epi::ir::interp
