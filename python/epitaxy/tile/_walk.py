"""The walker: follows a kernel's syntax tree with values in place of numbers, and records the program.

What is known at compile time (constants, shapes, dtypes, functions) is computed as Python would; what is not is a Tile
or an Array, and operations on it are recorded. This file has the frames, the state of control flow and how two paths
are joined; the other files of the walker add expressions, calls, statements and loops.

Control flow without jumps: a path's `jump` says whether it has left the block: 0 no, 1 break, 2 continue, 3 return.
Where that is known the rest of the block is skipped or moved into the other branch; where it is not, `jump` is a
recorded scalar and the rest runs under `if jump == 0`.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import ast
from dataclasses import dataclass, field
from types import CellType
from typing import Any

from . import _convert as cv
from . import _elementwise as ew
from ._captures import Captures
from ._errors import Place, TileError, TileTypeError, TileValueError
from ._liveness import RESULT, LoopNames, Names
from ._record import Recorder, Region
from ._source import Source
from ._values import Array, Tile

__all__ = [
    "BREAK",
    "CONTINUE",
    "RESULT",
    "RETURN",
    "Conflict",
    "Frame",
    "LocalFunction",
    "Path",
    "Undefined",
    "WalkerBase",
]

BREAK, CONTINUE, RETURN = 1, 2, 3


@dataclass(eq=False)
class Undefined:
    """The value of a name that some path did not assign."""

    reason: str


@dataclass(eq=False)
class Conflict:
    """The value of a name that two paths gave values that do not go together."""

    reason: str
    hint: str = ""


@dataclass(eq=False)
class LocalFunction:
    """A function or lambda written inside a kernel; it sees the variables of `frame` as they are when it is called."""

    node: ast.FunctionDef | ast.Lambda
    source: Source
    frame: Frame
    defaults: list[Any]
    keyword_defaults: list[Any]

    @property
    def name(self) -> str:
        return self.node.name if isinstance(self.node, ast.FunctionDef) else "<lambda>"


@dataclass
class LoopState:
    """The innermost loop around a statement, and names that some exit from it left undefined."""

    names: LoopNames
    undefined: set[str] = field(default_factory=set)


@dataclass(eq=False)
class Frame:
    """One call being inlined."""

    source: Source
    global_names: dict[str, Any]
    cells: dict[str, CellType]
    outer: Frame | None  # the frame around a local function
    called_from: list[Place]
    active: list[Any]  # code objects and nodes of the calls around this one
    env: dict[str, Any] = field(default_factory=dict)
    jump: Any = 0
    kinds: set[int] = field(default_factory=lambda: {0})
    loops: list[LoopState] = field(default_factory=list)


@dataclass
class Path:
    """Where one branch ended: its names and whether it left the block."""

    env: dict[str, Any]
    jump: Any
    kinds: set[int]
    region: Region

    @property
    def left(self) -> bool:
        """It has left the block, or may have."""
        return isinstance(self.jump, Tile) or self.jump != 0

    @property
    def gone(self) -> bool:
        """It has left the block for certain."""
        return not isinstance(self.jump, Tile) and self.jump != 0


class WalkerBase:
    """Frames, places, and the join of two paths."""

    def __init__(self, recorder: Recorder, captures: Captures) -> None:
        self.r = recorder
        self.captures = captures
        self.frame: Frame = None  # type: ignore[assignment]

    # -- places ----------------------------------------------------------------------------------------------------
    def here(self, node: Any) -> None:
        """What is recorded next comes from `node`."""
        self.r.place = self.frame.source.place(node)

    def locate(self, error: TileError, node: Any) -> TileError:
        return error.at(self.frame.source.place(node), self.frame.called_from)

    # -- names -----------------------------------------------------------------------------------------------------
    def read(self, name: str) -> Any:
        """The value of a local name, or an error that says why there is none."""
        value = self.frame.env[name]
        if isinstance(value, Undefined):
            raise TileValueError(f"'{name}' may be undefined: {value.reason}", hint="assign it before, on every path")
        if isinstance(value, Conflict):
            raise TileTypeError(f"'{name}' has no single type: {value.reason}", hint=value.hint)
        return value

    def path(self, region: Region) -> Path:
        f = self.frame
        return Path(f.env, f.jump, f.kinds, region)

    def enter(self, path: Path) -> None:
        f = self.frame
        f.env, f.jump, f.kinds = path.env, path.jump, path.kinds

    # -- joining ---------------------------------------------------------------------------------------------------
    def alive(self, after: Names, *paths: Path) -> list[str]:
        """Names that matter after paths meet; where one of them jumps, also what its target reads."""
        names = set(after) | self.frame.source.analysis.captured
        if any(p.left for p in paths):
            for loop in self.frame.loops:
                names |= loop.names.head | loop.names.after
            names.add(RESULT)
        if any(RESULT in p.env for p in paths):
            names.add(RESULT)
        return sorted(names)

    def merge(self, condition: Tile, a: Path, b: Path, after: Names, place: Place) -> None:
        """Records `if condition: a else: b` and makes the joined state current."""
        join = Join(self, a, b, place)
        env: dict[str, Any] = {}
        alive = self.alive(after, a, b)
        for name in alive:
            env[name] = join.value(a.env.get(name, _UNSET), b.env.get(name, _UNSET), name)
        for name in (a.env.keys() | b.env.keys()) - set(alive):
            x = a.env.get(name, _DEAD)
            env[name] = x if x is b.env.get(name, _DEAD) else _DEAD
        env = {k: v for k, v in env.items() if v is not _UNSET}
        kinds = a.kinds | b.kinds
        jump = join.jump(kinds)
        if a.region.ops or b.region.ops or join.results:
            self.r.place = place
            self.r.emit("if", (condition,), join.results, (a.region, b.region))
        f = self.frame
        f.env, f.jump, f.kinds = env, jump, kinds


_UNSET: Any = Undefined("it is not assigned")
# A name that nothing reads on this path any more. A path that has left the block may still need its own value of it.
_DEAD: Any = Undefined("it is not read again")


class Join:
    """Brings the values of two paths together; `results` are the if's."""

    def __init__(self, walker: WalkerBase, a: Path, b: Path, place: Place) -> None:
        self.w = walker
        self.paths = (a, b)
        self.place = place
        self.results: list[Tile] = []

    def jump(self, kinds: set[int]) -> Any:
        a, b = self.paths
        if len(kinds) == 1:
            return next(iter(kinds))
        if a.jump is b.jump:
            return a.jump
        return self._tiles(a.jump, b.jump, "jump", cv.INT32, ())

    def value(self, x: Any, y: Any, name: str) -> Any:
        if x is y:
            return x
        if isinstance(x, Conflict) or isinstance(y, Conflict):
            return x if isinstance(x, Conflict) else y
        if isinstance(x, Undefined) or isinstance(y, Undefined):
            return self._half(x, y, name)
        if isinstance(x, tuple) and isinstance(y, tuple) and type(x) is type(y) and len(x) == len(y):
            parts = [self.value(p, q, name) for p, q in zip(x, y, strict=True)]
            bad = next((p for p in parts if isinstance(p, Conflict)), None)
            return bad if bad is not None else tuple(parts)
        if isinstance(x, Tile) or isinstance(y, Tile) or (cv.is_number(x) and cv.is_number(y)):
            return self._numbers(x, y, name)
        if type(x) is type(y) and not isinstance(x, Array | LocalFunction) and _static_equal(x, y):
            return x
        return self._conflict(x, y, name)

    def _conflict(self, x: Any, y: Any, name: str) -> Conflict:
        line = self.place.line
        where = f"it is {cv.describe(x)} on one path and {cv.describe(y)} on the other of the `if` in line {line}"
        same = isinstance(x, Tile) and isinstance(y, Tile) and x.shape == y.shape
        hint = f"cast one of them, for example {name}.astype(ct.{x.dtype.name})" if same else ""
        return Conflict(where, hint)

    def _half(self, x: Any, y: Any, name: str) -> Any:
        """One side did not assign the name: fine where that side has left the block."""
        a, b = self.paths
        missing_on, value = (a, y) if isinstance(x, Undefined) else (b, x)
        if isinstance(value, Undefined):
            return x
        if not (missing_on.left or name == RESULT or x is _DEAD or y is _DEAD):
            return Undefined(f"only one path of the `if` in line {self.place.line} assigns it")
        return self._filled(value, missing_on is a)

    def _filled(self, value: Any, first: bool) -> Any:
        if isinstance(value, tuple):
            return tuple(self._filled(v, first) for v in value)
        if not isinstance(value, Tile):
            return value  # a constant stands for itself: the other path never reads it
        x, y = (0, value) if first else (value, 0)
        return self._tiles(x, y, "a name", value.dtype, value.shape, weak=value.weak)

    def _numbers(self, x: Any, y: Any, name: str) -> Any:
        if cv.is_number(x) and cv.is_number(y) and type(x) is type(y) and repr(x) == repr(y):
            return x
        if not all(isinstance(v, Tile) or cv.is_number(v) for v in (x, y)):
            return self._conflict(x, y, name)
        loose = [not isinstance(v, Tile) or v.weak for v in (x, y)]
        shapes = {v.shape for v in (x, y) if isinstance(v, Tile) and (v.shape or not v.weak)}
        dtype, weak = cv.common_dtype([x, y]) if any(loose) else (x.dtype, False)
        strong = [v.dtype for v, w in zip((x, y), loose, strict=True) if not w]
        if len(shapes) > 1 or any(d is not dtype for d in strong) or (not any(loose) and x.dtype is not y.dtype):
            return self._conflict(x, y, name)
        # Two different constants become an ordinary scalar; weak tiles stay weak until their loop settles them.
        weak = weak and any(isinstance(v, Tile) for v in (x, y))
        return self._tiles(x, y, name, dtype, next(iter(shapes), ()), weak=weak)

    def _tiles(self, x: Any, y: Any, what: str, dtype: Any, shape: tuple[int, ...], *, weak: bool = False) -> Tile:
        out = Tile(dtype, shape, weak=weak)
        for path, v in zip(self.paths, (x, y), strict=True):
            with self.w.r.into(path.region):
                path.region.yields.append(settle(v, dtype, shape))
        if all(isinstance(v, Tile) and v.positive for v in (x, y)):
            out.positive = True
        self.results.append(out)
        return out


def settle(v: Any, dtype: Any, shape: tuple[int, ...]) -> Tile:
    """A number or tile as a tile of exactly this type; a scalar fills a tile."""
    t = cv.constant(v, dtype, exact=False) if not isinstance(v, Tile) else cv.cast(v, dtype)
    return cv.broadcast(t, shape) if t.shape != shape else t


def _static_equal(x: Any, y: Any) -> bool:
    try:
        return bool(x == y)
    except Exception:
        return False


def zero_jump(jump: Tile) -> Tile:
    """`jump == 0`."""
    return ew.equal(jump, cv.constant(0, cv.INT32))
