"""Kernels and their launch: which parameters are constants, what a launch's arguments specialise to, and the cache.

A compiled kernel serves every launch whose arguments have the same types and layout facts and whose constants are
equal, as long as what the kernel captured (globals, closure variables, helpers) is unchanged.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import Annotated, Any, get_args, get_origin

from .. import _engine
from .._dtypes import all_dtypes
from . import _convert as cv
from ._captures import Captures
from ._digest import digest
from ._options import ArrayAnnotation, ByTarget, Constant, ConstantAnnotation, ScalarAnnotation
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
class Program:
    """One specialisation as recorded: what it read from outside, and how its engine module is made."""

    recorder: Recorder
    captures: Captures
    views: list[Any]
    specs: list[Any]
    name: str
    ascending: bool

    def module(self) -> Any:
        """The engine's module. Once: replay sets the values' handles."""
        return replay(self.recorder, self.name, self.specs, self.views, ascending=self.ascending)


def _annotations(f: FunctionType) -> dict[str, Any]:
    """The parameters' annotations; strings are evaluated in the function's globals and closure, one by one."""
    names = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
    out: dict[str, Any] = {}
    for name, text in inspect.get_annotations(f).items():
        out[name] = text
        if not isinstance(text, str):
            continue
        try:
            out[name] = eval(text, f.__globals__, {k: c.cell_contents for k, c in names.items()})
        except Exception:  # a name of an outer function that the kernel does not use: known by its spelling
            out[name] = Constant if re.search(r"\bConstant\b", text) else None
    return out


def _parameters(f: FunctionType) -> tuple[Parameter, ...]:
    annotations = _annotations(f)
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


class kernel(_engine.Launcher):
    """A function that runs once for each program of a grid; start it with `launch`.

    `num_ctas`, `occupancy`, `opt_level` and `num_worker_warps` are cuTile's hints; each may be a `ByTarget`. With
    `ascending`, programs start in the order of their number.
    """

    def __new__(cls, function: Any = None, /, **options: Any) -> Any:
        if function is None:
            return lambda f: cls(f, **options)
        return super().__new__(cls)

    def __init__(
        self, function: Any = None, /, *, num_ctas: int | ByTarget | None = None,
        occupancy: int | ByTarget | None = None,
        opt_level: int | ByTarget = 3, num_worker_warps: int | ByTarget | None = None, ascending: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if not isinstance(function, FunctionType):
            raise TypeError(f"kernel decorates a Python function, got {type(function).__name__}")
        self._function = function
        self._options = {
            "num_ctas": num_ctas, "occupancy": occupancy, "opt_level": opt_level, "num_worker_warps": num_worker_warps,
            "ascending": ascending,
        }  # fmt: skip
        _check_options(self._options)
        self._parameters = _parameters(function)
        self._modules: dict[Any, tuple[Program, Any]] = {}  # the interpreter's
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.__wrapped__ = function
        self.setup(
            self.__name__, [p.name for p in self._parameters], [p.constant for p in self._parameters],
            tuple(p.default for p in self._parameters), inspect.Parameter.empty, self._static_axes(),
        )  # fmt: skip

    def replace_hints(self, **hints: Any) -> kernel:
        """The same kernel with other hints, and a cache of its own."""
        return kernel(self._function, **{**self._options, **hints})

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise TypeError(
            f"the kernel {self.__name__} is not called; start it with launch(stream, grid, {self.__name__}, args)"
        )

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"

    # -- compiling -------------------------------------------------------------------------------------------------
    def _dynamic(self) -> list[Parameter]:
        return [p for p in self._parameters if not p.constant]

    def _names(self) -> list[str]:
        return [p.name for p in self._dynamic()]

    def _static_axes(self) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        marked = [(i, p.array) for i, p in enumerate(self._dynamic()) if p.array is not None]
        return [(i, a.static_shape_dims, a.static_stride_dims) for i, a in marked]

    def _constant_key(self, value: Any) -> Any:
        """Tells constants apart that the launch path does not know."""
        return _constant_key(value)

    def _record(self, constants: list[Any], arguments: Any) -> Program:
        """Walks the function for these arguments."""
        specs = arguments.specs(self._names())
        views = [_value(p, spec, arguments, i) for i, (p, spec) in enumerate(zip(self._dynamic(), specs, strict=True))]
        given, fixed = iter(views), iter(constants)
        values = [next(fixed) if p.constant else next(given) for p in self._parameters]
        recorder, captures = record_kernel(self._function, [_admitted(v) for v in values])
        return Program(recorder, captures, views, specs, self.__name__, bool(self._options["ascending"]))

    def _miss(self, constants: list[Any], arguments: Any, device: Any) -> tuple[Any, ...]:
        """The launch path has no kernel for these arguments: (kernel, globals, attributes, current, ask always)."""
        program = self._record(constants, arguments)
        static = [
            [arguments.describe(i)[3][d] for d in shape] + [arguments.describe(i)[4][d] for d in strides]
            for i, shape, strides in self._static_axes()
        ]
        key = digest(program.recorder, program.views, repr((static, sorted(self._options.items(), key=str))))
        code = self._function.__code__
        name = f"{self.__name__} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"
        loaded = _engine.load_kernel(device, name, key, self._names(), arguments, lambda specs: program.module())
        c = program.captures
        return loaded, c.globals, c.attributes, c.current, bool(c.others)

    def _foreign_stream(self, args: tuple[Any, ...]) -> Any:
        """The current stream of the library (torch, cupy) that the first GPU array comes from."""
        for a in args:
            library = sys.modules.get(type(a).__module__.split(".")[0])
            if library is not None and library.__name__ == "torch" and getattr(a, "is_cuda", False):
                return library.cuda.current_stream(a.device)
            if library is not None and library.__name__ == "cupy":
                return library.cuda.get_current_stream()
        return None

    def _interpret(self, grid: Any, args: tuple[Any, ...], checked: bool) -> None:
        interpret(grid, self, args, checked=checked)

    def _split(self, args: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
        """(constants, launch arguments), defaults filled in."""
        if len(args) > len(self._parameters):
            raise TypeError(f"kernel {self.__name__} takes {len(self._parameters)} arguments, got {len(args)}")
        constants: list[Any] = []
        values: list[Any] = []
        for i, p in enumerate(self._parameters):
            value = args[i] if i < len(args) else p.default
            if value is inspect.Parameter.empty:
                raise TypeError(f"kernel {self.__name__}: no value for '{p.name}' ({len(args)} arguments were given)")
            (constants if p.constant else values).append(value)
        return constants, values

    def _module(self, constants: list[Any], arguments: Any) -> tuple[Program, Any]:
        """The program and the engine's module for the interpreter."""
        static = [(arguments.describe(i)[3], arguments.describe(i)[4]) for i, _, _ in self._static_axes()]
        key = (tuple(arguments.key()), arguments.wide, tuple(map(_constant_key, constants)), repr(static))
        found = self._modules.get(key)
        if found is None or not found[0].captures.current():
            program = self._record(constants, arguments)
            found = self._modules[key] = (program, program.module())
        return found


