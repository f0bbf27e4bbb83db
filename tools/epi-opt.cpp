// Reads tile IR as text, verifies it, runs passes of the tile stage, and prints it. What the lit tests run.
//   epi-opt [FILE|-] [--verify-diagnostics] [--split-input-file] [--generic] [--locations] [--repeat=N] [--PASS ...]
// PASS is canonicalize, inline-calls, fold-constants, hoist-invariants, share-common or erase-dead; they run in the
// order given. --repeat=N runs them on N fresh copies and prints the mean time in microseconds instead of the IR.
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <mlir/IR/Verifier.h>
#include <mlir/Parser/Parser.h>
#include <mlir/Support/FileUtilities.h>
#include <mlir/Support/ToolUtilities.h>
#include <chrono>

#include "epi/ir/passes/passes.h"

namespace {

using Pass = mlir::LogicalResult (*)(mlir::ModuleOp);

template <void (*kPass)(mlir::ModuleOp)>
mlir::LogicalResult always(mlir::ModuleOp module) {
  kPass(module);
  return mlir::success();
}

struct NamedPass {
  llvm::StringRef name;
  Pass run;
};
constexpr NamedPass kPasses[] = {
    {"--canonicalize", &epi::ir::canonicalize},
    {"--inline-calls", &epi::ir::inline_calls},
    {"--fold-constants", &always<epi::ir::fold_constants>},
    {"--hoist-invariants", &always<epi::ir::hoist_invariants>},
    {"--share-common", &always<epi::ir::share_common>},
    {"--erase-dead", &always<epi::ir::erase_dead>},
};

struct Options {
  std::string file = "-";
  bool verify_diagnostics = false;
  bool split = false;
  bool generic = false;
  bool locations = false;
  unsigned repeat = 0;
  std::vector<Pass> passes;
};

mlir::LogicalResult run_passes(mlir::ModuleOp module, const Options& options) {
  for (Pass pass : options.passes)
    if (mlir::failed(pass(module))) return mlir::failure();
  return mlir::verify(module);
}

/// Mean time of the passes on fresh copies, the verifier not counted.
mlir::LogicalResult measure(mlir::ModuleOp module, const Options& options, llvm::raw_ostream& out) {
  std::chrono::duration<double, std::micro> total{0};
  for (unsigned n = 0; n < options.repeat; ++n) {
    mlir::OwningOpRef<mlir::ModuleOp> copy(mlir::cast<mlir::ModuleOp>(module->clone()));
    const auto start = std::chrono::steady_clock::now();
    for (Pass pass : options.passes)
      if (mlir::failed(pass(*copy))) return mlir::failure();
    total += std::chrono::steady_clock::now() - start;
  }
  out << total.count() / options.repeat << " us\n";
  return mlir::success();
}

mlir::LogicalResult process(const std::shared_ptr<llvm::SourceMgr>& source, const Options& options,
                            llvm::raw_ostream& out) {
  auto context = epi::tile::make_context();
  context->printOpOnDiagnostic(false);
  mlir::ParserConfig config(context.get());
  auto work = [&]() -> mlir::LogicalResult {
    auto module = mlir::parseSourceFile<mlir::ModuleOp>(source, config);
    if (!module) return mlir::failure();
    if (options.repeat) return measure(*module, options, out);
    if (mlir::failed(run_passes(*module, options))) return mlir::failure();
    mlir::OpPrintingFlags flags;
    if (options.generic) flags.printGenericOpForm();
    if (options.locations) flags.enableDebugInfo(true, /*prettyForm=*/false);
    if (!options.verify_diagnostics) {
      module->print(out, flags);
      out << '\n';
    }
    return mlir::success();
  };
  if (!options.verify_diagnostics) {
    mlir::SourceMgrDiagnosticHandler handler(*source, context.get());
    return work();
  }
  mlir::SourceMgrDiagnosticVerifierHandler handler(*source, context.get());
  (void)work();  // failing is what such a test expects; the handler compares the messages
  return handler.verify();
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef arg = argv[i];
    const auto* pass = llvm::find_if(kPasses, [&](const NamedPass& p) { return p.name == arg; });
    if (pass != std::end(kPasses))
      options.passes.push_back(pass->run);
    else if (arg == "--verify-diagnostics")
      options.verify_diagnostics = true;
    else if (arg == "--split-input-file")
      options.split = true;
    else if (arg == "--generic")
      options.generic = true;
    else if (arg == "--locations")
      options.locations = true;
    else if (arg.consume_front("--repeat=") && !arg.getAsInteger(10, options.repeat))
      continue;
    else if (!arg.starts_with("--"))
      options.file = arg.str();
    else {
      llvm::errs() << "epi-opt: unknown option " << argv[i] << "; the head of tools/epi-opt.cpp lists them\n";
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) return 2;
  std::string error;
  auto input = mlir::openInputFile(options.file, &error);
  if (!input) {
    llvm::errs() << "epi-opt: " << error << '\n';
    return 2;
  }
  auto chunk = [&](std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::raw_ostream& out) {
    auto source = std::make_shared<llvm::SourceMgr>();
    source->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    return process(source, options, out);
  };
  const llvm::StringRef marker = options.split ? mlir::kDefaultSplitMarker : "";
  return mlir::failed(mlir::splitAndProcessBuffer(std::move(input), chunk, llvm::outs(), marker, marker));
}
