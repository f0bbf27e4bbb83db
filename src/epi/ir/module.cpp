// Modules: text in and out, verification, and the one way from MLIR diagnostics to Status.
#include "epi/ir/module_impl.h"

#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/Verifier.h>
#include <mlir/Parser/Parser.h>

#include "epi/ir/builder_impl.h"

namespace epi::ir {
namespace {

void append_place(llvm::raw_ostream& out, mlir::Location loc) {
  if (auto file = mlir::dyn_cast<mlir::FileLineColLoc>(loc)) {
    out << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn() << ": ";
  } else if (auto fused = mlir::dyn_cast<mlir::FusedLoc>(loc)) {
    if (!fused.getLocations().empty()) append_place(out, fused.getLocations().front());
  } else if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(loc)) {
    append_place(out, call.getCallee());
  } else if (auto named = mlir::dyn_cast<mlir::NameLoc>(loc)) {
    append_place(out, named.getChildLoc());
  }
}

/// What the tile stage asks beyond each op: one kernel, only tile, func and scf ops.
mlir::LogicalResult verify_stage(mlir::ModuleOp module) {
  unsigned kernels = 0;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (!function->hasAttr(tile::kKernelAttr)) continue;
    ++kernels;
    if (function.getNumResults() != 0)
      return function.emitError() << "kernel " << function.getName() << " has results; a kernel stores them";
  }
  if (kernels != 1)
    return module.emitError() << kernels << " functions with " << tile::kKernelAttr << "; a module has exactly one";
  auto walked = module.walk([](mlir::Operation* op) {
    mlir::Dialect* dialect = op->getDialect();
    if (mlir::isa<mlir::ModuleOp>(op) ||
        (dialect && mlir::isa<tile::TileDialect, mlir::func::FuncDialect, mlir::scf::SCFDialect>(dialect)))
      return mlir::WalkResult::advance();
    op->emitError() << op->getName() << " is not an op of the tile stage (tile, func and scf)";
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(walked.wasInterrupted());
}

/// Runs `f` and gives its first error.
template <class F>
Status collect(mlir::MLIRContext* context, F&& f) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic& d) {
    if (message.empty() && d.getSeverity() == mlir::DiagnosticSeverity::Error) message = render(d);
    return mlir::success();
  });
  if (mlir::succeeded(f())) return {};
  return compile_error(message.empty() ? "the program is not valid Tile IR" : message);
}

}  // namespace

std::string render(mlir::Diagnostic& diagnostic) {
  std::string text;
  llvm::raw_string_ostream out(text);
  append_place(out, diagnostic.getLocation());
  out << diagnostic;
  return text;
}

Module::Module() : impl_(std::make_unique<Impl>()) {
  impl_->context = tile::make_context();
  impl_->module = mlir::ModuleOp::create(mlir::UnknownLoc::get(impl_->context.get()));
}
Module::~Module() = default;
Module::Module(Module&&) noexcept = default;
Module& Module::operator=(Module&&) noexcept = default;

std::string Module::print(bool locations) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  if (locations) flags.enableDebugInfo(true, /*prettyForm=*/false);
  impl_->module->print(out, flags);
  return text;
}

Result<Module> Module::parse(std::string_view text) {
  Module out;
  Status status = collect(out.impl_->context.get(), [&]() -> mlir::LogicalResult {
    mlir::ParserConfig config(out.impl_->context.get(), /*verifyAfterParse=*/true);
    auto parsed = mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text.data(), text.size()), config, "tile");
    if (!parsed) return mlir::failure();
    out.impl_->module = std::move(parsed);
    return verify_stage(*out.impl_->module);
  });
  if (!status.ok()) return status;
  return out;
}

Status Module::verify() const {
  return collect(impl_->context.get(), [&]() -> mlir::LogicalResult {
    if (mlir::failed(mlir::verify(*impl_->module))) return mlir::failure();
    return verify_stage(*impl_->module);
  });
}

mlir::func::FuncOp Module::Impl::kernel() const {
  for (auto function : const_cast<mlir::OwningOpRef<mlir::ModuleOp>&>(module)->getOps<mlir::func::FuncOp>())
    if (function->hasAttr(tile::kKernelAttr)) return function;
  return nullptr;
}

}  // namespace epi::ir