def _check_options(options: dict[str, Any]) -> None:
    limits = {"num_ctas": 16, "occupancy": 32, "opt_level": 3, "num_worker_warps": 32}
    for name, high in limits.items():
        value = options[name]
        if value is None or isinstance(value, ByTarget):
            continue
        low = 0 if name == "opt_level" else 1
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"{name} must be between {low} and {high}, got {value!r}")


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
@contextmanager
def checked(on: bool = True) -> Iterator[None]:
    """Runs this thread's launches in the interpreter, with all its checks.

    Out-of-bounds accesses where the kernel promised none, integer division by zero, and races between programs are
    errors that name the line.
    """
    before = _engine.set_mode(2 if on else 0)
    try:
        yield
    finally:
        _engine.set_mode(before)


def _grid(grid: Any) -> list[int]:
    dims = [grid] if hasattr(grid, "__index__") else list(grid)
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

    With `checked`, see `checked()`. `print` receives the text that the kernel prints.
    """
    dims = _grid(grid)
    constants, values = kernel._split(tuple(args))
    arguments = _engine.extract_arguments(tuple(values), kernel._names())
    program, module = kernel._module(constants, arguments)
    for i in _stores(program.recorder, kernel._names()):
        if arguments.readonly(i):
            raise ValueError(f"argument '{kernel._names()[i]}' is read-only, and kernel {kernel.__name__} writes to it")
    _engine.interpret(module, arguments, dims, checked, print)


def launch(stream: Any, grid: Any, kernel: kernel, kernel_args: tuple[Any, ...] = (), /) -> None:
    """Starts `kernel` once for each program of `grid` (1 to 3 sizes), in the order of `stream`.

    `stream` may be None: the default queue of the device where the arrays are. On host arrays such a launch is done
    when this returns; on a queue that is given it need not be, and the arrays must live until it is. Arguments are
    arrays (NumPy, or anything with DLPack or an array interface), numbers, and values for ct.Constant parameters.
    """
    _engine.launch(stream, grid, kernel, kernel_args)


if os.environ.get("EPITAXY_INTERPRET", "0") not in ("", "0"):
    _engine.set_default_mode(1)
