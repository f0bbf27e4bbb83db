"""The mark of functions that kernels may call."""

from __future__ import annotations

from typing import Any, TypeVar

F = TypeVar("F")


def api(function: F) -> F:
    """Marks a function of this package as callable in kernels: it gets values and records ops."""
    function.__tile_api__ = True  # type: ignore[attr-defined]
    return function


def is_api(function: Any) -> bool:
    return getattr(function, "__tile_api__", False) is True
