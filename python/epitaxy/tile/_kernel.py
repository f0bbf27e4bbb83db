"""Kernels and their launch: which parameters are constants, what a launch's arguments specialise to, and the cache.

A compiled kernel serves every launch whose arguments have the same types and layout facts and whose constants are
equal, as long as what the kernel captured (globals, closure variables, helpers) is unchanged.
"""

from __future__ import annotations

import inspect
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Annotated, Any, get_args, get_origin

from .. import _engine
from .._dtypes import all_dtypes
from . import _convert as cv
from ._captures import Captures, same
from ._errors import TileTypeError
from ._options import ArrayAnnotation, ByTarget, ConstantAnnotation, ScalarAnnotation
from ._record import Recorder, replay
from ._values import Array, Tile
from ._walker import record_kernel

__all__ = ["checked", "function", "interpret", "kernel", "launch"]


@dataclass(frozen=True)
class Parameter:
    """What a kernel's parameter was declared as."""

    name: str
    constant: bool = False
    array: ArrayAnnotation | None = None
    scalar: ScalarAnnotation | None = None
    default: Any = inspect.Parameter.empty


@dataclass
class Compiled:
    """One specialisation: its module, and what it read from outside."""

    module: Any
    captures: Captures
    recorder: Recorder
    stores: frozenset[int]  # arguments that it writes


def _parameters(f: FunctionType) -> tuple[Parameter, ...]:
    try:
        annotations = inspect.get_annotations(f, eval_str=True)
    except Exception:  # a name in a string annotation that cannot be resolved: take what is plain
        annotations = {k: v for k, v in inspect.get_annotations(f).items() if not isinstance(v, str)}
    out = []
    for p in inspect.signature(f).parameters.values():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise TypeError(f"kernel {f.__name__}: parameter '{p}' collects arguments; name each one")
        notes = annotations.get(p.name)
        marks = get_args(notes)[1:] if get_origin(notes) is Annotated else ()
        found = {type(m): m for m in marks}
        out.append(
            Parameter(
                p.name, ConstantAnnotation in found, found.get(ArrayAnnotation), found.get(ScalarAnnotation), p.default
            )
        )
    return tuple(out)


