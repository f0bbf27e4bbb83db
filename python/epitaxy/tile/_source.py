"""From a Python function to its syntax tree, with the places of its nodes in the user's file."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from ._errors import Place, TileSyntaxError
from ._liveness import Analysis, analyse

__all__ = ["NoSource", "Source", "source_of"]

FunctionNode = ast.FunctionDef | ast.Lambda


class NoSource(TileSyntaxError):
    """The source of a function is not to be had."""


@dataclass
class Source:
    """A function's tree. Nodes keep their places in `file` by the two offsets."""

    node: FunctionNode
    file: str
    name: str
    line_offset: int
    column_offset: int
    analysis: Analysis
    places: dict[int, Place] = field(default_factory=dict)

    def place(self, node: Any) -> Place:
        """Where `node` is in the user's file."""
        found = self.places.get(id(node))
        if found is None:
            end = getattr(node, "end_col_offset", 0) if getattr(node, "end_lineno", 0) == node.lineno else 0
            shift = self.column_offset
            found = Place(
                self.file, node.lineno + self.line_offset, node.col_offset + shift, end + shift if end else 0, self.name
            )
            self.places[id(node)] = found
        return found

    def inner(self, node: FunctionNode) -> Source:
        """The source of a function written inside this one."""
        found: Source | None = getattr(node, "_epitaxy_source", None)
        if found is None:
            name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
            found = Source(node, self.file, name, self.line_offset, self.column_offset, analyse(node))
            node._epitaxy_source = found  # type: ignore[union-attr]
        return found


_SOURCES: dict[CodeType, Source] = {}
_LAMBDAS: dict[str, tuple[list[str], list[ast.Lambda]]] = {}


def source_of(function: FunctionType) -> Source:
    """The source of a function, parsed once for each code object."""
    found = _SOURCES.get(function.__code__)
    if found is None:
        found = _parse_lambda(function) if function.__code__.co_name == "<lambda>" else _parse_def(function)
        _SOURCES[function.__code__] = found
    return found


def _missing(function: FunctionType, why: str) -> NoSource:
    code = function.__code__
    error = NoSource(
        f"the source of {function.__qualname__} is not available: {why}",
        hint="kernels and their helpers are read from their source; define them in a file or a notebook cell",
    )
    error.at(Place(code.co_filename, code.co_firstlineno, 0, 0, code.co_name))
    return error


def _parse_def(function: FunctionType) -> Source:
    code = function.__code__
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError, SyntaxError) as e:
        raise _missing(function, str(e)) from None
    text = "".join(lines)
    shift = len(lines[0]) - len(lines[0].lstrip())
    try:
        tree = ast.parse(textwrap.dedent(text) if shift else text)
    except SyntaxError as e:
        raise _missing(function, f"the file has changed since it was imported ({e.msg})") from None
    node = tree.body[0] if tree.body else None
    if isinstance(node, ast.AsyncFunctionDef):
        error = TileSyntaxError(f"{function.__qualname__} is async; kernels are plain functions")
        raise error.at(Place(code.co_filename, code.co_firstlineno, shift, 0, code.co_name))
    names = _parameter_names(node) if isinstance(node, ast.FunctionDef) else []
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name or names != _code_names(code):
        raise _missing(function, "the file has changed since it was imported")
    return Source(node, code.co_filename, code.co_name, first - 1, shift, analyse(node))


def _parameter_names(node: FunctionNode) -> list[str]:
    a = node.args
    return [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]


def _code_names(code: CodeType) -> list[str]:
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])


def _parse_lambda(function: FunctionType) -> Source:
    """Finds the lambda among those of its file by its first line, its parameters and the span of its body."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise _missing(function, "its file cannot be read")
    known = _LAMBDAS.get(code.co_filename)
    if known is None or known[0] != lines:
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError as e:
            raise _missing(function, f"its file does not parse ({e.msg})") from None
        known = (lines, [n for n in ast.walk(tree) if isinstance(n, ast.Lambda)])
        _LAMBDAS[code.co_filename] = known
    fits = [n for n in known[1] if _parameter_names(n) == _code_names(code) and _spans(n.body, code)]
    if len(fits) != 1:
        raise _missing(function, f"{len(fits)} lambdas of {code.co_filename} fit it")
    return Source(fits[0], code.co_filename, "<lambda>", 0, 0, analyse(fits[0]))


def _spans(body: ast.expr, code: CodeType) -> bool:
    """Whether the instructions of `code` come from exactly this body."""
    spots = [p for p in code.co_positions() if None not in p and p[2:] != (0, 0)]
    whole = (body.lineno, body.end_lineno, body.col_offset, body.end_col_offset)
    inside = all(
        (body.lineno, body.col_offset) <= (p[0], p[2]) and (p[1], p[3]) <= (body.end_lineno, body.end_col_offset)
        for p in spots
    )
    return inside and (whole in spots or not spots)
