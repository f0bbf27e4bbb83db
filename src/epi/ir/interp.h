// The interpreter: executes Tile IR one program after another, obviously. The oracle of every test and the checked
// mode that users debug in. Shares no lowering code with the compiler.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "epi/base/status.h"
#include "epi/ir/builder.h"

namespace epi::ir {

/// A kernel argument as the interpreter takes it.
struct InterpArg {
  bool is_view = false;
  void* base = nullptr;               ///< views: address of element (0, 0, ...)
  std::vector<std::int64_t> extents;  ///< views
  std::vector<std::int64_t> strides;  ///< views, in elements
  std::uint64_t bits[2] = {0, 0};     ///< scalars, zero-extended
};

struct InterpOptions {
  /// Checked mode: out-of-bounds accesses of `inbounds` ops, reads of memory nobody wrote (where known), integer
  /// division by zero, and two programs touching one element without atomics are errors that name the source line.
  bool checked = false;
  std::function<void(const std::string&)> print;  ///< receives print ops' lines; stdout where empty
};

/// Runs the module's kernel over the grid. An assertion that fails is an error with its message and program.
Status interpret(const Module& module, std::span<const InterpArg> args, const std::uint32_t grid[3],
                 const InterpOptions& options = {});

}  // namespace epi::ir
