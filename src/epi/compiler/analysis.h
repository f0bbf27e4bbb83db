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
  kRoot,    ///< the op itself writes its results to scratch (reduce, scan, loop-carried, ...)
};

struct AnalysisOptions {
  bool store_loads_across_loops = false;  ///< keep a load that a loop uses again in scratch
  bool store_loads_of_many_roots = false; ///< keep a load that several roots use in scratch
  unsigned max_lazy_weight = 24;          ///< ops of a tree that may be emitted twice
};

class Analysis {
 public:
  Analysis(mlir::func::FuncOp kernel, const AnalysisOptions& options);
  /// Of a tile value.
  [[nodiscard]] Placement placement(mlir::Value v) const;
  /// The ops that must run in program order: stores, atomics, reduces, asserts, ... (anything not pulled).
  [[nodiscard]] static bool is_root(mlir::Operation* op);
  /// A chunk of the result at a linear position needs exactly the operands' chunks at that position.
  [[nodiscard]] static bool is_positional(mlir::Operation* op);
  /// Much code for a chunk: a math function, a division of integers.
  [[nodiscard]] static bool is_heavy(mlir::Operation* op);
  [[nodiscard]] static bool is_loop(mlir::Operation* op);

 private:
  /// Who pulls a value: enough to know one root from several, and how deep in loops they are.
  struct Pullers {
    mlir::Operation* first = nullptr;
    bool many = false;
    unsigned depth = 0;
    bool scattered = false;  ///< some user reads it at permuted positions
    bool repeated = false;   ///< some user repeats its elements
    void add(mlir::Operation* op, unsigned at);
    void merge(const Pullers& o);
  };
  struct Cost {
    unsigned weight = 0;
    bool expensive = false;
  };
  struct Effect;
  struct Reach;
  Pullers pullers(mlir::Value v);
  Placement decide(mlir::Operation* op, const Pullers& p);
  Cost cost(mlir::Value v);
  void order_loads();
  void reach(mlir::Value v, bool identity, llvm::SmallVectorImpl<Reach>& out, llvm::DenseMap<mlir::Value, bool>& seen);
  bool clobbered(mlir::Operation* load, llvm::ArrayRef<Effect> effects);

  AnalysisOptions options_;
  llvm::SmallVector<mlir::Operation*> ops_;  ///< in program order
  llvm::DenseMap<mlir::Operation*, unsigned> order_;
  llvm::DenseMap<mlir::Value, Placement> placement_;
  llvm::DenseMap<mlir::Value, Cost> cost_;
  llvm::DenseMap<mlir::Value, Pullers> pullers_;
};

}  // namespace epi::compiler
