// The interpreter: executes Tile IR one program after another, obviously. The oracle of every test and the checked
// mode that users debug in. Shares no lowering code with the compiler. docs/design/interp.md explains it.
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
  std::vector<std::int64_t> strides;  ///< views, in elements; negative and zero ones are fine
  std::uint64_t bits[2] = {0, 0};     ///< scalars, zero-extended
  bool uninitialised = false;         ///< views: reading an element that no program wrote is an error in checked mode
};

struct InterpOptions {
  /// Checked mode: out-of-bounds accesses of `inbounds` ops, reads of uninitialised memory, integer division by zero,
  /// and two programs touching one element, one of them writing and not both by atomics, stop the launch with an error
  /// that names the source line, the program and the element.
  bool checked = false;
  std::function<void(const std::string&)> print;  ///< receives print ops' text; stdout where empty
};

/// Runs the module's kernel over the grid, axis 0 fastest, in ascending order. Memory is what the programs wrote so
/// far, also where an error is returned:
/// - kInvalidArgument: the arguments do not fit the kernel; nothing ran.
/// - kDevice: an assertion or a flagged integer division by zero (the first one; programs go on as on a device, but
///   stop in checked mode), a race, an uninitialised read, a step that is not positive, look-back out of order.
/// - kIndex: an access out of bounds (checked mode; otherwise it reads padding and writes nothing).
Status interpret(const Module& module, std::span<const InterpArg> args, const std::uint32_t grid[3],
                 const InterpOptions& options = {});

}  // namespace epi::ir
