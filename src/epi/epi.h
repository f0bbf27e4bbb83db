// The door for C++ users: build a program, load it for a device, launch it. No MLIR or LLVM header is behind it.
//   ir::Builder       a tile program, op by op (ir/builder.h); ir::interpret runs it slowly, by definition
//   runtime::device   a device by name; Queue, Buffer, Event (runtime/)
//   jit::load         the compiled program for a device, from a cache where it is there; Kernel::launch
//   math::            library calls (math/blas.h)
// Errors are values: Status and Result of base/status.h. Link with epitaxy::epitaxy.
#pragma once
#include <initializer_list>

#include "epi/base/dtype.h"
#include "epi/base/status.h"
#include "epi/ir/builder.h"
#include "epi/ir/interp.h"
#include "epi/ir/lookback.h"
#include "epi/jit/jit.h"
#include "epi/math/blas.h"
#include "epi/runtime/memory.h"
#include "epi/runtime/queue.h"
#include "epi/runtime/registry.h"

namespace epi {

/// A launch argument: the contiguous array of these extents at `base`, memory of the launch's device.
inline jit::Arg array_argument(void* base, DType dtype, std::initializer_list<std::int64_t> extents) {
  jit::Arg a;
  a.is_view = true;
  a.dtype = dtype;
  a.base = base;
  for (std::int64_t n : extents)
    if (a.rank < jit::kMaxRank) a.extents[a.rank++] = n;
  std::int64_t stride = 1;
  for (std::size_t i = a.rank; i-- > 0; stride *= a.extents[i]) a.strides[i] = stride;
  return a;
}

}  // namespace epi
