"""A kernel as the front end records it: a list of ops in nested blocks, replayed into the engine's builder at the end.

Recording first makes loops cheap to type: a body is walked again with better types by dropping its block. Values are
the operands; a value's engine handle is set when its op is replayed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .. import _engine
from .._dtypes import DType
from ._errors import Place, TileTypeError

__all__ = ["Literal", "Op", "Recorder", "Region", "Value", "recorder", "recording", "replay"]


class Value:
    """What an op takes and gives: a Tile or an Array. `_handle` is the engine's value, once replayed."""

    __slots__ = ("_handle",)
    _handle: Any


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant of a dtype, an operand of constants, padding and identities."""

    dtype: DType
    value: complex | float | int | bool

    def scalar(self) -> Any:
        code, kind = self.dtype.code, self.dtype.kind
        if kind == "c":
            return _engine.Scalar.of_complex(code, complex(self.value))
        if kind == "f":
            return _engine.Scalar.of_float(code, float(self.value.real))
        bits = int(self.value.real)
        return _engine.Scalar.of_int(code, bits - (1 << 64) if bits >= 1 << 63 else bits)


@dataclass(slots=True)
class Region:
    """A block: what it takes, its ops, and what it yields."""

    params: list[Any] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    yields: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class Op:
    name: str  # a method of the engine's Builder, or for, while, if
    args: tuple[Any, ...]
    results: list[Any]
    place: Place | None
    regions: tuple[Region, ...] = ()
    used: bool = False


# Ops that do something beside giving results; all others are dropped where their results are not used.
EFFECTS = frozenset(
    {"store", "scatter", "atomic_rmw", "atomic_cas", "fence", "assert_", "print", "lookback", "for", "while", "if"}
)
# Ops that only compute: safe to run whether or not their results are wanted.
COMPUTE = frozenset(
    {
        "program_id", "num_programs", "dim", "stride", "slice", "permute_view", "constant", "full", "iota", "broadcast",
        "reshape", "permute", "cat", "extract", "insert", "unary", "binary", "fma", "compare", "select", "cast",
        "bitcast", "reduce", "scan", "take", "rank", "mma", "alias",
    }
)  # fmt: skip
# What a combiner's body may hold.
ELEMENTWISE = frozenset(
    {"constant", "unary", "binary", "fma", "compare", "select", "cast", "bitcast", "reshape", "alias"}
)


class Recorder:
    """Takes ops down. `place` is where the walker is in the source."""

    def __init__(self) -> None:
        self.place: Place | None = None
        self.block: list[Op] = []
        self.weak_uses = 0  # times a weak runtime value took another type than its own

    def emit(self, name: str, args: tuple[Any, ...], results: list[Any], regions: tuple[Region, ...] = ()) -> None:
        self.block.append(Op(name, args, results, self.place, regions))

    @contextmanager
    def region(self, params: list[Any] | None = None) -> Iterator[Region]:
        """Records into a new block while the context lasts."""
        outer, region = self.block, Region(params or [])
        self.block = region.ops
        try:
            yield region
        finally:
            self.block = outer

    @contextmanager
    def into(self, region: Region) -> Iterator[None]:
        """Records at the end of an existing block."""
        outer, self.block = self.block, region.ops
        try:
            yield
        finally:
            self.block = outer


_active = threading.local()


def recorder() -> Recorder:
    """The recorder of the kernel being compiled in this thread."""
    found: Recorder | None = getattr(_active, "recorder", None)
    if found is None:
        raise TypeError(
            "functions of epitaxy.tile work inside a kernel only; start the kernel with epitaxy.tile.launch"
        )
    return found


def is_recording() -> bool:
    return getattr(_active, "recorder", None) is not None


@contextmanager
def recording(r: Recorder) -> Iterator[Recorder]:
    outer = getattr(_active, "recorder", None)
    _active.recorder = r
    try:
        yield r
    finally:
        _active.recorder = outer


# -- replay --------------------------------------------------------------------------------------------------------
def _mark(ops: list[Op], wanted: set[int]) -> None:
    """Marks what is used, from the last op to the first; `wanted` are ids of values."""
    for op in reversed(ops):
        if not (op.name in EFFECTS or any(id(r) in wanted for r in op.results)):
            continue
        op.used = True
        _want(op.args, wanted)
        for region in op.regions:
            _want(region.yields, wanted)
        for region in reversed(op.regions):
            _mark(region.ops, wanted)


def _want(args: Any, wanted: set[int]) -> None:
    for a in args:
        if isinstance(a, Value):
            wanted.add(id(a))
        elif isinstance(a, list | tuple):
            _want(a, wanted)


def _operand(a: Any) -> Any:
    if isinstance(a, Value):
        return a._handle
    if isinstance(a, Literal):
        return a.scalar()
    if isinstance(a, list | tuple):
        return [_operand(x) for x in a]
    if isinstance(a, DType):
        return a.code
    return a


def _bind(values: list[Any], handles: Any) -> None:
    for v, h in zip(values, handles, strict=True):
        v._handle = h


def _play_for(b: Any, op: Op) -> None:
    start, stop, step, initial = op.args
    (body,) = op.regions
    index, carried = b.begin_for(start._handle, stop._handle, step._handle, _operand(initial))
    _bind(body.params, [index, *carried])
    _play(b, body.ops)
    _bind(op.results, b.end_for(_operand(body.yields)))


def _play_while(b: Any, op: Op) -> None:
    condition, body = op.regions
    _bind(condition.params, b.begin_while(_operand(op.args[0])))
    _play(b, condition.ops)
    _bind(body.params, b.while_body(_operand(condition.yields[0])))
    _play(b, body.ops)
    _bind(op.results, b.end_while(_operand(body.yields)))


def _play_if(b: Any, op: Op) -> None:
    then, other = op.regions
    b.begin_if(op.args[0]._handle)
    _play(b, then.ops)
    b.begin_else()
    _play(b, other.ops)
    _bind(op.results, b.end_if(_operand(then.yields), _operand(other.yields)))


def _play_combine(b: Any, op: Op) -> None:
    """reduce, scan and lookback: the last argument is the region, if there is one."""
    if not op.regions:
        _bind(op.results, getattr(b, op.name)(*(_operand(a) for a in op.args), None))
        return
    (body,) = op.regions

    def region(inner: Any, left: Any, right: Any) -> Any:
        _bind(body.params, [*left, *right])
        _play(inner, body.ops)
        return _operand(body.yields)

    _bind(op.results, getattr(b, op.name)(*(_operand(a) for a in op.args), region))


_SPECIAL: dict[str, Callable[[Any, Op], None]] = {
    "for": _play_for,
    "while": _play_while,
    "if": _play_if,
    "reduce": _play_combine,
    "scan": _play_combine,
    "lookback": _play_combine,
}


def _play(b: Any, ops: list[Op]) -> None:
    place = None
    for op in ops:
        if not op.used:
            continue
        if op.place is not None and op.place is not place:
            place = op.place
            b.set_location(place.file, place.line, place.column + 1)
        if op.name == "alias":
            op.results[0]._handle = op.args[0]._handle
            continue
        special = _SPECIAL.get(op.name)
        if special is not None:
            special(b, op)
            place = None
            continue
        result = getattr(b, op.name)(*[_operand(a) for a in op.args])
        if len(op.results) == 1:
            op.results[0]._handle = result
        elif op.results:
            _bind(op.results, result)


def replay(r: Recorder, name: str, specs: list[Any], params: list[Any], *, ascending: bool = False) -> Any:
    """The engine's Module of what was recorded; `params[i]` stands for argument i."""
    b = _engine.Builder(name, specs, ascending)
    _bind(params, b.args())
    _mark(r.block, set())
    _play(b, r.block)
    return b.finish()


def expect_int(value: Any, what: str) -> int:
    """`value` as a compile-time integer."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TileTypeError(f"{what} must be a compile-time integer, got {value!r}")
    return value
