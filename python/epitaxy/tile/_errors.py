"""Errors of kernels: each names the file, the line and the column, shows the line with a caret, and says what to do."""

from __future__ import annotations

import linecache
from dataclasses import dataclass

from .._errors import CompileError

__all__ = [
    "StaticException",
    "TileError",
    "TileRecursionError",
    "TileStaticAssertionError",
    "TileStaticEvalError",
    "TileSyntaxError",
    "TileTypeError",
    "TileUnsupportedFeatureError",
    "TileValueError",
]


@dataclass(frozen=True)
class Place:
    """A stretch of source: lines count from 1, columns from 0; `end_column` is 0 where it is not known."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    function: str = ""


class TileError(CompileError):
    """A kernel cannot be compiled. `place` is where; `called_from` are the calls that led there, innermost first."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.place: Place | None = None
        self.called_from: list[Place] = []

    def at(self, place: Place, called_from: list[Place] | None = None) -> TileError:
        """This error with its place, unless it has one already."""
        if self.place is None:
            self.place = place
            self.called_from = list(called_from or [])
        return self

    def __str__(self) -> str:
        lines = [self.message]
        if self.place is not None:
            p = self.place
            lines = [f"{p.file}:{p.line}:{p.column + 1}: {self.message}"]
            text = linecache.getline(p.file, p.line).rstrip("\n")
            if text:
                width = max(1, (p.end_column or p.column + 1) - p.column)
                lines += [f"{p.line:5} | {text}", " " * 5 + " | " + " " * p.column + "^" * width]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        lines += [f"called from {c.file}:{c.line} in {c.function}" for c in self.called_from]
        return "\n".join(lines)


class TileSyntaxError(TileError):
    """A Python construct that kernels do not have."""


class TileTypeError(TileError, TypeError):
    """Values of types that do not go together."""


class TileValueError(TileError, ValueError):
    """A constant, shape, axis or index that is not accepted."""


class TileRecursionError(TileError):
    """A function that calls itself: kernels are compiled by inlining."""


class TileStaticAssertionError(TileError, AssertionError):
    """A static_assert, ensure_constant or other compile-time condition that does not hold."""


class TileStaticEvalError(TileError):
    """An expression evaluated at compile time raised."""


class TileUnsupportedFeatureError(TileError, NotImplementedError):
    """A feature of cuTile that Epitaxy does not have."""


class StaticException(TileError):
    """Raised at compile time by `raise ct.static_exception(...)`; the exception given is the cause."""
