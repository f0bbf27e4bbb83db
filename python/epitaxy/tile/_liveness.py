"""Which names a statement may assign, and which are still read after it: what ifs join and what loops carry."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["RESULT", "Analysis", "LoopNames", "analyse"]

RESULT = "$return"  # the name under which a function's result travels

Names = frozenset[str]
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@dataclass
class LoopNames:
    """A loop's names: assigned in it, read at its head (in the next round), read after it."""

    assigned: Names = frozenset()
    head: Names = frozenset()
    after: Names = frozenset()


@dataclass
class Analysis:
    """Of one function: its local names, and for its statements (by id) what is read after them."""

    local: Names
    captured: Names = frozenset()  # read by inner functions: always alive
    after: dict[int, Names] = field(default_factory=dict)
    loops: dict[int, LoopNames] = field(default_factory=dict)


def _walk(nodes: Iterable[ast.AST]) -> Iterable[ast.AST]:
    """All nodes below, except the bodies of inner functions."""
    stack = list(nodes)
    while stack:
        n = stack.pop()
        yield n
        if isinstance(n, ast.FunctionDef | ast.Lambda):
            stack += [d for d in (*n.args.defaults, *n.args.kw_defaults) if d is not None]
        elif not isinstance(n, _NESTED):
            stack += list(ast.iter_child_nodes(n))


def assigned(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that the statements may assign."""
    out: set[str] = set()
    comprehension: set[str] = set()
    for n in _walk(nodes):
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del):
            out.add(n.id)
        elif isinstance(n, ast.FunctionDef | ast.ClassDef):
            out.add(n.name)
        elif isinstance(n, ast.Return):
            out.add(RESULT)
        elif isinstance(n, ast.comprehension):
            comprehension |= {t.id for t in ast.walk(n.target) if isinstance(t, ast.Name)}
    return out - (comprehension - _assigned_outside(nodes, comprehension))


def _assigned_outside(nodes: Iterable[ast.AST], names: set[str]) -> set[str]:
    """Those of `names` that are also assigned by a statement, not only by a comprehension."""
    if not names:
        return set()
    inside = {id(t) for n in _walk(nodes) if isinstance(n, ast.comprehension) for t in ast.walk(n.target)}
    stores = (n for n in _walk(nodes) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    return {n.id for n in stores if id(n) not in inside and n.id in names}


def _read(*nodes: ast.AST | None) -> set[str]:
    present = [n for n in nodes if n is not None]
    return {n.id for n in _walk(present) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _captured(function: ast.AST) -> set[str]:
    """Names that inner functions read."""
    out: set[str] = set()
    for n in ast.walk(function):
        if n is not function and isinstance(n, _NESTED):
            out |= {m.id for m in ast.walk(n) if isinstance(m, ast.Name)}
    return out


class _Backward:
    def __init__(self, analysis: Analysis) -> None:
        self.a = analysis

    def block(self, body: list[ast.stmt], after: Names, loop: LoopNames | None) -> Names:
        for s in reversed(body):
            self.a.after[id(s)] = after
            after = self.statement(s, after, loop)
        return after

    def statement(self, s: ast.stmt, after: Names, loop: LoopNames | None) -> Names:
        if isinstance(s, ast.If):
            return self.block(s.body, after, loop) | self.block(s.orelse, after, loop) | _read(s.test)
        if isinstance(s, ast.For | ast.While):
            return self.loop(s, after)
        if isinstance(s, ast.Return):
            return frozenset(_read(s.value))
        if isinstance(s, ast.Break | ast.Continue):
            if loop is None:
                return after
            return loop.after if isinstance(s, ast.Break) else loop.head
        if isinstance(s, ast.With):
            return self.block(s.body, after, loop) | _read(*[i.context_expr for i in s.items])
        if isinstance(s, ast.Assign | ast.AnnAssign):
            targets = s.targets if isinstance(s, ast.Assign) else [s.target]
            return (after - assigned(targets)) | _read(s.value, *targets)
        if isinstance(s, ast.AugAssign):
            return after | _read(s.value) | {n.id for n in ast.walk(s.target) if isinstance(n, ast.Name)}
        if isinstance(s, ast.FunctionDef):
            return (after - {s.name}) | _read(s)
        return after | _read(s)

    def loop(self, s: ast.For | ast.While, after: Names) -> Names:
        changed = frozenset(assigned([s]))
        after = after | (changed & {RESULT})
        names = LoopNames(changed, after, after)
        self.a.loops[id(s)] = names
        target = assigned([s.target]) if isinstance(s, ast.For) else set()
        test = _read(s.test) if isinstance(s, ast.While) else set()
        while True:
            body = self.block(s.body, names.head, names)
            head = after | (body - target) | test
            if head == names.head:
                break
            names.head = head
        return names.head | (_read(s.iter) if isinstance(s, ast.For) else frozenset())


def analyse(function: ast.FunctionDef | ast.Lambda) -> Analysis:
    """The analysis of one function (inner functions have their own)."""
    a = function.args
    parameters = {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)} | {p.arg for p in (a.vararg, a.kwarg) if p}
    body: list[ast.stmt] = function.body if isinstance(function, ast.FunctionDef) else [ast.Expr(function.body)]
    captured = frozenset(_captured(function))
    out = Analysis(frozenset(assigned(body) | parameters), captured)
    _Backward(out).block(body, captured, None)
    return out
