"""The walker's expressions."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any

from .._dtypes import DType, to_dtype
from . import _convert as cv
from . import _elementwise as ew
from . import _operations as ops
from ._debug import Formatted, FString, truth
from ._errors import TileError, TileStaticEvalError, TileSyntaxError, TileTypeError, TileValueError
from ._memory import TiledView
from ._record import COMPUTE, Region
from ._shapes import expand_by_index
from ._values import Array, Tile
from ._walk import Conflict, Join, LocalFunction, Path, Undefined, WalkerBase

_BINARY: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add), ast.Sub: ("-", operator.sub), ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv), ast.FloorDiv: ("//", operator.floordiv), ast.Mod: ("%", operator.mod),
    ast.Pow: ("**", operator.pow), ast.LShift: ("<<", operator.lshift), ast.RShift: (">>", operator.rshift),
    ast.BitAnd: ("&", operator.and_), ast.BitOr: ("|", operator.or_), ast.BitXor: ("^", operator.xor),
    ast.MatMult: ("@", operator.matmul),
}  # fmt: skip
_COMPARE: dict[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Eq: ("==", operator.eq), ast.NotEq: ("!=", operator.ne), ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt), ast.GtE: (">=", operator.ge),
}  # fmt: skip
_UNARY: dict[type, Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
_TILE_NAMES = frozenset(
    {"dtype", "shape", "ndim", "item", "reshape", "permute", "transpose", "extract", "insert", "astype"}
)
_ARRAY_NAMES = frozenset({"dtype", "shape", "strides", "ndim", "slice", "tiled_view"})
_NOT_HERE = {
    ast.Await: "await", ast.Yield: "yield", ast.YieldFrom: "yield from", ast.Dict: "a dict display",
    ast.Set: "a set display",
    ast.DictComp: "a dict comprehension", ast.SetComp: "a set comprehension",
}  # fmt: skip
_INSTEAD = {
    "a dict display": "use a tuple, or a dict defined outside of the kernel",
    "a set display": "use a tuple",
    "yield": "return a tuple",
    "await": "kernels run to completion by themselves",
}


class Expressions(WalkerBase):
    """Evaluates expressions to Python values, Tiles and Arrays."""

    def eval(self, node: ast.expr) -> Any:
        """The value of an expression; errors get its place."""
        method = getattr(self, f"eval_{type(node).__name__}", None)
        try:
            if method is None:
                name = _NOT_HERE.get(type(node), f"the expression {type(node).__name__}")
                raise TileSyntaxError(f"{name} is not supported in a kernel", hint=_INSTEAD.get(name, ""))
            return method(node)
        except TileError as e:
            raise self.locate(e, node) from e.__cause__

    # -- atoms -----------------------------------------------------------------------------------------------------
    def eval_Constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, bytes):
            raise TileSyntaxError("bytes are not supported in a kernel")
        return node.value

    def eval_Name(self, node: ast.Name) -> Any:
        return self.lookup(node.id)

    def lookup(self, name: str) -> Any:
        frame: Any = self.frame
        while frame is not None:
            if name in frame.env:
                inner, self.frame = self.frame, frame
                try:
                    return self.read(name)
                finally:
                    self.frame = inner
            if name in frame.source.analysis.local:
                raise TileValueError(f"'{name}' is used before it is assigned", hint="assign it before, on every path")
            if name in frame.cells:
                return self._cell(frame.cells[name], name)
            if frame.outer is None:
                return self._global(frame.global_names, name)
            frame = frame.outer
        raise AssertionError("unreachable")

    def _cell(self, cell: Any, name: str) -> Any:
        try:
            value = cell.cell_contents
        except ValueError:
            raise TileValueError(f"the closure variable '{name}' has no value yet") from None
        self.captures.add_cell(cell, value)
        return self.admit(value, name)

    def _global(self, namespace: dict[str, Any], name: str) -> Any:
        if name in namespace:
            self.captures.add_global(namespace, name, namespace[name])
            return self.admit(namespace[name], name)
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise TileValueError(f"the name '{name}' is not defined")

    def admit(self, value: Any, name: str) -> Any:
        """A value from outside the kernel as a constant of it."""
        if value is None or isinstance(
            value, bool | int | float | complex | str | DType | ModuleType | FunctionType | Enum
        ):
            return value
        if isinstance(value, tuple):
            return tuple(self.admit(v, name) for v in value) if type(value) is tuple else value
        if isinstance(value, list):
            self.captures.add_contents(value)
            return tuple(self.admit(v, name) for v in value)
        if isinstance(value, _numpy_generic()):
            return value.item()
        if not isinstance(value, type) and any(
            hasattr(value, a) for a in ("__array_interface__", "__cuda_array_interface__", "__dlpack__")
        ):
            raise TileTypeError(
                f"'{name}' is an array from outside the kernel", hint="pass arrays as arguments of the kernel"
            )
        return value

    def eval_Tuple(self, node: ast.Tuple) -> Any:
        out: list[Any] = []
        for e in node.elts:
            if isinstance(e, ast.Starred):
                out += self.sequence(self.eval(e.value), "*")
            else:
                out.append(self.eval(e))
        return tuple(out)

    def eval_List(self, node: ast.List) -> Any:
        return self.eval_Tuple(ast.Tuple(node.elts))

    def eval_Slice(self, node: ast.Slice) -> Any:
        return slice(*(self.eval(p) if p is not None else None for p in (node.lower, node.upper, node.step)))

    def eval_Lambda(self, node: ast.Lambda) -> Any:
        return self.local_function(node)

    def local_function(self, node: ast.FunctionDef | ast.Lambda) -> LocalFunction:
        """A function written in the kernel; its defaults are evaluated now."""
        defaults = [self.eval(d) for d in node.args.defaults]
        keyword = [self.eval(d) if d is not None else Undefined("") for d in node.args.kw_defaults]
        return LocalFunction(node, self.frame.source.inner(node), self.frame, defaults, keyword)

    def eval_NamedExpr(self, node: ast.NamedExpr) -> Any:
        value = self.eval(node.value)
        self.frame.env[node.target.id] = value
        return value

    def eval_JoinedStr(self, node: ast.JoinedStr) -> Any:
        parts: list[Any] = []
        for v in node.values:
            parts.append(v.value if isinstance(v, ast.Constant) else self.eval(v))
        if all(isinstance(p, str) for p in parts):
            return "".join(parts)
        return FString(parts)

    def eval_FormattedValue(self, node: ast.FormattedValue) -> Any:
        value = self.eval(node.value)
        spec = self.eval(node.format_spec) if node.format_spec is not None else ""
        if not isinstance(spec, str):
            raise TileTypeError("a format must be known at compile time")
        if _has_values(value):
            return Formatted(value, spec)
        if node.conversion != -1:
            convert: dict[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}
            value = convert[chr(node.conversion)](value)
        return format(value, spec)

    # -- operators -------------------------------------------------------------------------------------------------
    def eval_BinOp(self, node: ast.BinOp) -> Any:
        x, y = self.eval(node.left), self.eval(node.right)
        self.here(node)
        return self.binary(node.op, x, y)

    def binary(self, op: ast.operator, x: Any, y: Any) -> Any:
        symbol, function = _BINARY[type(op)]
        tiles = isinstance(x, Tile) or isinstance(y, Tile)
        other = y if isinstance(x, Tile) else x
        if tiles and not (isinstance(other, Tile) or cv.is_number(other)):
            return self._no_operator(symbol, x, y)
        if not tiles and (isinstance(x, Array | FString) or isinstance(y, Array | FString)):
            return self._no_operator(symbol, x, y)
        return function(x, y) if tiles else self.static(lambda: function(x, y), f"{symbol}")

    def _no_operator(self, symbol: str, x: Any, y: Any) -> Any:
        array = isinstance(x, Array) or isinstance(y, Array)
        hint = "arrays are memory: load a tile first, ct.load(array, index, shape)" if array else ""
        raise TileTypeError(f"{symbol} does not take {cv.describe(x)} and {cv.describe(y)}", hint=hint)

    def static(self, compute: Callable[[], Any], what: str) -> Any:
        """Runs Python at compile time; what it raises becomes a located error."""
        try:
            return compute()
        except TileError:
            raise
        except Exception as e:
            raise TileStaticEvalError(f"{what} raised {type(e).__name__} at compile time: {e}") from e

    def eval_UnaryOp(self, node: ast.UnaryOp) -> Any:
        x = self.eval(node.operand)
        self.here(node)
        if isinstance(node.op, ast.Not):
            t = truth(x, "the operand of `not`")
            return ew.logical_not(t) if isinstance(t, Tile) else not t
        if isinstance(x, Array | FString):
            raise TileTypeError(f"{type(node.op).__name__} does not take {cv.describe(x)}")
        return _UNARY[type(node.op)](x) if isinstance(x, Tile) else self.static(lambda: _UNARY[type(node.op)](x), "it")

    def eval_Compare(self, node: ast.Compare) -> Any:
        left = self.eval(node.left)
        result: Any = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.eval(right_node)
            self.here(node)
            one = self.compare(op, left, right)
            if not isinstance(one, Tile) and not one:
                return one
            result = one if not isinstance(result, Tile) else ops.bitwise_and(result, one)
            left = right
        return result

    def compare(self, op: ast.cmpop, x: Any, y: Any) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            return (x is y or (isinstance(x, DType) and to_dtype(y) is x)) == isinstance(op, ast.Is)
        if isinstance(op, ast.In | ast.NotIn):
            return self._contains(x, y) == isinstance(op, ast.In)
        symbol, function = _COMPARE[type(op)]
        if isinstance(x, Tile) or isinstance(y, Tile):
            other = y if isinstance(x, Tile) else x
            if isinstance(other, Tile) or cv.is_number(other):
                return function(x, y)
            if symbol in ("==", "!="):
                return symbol == "!="
            return self._no_operator(symbol, x, y)
        if isinstance(x, DType) or isinstance(y, DType):
            x, y = to_dtype(x) or x, to_dtype(y) or y
        return self.static(lambda: function(x, y), symbol)

    def _contains(self, x: Any, y: Any) -> bool:
        if isinstance(x, Tile) or isinstance(y, Tile | Array) or _has_values(y):
            raise TileTypeError(f"`in` works on compile-time values, got {cv.describe(x)} in {cv.describe(y)}")
        return bool(self.static(lambda: x in y, "in"))

    # -- choices ---------------------------------------------------------------------------------------------------
    def _aside(self, node: ast.expr) -> tuple[Any, Path]:
        """Evaluates into a region of its own."""
        f = self.frame
        env = f.env
        f.env = dict(env)
        try:
            with self.r.region() as region:
                value = self.eval(node)
            return value, Path(f.env, f.jump, f.kinds, region)
        finally:
            f.env = env

    def eval_BoolOp(self, node: ast.BoolOp) -> Any:
        return self._bool(node, node.values, isinstance(node.op, ast.And))

    def _bool(self, node: ast.BoolOp, values: list[ast.expr], is_and: bool) -> Any:
        first = self.eval(values[0])
        if len(values) == 1:
            return first
        word = "and" if is_and else "or"
        known = truth(first, f"an operand of `{word}`") if isinstance(first, Tile | Array | FString) else bool(first)
        if not isinstance(known, Tile):
            return self._bool(node, values[1:], is_and) if known == is_and else first
        rest, path = self._aside(
            ast.copy_location(ast.BoolOp(node.op, values[1:]), node) if len(values) > 2 else values[1]
        )
        with self.r.into(path.region):
            second = truth(rest, f"an operand of `{word}`")
        self.here(node)
        if not isinstance(second, Tile):
            if all(o.name in COMPUTE for o in path.region.ops):
                return known if second == is_and else second
            second = self._constant_in(path, second)
        if all(o.name in COMPUTE for o in path.region.ops):
            self.r.block.extend(path.region.ops)
            return ops.bitwise_and(known, second) if is_and else ops.bitwise_or(known, second)
        with self.r.region() as other:
            other.yields.append(cv.constant(not is_and, cv.BOOL))
        path.region.yields.append(second)
        out = Tile(cv.BOOL)
        self.r.emit("if", (known,), [out], (path.region, other) if is_and else (other, path.region))
        return out

    def _constant_in(self, path: Path, value: bool) -> Tile:
        with self.r.into(path.region):
            return cv.constant(value, cv.BOOL)

    def eval_IfExp(self, node: ast.IfExp) -> Any:
        condition = truth(self.eval(node.test), "the condition")
        if not isinstance(condition, Tile):
            return self.eval(node.body if condition else node.orelse)
        x, a = self._aside(node.body)
        y, b = self._aside(node.orelse)
        self.here(node)
        join = Join(self, a, b, self.frame.source.place(node))
        value = join.value(x, y, "the value")
        if isinstance(value, Conflict):
            raise TileTypeError(f"the conditional expression has no single type: {value.reason}", hint=value.hint)
        pure = all(o.name in COMPUTE for o in (*a.region.ops, *b.region.ops))
        if pure and all(not r.shape for r in join.results):
            return self._select(condition, a.region, b.region, join.results, value)
        if join.results or not pure:
            self.r.emit("if", (condition,), join.results, (a.region, b.region))
        return value

    def _select(self, condition: Tile, a: Region, b: Region, results: list[Tile], value: Any) -> Any:
        """Scalars that only compute: both sides, then a select each."""
        self.r.block.extend(a.ops)
        self.r.block.extend(b.ops)
        for out, x, y in zip(results, a.yields, b.yields, strict=True):
            self.r.emit("select", (condition, x, y), [out])
        return value

    # -- access ----------------------------------------------------------------------------------------------------
    def eval_Attribute(self, node: ast.Attribute) -> Any:
        owner = self.eval(node.value)
        self.here(node)
        return self.attribute(owner, node.attr)

    def attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, Tile | Array):
            names = _TILE_NAMES if isinstance(owner, Tile) else _ARRAY_NAMES
            if name not in names:
                raise TileTypeError(
                    f"{cv.describe(owner)} has no attribute '{name}'", hint="it has " + ", ".join(sorted(names))
                )
            return getattr(owner, name)
        try:
            value = getattr(owner, name)
        except AttributeError:
            raise TileTypeError(f"{cv.describe(owner)} has no attribute '{name}'") from None
        if isinstance(owner, str | tuple | bool | int | float | complex | DType | Enum | TiledView):
            return value
        if isinstance(owner, ModuleType) and _is_settled(owner):
            return value
        if not _has_values(value):
            self.captures.add_attribute(owner, name, value)
            return self.admit(value, f"{getattr(owner, '__name__', 'it')}.{name}")
        return value

    def eval_Subscript(self, node: ast.Subscript) -> Any:
        owner, index = self.eval(node.value), self.eval(node.slice)
        self.here(node)
        if isinstance(owner, Tile):
            return expand_by_index(owner, index)
        if isinstance(owner, Array):
            raise TileTypeError(
                "an array is not indexed in a kernel", hint="use ct.load(array, index, shape) or ct.gather"
            )
        if isinstance(index, Tile):
            known = cv.static_int(index)
            if known is None:
                raise TileTypeError(
                    f"the index of {cv.describe(owner)} must be known at compile time, got {cv.describe(index)}",
                    hint="unroll the loop: for i in ct.static_range(n)",
                )
            index = known
        value = self.static(lambda: owner[index], "the subscript")
        if not isinstance(owner, tuple | str):
            self.captures.add_item(owner, index, value)
            return self.admit(value, "the item")
        return value

    # -- comprehensions --------------------------------------------------------------------------------------------
    def eval_ListComp(self, node: ast.ListComp) -> Any:
        return self._comprehension(node)

    def eval_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._comprehension(node)

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> tuple[Any, ...]:
        out: list[Any] = []
        targets = {t.id for g in node.generators for t in ast.walk(g.target) if isinstance(t, ast.Name)}
        saved = {n: self.frame.env.get(n) for n in targets if n in self.frame.env}
        self._comprehend(node.elt, list(node.generators), out)
        for n in targets:
            self.frame.env.pop(n, None)
        self.frame.env.update(saved)
        return tuple(out)

    def _comprehend(self, element: ast.expr, generators: list[ast.comprehension], out: list[Any]) -> None:
        if not generators:
            out.append(self.eval(element))
            return
        g = generators[0]
        for item in self.sequence(self.eval(g.iter), "a comprehension"):
            self.assign(g.target, item)
            kept = True
            for condition in g.ifs:
                known = truth(self.eval(condition), "the condition of a comprehension")
                if isinstance(known, Tile):
                    raise self.locate(
                        TileTypeError("the condition of a comprehension must be known at compile time"), condition
                    )
                kept = kept and known
            if kept:
                self._comprehend(element, generators[1:], out)

    def sequence(self, x: Any, what: str) -> list[Any]:
        """The items of something that can be iterated at compile time."""
        if isinstance(x, tuple | list | range | str | dict) or hasattr(x, "__next__"):
            return list(x)
        if isinstance(x, Tile | Array) or not hasattr(x, "__iter__"):
            raise TileTypeError(
                f"{what} cannot iterate over {cv.describe(x)}", hint="it takes tuples and constant ranges"
            )
        return self.static(lambda: list(x), what)

    def assign(self, target: ast.expr, value: Any) -> None:  # the statements' part
        raise NotImplementedError


def _numpy_generic() -> Any:
    import numpy

    return numpy.generic


def _has_values(x: Any) -> bool:
    """Whether something known at run time only is in it."""
    if isinstance(x, tuple | list):
        return any(_has_values(v) for v in x)
    return isinstance(x, Tile | Array | FString | Formatted)


_SETTLED = ("epitaxy", "math", "operator", "numpy", "cmath", "builtins")


def _is_settled(module: ModuleType) -> bool:
    """Modules whose contents do not change while a program runs."""
    return module.__name__.split(".")[0] in _SETTLED