class kernel:  # noqa: N801 - cuTile's name
    """A function that runs once for each program of a grid; start it with `launch`.

    `num_ctas`, `occupancy`, `opt_level` and `num_worker_warps` are cuTile's hints; each may be a `ByTarget`.
    """

    def __new__(cls, function: Any = None, /, **options: Any) -> Any:
        if function is None:
            return lambda f: cls(f, **options)
        return super().__new__(cls)

    def __init__(
        self, function: Any = None, /, *, num_ctas: int | ByTarget | None = None, occupancy: int | ByTarget | None = None,
        opt_level: int | ByTarget = 3, num_worker_warps: int | ByTarget | None = None, ascending: bool = False,
    ) -> None:  # fmt: skip
        if not isinstance(function, FunctionType):
            raise TypeError(f"kernel decorates a Python function, got {type(function).__name__}")
        self._function = function
        self._options = {
            "num_ctas": num_ctas, "occupancy": occupancy, "opt_level": opt_level, "num_worker_warps": num_worker_warps,
            "ascending": ascending,
        }  # fmt: skip
        self._check_options()
        self._parameters = _parameters(function)
        self._cache: dict[Any, Compiled] = {}
        self._lock = threading.Lock()
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def _check_options(self) -> None:
        limits = {"num_ctas": 16, "occupancy": 32, "opt_level": 3, "num_worker_warps": 32}
        for name, high in limits.items():
            value = self._options[name]
            if value is None or isinstance(value, ByTarget):
                continue
            low = 0 if name == "opt_level" else 1
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ValueError(f"{name} must be between {low} and {high}, got {value!r}")

    def replace_hints(self, **hints: Any) -> kernel:
        """The same kernel with other hints, and a cache of its own."""
        return kernel(self._function, **{**self._options, **hints})

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(f"the kernel {self.__name__} is not called; start it with launch(stream, grid, {self.__name__}, args)")

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    # -- compiling -------------------------------------------------------------------------------------------------
    def _split(self, args: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
        """(constants, launch arguments), defaults filled in."""
        if len(args) > len(self._parameters):
            raise TypeError(f"kernel {self.__name__} takes {len(self._parameters)} arguments, got {len(args)}")
        constants, values = [], []
        for i, p in enumerate(self._parameters):
            value = args[i] if i < len(args) else p.default
            if value is inspect.Parameter.empty:
                raise TypeError(f"kernel {self.__name__}: no value for '{p.name}' ({len(args)} arguments were given)")
            if p.constant:
                constants.append(value)
            else:
                values.append(value)
        return constants, values

    def _names(self) -> list[str]:
        return [p.name for p in self._parameters if not p.constant]

    def _compiled(self, constants: list[Any], arguments: Any) -> Compiled:
        """The specialisation for these arguments, compiled where there is none that is up to date."""
        key = (tuple(arguments.key()), arguments.wide, tuple(map(_constant_key, constants)), self._static_key(arguments))
        with self._lock:
            found = self._cache.get(key)
            if found is not None and found.captures.current():
                return found
            found = self._compile(constants, arguments)
            self._cache[key] = found
            return found

    def _static_key(self, arguments: Any) -> tuple[Any, ...]:
        out: list[Any] = []
        for i, p in enumerate(p for p in self._parameters if not p.constant):
            if p.array is not None:
                _, _, _, extents, strides, _ = arguments.describe(i)
                out.append(tuple(extents[d] for d in p.array.static_shape_dims))
                out.append(tuple(strides[d] for d in p.array.static_stride_dims))
        return tuple(out)

    def _compile(self, constants: list[Any], arguments: Any) -> Compiled:
        names = self._names()
        specs = arguments.specs(names)
        dynamic = [p for p in self._parameters if not p.constant]
        views = []
        for i, (p, spec) in enumerate(zip(dynamic, specs, strict=True)):
            views.append(_value(p, spec, arguments, i))
        given, fixed = iter(views), iter(constants)
        values = [next(fixed) if p.constant else next(given) for p in self._parameters]
        recorder, captures = record_kernel(self._function, [_admitted(v) for v in values])
        module = replay(recorder, self.__name__, specs, views, ascending=bool(self._options["ascending"]))
        return Compiled(module, captures, recorder, _stores(recorder, names))


def _admitted(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(value)
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "shape", None) == () else value


def _constant_key(value: Any) -> Any:
    """Constants are told apart by type and value: 1, 1.0 and True differ, as do 0.0 and -0.0."""
    if isinstance(value, tuple | list):
        return (type(value).__name__, *map(_constant_key, value))
    if isinstance(value, float | complex):
        return (type(value), repr(value))
    try:
        hash(value)
    except TypeError:
        raise TypeError(f"a ct.Constant argument must be hashable, got {type(value).__name__}") from None
    return (type(value), value)


def _value(p: Parameter, spec: Any, arguments: Any, i: int) -> Any:
    """The walker's value of a launch argument; static extents and strides go into its spec."""
    dtype = all_dtypes()[spec.dtype]
    if not spec.is_view:
        if p.scalar is not None and dtype is not p.scalar.dtype:
            raise TypeError(f"argument '{p.name}' is {dtype}, the parameter takes {p.scalar.dtype}")
        return Tile(dtype)
    extents, strides = list(spec.extents), list(spec.strides)
    index = cv.INT64 if arguments.wide else cv.INT32
    if p.array is not None:
        _, _, _, sizes, steps, _ = arguments.describe(i)
        for d in p.array.static_shape_dims:
            extents[d] = sizes[d]
        for d in p.array.static_stride_dims:
            strides[d] = steps[d]
        spec.extents, spec.strides = extents, strides
        index = p.array.index_dtype or index
    known = [tuple(None if n == _engine.DYNAMIC else n for n in xs) for xs in (extents, strides)]
    return Array(dtype, known[0], known[1], index, p.name)


def _stores(recorder: Recorder, names: list[str]) -> frozenset[int]:
    """Arguments that the program writes."""
    written: set[int] = set()

    def visit(ops: Any) -> None:
        for op in ops:
            if op.used and op.name in ("store", "scatter", "atomic_rmw", "atomic_cas", "lookback"):
                written.update(names.index(a.argument) for a in op.args if isinstance(a, Array) and a.argument in names)
            for region in op.regions:
                visit(region.ops)

    visit(recorder.block)
    return frozenset(written)


def function(func: Any = None, /, *, host: bool = False, tile: bool = True) -> Any:
    """Marks a helper that kernels call. Plain functions need no mark; with `host=False` the host cannot call it."""

    def decorate(f: Callable[..., Any]) -> Callable[..., Any]:
        if host:
            return f

        def refuse(*args: Any, **kwargs: Any) -> Any:
            raise TypeError(f"{f.__name__} works inside a kernel only; decorate it with function(host=True) for both")

        refuse.__name__, refuse.__qualname__, refuse.__doc__ = f.__name__, f.__qualname__, f.__doc__
        refuse.__wrapped__ = f  # type: ignore[attr-defined]
        refuse.__tile_function__ = tile  # type: ignore[attr-defined]
        return refuse

    return decorate if func is None else decorate(func)


# -- launching -----------------------------------------------------------------------------------------------------
_mode = threading.local()


@contextmanager
def checked(on: bool = True) -> Iterator[None]:
    """Runs the launches in this context in the interpreter, with all its checks.

    Out-of-bounds accesses where the kernel promised none, integer division by zero, and races between programs are
    errors that name the line.
    """
    before = getattr(_mode, "mode", None)
    _mode.mode = "checked" if on else None
    try:
        yield
    finally:
        _mode.mode = before


def _interpreting() -> str | None:
    mode: str | None = getattr(_mode, "mode", None)
    if mode is None and os.environ.get("EPITAXY_INTERPRET", "0") not in ("", "0"):
        return "interpret"
    return mode


def _grid(grid: Any) -> list[int]:
    dims = [grid] if isinstance(grid, int) else list(grid)
    if not 1 <= len(dims) <= 3:
        raise ValueError(f"the grid has 1 to 3 axes, got {grid!r}")
    out = []
    for d in dims:
        if isinstance(d, bool) or not hasattr(d, "__index__"):
            raise TypeError(f"the grid's sizes must be integers, got {grid!r}")
        n = d.__index__()
        if not 0 <= n < 2**31:
            raise ValueError(f"the grid's sizes must be between 0 and 2^31 - 1, got {grid!r}")
        out.append(n)
    return out + [1] * (3 - len(out))


def interpret(
    grid: Any, kernel: kernel, args: tuple[Any, ...] = (), *, checked: bool = False,
    print: Callable[[str], None] | None = None,
) -> None:  # fmt: skip
    """Runs a kernel in the interpreter: slow, on host arrays, with the same results as on a device.

    With `checked`, see `checked()`. `print` receives the lines that the kernel prints.
    """
    dims = _grid(grid)
    constants, values = kernel._split(tuple(args))
    arguments = _engine.extract_arguments(tuple(values), kernel._names())
    compiled = kernel._compiled(constants, arguments)
    _check_writable(kernel, compiled, arguments)
    _engine.interpret(compiled.module, arguments, dims, checked, print)


def _check_writable(k: kernel, compiled: Compiled, arguments: Any) -> None:
    for i in compiled.stores:
        if arguments.readonly(i):
            raise ValueError(f"argument '{k._names()[i]}' is read-only, and kernel {k.__name__} writes to it")


def launch(stream: Any, grid: Any, kernel: kernel, kernel_args: tuple[Any, ...] = (), /) -> None:
    """Starts `kernel` once for each program of `grid` (1 to 3 sizes), in the order of `stream`.

    `stream` may be None: the current queue of the device where the arrays are. Arguments are arrays (NumPy, or anything
    with DLPack or an array interface), numbers, and values for ct.Constant parameters.
    """
    if not hasattr(kernel, "_compiled"):
        raise TypeError(f"launch starts a function decorated with @kernel, got {type(kernel).__name__}")
    mode = _interpreting()
    if mode is not None:
        interpret(grid, kernel, kernel_args, checked=mode == "checked")
        return
    raise NotImplementedError("no device launches yet")


__all__ += ["same", "TileTypeError"]
