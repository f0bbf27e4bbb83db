"""Reductions: sum, prod, min, max, any, all, mean and the index of the smallest or largest.

The producer expression is fused into the first pass. A long axis is cut into parts by a rule of size, dtype and device
alone, so results repeat from run to run; a second pass folds the parts.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as _np

from epitaxy import _engine
from epitaxy.numpy import _exec
from epitaxy.numpy._emit import COMPARE, UNARY, dtype_code, scalar
from epitaxy.numpy._expr import Leaf, Node, Walked
from epitaxy.numpy._layout import Shape, merge, row_major, size_of
from epitaxy.numpy._program import INT64, Frame, bind, blocks_of, ceil_div, is_plain, leaf_strides, power_of_two

COMBINE: dict[str, int] = _engine.COMBINE
_BINARY_OF = {
    "minimum": "minimum",
    "maximum": "maximum",
    "add": "add",
    "mul": "mul",
    "bitor": "bitor",
    "bitand": "bitand",
}


@dataclass(frozen=True)
class Fold:
    """What is folded: a combiner of the engine and its identity for a dtype; `index` also keeps where it came from."""

    kind: str
    identity: complex
    index: bool = False


def fold_of(name: str, dtype: _np.dtype[Any]) -> Fold:
    """The fold of a NumPy reduction on a dtype."""
    if name in ("sum", "mean"):
        return Fold("add", 0)
    if name == "prod":
        return Fold("mul", 1)
    if name in ("any", "all"):
        return Fold("bitor", 0) if name == "any" else Fold("bitand", 1)
    low, high = _limits(dtype)
    if name in ("max", "argmax"):
        return Fold("maximum", low, name == "argmax")
    return Fold("minimum", high, name == "argmin")


def _limits(dtype: _np.dtype[Any]) -> tuple[complex, complex]:
    if dtype.kind == "b":
        return 0, 1
    if dtype.kind in "iu":
        facts = _np.iinfo(dtype)
        return int(facts.min), int(facts.max)
    return float("-inf"), float("inf")


def reduce_axes(root: Node, axes: Shape, fold: Fold, device: Any) -> tuple[Node, ...]:
    """Folds `axes` of an expression: a contiguous array of the kept shape (and one of int64 indices for index folds).

    Axes that do not merge into one are folded one group after another; index folds take a single axis, or all of a
    contiguous array.
    """
    shape = root.shape
    kept = tuple(a for a in range(len(shape)) if a not in axes)
    walked = Walked(root)
    leaves = walked.leaves
    columns = leaf_strides(leaves, shape)
    reduced_shape, reduced = merge(tuple(shape[a] for a in axes), [tuple(c[a] for a in axes) for c in columns])
    if len(reduced_shape) > 1:
        if fold.index or not is_plain(root):
            return reduce_axes(_exec.materialise(root, device), axes, fold, device)
        first = reduce_axes(root, axes[-1:], fold, device)[0]
        return reduce_axes(first, axes[:-1], fold, device)
    kept_shape, outer = merge(tuple(shape[a] for a in kept), [tuple(c[a] for a in kept) for c in columns])
    length = reduced_shape[0] if reduced_shape else 1
    along = [r[0] if r else 0 for r in reduced]
    out_shape = tuple(shape[a] for a in kept)
    walk = kept_shape or (1,)
    across = [o or (0,) for o in outer]
    results = _passes(walked, walk, across, length, along, fold, device)
    return tuple(Leaf(r.storage, r.dtype, out_shape, row_major(out_shape), 0) for r in results)


@dataclass(frozen=True)
class _Pass:
    """One kernel: tile over (kept..., reduced); `outer` when the reduced axis is the slow one in memory."""

    tile: list[int]
    parts: int
    span: int  # elements of the reduced axis a part
    outer: bool
    each: bool  # every tile is folded along the reduced axis at once, rather than all tiles elementwise first


def _plan(walk: Shape, across: list[Shape], length: int, along: list[int], device: Any) -> _Pass:
    budget = _exec.tile_budget(device, size_of(walk) * length)
    slow = sum(abs(a) > abs(o[-1]) > 0 for a, o in zip(along, across, strict=True))
    outer = walk[-1] > 1 and 2 * slow > len(along)
    tile = [1] * (len(walk) + 1)
    if outer:
        tile[-2] = min(power_of_two(walk[-1]), budget)
    else:
        tile[-1] = min(power_of_two(length), budget)
        tile[-2] = min(power_of_two(walk[-1]), max(1, budget // tile[-1]))
    programs = blocks_of(walk, tuple(tile[:-1]))
    least = 16 * budget // (tile[-2] * tile[-1]) * tile[-1] if outer else 4 * tile[-1]
    wanted = -(-_exec.program_target(device) // max(programs, 1))
    parts = max(1, min(wanted, -(-length // max(least, 1))))
    span = ceil_div(ceil_div(length, parts), tile[-1]) * tile[-1]
    each = _exec.is_host(device) and tile[-1] > 1
    return _Pass(tile, ceil_div(length, span) if span else 1, span, outer, each)


def _passes(
    walked: Walked, walk: Shape, across: list[Shape], length: int, along: list[int], fold: Fold, device: Any
) -> list[Leaf]:
    plan = _plan(walk, across, length, along, device)
    partial = _run(walked, walk, across, length, along, fold, device, plan, None)
    if plan.parts == 1:
        return partial
    strides = [s * plan.parts for s in row_major(walk)]
    leaf = Leaf(partial[0].storage, partial[0].dtype, (*walk, plan.parts), (*strides, 1), 0)
    final = _plan(walk, [tuple(strides)], plan.parts, [1], device)
    whole = _Pass(final.tile, 1, -(-plan.parts // final.tile[-1]) * final.tile[-1], final.outer, final.each)
    indices = partial[1] if fold.index else None
    return _run(Walked(leaf), walk, [tuple(strides)], plan.parts, [1], fold, device, whole, indices)


def _run(
    walked: Walked,
    walk: Shape,
    across: list[Shape],
    length: int,
    along: list[int],
    fold: Fold,
    device: Any,
    plan: _Pass,
    indices: Leaf | None,
) -> list[Leaf]:
    shape = (*walk, length)
    out_shape = (*walk, plan.parts)
    root = walked.order[-1]
    dtypes = [root.dtype, INT64] if fold.index else [root.dtype]
    outputs = [_exec.empty_leaf(device, d, out_shape) for d in dtypes]
    key = (id(device), fold, walked.key, tuple(plan.tile), plan.outer, indices is not None, plan.parts > 1)
    program = _exec.PROGRAMS.get(key)
    if program is None:
        program = _prepare(key, walked, plan, fold, device, indices is not None, dtypes)
    sources = [(x.address, (*o, a)) for x, o, a in zip(walked.leaves, across, along, strict=True)]
    if indices is not None:
        sources.append((indices.address, (*across[0], along[0])))
    strides = row_major(out_shape)
    views = [(address, shape, s) for address, s in sources] + [(x.address, out_shape, strides) for x in outputs]
    programs = blocks_of(walk, tuple(plan.tile[:-1])) * plan.parts
    step = plan.tile[-1]
    stride = step * power_of_two(math.isqrt(max(1, plan.span // step)))
    scalars = [*walked.constants, _exec.index_constant(plan.span), _exec.index_constant(stride)]
    _exec.launch(program, programs, tuple(views), scalars)
    return outputs


def _prepare(
    key: tuple[Any, ...],
    walked: Walked,
    plan: _Pass,
    fold: Fold,
    device: Any,
    pairs: bool,
    dtypes: list[_np.dtype[Any]],
) -> Any:
    order, leaves, constants = walked.skeleton()

    def build(specs: list[Any]) -> Any:
        return _Kernel(specs, plan, fold, order, leaves, constants, pairs).finish()

    views = [*(x.dtype for x in leaves), *([INT64] if pairs else []), *dtypes]
    scalars = [*(c.dtype for c in constants), INT64, INT64]
    return _exec.prepare(device, f"reduce_{fold.kind}", key, views, len(dtypes), scalars, build)


def _logical(b: Any, kind: str, x: Any, y: Any) -> Any:
    return b.binary(_engine.BINARY[kind], x, y, False)


class _Kernel:
    """Builds one pass: a loop over the reduced axis that folds tiles elementwise, then a fold within the tile."""

    def __init__(
        self,
        specs: list[Any],
        plan: _Pass,
        fold: Fold,
        order: list[Node],
        leaves: list[Leaf],
        constants: list[Any],
        pairs: bool,
    ) -> None:
        self.b = _engine.Builder("reduce", specs)
        self.frame = Frame(self.b, plan.tile)
        self.plan, self.fold, self.order, self.pairs = plan, fold, order, pairs
        outputs = 2 if fold.index else 1
        self.views, rest, self.constants = bind(self.b, leaves, constants, outputs + int(pairs))
        self.index_view = rest[0] if pairs else None
        self.outputs = rest[int(pairs) :]
        self.span, self.stride = self.b.args()[-2:]
        self.dtype = order[-1].dtype
        self.each = plan.each and not fold.index

    def finish(self) -> Any:
        """The finished module."""
        b, frame, tile = self.b, self.frame, self.plan.tile
        shown = next(iter(self.views.values()), None)
        target = self.outputs[0] if shown is None else shown
        last = len(tile) - 1
        number, part = frame.program(), frame.i64(0)
        if self.plan.parts > 1:
            parts = b.dim(self.outputs[0], last)
            part, number = frame.op("rem", number, parts), frame.op("truncdiv", number, parts)
        _, kept = frame.split(number, target, range(last))
        start = frame.op("mul", part, self.span)
        length = b.dim(target, last)
        stop = frame.op("minimum", frame.op("add", start, self.span), length)
        initial = [b.full(scalar(self.fold.identity, self.dtype), tile[:-1] if self.each else tile)]
        if self.fold.index:
            initial.append(frame.context.full(_np.iinfo(_np.int64).max, INT64))
        results = self._loop(start, stop, initial, kept, length)
        self._store(results, kept, part)
        return b.finish()

    def _loop(self, start: Any, stop: Any, initial: list[Any], kept: list[Any], length: Any) -> list[Any]:
        """Folds [start, stop); sums in strides near the root of the length, so that rounding grows with the root."""
        b, frame, step = self.b, self.frame, self.plan.tile[-1]
        if self.fold.kind != "add" or self.dtype.kind not in "fcV":
            position, carried = b.begin_for(start, stop, frame.i64(step), initial)
            return list(b.end_for(self._step(carried, kept, position, length)))
        begin, total = b.begin_for(start, stop, self.stride, initial)
        end = frame.op("minimum", frame.op("add", begin, self.stride), stop)
        position, carried = b.begin_for(begin, end, frame.i64(step), initial)
        part = b.end_for(self._step(carried, kept, position, length))
        return list(b.end_for([b.binary(_engine.BINARY["add"], total[0], part[0], False)]))

    def _step(self, carried: list[Any], kept: list[Any], position: Any, length: Any) -> list[Any]:
        b, frame, tile = self.b, self.frame, self.plan.tile
        plain = len(self.order) == 1 and not self.fold.index
        padding = scalar(self.fold.identity, self.dtype) if plain else None
        value = frame.expression(self.order, self.views, self.constants, [*kept, position], padding)
        last = len(tile) - 1
        where: Any = None
        if not plain or self.fold.index:
            where = b.binary(
                _engine.BINARY["add"], b.iota(dtype_code(INT64), tile, last), b.broadcast(position, tile), False
            )
            inside = b.compare(COMPARE["lt"], where, b.broadcast(length, tile))
            value = b.select(inside, value, frame.context.full(self.fold.identity, self.dtype))
        if self.each:
            value = b.reduce(COMBINE[self.fold.kind], [value], last, 0, None)[0]
        if not self.fold.index:
            return [b.binary(_engine.BINARY[_BINARY_OF[self.fold.kind]], carried[0], value, False)]
        if self.index_view is not None:
            limit = scalar(_np.iinfo(_np.int64).max, INT64)
            where = b.load(self.index_view, [*kept, position], tile, limit, False)
        else:
            where = b.select(inside, where, frame.context.full(_np.iinfo(_np.int64).max, INT64))
        return self._better(b, carried, [value, where])

    def _better(self, b: Any, left: list[Any], right: list[Any]) -> list[Any]:
        """NumPy's choice of two (value, index) pairs: NaN first, then the better value, then the lower index."""
        kind = "lt" if self.fold.kind == "minimum" else "gt"
        better = b.compare(COMPARE[kind], right[0], left[0])
        same = b.compare(COMPARE["eq"], right[0], left[0])
        both_and = functools.partial(_logical, b, "bitand")
        either = functools.partial(_logical, b, "bitor")
        if self.dtype.kind == "f":
            left_nan, right_nan = (b.unary(UNARY["isnan"], x, False) for x in (left[0], right[0]))
            not_left = b.unary(UNARY["bitnot"], left_nan, False)
            better = either(both_and(better, not_left), both_and(right_nan, not_left))
            same = either(same, both_and(left_nan, right_nan))
        lower = b.compare(COMPARE["lt"], right[1], left[1])
        take = either(better, both_and(same, lower))
        return [b.select(take, r, x) for x, r in zip(left, right, strict=True)]

    def _store(self, results: list[Any], kept: list[Any], part: Any) -> None:
        b, tile = self.b, self.plan.tile
        last = len(tile) - 1
        if tile[last] > 1 and not self.each:
            if self.fold.index:
                results = b.reduce(COMBINE["region"], results, last, 0, self._better)
            else:
                results = b.reduce(COMBINE[self.fold.kind], results, last, 0, None)
        flat = [*tile[:last], 1]
        for view, value in zip(self.outputs, results, strict=True):
            scalar_result = b.type(value)[0] == 0
            shaped = b.broadcast(value, flat) if scalar_result else b.reshape(value, flat)
            b.store(view, [*kept, part], shaped, False)
