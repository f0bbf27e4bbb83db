// The ops of the tile dialect. Each record says what the op computes; corner cases are in docs/design/semantics.md.
include "dialect.td"

// -- index ---------------------------------------------------------------------------------------------------------
def Tile_ProgramIdOp : Tile_Op<"program_id", [Pure]> {
  let summary = "this program's coordinate along axis 0, 1 or 2 of the grid";
  let arguments = (ins I32Attr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}
def Tile_NumProgramsOp : Tile_Op<"num_programs", [Pure]> {
  let summary = "the grid's size along axis 0, 1 or 2";
  let arguments = (ins I32Attr:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict";
  let hasVerifier = 1;
}

// -- views ---------------------------------------------------------------------------------------------------------
def Tile_DimOp : Tile_Op<"dim", [Pure]> {
  let summary = "a view's extent along an axis, in elements";
  let arguments = (ins Tile_View:$view, I32Attr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$view `,` $axis attr-dict `:` type($view)";
  let hasVerifier = 1;
}
def Tile_StrideOp : Tile_Op<"stride", [Pure]> {
  let summary = "a view's stride along an axis, in elements";
  let arguments = (ins Tile_View:$view, I32Attr:$axis);
  let results = (outs I64:$result);
  let assemblyFormat = "$view `,` $axis attr-dict `:` type($view)";
  let hasVerifier = 1;
}
def Tile_SliceOp : Tile_Op<"slice", [Pure]> {
  let summary = "the part [start, stop) of a view along an axis; start and stop are clamped to the extent";
  let arguments = (ins Tile_View:$view, I32Attr:$axis, I64:$start, I64:$stop);
  let results = (outs Tile_View:$result);
  let assemblyFormat = "$view `,` $axis `,` $start `to` $stop attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_PermuteViewOp : Tile_Op<"permute_view", [Pure]> {
  let summary = "the view with axis i of the result being axis perm[i] of the source";
  let arguments = (ins Tile_View:$view, DenseI64ArrayAttr:$perm);
  let results = (outs Tile_View:$result);
  let assemblyFormat = "$view $perm attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}

// -- memory --------------------------------------------------------------------------------------------------------
def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "the tile whose first element is the view's element at `offsets`";
  let description = [{
    Offsets count elements and may be negative. Elements outside the view are `padding` (zero where absent); with
    `inbounds` the caller promises there are none. The tile's rank is the view's.
  }];
  let arguments = (ins Tile_View:$view, Variadic<I64>:$offsets, OptionalAttr<AnyAttr>:$padding,
                       UnitAttr:$inbounds);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$view `[` $offsets `]` attr-dict `:` type($view) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "writes a tile at `offsets`; elements outside the view are dropped";
  let arguments = (ins Tile_Tile:$value, Tile_View:$view, Variadic<I64>:$offsets, UnitAttr:$inbounds);
  let assemblyFormat = "$value `,` $view `[` $offsets `]` attr-dict `:` type($value) `,` type($view)";
  let hasVerifier = 1;
}
def Tile_GatherOp : Tile_Op<"gather", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments]> {
  let summary = "one element of the view for each element of the index tiles (one index a view axis)";
  let description = [{
    Where an index is outside [0, extent) or the mask is false the result is `padding` (zero where absent) and memory
    is not touched. Indices are i32 or i64 tiles (or scalars, for a scalar result) of the result's shape.
  }];
  let arguments = (ins Tile_View:$view, Variadic<Tile_Any>:$indices, Optional<Tile_Any>:$mask,
                       OptionalAttr<AnyAttr>:$padding, UnitAttr:$inbounds);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = [{$view `[` $indices `]` (`mask` $mask^)? attr-dict `:` type($view) `,`
                         functional-type($indices, $result) (`,` type($mask)^)?}];
  let hasVerifier = 1;
}
def Tile_ScatterOp : Tile_Op<"scatter", [MemoryEffects<[MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "writes one element of the view for each element of the value; outside or masked ones are dropped";
  let arguments = (ins Tile_Any:$value, Tile_View:$view, Variadic<Tile_Any>:$indices, Optional<Tile_Any>:$mask,
                       UnitAttr:$inbounds);
  let assemblyFormat = [{$value `,` $view `[` $indices `]` (`mask` $mask^)? attr-dict `:` type($value) `,` type($view)
                         `,` functional-type($indices, results) (`,` type($mask)^)?}];
  let hasVerifier = 1;
}
def Tile_AtomicRmwOp : Tile_Op<"atomic_rmw", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "per element: old = view[index]; view[index] = kind(old, value); the result is old (zero where dropped)";
  let arguments = (ins Tile_AtomicKindAttr:$kind, Tile_MemoryOrderAttr:$order, Tile_MemoryScopeAttr:$scope,
                       Tile_Any:$value, Tile_View:$view, Variadic<Tile_Any>:$indices, Optional<Tile_Any>:$mask);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = [{custom<Enum>($kind) custom<Enum>($order) custom<Enum>($scope) $value `,` $view `[` $indices `]`
                         (`mask` $mask^)? attr-dict `:`
                         type($value) `,` type($view) `,` functional-type($indices, $result) (`,` type($mask)^)?}];
  let hasVerifier = 1;
}
def Tile_AtomicCasOp : Tile_Op<"atomic_cas", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments]> {
  let summary = "per element: old = view[index]; if old equals expected (bitwise) view[index] = desired; gives old";
  let arguments = (ins Tile_MemoryOrderAttr:$order, Tile_MemoryScopeAttr:$scope, Tile_Any:$expected, Tile_Any:$desired,
                       Tile_View:$view, Variadic<Tile_Any>:$indices, Optional<Tile_Any>:$mask);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = [{custom<Enum>($order) custom<Enum>($scope) $expected `,` $desired `,` $view
                         `[` $indices `]` (`mask` $mask^)? attr-dict `:`
                         type($expected) `,` type($desired) `,` type($view) `,`
                         functional-type($indices, $result) (`,` type($mask)^)?}];
  let hasVerifier = 1;
}
def Tile_FenceOp : Tile_Op<"fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "orders this program's earlier accesses before its later ones, as seen within scope";
  let arguments = (ins Tile_MemoryOrderAttr:$order, Tile_MemoryScopeAttr:$scope);
  let assemblyFormat = "custom<Enum>($order) custom<Enum>($scope) attr-dict";
  let hasVerifier = 1;
}

