// What the emitter handles: lanes of values (Vec), where they lie in a tile (Pos), and tiles in memory (Buffer).
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Value.h>
#include <mlir/IR/Value.h>

#include <cstdint>

#include "epi/base/dtype.h"

namespace epi::compiler {

/// One or more lanes of one dtype. One lane is a plain LLVM scalar, never <1 x T>. Registers hold: bool i1; integers
/// their width; float16 and bfloat16 an i16 of their bits (arithmetic widens to f32); complex two floats.
struct Vec {
  llvm::Value* re = nullptr;
  llvm::Value* im = nullptr;  ///< complex only
  explicit operator bool() const { return re != nullptr; }
};

/// Which elements of a tile the lanes are, as row-major linear positions. All lanes are elements of the tile.
struct Pos {
  unsigned lanes = 1;
  llvm::Value* index = nullptr;    ///< first lane's position, a scalar of index type; lane l is index + l
  llvm::Value* vector = nullptr;   ///< or: <lanes x i32>, each lane its own position (index is null)
  std::int64_t multiple = 1;       ///< divides index, for every run of this code
  std::int64_t within = 0;         ///< linear lanes never cross a multiple of this; 0 = nothing known
  [[nodiscard]] bool linear() const { return vector == nullptr; }
};

/// A tile in scratch memory, row-major, dense; bool as bytes, complex interleaved.
struct Buffer {
  llvm::Value* pointer = nullptr;
  DType dtype = DType::kInt32;
  std::int64_t count = 0;          ///< elements
  unsigned alias_scope = 0;        ///< index of its alias.scope, 0 = none
  int home = -1;                   ///< a target's own storage (registers) by number; -1 = memory
};

/// A view as LLVM values; extents and strides are i64, constants where static.
struct ViewValue {
  llvm::Value* pointer = nullptr;
  llvm::SmallVector<llvm::Value*, 4> extents;
  llvm::SmallVector<llvm::Value*, 4> strides;
  llvm::SmallVector<std::int64_t, 4> divisors;
  DType dtype = DType::kInt32;
  std::int64_t align = 1;
  std::int64_t alias = 0;
  unsigned argument = 0;           ///< the kernel argument that it is a view of
};

/// One load's or store's address: fixed for the program.
struct Access {
  ViewValue view;
  llvm::SmallVector<llvm::Value*, 4> offsets;  ///< i64
  llvm::Value* origin = nullptr;               ///< address of the tile's element (0, 0, ...); may lie outside the view
  llvm::Value* inside = nullptr;               ///< i1: the whole tile is inside the view; null = promised
  std::int64_t origin_align = 1;               ///< bytes
};

}  // namespace epi::compiler
