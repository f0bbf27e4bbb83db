"""Reductions, scans and matrix products of tiles.

Floats are folded in a fixed association (docs/design/semantics.md), so results repeat. Sums of bool count in int32;
other integers keep their dtype and wrap.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from .. import _engine
from . import _convert as cv
from . import _elementwise as ew
from . import _shapes as sh
from ._api import api
from ._errors import TileTypeError, TileValueError
from ._options import RoundingMode
from ._record import ELEMENTWISE, Region, recorder
from ._values import Tile

_COMBINE = _engine.COMBINE


# -- folding along one axis ----------------------------------------------------------------------------------------
def _combiner(function: Any, types: list[Tile], what: str) -> Region:
    """The recorded body of a combining function of 2N scalars."""
    params = [Tile(t.dtype) for t in types] * 1 + [Tile(t.dtype) for t in types]
    with recorder().region(params) as region:
        got = function(*params)
        results = list(got) if isinstance(got, tuple) else [got]
        if len(results) != len(types):
            raise TileTypeError(f"the function of {what} gives {len(results)} values for {len(types)} tiles")
        for r, t in zip(results, types, strict=True):
            v = cv.bring(r, t.dtype) if cv.is_number(r) else cv.as_tile(r, f"the result of {what}'s function")
            if v.shape or cv.promote_dtypes(v.dtype, t.dtype, what) is not t.dtype:
                raise TileTypeError(
                    f"the function of {what} gives {cv.describe(v)} where {t.dtype.name} scalars are folded"
                )
            region.yields.append(cv.cast(v, t.dtype))
    for op in region.ops:
        if op.name not in ELEMENTWISE:
            raise (
                TileTypeError(
                    f"the function of {what} uses {op.name}; it may compute with scalars only",
                    hint="no loads, stores, prints, loops or runtime ifs; use ct.where to choose",
                ).at(op.place)
                if op.place
                else TileTypeError(f"the function of {what} uses {op.name}")
            )
    return region


def _reduce_axis(kind: str, tiles: list[Tile], axis: int, region: Region | None = None, lanes: int = 0) -> list[Tile]:
    shape = tiles[0].shape[:axis] + tiles[0].shape[axis + 1 :]
    out = [Tile(t.dtype, shape) for t in tiles]
    recorder().emit("reduce", (_COMBINE[kind], tiles, axis, lanes), out, (region,) if region else ())
    return out


def _axes(axis: Any, rank: int) -> list[int]:
    if axis is None:
        return list(range(rank))
    return sorted({cv.axis_of(a, rank) for a in (axis if isinstance(axis, tuple | list) else (axis,))})


def _gathered(t: Tile, axes: list[int]) -> Tile:
    """The tile with the reduced axes moved last and made one, in order."""
    if len(axes) == 1:
        return t
    keep = [i for i in range(t.ndim) if i not in axes]
    moved = sh.permute(t, (*keep, *axes))
    return cv.reshape(moved, (*(t.shape[i] for i in keep), math.prod(t.shape[i] for i in axes)))


def _keep(t: Tile, shape: tuple[int, ...], axes: list[int], keepdims: Any) -> Tile:
    if not keepdims:
        return t
    return cv.reshape(t, tuple(1 if i in axes else n for i, n in enumerate(shape)))


def _fold(kind: str, x: Any, axis: Any, keepdims: Any, what: str, function: Any = None) -> Tile:
    t = cv.strengthen(cv.as_tile(x, f"the operand of {what}"))
    if not t.shape:
        return t
    axes = _axes(axis, t.ndim)
    if not axes:
        return t
    flat = _gathered(t, axes)
    region = _combiner(function, [t], what) if function else None
    (out,) = _reduce_axis(kind, [flat], axes[0] if len(axes) == 1 else flat.ndim - 1, region)
    return _keep(out, t.shape, axes, keepdims)


def _countable(x: Any) -> Tile:
    t = cv.as_tile(x)
    return cv.cast(t, cv.INT32) if t.dtype is cv.BOOL else t


@api
def sum(
    x: Any,
    /,
    axis: Any = None,
    *,
    keepdims: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """The sum over an axis, several, or all."""
    return _fold("add", _countable(x), axis, keepdims, "sum")


@api
def prod(
    x: Any,
    /,
    axis: Any = None,
    *,
    keepdims: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """The product over an axis, several, or all."""
    return _fold("mul", _countable(x), axis, keepdims, "prod")


@api
def max(
    x: Any, /, axis: Any = None, *, keepdims: bool = False, flush_to_zero: bool = False, propagate_nan: bool = False
) -> Tile:
    """The largest element. NaN loses against numbers unless `propagate_nan`."""
    return _extreme("max", x, axis, keepdims, propagate_nan)


@api
def min(
    x: Any, /, axis: Any = None, *, keepdims: bool = False, flush_to_zero: bool = False, propagate_nan: bool = False
) -> Tile:
    """The smallest element. NaN loses against numbers unless `propagate_nan`."""
    return _extreme("min", x, axis, keepdims, propagate_nan)


def _extreme(which: str, x: Any, axis: Any, keepdims: Any, propagate_nan: bool) -> Tile:
    t = cv.as_tile(x, f"the operand of {which}")
    if t.dtype.kind == "c":
        raise TileTypeError(f"{which} takes real numbers, got {cv.describe(t)}")
    if t.dtype.kind == "f" and not propagate_nan:
        pick = ew.maximum if which == "max" else ew.minimum
        return _fold("region", t, axis, keepdims, which, pick)
    return _fold(f"{which}imum", t, axis, keepdims, which)


@api
def any(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tile:
    """Whether an element is not zero."""
    return _fold("bitor", cv.cast(cv.as_tile(x), cv.BOOL), axis, keepdims, "any")


@api
def all(x: Any, /, axis: Any = None, *, keepdims: bool = False) -> Tile:
    """Whether no element is zero."""
    return _fold("bitand", cv.cast(cv.as_tile(x), cv.BOOL), axis, keepdims, "all")


# -- arg reductions ------------------------------------------------------------------------------------------------
def _better(which: str, propagate_nan: bool, is_float: bool) -> Any:
    """The combiner of (value, index): the better value, then the lower index."""
    beats = ew.greater if which == "max" else ew.less

    def pick(lv: Tile, li: Tile, rv: Tile, ri: Tile) -> tuple[Tile, Tile]:
        earlier = ew.less(ri, li)
        right = beats(rv, lv) | (ew.equal(rv, lv) & earlier)
        if is_float:
            ln, rn = ew.isnan(lv), ew.isnan(rv)
            both = ln & rn & earlier
            right = (right & ~ln & ~rn) | both | ((rn & ~ln) if propagate_nan else (ln & ~rn))
        return ew.where(right, rv, lv), ew.where(right, ri, li)

    return pick


def _arg(which: str, x: Any, axis: Any, keepdims: Any, propagate_nan: bool) -> Tile:
    t = cv.as_tile(x, f"the operand of arg{which}")
    if t.dtype.kind == "c":
        raise TileTypeError(f"arg{which} takes real numbers, got {cv.describe(t)}")
    if t.dtype is cv.BOOL:
        t = cv.cast(t, cv.INT32)
    if isinstance(axis, tuple | list):
        raise TileTypeError(f"arg{which} takes one axis or None, got {axis}")
    if not t.shape:
        return cv.constant(0, cv.INT32)
    axes = _axes(axis, t.ndim)
    flat = cv.reshape(t, (math.prod(t.shape),)) if axis is None else t
    at = 0 if axis is None else axes[0]
    index = Tile(cv.INT32, flat.shape)
    recorder().emit("iota", (cv.INT32, flat.shape, at), [index])
    region = _combiner(_better(which, propagate_nan, t.dtype.kind == "f"), [flat, index], f"arg{which}")
    return _keep(_reduce_axis("region", [flat, index], at, region)[1], t.shape, axes, keepdims)


@api
def argmax(x: Any, /, axis: Any = None, *, keepdims: bool = False, propagate_nan: bool = False) -> Tile:
    """The index (int32) of the largest element, the lowest of equals; over all elements with `axis=None`.

    NaN loses against numbers (index 0 where all are NaN); with `propagate_nan` the first NaN wins.
    """
    return _arg("max", x, axis, keepdims, propagate_nan)


@api
def argmin(x: Any, /, axis: Any = None, *, keepdims: bool = False, propagate_nan: bool = False) -> Tile:
    """The index (int32) of the smallest element, the lowest of equals. NaN as in `argmax`."""
    return _arg("min", x, axis, keepdims, propagate_nan)


# -- the user's own ------------------------------------------------------------------------------------------------
def _operands(x: Any, what: str) -> tuple[list[Tile], bool]:
    several = isinstance(x, tuple | list)
    tiles = [cv.strengthen(cv.as_tile(t, f"an operand of {what}")) for t in (x if several else (x,))]
    shape = cv.broadcast_shapes([t.shape for t in tiles], what)
    return [cv.broadcast(t, shape) for t in tiles], several


@api
def reduce(
    x: Any, /, axis: Any, func: Any, identity: Any = None, *, keepdims: bool = False, ordered: bool = False
) -> Any:
    """Folds a tile, or a tuple of tiles together, along an axis with the associative and commutative `func`.

    `func` takes two scalars (2N for N tiles: the left ones, then the right ones) and gives one (a tuple of N). With
    `ordered` it need not be commutative: elements are folded from the first to the last, one by one.
    """
    tiles, several = _operands(x, "reduce")
    n = cv.axis_of(axis, tiles[0].ndim)
    region = _combiner(func, tiles, "reduce")
    out = [_keep(t, tiles[0].shape, [n], keepdims) for t in _reduce_axis("region", tiles, n, region, int(ordered))]
    return tuple(out) if several else out[0]


@api
def scan(x: Any, /, axis: Any, func: Any, identity: Any = None, *, reverse: bool = False) -> Any:
    """The inclusive prefix folds along an axis with `func` (as in `reduce`); from the end with `reverse`."""
    tiles, several = _operands(x, "scan")
    out = _scan_axis("region", tiles, cv.axis_of(axis, tiles[0].ndim), reverse, _combiner(func, tiles, "scan"))
    return tuple(out) if several else out[0]


def _scan_axis(kind: str, tiles: list[Tile], axis: int, reverse: bool, region: Region | None = None) -> list[Tile]:
    out = [Tile(t.dtype, t.shape) for t in tiles]
    args = (_COMBINE[kind], tiles, axis, bool(reverse), 0)
    recorder().emit("scan", args, out, (region,) if region else ())
    return out


@api
def cumsum(
    x: Any,
    /,
    axis: Any = 0,
    *,
    reverse: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """The sums of each element and those before it along an axis."""
    t = cv.strengthen(_countable(x))
    return _scan_axis("add", [t], cv.axis_of(axis, t.ndim), reverse)[0]


@api
def cumprod(
    x: Any,
    /,
    axis: Any = 0,
    *,
    reverse: bool = False,
    rounding_mode: RoundingMode | None = None,
    flush_to_zero: bool = False,
) -> Tile:
    """The products of each element and those before it along an axis."""
    t = cv.strengthen(_countable(x))
    return _scan_axis("mul", [t], cv.axis_of(axis, t.ndim), reverse)[0]


# -- contraction ---------------------------------------------------------------------------------------------------
_ACCUMULATORS = {
    "float16": ("float16", "float32"), "bfloat16": ("float32",), "float32": ("float32",), "float64": ("float64",),
    "int8": ("int32",), "uint8": ("int32",),
}  # fmt: skip


def _mma2(x: Tile, y: Tile, acc: Tile) -> Tile:
    out = Tile(acc.dtype, acc.shape)
    recorder().emit("mma", (x, y, acc), [out])
    return out


def _batched(x: Tile, y: Tile, acc: Tile) -> Tile:
    """2-D products of the leading axes, one by one."""
    lead = acc.shape[:-2]
    count = math.prod(lead)
    x, y = (cv.reshape(cv.broadcast(t, (*lead, *t.shape[-2:])), (count, *t.shape[-2:])) for t in (x, y))
    flat = cv.reshape(acc, (count, *acc.shape[-2:]))
    parts = []
    for i in range(count):
        a, b, c = (cv.reshape(sh.extract(t, (i, 0, 0), (1, *t.shape[1:])), t.shape[1:]) for t in (x, y, flat))
        parts.append(cv.reshape(_mma2(a, b, c), (1, *c.shape)))
    return cv.reshape(sh.cat(tuple(parts), 0), acc.shape)


@api
def mma(x: Any, y: Any, /, acc: Any, *, use_fast_acc: bool = False) -> Tile:
    """`x @ y + acc` in the dtype of `acc`; 2-D, or with leading axes that broadcast.

    float16 into float16 or float32; bfloat16 and float32 into float32; float64; int8 and uint8 into int32.
    """
    tiles = [cv.as_tile(t, "an operand of mma") for t in (x, y, acc)]
    a, b, c = tiles
    accepted = _ACCUMULATORS.get(a.dtype.name, ())
    small = a.dtype.name in ("int8", "uint8") and b.dtype.name in ("int8", "uint8")
    if (a.dtype is not b.dtype and not small) or c.dtype.name not in accepted:
        raise TileTypeError(
            f"mma cannot multiply {cv.describe(a)} by {cv.describe(b)} into {cv.describe(c)}",
            hint="accepted: float16 into float16 or float32, bfloat16 or float32 into float32, float64, int8 or uint8 "
            "into int32",
        )
    if any_below(tiles, 2):
        raise TileTypeError(f"mma takes tiles of 2 axes or more, got {', '.join(cv.describe(t) for t in tiles)}")
    lead = cv.broadcast_shapes([a.shape[:-2], b.shape[:-2]], "mma")
    want = (*lead, a.shape[-2], b.shape[-1])
    if a.shape[-1] != b.shape[-2] or c.shape != want:
        raise TileTypeError(
            f"mma: shapes {list(a.shape)}, {list(b.shape)} and {list(c.shape)} do not fit",
            hint="they are [M, K], [K, N] and [M, N]",
        )
    if a.dtype is not b.dtype or a.dtype.name == "uint8":  # int8 with uint8: both as int16, exactly
        a, b = cv.cast(a, cv._D["int16"]), cv.cast(b, cv._D["int16"])
    return _mma2(a, b, c) if c.ndim == 2 else _batched(a, b, c)


def any_below(tiles: list[Tile], rank: int) -> bool:
    return next((True for t in tiles if t.ndim < rank), False)


@api
def matmul(x: Any, y: Any, /) -> Tile:
    """`x @ y` of 1-D, 2-D or batched tiles in their common dtype; 16-bit floats add up in float32."""
    a, b = cv.promote([cv.as_tile(x), cv.as_tile(y)], "@")
    if a.dtype.name not in _ACCUMULATORS:
        raise TileTypeError(f"@ takes floats or int8 and uint8, got {cv.describe(a)} and {cv.describe(b)}")
    if any_below([a, b], 1):
        raise TileValueError("@ takes tiles with axes; multiply scalars with *")
    left, right = a.ndim == 1, b.ndim == 1
    a = cv.reshape(a, (1, *a.shape)) if left else a
    b = cv.reshape(b, (*b.shape, 1)) if right else b
    lead = cv.broadcast_shapes([a.shape[:-2], b.shape[:-2]], "@")
    wide = cv._D[_ACCUMULATORS[a.dtype.name][-1]]
    out = mma(a, b, sh.zeros((*lead, a.shape[-2], b.shape[-1]), wide))
    shape = out.shape
    if right:
        shape = shape[:-1]
    if left:
        shape = shape[: len(lead)] + shape[len(lead) + 1 :]
    return cv.cast(cv.reshape(out, shape), a.dtype)
