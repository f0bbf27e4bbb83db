// What reductions, scans and look-back share: a tuple of tiles and the combiner that folds it.
#pragma once
#include "epi/backend/cuda/target/gpu_emitter.h"

namespace epi::cuda {

/// The axis cut of a folded tile: `outer` x n x `inner`.
struct Cut {
  std::int64_t outer = 1;
  std::int64_t n = 1;
  std::int64_t inner = 1;
  Cut(llvm::ArrayRef<std::int64_t> shape, std::uint64_t axis) {
    for (std::size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : i == axis ? n : inner) *= shape[i];
  }
  [[nodiscard]] std::int64_t results() const { return outer * inner; }
};

class Fold {
 public:
  Fold(GpuEmitter& emitter, mlir::Operation* op, tile::CombineKind kind, mlir::Region& region,
       mlir::ValueRange sources);
  Tuple combine(const Tuple& left, const Tuple& right);
  /// combine(left, right) where `present` (null: always), else left.
  Tuple combine_if(llvm::Value* present, const Tuple& left, const Tuple& right);
  Tuple pull(const Pos& pos);
  [[nodiscard]] llvm::ArrayRef<mlir::Value> sources() const { return sources_; }
  /// i1: lane + offset < limit; null where that holds for every lane under `count`.
  llvm::Value* below(llvm::Value* lane, std::int64_t offset, std::int64_t count, std::int64_t limit);
  /// Lanes l and l + h of the warp's first 2 * first lanes, for h = first, ..., 1; `lanes` of them are present.
  Tuple halve_in_warp(Tuple v, llvm::Value* lane, std::int64_t first, std::int64_t lanes);
  /// Folds lanes l + stride * j of a shelf, j < count, by halving j; lanes at or over `limit` are absent.
  Tuple halve_in_thread(const GpuEmitter::Shelf& shelf, llvm::Value* l, std::int64_t stride, std::int64_t count,
                        std::int64_t limit);
  /// Elements first .. last (i32, inclusive) of a shelf, folded in any order; one warp, all lanes get it. `exact` only.
  Tuple fold_any_order(const GpuEmitter::Shelf& shelf, llvm::Value* first, llvm::Value* last, std::int64_t count);
  /// The same from left to right, by each thread alone; loads run ahead of the fold.
  Tuple fold_in_order(const GpuEmitter::Shelf& shelf, llvm::Value* first, llvm::Value* last);
  /// The combiner is associative on bits: any order gives the same.
  [[nodiscard]] bool exact() const;

  GpuEmitter& e;
  llvm::IRBuilder<>& b;
  llvm::SmallVector<DType, 2> dtypes;

 private:
  mlir::Operation* op_;
  ir::Combine kind_;
  mlir::Region& region_;
  llvm::SmallVector<mlir::Value, 2> sources_;
};

}  // namespace epi::cuda
