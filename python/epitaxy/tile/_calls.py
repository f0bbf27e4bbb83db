"""The walker's calls: functions of the package, the user's functions (inlined), builtins and constants' methods."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import ast
import functools
import math
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from .._dtypes import DType, to_dtype
from . import _convert as cv
from . import _debug
from . import _operations as ops
from ._api import is_api
from ._debug import FString
from ._errors import (
    StaticException,
    TileError,
    TileRecursionError,
    TileStaticAssertionError,
    TileStaticEvalError,
    TileSyntaxError,
    TileTypeError,
)
from ._expressions import Expressions, _has_values
from ._source import NoSource, source_of
from ._values import Array, Tile
from ._walk import RESULT, RETURN, Conflict, Frame, LocalFunction, Undefined

_MAX_DEPTH = 100
_STATIC = (_debug.static_eval, _debug.static_iter, _debug.static_exception)


class RangeValue:
    """range() with bounds known at run time."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        self.start, self.stop, self.step = start, stop, step


class Unrolled:
    """What static_iter and static_range give: items of a loop that is unrolled."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items


def _fold(function: Callable[[Any, Any], Any], name: str) -> Callable[..., Any]:
    def fold(*args: Any) -> Any:
        items = args[0] if len(args) == 1 and isinstance(args[0], tuple | range) else args
        if not items or (len(args) == 1 and isinstance(args[0], Tile)):
            raise TileTypeError(f"{name}() takes two values or a tuple", hint=f"fold a tile with ct.{name}(tile, axis)")
        return functools.reduce(function, items)

    return fold


def _sum(items: Any, start: Any = 0) -> Any:
    if isinstance(items, Tile):
        raise TileTypeError("sum() adds a tuple up", hint="fold a tile with ct.sum(tile, axis)")
    return functools.reduce(operator.add, items, start)


def _range(*args: Any) -> Any:
    known = [cv.static_int(a) for a in args]
    if not 1 <= len(args) <= 3:
        raise TileTypeError(f"range takes 1 to 3 integers, got {len(args)}")
    if all(k is not None for k in known):
        if len(args) == 3 and known[2] == 0:
            raise TileTypeError("the step of range must not be zero")
        return range(*known)  # type: ignore[arg-type]
    for a in args:
        if not (isinstance(a, Tile) and a.dtype.kind in "iu" and math.prod(a.shape) == 1) and cv.static_int(a) is None:
            raise TileTypeError(f"range takes integers, got {cv.describe(a)}")
    start, stop, step = {1: (0, *args, 1), 2: (*args, 1), 3: args}[len(args)]
    return RangeValue(start, stop, step)


def _number(name: str, python: type) -> Callable[..., Any]:
    def convert(x: Any = 0) -> Any:
        return ops.astype(x, to_dtype(name)) if isinstance(x, Tile) else python(x)

    return convert


def _length(x: Any) -> int:
    if isinstance(x, Tile):
        if not x.shape:
            raise TileTypeError("a scalar has no len()")
        return x.shape[0]
    if isinstance(x, Array):
        raise TileTypeError("an array has no len() in a kernel", hint="use array.shape[0]")
    return len(x)


def _round(x: Any, digits: Any = None) -> Any:
    if isinstance(x, Tile):
        if digits is not None:
            raise TileTypeError("round() of a tile takes no digits")
        return ops.round(x)
    return round(x) if digits is None else round(x, digits)


def _sequence_of(function: Callable[..., Any]) -> Callable[..., Any]:
    def sequence(*args: Any, **options: Any) -> tuple[Any, ...]:
        if any(isinstance(a, Tile | Array) for a in args):
            raise TileTypeError(f"{function.__name__}() works on tuples and constant ranges")
        return tuple(function(*args, **options))

    return sequence


def _each(fold: Callable[[Any, Any], Any], start: bool) -> Callable[..., Any]:
    def check(items: Any) -> Any:
        if isinstance(items, Tile):
            raise TileTypeError("any() and all() take tuples", hint="fold a tile with ct.any(x) or ct.all(x)")
        return functools.reduce(fold, items, start)

    return check


BUILTINS: dict[Any, Callable[..., Any]] = {
    abs: ops.abs, min: _fold(ops.minimum, "min"), max: _fold(ops.maximum, "max"), sum: _sum, len: _length,
    range: _range, print: ops.print, pow: ops.pow, divmod: ops.divmod, round: _round, int: _number("int32", int),
    float: _number("float32", float), bool: _number("bool", bool), enumerate: _sequence_of(enumerate),
    zip: _sequence_of(zip), reversed: _sequence_of(reversed), tuple: _sequence_of(tuple), list: _sequence_of(list),
    any: _each(ops.logical_or, False), all: _each(ops.logical_and, True), slice: slice,
}  # fmt: skip


class Calls(Expressions):
    """Calls of everything that can be called."""

    def eval_Call(self, node: ast.Call) -> Any:
        function = self.eval(node.func)
        if isinstance(function, FunctionType) and function in _STATIC:
            return self._static_call(node, function)
        if function is _debug.static_assert:
            return self._static_assert(node)
        args: list[Any] = []
        for a in node.args:
            if isinstance(a, ast.Starred):
                args += self.sequence(self.eval(a.value), "*")
            else:
                args.append(self.eval(a))
        keywords: dict[str, Any] = {}
        for k in node.keywords:
            if k.arg is None:
                raise TileSyntaxError("** in a call is not supported in a kernel", hint="name the arguments")
            keywords[k.arg] = self.eval(k.value)
        self.here(node)
        return self.call(function, args, keywords, node)

    def call(self, f: Any, args: list[Any], keywords: dict[str, Any], node: ast.AST) -> Any:
        """Calls a value of the kernel."""
        if isinstance(f, LocalFunction):
            return self.inline_local(f, args, keywords, node)
        if isinstance(f, functools.partial):
            return self.call(f.func, [*f.args, *args], {**f.keywords, **keywords}, node)
        if is_api(f):
            return self._api(f, args, keywords, node)
        if isinstance(f, DType):
            return cv.cast_call(f, *args, **keywords)
        if f is _debug.static_range:
            return Unrolled(list(self.static(lambda: range(*map(_known, args)), "static_range")))
        if _hashable(f) and f in BUILTINS:
            return self._python(BUILTINS[f], args, keywords, getattr(f, "__name__", "it"))
        if isinstance(f, FunctionType):
            return self.inline_function(f, args, keywords, node)
        if isinstance(f, MethodType) and isinstance(f.__func__, FunctionType) and not isinstance(f.__self__, type):
            return self.inline_function(f.__func__, [f.__self__, *args], keywords, node)
        return self._other(f, args, keywords)

    def _api(self, f: Any, args: list[Any], keywords: dict[str, Any], node: ast.AST) -> Any:
        ready = [self._callback(a, node) for a in args]
        named = {k: self._callback(v, node) for k, v in keywords.items()}
        return self._python(f, ready, named, getattr(f, "__name__", "it"))

    def _callback(self, x: Any, node: ast.AST) -> Any:
        """Functions are passed to the package as Python callables that inline them."""
        if isinstance(x, LocalFunction | FunctionType | BuiltinFunctionType) and not isinstance(x, type):
            return lambda *values: self.call(x, list(values), {}, node)
        return x

    def _python(self, f: Callable[..., Any], args: list[Any], keywords: dict[str, Any], name: str) -> Any:
        try:
            return f(*args, **keywords)
        except TileError:
            raise
        except TypeError as e:
            raise TileTypeError(f"{name}: {_plain(str(e))}") from e
        except (ValueError, ArithmeticError, LookupError) as e:
            raise TileStaticEvalError(f"{name} raised {type(e).__name__} at compile time: {e}") from e

    def _other(self, f: Any, args: list[Any], keywords: dict[str, Any]) -> Any:
        """Python's own functions on constants, constructors, methods of strings and tuples."""
        name = getattr(f, "__qualname__", None) or type(f).__name__
        if type(f).__name__ == "kernel":
            raise TileTypeError(
                f"the kernel {f.__name__} is called from a kernel", hint="make the shared part a plain function"
            )
        if not callable(f):
            raise TileTypeError(f"{cv.describe(f)} cannot be called")
        runtime = _has_values([*args, *keywords.values()])
        as_dtype = to_dtype(f) if isinstance(f, type) else None
        if as_dtype is not None:
            return cv.cast_call(as_dtype, *args)
        module = getattr(f, "__module__", "") or ""
        if runtime and not (module == "_operator" or isinstance(f, type)):
            ours = getattr(f, "__name__", "")
            hint = f"use ct.{ours}" if ours in ops.__all__ else "only constants can be passed to it at compile time"
            raise TileTypeError(f"{name} does not work on values that are known at run time only", hint=hint)
        if not (isinstance(f, BuiltinFunctionType | type) or hasattr(f, "__self__") or module.startswith("numpy")):
            raise TileTypeError(f"{name} cannot be called in a kernel")
        return self.admit(self.static(lambda: f(*args, **keywords), f"{name}()"), name)

    # -- at compile time -------------------------------------------------------------------------------------------
    def _static_call(self, node: ast.Call, function: Any) -> Any:
        if len(node.args) != 1 or node.keywords:
            raise TileSyntaxError(f"{function.__name__} takes one expression")
        value = self.python(node.args[0])
        if function is _debug.static_iter:
            return Unrolled(list(self.static(lambda: list(value), "static_iter")))
        return value

    def python(self, node: ast.expr) -> Any:
        """The value of an expression under full Python, at compile time."""
        expression = ast.fix_missing_locations(ast.Expression(node))
        names: dict[str, Any] = {}
        frame: Frame | None = self.frame
        for n in {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}:
            try:
                names[n] = self.lookup(n)
            except TileError:
                if frame is not None and n in frame.source.analysis.local:
                    raise
        code = compile(expression, self.frame.source.file, "eval")
        wrapped = {k: self._callable(v, node) for k, v in names.items()}
        return self.static(lambda: eval(code, {**wrapped, "__builtins__": __builtins__}), "the static expression")

    def _callable(self, x: Any, node: ast.AST) -> Any:
        return self._callback(x, node) if isinstance(x, LocalFunction) else x

    def _static_assert(self, node: ast.Call) -> None:
        if not 1 <= len(node.args) <= 2 or node.keywords:
            raise TileSyntaxError("static_assert takes a condition and a message")
        value = self.python(node.args[0])
        if isinstance(value, Tile) and value.const is None:
            raise TileStaticAssertionError(
                "the condition of static_assert is known at run time only", hint="use ct.assert_"
            )
        if value.const if isinstance(value, Tile) else value:
            return
        message = self.python(node.args[1]) if len(node.args) == 2 else None
        raise TileStaticAssertionError("static assertion failed" + (f": {message}" if message is not None else ""))

    def raise_statement(self, node: ast.Raise) -> None:
        """`raise ct.static_exception(error)`."""
        call = node.exc
        if isinstance(call, ast.Call) and self.eval(call.func) is _debug.static_exception:
            error = self.eval(call)
            raise StaticException(f"raised at compile time: {type(error).__name__}: {error}") from error
        raise TileSyntaxError(
            "raise is not supported in a kernel",
            hint="check with ct.assert_(condition, message), or raise ct.static_exception(error) at compile time",
        )

    # -- inlining --------------------------------------------------------------------------------------------------
    def inline_function(self, f: FunctionType, args: list[Any], keywords: dict[str, Any], node: ast.AST) -> Any:
        self.captures.add_code(f)
        wrapped = getattr(f, "__wrapped__", None)
        if wrapped is not None and getattr(f, "__tile_function__", False):
            return self.inline_function(wrapped, args, keywords, node)
        try:
            source = source_of(f)
        except NoSource:
            return self._traced(f, args, keywords)
        self._check_depth(f.__code__, f.__qualname__)
        cells = dict(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))
        frame = Frame(source, f.__globals__, cells, None, self._chain(node), [*self.frame.active, f.__code__])
        defaults = [self.admit(d, "a default") for d in f.__defaults__ or ()]
        keyword_defaults = [(f.__kwdefaults__ or {}).get(a.arg, Undefined("")) for a in source.node.args.kwonlyargs]
        frame.env = bind(source.node.args, f.__name__, args, keywords, defaults, keyword_defaults)
        return self.run_frame(frame, source.node)

    def inline_local(self, f: LocalFunction, args: list[Any], keywords: dict[str, Any], node: ast.AST) -> Any:
        self._check_depth(f.node, f.name)
        outer = f.frame
        frame = Frame(f.source, outer.global_names, outer.cells, outer, self._chain(node), [*self.frame.active, f.node])
        frame.env = bind(f.node.args, f.name, args, keywords, f.defaults, f.keyword_defaults)
        return self.run_frame(frame, f.node)

    def _traced(self, f: FunctionType, args: list[Any], keywords: dict[str, Any]) -> Any:
        """A function without source is run on the values: operators record, control flow must be constant."""
        return self._python(f, args, keywords, f.__qualname__)

    def _chain(self, node: ast.AST) -> list[Any]:
        return [self.frame.source.place(node), *self.frame.called_from]

    def _check_depth(self, key: Any, name: str) -> None:
        if key in self.frame.active:
            raise TileRecursionError(f"{name} calls itself", hint="calls are inlined: write recursion as a loop")
        if len(self.frame.active) > _MAX_DEPTH:
            raise TileRecursionError(f"calls are nested more than {_MAX_DEPTH} deep at {name}")

    def run_frame(self, frame: Frame, node: ast.FunctionDef | ast.Lambda) -> Any:
        """Walks a function's body in its frame and gives its result."""
        outer, self.frame = self.frame, frame
        place = self.r.place
        try:
            if isinstance(node, ast.Lambda):
                return self.eval(node.body)
            self.block(node.body)
            return self._result(frame, node.name)
        finally:
            self.frame = outer
            self.r.place = place

    def _result(self, frame: Frame, name: str) -> Any:
        value = frame.env.get(RESULT)
        if frame.kinds == {0} or frame.jump is None:
            return None
        if 0 in frame.kinds and value is not None:
            return Conflict(f"{name} returns a value on some paths only", "return a value on every path")
        assert RETURN in frame.kinds
        if isinstance(value, Conflict):
            raise TileTypeError(f"{name} has no single result type: {value.reason}", hint=value.hint)
        return value

    def block(self, body: list[ast.stmt]) -> None:  # the statements' part
        raise NotImplementedError


