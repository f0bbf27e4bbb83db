// The passes of the tile stage: tile IR in, tile IR out. Each is one file and one sentence; canonicalize() is the list.
#pragma once
#include "epi/ir/module_impl.h"

namespace epi::ir {

/// Replaces calls of helper functions by their bodies, because back ends see kernels only. Fails on recursion.
mlir::LogicalResult inline_calls(mlir::ModuleOp module);
/// Computes scalar integer arithmetic on constants and drops identities, because index math is full of both; an scf.if
/// of a constant becomes the part that runs.
void fold_constants(mlir::ModuleOp module);
/// Erases ops whose results no one uses and that have no effect, because front ends build more than they use.
void erase_dead(mlir::ModuleOp module);
/// Keeps one of several equal ops, because front ends write each index anew.
void share_common(mlir::ModuleOp module);
/// Moves scalar ops and view ops out of loops where their operands allow it, because they cost a register at most.
/// Tiles stay: back ends recompute them where they are used.
void hoist_invariants(mlir::ModuleOp module);

/// What every compile starts with: inline, fold, hoist, share, erase.
mlir::LogicalResult canonicalize(mlir::ModuleOp module);
/// The same for callers that hold a Module; errors carry their place.
Status canonicalize(Module& module);

}  // namespace epi::ir
