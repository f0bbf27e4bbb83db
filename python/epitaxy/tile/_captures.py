"""What a kernel read from outside itself: globals, closure cells, attributes. A compiled kernel is stale when one changed.

A capture is compared by identity, then by type and value, so a config object that makes its numbers anew does not
recompile. Functions are also compared by their code, so that replacing `helper.__code__` recompiles.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

__all__ = ["Captures"]

_MISSING = object()


class Captures:
    """The values read, with how to read them again."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, int, Any]] = set()
        self.globals: list[tuple[dict[str, Any], str, Any]] = []
        self.others: list[tuple[Callable[[], Any], Any]] = []

    def add_global(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        """`namespace[name]` was read."""
        if self._new("global", namespace, name):
            self.globals.append((namespace, name, value))
            self._function(value)

    def add_cell(self, cell: CellType, value: Any) -> None:
        """A closure variable was read."""
        if self._new("cell", cell, None):
            self.others.append((lambda: cell.cell_contents, value))
            self._function(value)

    def add_attribute(self, owner: Any, name: str, value: Any) -> None:
        """`owner.name` was read."""
        if self._new("attribute", owner, name):
            self.others.append((lambda: getattr(owner, name), value))
            self._function(value)

    def add_item(self, owner: Any, key: Any, value: Any) -> None:
        """`owner[key]` was read."""
        if self._new("item", owner, repr(key)):
            self.others.append((lambda: owner[key], value))

    def add_contents(self, owner: list[Any]) -> None:
        """A list was read as a tuple."""
        if self._new("contents", owner, None):
            self.others.append((lambda: tuple(owner), tuple(owner)))

    def add_code(self, function: FunctionType) -> None:
        """A function's source was read."""
        if self._new("code", function, None):
            defaults = (function.__code__, function.__defaults__, function.__kwdefaults__)
            self.others.append((lambda: (function.__code__, function.__defaults__, function.__kwdefaults__), defaults))

    def _function(self, value: Any) -> None:
        if isinstance(value, FunctionType) and not getattr(value, "__tile_api__", False):
            self.add_code(value)

    def _new(self, how: str, owner: Any, name: Any) -> bool:
        key = (how, id(owner), name)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def current(self) -> bool:
        """Whether everything read still has the value it had."""
        for namespace, name, value in self.globals:
            now = namespace.get(name, _MISSING)
            if now is not value and not same(now, value):
                return False
        for read, value in self.others:
            try:
                now = read()
            except Exception:  # the attribute or item is gone: compile again, and report that properly
                return False
            if now is not value and not same(now, value):
                return False
        return True


def same(a: Any, b: Any) -> bool:
    """Whether two captured values mean the same program."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, bool | int | str | bytes):
        return bool(a == b)
    if isinstance(a, float | complex):
        return repr(a) == repr(b)  # also -0.0 and NaN
    return bool(a == b) if type(a).__module__ == "numpy" and getattr(a, "shape", None) == () else False