// -- creation ------------------------------------------------------------------------------------------------------
def Tile_ConstantOp : Tile_Op<"constant", [Pure, ConstantLike]> {
  let summary = "a scalar or tile known at compile time";
  let arguments = (ins AnyAttr:$value);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}
def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "each element is its own coordinate along `axis`";
  let arguments = (ins I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

// -- shape ---------------------------------------------------------------------------------------------------------
def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "a scalar, or a tile of the same rank with extents 1 where they grow, repeated to the result's shape";
  let arguments = (ins Tile_Any:$source);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_ReshapeOp : Tile_Op<"reshape", [Pure]> {
  let summary = "the same elements in row-major order under another shape; also scalar to and from a tile of one element";
  let arguments = (ins Tile_Any:$source);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_PermuteOp : Tile_Op<"permute", [Pure]> {
  let summary = "axis i of the result is axis perm[i] of the source";
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$perm);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source $perm attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_CatOp : Tile_Op<"cat", [Pure]> {
  let summary = "tiles one after another along an axis";
  let arguments = (ins Variadic<Tile_Tile>:$sources, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$axis $sources attr-dict `:` type($sources) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "the part of a tile that starts at static element `offsets`, of the result's shape";
  let arguments = (ins Tile_Tile:$source, DenseI64ArrayAttr:$offsets);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$source $offsets attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_InsertOp : Tile_Op<"insert", [Pure]> {
  let summary = "`target` with the part at static element `offsets` replaced by `source`";
  let arguments = (ins Tile_Tile:$source, Tile_Tile:$target, DenseI64ArrayAttr:$offsets);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{$source `into` $target $offsets attr-dict `:` type($source) `,` type($target) `->`
                         type($result)}];
  let hasVerifier = 1;
}

// -- arithmetic ----------------------------------------------------------------------------------------------------
def Tile_UnaryOp : Tile_Op<"unary", [Pure]> {
  let summary = "elementwise function of one operand";
  let arguments = (ins Tile_UnaryKindAttr:$kind, Tile_Any:$operand, UnitAttr:$approx);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "custom<Enum>($kind) $operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}
def Tile_BinaryOp : Tile_Op<"binary", [Pure]> {
  let summary = "elementwise function of two operands of one type";
  let description = [{`flag_zero`: an integer division by zero also sets the launch's error flag.}];
  let arguments = (ins Tile_BinaryKindAttr:$kind, Tile_Any:$lhs, Tile_Any:$rhs, UnitAttr:$flag_zero);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "custom<Enum>($kind) $lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_FmaOp : Tile_Op<"fma", [Pure, AllTypesMatch<["a", "b", "c", "result"]>]> {
  let summary = "a*b + c with one rounding (floats)";
  let arguments = (ins Tile_Any:$a, Tile_Any:$b, Tile_Any:$c);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Tile_CompareOp : Tile_Op<"compare", [Pure, AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "elementwise comparison; the result is bool";
  let arguments = (ins Tile_CompareKindAttr:$kind, Tile_Any:$lhs, Tile_Any:$rhs);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "custom<Enum>($kind) $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_SelectOp : Tile_Op<"select", [Pure, AllTypesMatch<["on_true", "on_false", "result"]>]> {
  let summary = "elementwise: condition ? on_true : on_false; the condition is a bool scalar or a bool tile of that shape";
  let arguments = (ins Tile_Any:$condition, Tile_Any:$on_true, Tile_Any:$on_false);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$condition `,` $on_true `,` $on_false attr-dict `:` type($condition) `,` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_CastOp : Tile_Op<"cast", [Pure]> {
  let summary = "elementwise conversion of value; to bool is `!= 0`; floats round to nearest even";
  let arguments = (ins Tile_CastModeAttr:$mode, Tile_Any:$source);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "custom<Enum>($mode) $source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}
def Tile_BitcastOp : Tile_Op<"bitcast", [Pure]> {
  let summary = "the same bits as another element type of the same size";
  let arguments = (ins Tile_Any:$source);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

// -- collectives ---------------------------------------------------------------------------------------------------
def Tile_ReduceOp : Tile_Op<"reduce", [Pure, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "folds tiles along an axis, which the results lack (a 1-D source gives scalars)";
  let description = [{
    With n extents along the axis and L = `lanes` (a power of two; n where absent or larger): lane l folds the elements
    l, l + L, l + 2L, ... in that order, starting from its first element; then the lanes are folded by halving: lane l with lane l + h for
    h = P/2, P/4, ..., 1, P the power of two >= min(n, L); absent lanes are skipped. This is the association on every back end.
    kind = region folds tuples: the region's arguments are the left values, then the right ones, as scalars; it is
    elementwise and without effects. An axis of extent 0 gives the identity.
  }];
  let arguments = (ins Tile_CombineKindAttr:$kind, Variadic<Tile_Tile>:$sources, I64Attr:$axis,
                       OptionalAttr<I64Attr>:$lanes);
  let regions = (region AnyRegion:$combine);
  let results = (outs Variadic<Tile_Any>:$results);
  let assemblyFormat = [{custom<Enum>($kind) $axis $sources attr-dict `:` type($sources) `->` type($results)
                         ($combine^)?}];
  let hasVerifier = 1;
}
def Tile_ScanOp : Tile_Op<"scan", [Pure, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "inclusive prefix folds along an axis (from the end with `reverse`)";
  let description = [{
    Association, for c = `segment` (1 where absent): the axis is cut into segments of c neighbours (counted from the end
    with `reverse`), each scanned from left to right; within each group of 32 segments the totals are scanned by doubling (Hillis-Steele: t[i] = t[i-d] op t[i],
    d = 1, 2, 4, 8, 16); group totals are folded from left to right; element = (groups before op (segments before
    in its group)) op local, absent parts left out.
  }];
  let arguments = (ins Tile_CombineKindAttr:$kind, Variadic<Tile_Tile>:$sources, I64Attr:$axis, UnitAttr:$reverse,
                       OptionalAttr<I64Attr>:$segment);
  let regions = (region AnyRegion:$combine);
  let results = (outs Variadic<Tile_Tile>:$results);
  let assemblyFormat = [{custom<Enum>($kind) $axis $sources attr-dict `:` type($sources) `->` type($results)
                         ($combine^)?}];
  let hasVerifier = 1;
}
def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a combine region with its results";
  let arguments = (ins Variadic<Tile_Any>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}
def Tile_TakeOp : Tile_Op<"take", [Pure]> {
  let summary = "permutes by index: result[.., i, ..] = source[.., indices[.., i, ..], ..] along an axis; an index outside gives zero";
  let arguments = (ins Tile_Tile:$source, Tile_Tile:$indices, I64Attr:$axis);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = [{$axis $source `[` $indices `]` attr-dict `:` type($source) `,` type($indices) `->`
                         type($result)}];
  let hasVerifier = 1;
}
def Tile_RankOp : Tile_Op<"rank", [Pure]> {
  let summary = "stable ranks of digits: for item i its position among the items sorted by digit, and the count of each digit";
  let description = [{
    `digits` is a 1-D i32 tile with values in [0, bins). ranks[i] = (items with a smaller digit) + (items j < i with the same digit); counts[b] =
    items with digit b. Digits outside are not counted and rank after all others.
  }];
  let arguments = (ins Tile_Tile:$digits);
  let results = (outs Tile_Tile:$ranks, Tile_Tile:$counts);
  let assemblyFormat = "$digits attr-dict `:` type($digits) `->` type($ranks) `,` type($counts)";
  let hasVerifier = 1;
}
def Tile_LookbackOp : Tile_Op<"lookback", [MemoryEffects<[MemRead, MemWrite]>, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "the fold of the aggregates of all programs before this one, in program order along axis 0";
  let description = [{
    Single-pass chained scan. Program p publishes its aggregates in `state` and gets the left fold
    (((a0 op a1) op a2) .. op a[p-1]) of its predecessors; program 0 gets `identities`. The association is always that left fold, whatever the
    timing. `state` is a zero-filled 1-D view of ui64 with at least `workspaceWords(types, programs)` words (ir/lookback.h) that no one else uses;
    the kernel must have the `ascending` attribute. Aggregates are scalars or tiles of one shape.
  }];
  let arguments = (ins Tile_CombineKindAttr:$kind, Tile_View:$state, Variadic<Tile_Any>:$aggregates,
                       ArrayAttr:$identities);
  let regions = (region AnyRegion:$combine);
  let results = (outs Variadic<Tile_Any>:$results);
  let assemblyFormat = [{custom<Enum>($kind) $state `,` $aggregates $identities attr-dict `:` type($state) `,`
                         type($aggregates) `->` type($results) ($combine^)?}];
  let hasVerifier = 1;
}

// -- contraction ---------------------------------------------------------------------------------------------------
def Tile_MmaOp : Tile_Op<"mma", [Pure, AllTypesMatch<["acc", "result"]>]> {
  let summary = "acc + a @ b for 2-D tiles (M x K, K x N, M x N); products and sums in the accumulator's type";
  let description = [{Class `device`: the order of the sum over K is the device's. f32 operands are multiplied as f32, never as tf32.}];
  let arguments = (ins Tile_Tile:$a, Tile_Tile:$b, Tile_Tile:$acc);
  let results = (outs Tile_Tile:$result);
  let assemblyFormat = "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `,` type($result)";
  let hasVerifier = 1;
}

// -- debug ---------------------------------------------------------------------------------------------------------
def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "sets the launch's error flag where the condition (bool scalar or tile) is false; surfaces at wait()";
  let arguments = (ins Tile_Any:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
}
def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints a C format with scalars, once a program; a tile prints one line an element";
  let arguments = (ins StrAttr:$format, Variadic<Tile_Any>:$values);
  let assemblyFormat = "$format ($values^ `:` type($values))? attr-dict";
  let hasVerifier = 1;
}
