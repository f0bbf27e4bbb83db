"""What a kernel read from outside itself: globals, closure cells, attributes. It is stale when one of them changed.

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
    """The values read, with how to read them again.

    `globals` are (namespace, name, value) and `attributes` (owner, name, value): the launch path compares those by
    itself. `others` need a call each.
    """

    def __init__(self) -> None:
        self._seen: set[tuple[str, int, Any]] = set()
        self.globals: list[tuple[dict[str, Any], str, Any]] = []
        self.attributes: list[tuple[Any, str, Any]] = []
        self.others: list[tuple[Callable[[], Any], Any]] = []

    def add_global(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        """`namespace[name]` was read."""
        if self._new("global", namespace, name):
            self.globals.append((namespace, name, value))

    def add_cell(self, cell: CellType, value: Any) -> None:
        """A closure variable was read."""
        self.add_attribute(cell, "cell_contents", value)

    def add_attribute(self, owner: Any, name: str, value: Any) -> None:
        """`owner.name` was read."""
        if self._new("attribute", owner, name):
            self.attributes.append((owner, name, value))

    def add_item(self, owner: Any, key: Any, value: Any) -> None:
        """`owner[key]` was read."""
        if self._new("item", owner, repr(key)):
            self.others.append((lambda: owner[key], value))

    def add_contents(self, owner: list[Any]) -> None:
        """A list was read as a tuple."""
        if self._new("contents", owner, None):
            self.others.append((lambda: tuple(owner), tuple(owner)))

    def add_code(self, function: FunctionType) -> None:
        """A helper's source and defaults were read. One without defaults needs no more arguments if it gets some."""
        for name in ("__code__", "__defaults__", "__kwdefaults__"):
            if getattr(function, name) is not None:
                self.add_attribute(function, name, getattr(function, name))

    def _new(self, how: str, owner: Any, name: Any) -> bool:
        key = (how, id(owner), name)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def current(self) -> bool:
        """Whether everything read still has the value it had."""
        try:
            return (
                all(_unchanged(ns.get(name, _MISSING), value) for ns, name, value in self.globals)
                and all(_unchanged(getattr(owner, name), value) for owner, name, value in self.attributes)
                and all(_unchanged(read(), value) for read, value in self.others)
            )
        except Exception:  # an attribute or item is gone: compile again, which reports that properly
            return False


def _unchanged(now: Any, value: Any) -> bool:
    return now is value or same(now, value)


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
