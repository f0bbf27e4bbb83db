// What a Module holds; for ir/, compiler/ and targets only (MLIR inside).
#pragma once
#include <memory>

#include "epi/ir/builder.h"
#include "epi/ir/dialect.h"

namespace epi::ir {

struct Module::Impl {
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The function with tile.kernel.
  [[nodiscard]] mlir::func::FuncOp kernel() const;
};

}  // namespace epi::ir