def _hashable(x: Any) -> bool:
    return isinstance(x, FunctionType | BuiltinFunctionType | type)


def _known(x: Any) -> int:
    n = cv.static_int(x)
    if n is None:
        raise TileTypeError(f"static_range takes compile-time integers, got {cv.describe(x)}")
    return n


def _plain(message: str) -> str:
    """Python's message about a call, without our function's qualified name."""
    return message.replace("_api.<locals>.", "").replace("function() ", "")


def bind(
    parameters: ast.arguments, name: str, args: list[Any], keywords: dict[str, Any], defaults: list[Any],
    keyword_defaults: list[Any],
) -> dict[str, Any]:  # fmt: skip
    """Parameters by name, by Python's rules."""
    positional = [p.arg for p in (*parameters.posonlyargs, *parameters.args)]
    env: dict[str, Any] = dict(zip(positional, args, strict=False))
    extra = tuple(args[len(positional) :])
    if parameters.vararg:
        env[parameters.vararg.arg] = extra
    elif extra:
        raise TileTypeError(f"{name}() takes {len(positional)} positional arguments, got {len(args)}")
    if parameters.kwarg:
        raise TileSyntaxError(f"{name}() has a ** parameter, which kernels do not support")
    accepted = {p.arg for p in (*parameters.args, *parameters.kwonlyargs)}
    for k, v in keywords.items():
        if k not in accepted or k in env:
            problem = "got two values for" if k in env else "has no parameter"
            raise TileTypeError(f"{name}() {problem} '{k}'")
        env[k] = v
    late = dict(zip(reversed(positional), reversed(defaults), strict=False))
    late |= {
        p.arg: d for p, d in zip(parameters.kwonlyargs, keyword_defaults, strict=True) if not isinstance(d, Undefined)
    }
    for p in (*positional, *(p.arg for p in parameters.kwonlyargs)):
        if p not in env:
            if p not in late:
                raise TileTypeError(f"{name}() needs a value for '{p}'")
            env[p] = late[p]
    return env


__all__ = ["Calls", "FString", "RangeValue", "Unrolled", "bind"]
