// Decides, before anything is emitted, which tile values are computed where they are used (lazy) and which live in
// scratch. One walk over the kernel; the emitter obeys. The laws are in docs/design/compiler.md, "Chunks on demand".
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>

#include "epi/ir/dialect.h"

namespace epi::compiler {

enum class Placement : std::uint8_t {
  kLazy,    ///< emitted at each use, chunk by chunk; never in memory
  kStored,  ///< computed once into scratch, by the first root that walks it or by a loop of its own
  kEager,   ///< as kStored, but by a loop at the op's own place (a load that a later store may overwrite)
  kRoot,    ///< the op itself writes its results to scratch (reduce, scan, take's source, loop-carried, ...)
};

struct AnalysisOptions {
  bool store_loads_across_loops = false;  ///< keep a load that a loop uses again in scratch
  unsigned max_lazy_weight = 24;          ///< ops of a tree that may be emitted twice
};

class Analysis {
 public:
  Analysis(mlir::func::FuncOp kernel, const AnalysisOptions& options);
  [[nodiscard]] Placement placement(mlir::Value v) const;
  /// The ops that must run in program order: stores, atomics, reduces, asserts, ... (anything not pulled).
  [[nodiscard]] static bool is_root(mlir::Operation* op);
  /// The value's chunk at a linear position needs exactly its operands' chunks at that position.
  [[nodiscard]] static bool is_positional(mlir::Operation* op);
  /// Alias classes that `op` itself (with its regions) may write.
  void written_classes(mlir::Operation* op, llvm::SmallVectorImpl<std::int64_t>& out) const;

 private:
  void place(mlir::Operation* op);
  void order_loads(mlir::func::FuncOp kernel);
  [[nodiscard]] unsigned weight(mlir::Value v);
  [[nodiscard]] bool expensive(mlir::Value v);
  struct Cost {
    unsigned weight = 0;
    bool expensive = false;
  };
  Cost cost(mlir::Value v);

  AnalysisOptions options_;
  llvm::DenseMap<mlir::Value, Placement> placement_;
  llvm::DenseMap<mlir::Value, Cost> cost_;
};

}  // namespace epi::compiler
