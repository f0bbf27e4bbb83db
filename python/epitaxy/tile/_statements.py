"""The walker's statements, without loops."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import ast
from typing import Any

from . import _convert as cv
from . import _operations as ops
from ._calls import Calls
from ._debug import FString, truth
from ._errors import TileError, TileSyntaxError, TileTypeError, TileValueError
from ._liveness import Names
from ._values import Array, Tile
from ._walk import BREAK, CONTINUE, RESULT, RETURN, Path, zero_jump

_NOT_HERE: dict[type, tuple[str, str]] = {
    ast.Try: ("try", "kernels have no exceptions: check with ct.assert_"),
    ast.TryStar: ("try", "kernels have no exceptions: check with ct.assert_"),
    ast.With: ("with", ""),
    ast.Global: ("global", "kernels do not change Python variables: store results in an array"),
    ast.Nonlocal: ("nonlocal", "return the new value from the inner function"),
    ast.Import: ("import", "import outside of the kernel"),
    ast.ImportFrom: ("import", "import outside of the kernel"),
    ast.ClassDef: ("class", "define classes outside of the kernel"),
    ast.Delete: ("del", ""),
    ast.Match: ("match", "use if and elif"),
    ast.AsyncFor: ("async for", ""),
    ast.AsyncWith: ("async with", ""),
    ast.AsyncFunctionDef: ("async def", ""),
}


class Statements(Calls):
    """Executes statements."""

    def block(self, body: list[ast.stmt]) -> None:
        """Walks statements until one leaves the block."""
        f = self.frame
        for i, s in enumerate(body):
            rest = body[i + 1 :]
            if self.statement(s, rest):
                return
            if isinstance(f.jump, Tile):
                if rest:
                    self.guarded(rest)
                return
            if f.jump:
                return

    def statement(self, s: ast.stmt, rest: list[ast.stmt]) -> bool:
        """Walks one statement; true where it has taken `rest` along into a branch."""
        method = getattr(self, f"do_{type(s).__name__}", None)
        try:
            self.here(s)
            if method is None:
                name, hint = _NOT_HERE.get(type(s), (type(s).__name__, ""))
                raise TileSyntaxError(f"`{name}` is not supported in a kernel", hint=hint)
            return bool(method(s, rest))
        except TileError as e:
            raise self.locate(e, s) from e.__cause__

    # -- plain statements ------------------------------------------------------------------------------------------
    def do_Pass(self, s: ast.Pass, rest: list[ast.stmt]) -> None:
        pass

    def do_Expr(self, s: ast.Expr, rest: list[ast.stmt]) -> None:
        if not (isinstance(s.value, ast.Constant) and isinstance(s.value.value, str)):
            self.eval(s.value)

    def do_Assign(self, s: ast.Assign, rest: list[ast.stmt]) -> None:
        value = self.eval(s.value)
        for target in s.targets:
            self.assign(target, value)

    def do_AnnAssign(self, s: ast.AnnAssign, rest: list[ast.stmt]) -> None:
        if s.value is not None:
            self.assign(s.target, self.eval(s.value))

    def do_AugAssign(self, s: ast.AugAssign, rest: list[ast.stmt]) -> None:
        if not isinstance(s.target, ast.Name):
            self.assign(s.target, None)
        old = self.eval(ast.copy_location(ast.Name(s.target.id, ast.Load()), s.target))  # type: ignore[union-attr]
        value = self.eval(s.value)
        self.here(s)
        self.assign(s.target, self.binary(s.op, old, value))

    def assign(self, target: ast.expr, value: Any) -> None:
        """Binds the names of a target."""
        if isinstance(target, ast.Name):
            self.frame.env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            self._unpack(target, value)
        elif isinstance(target, ast.Subscript):
            owner = self.eval(target.value)
            array = isinstance(owner, Array)
            hint = (
                "write to memory with ct.store(array, index, tile)"
                if array
                else "make a new tile: ct.where or ct.insert"
            )
            raise self.locate(TileSyntaxError(f"{cv.describe(owner)} cannot be assigned by item", hint=hint), target)
        else:
            raise self.locate(TileSyntaxError("this cannot be assigned in a kernel; use a plain name"), target)

    def _unpack(self, target: ast.Tuple | ast.List, value: Any) -> None:
        try:
            items = self.sequence(value, "unpacking")
        except TileError as e:
            raise self.locate(e, target) from None
        starred = [i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)]
        n = len(target.elts)
        if len(items) < n - len(starred) or (not starred and len(items) != n):
            raise self.locate(TileValueError(f"cannot unpack {len(items)} values into {n} names"), target)
        if starred:
            k = starred[0]
            after = n - k - 1
            items = [*items[:k], tuple(items[k : len(items) - after]), *items[len(items) - after :]]
        for t, v in zip(target.elts, items, strict=True):
            self.assign(t.value if isinstance(t, ast.Starred) else t, v)

    def do_FunctionDef(self, s: ast.FunctionDef, rest: list[ast.stmt]) -> None:
        if s.decorator_list:
            for d in s.decorator_list:
                value = self.eval(d.func if isinstance(d, ast.Call) else d)
                if getattr(value, "__name__", "") == "kernel":
                    raise self.locate(
                        TileSyntaxError("a kernel cannot be defined in a kernel", hint="make it a plain function"), d
                    )
                if getattr(value, "__name__", "") != "function":
                    raise self.locate(TileSyntaxError("decorators are not supported in a kernel"), d)
        self.frame.env[s.name] = self.local_function(s)

    def do_Assert(self, s: ast.Assert, rest: list[ast.stmt]) -> None:
        condition = self.eval(s.test)
        message = self.eval(s.msg) if s.msg is not None else None
        self.here(s)
        if isinstance(condition, Tile | bool):
            ops.assert_(condition, message)  # noqa: PT009
        else:
            ops.assert_(truth(condition, "the condition of assert"), message)  # noqa: PT009

    def do_Raise(self, s: ast.Raise, rest: list[ast.stmt]) -> None:
        self.raise_statement(s)

    # -- leaving ---------------------------------------------------------------------------------------------------
    def do_Return(self, s: ast.Return, rest: list[ast.stmt]) -> None:
        f = self.frame
        f.env[RESULT] = self.eval(s.value) if s.value is not None else None
        f.jump, f.kinds = RETURN, {RETURN}

    def do_Break(self, s: ast.Break, rest: list[ast.stmt]) -> None:
        self._leave(BREAK)

    def do_Continue(self, s: ast.Continue, rest: list[ast.stmt]) -> None:
        self._leave(CONTINUE)

    def _leave(self, kind: int) -> None:
        f = self.frame
        loop = f.loops[-1]
        loop.undefined |= self.missing(loop.names.after)
        f.jump, f.kinds = kind, {kind}

    def missing(self, names: Names) -> set[str]:
        """Names of the innermost loop that have no value here."""
        f = self.frame
        inside = f.loops[-1].names.assigned
        return {n for n in names if n in inside and (n not in f.env or type(f.env[n]).__name__ == "Undefined")}

    # -- if --------------------------------------------------------------------------------------------------------
    def do_If(self, s: ast.If, rest: list[ast.stmt]) -> bool:
        condition = truth(self.eval(s.test), "the condition of `if`")
        if not isinstance(condition, Tile):
            self.block(s.body if condition else s.orelse)
            return False
        a, b = self._branch(s.body), self._branch(s.orelse)
        taken = False
        if rest and a.gone and not b.left:
            b, taken = self._extend(b, rest), True
        elif rest and b.gone and not a.left:
            a, taken = self._extend(a, rest), True
        after = self.frame.source.analysis.after[id(rest[-1] if taken else s)]
        self.merge(condition, a, b, after, self.frame.source.place(s))
        return taken

    def _branch(self, body: list[ast.stmt]) -> Path:
        """One branch, walked in a region of its own from the current state."""
        f = self.frame
        before = (f.env, f.jump, f.kinds)
        f.env, f.jump, f.kinds = dict(f.env), 0, {0}
        with self.r.region() as region:
            self.block(body)
            path = self.path(region)
        f.env, f.jump, f.kinds = before
        return path

    def _extend(self, path: Path, rest: list[ast.stmt]) -> Path:
        """The path with the rest of the block walked at its end."""
        f = self.frame
        before = (f.env, f.jump, f.kinds)
        self.enter(path)
        with self.r.into(path.region):
            self.block(rest)
            path = self.path(path.region)
        f.env, f.jump, f.kinds = before
        return path

    def guarded(self, rest: list[ast.stmt]) -> None:
        """The rest of a block where it is known at run time only whether the block has been left."""
        f = self.frame
        condition = zero_jump(f.jump)
        b = Path(f.env, f.jump, f.kinds - {0}, self._empty())
        a = self._branch(rest)
        self.merge(condition, a, b, f.source.analysis.after[id(rest[-1])], f.source.place(rest[0]))

    def _empty(self) -> Any:
        with self.r.region() as region:
            pass
        return region


__all__ = ["FString", "Statements", "TileTypeError"]
