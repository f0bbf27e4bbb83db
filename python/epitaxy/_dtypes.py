"""The dtypes of programs, one object each, made from the engine's table; and what counts as a dtype elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from . import _engine

__all__ = ["DType", "all_dtypes", "to_dtype"]


class DType:
    """An element type. Equal to what names the same type elsewhere; called in a kernel, it makes a scalar of it."""

    __slots__ = ("code", "kind", "name", "size", "typestr")

    def __init__(self, code: int, name: str, size: int, kind: str, typestr: str) -> None:
        self.code = code
        self.name = name
        self.size = size
        self.kind = kind
        self.typestr = typestr

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return self is other or to_dtype(other) is self

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _by_name, (self.name,)

    @property
    def bitwidth(self) -> int:
        return 1 if self.kind == "b" else self.size * 8

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    def __call__(self, value: Any = 0) -> Any:
        """Inside a kernel: `value` as a scalar (or tile) of this dtype."""
        from .tile._convert import cast_call

        return cast_call(self, value)


_DTYPES: dict[str, DType] = {row[1]: DType(*row) for row in _engine.DTYPES}
_BY_CODE: tuple[DType, ...] = tuple(_DTYPES.values())


def _by_name(name: str) -> DType:
    return _DTYPES[name]


def all_dtypes() -> tuple[DType, ...]:
    """Every dtype, in the order of the engine's codes."""
    return _BY_CODE


_PYTHON_TYPES: dict[type, str] = {bool: "bool", int: "int32", float: "float32", complex: "complex64"}


def to_dtype(x: Any) -> DType | None:
    """The dtype that `x` means: ours, NumPy's (type or dtype), torch's, ml_dtypes', or a name; None for none.

    >>> to_dtype("float32")
    float32
    """
    if isinstance(x, DType):
        return x
    if isinstance(x, str):
        return _DTYPES.get("bool" if x == "bool_" else x)
    numpy = sys.modules.get("numpy")
    if numpy is not None and (isinstance(x, numpy.dtype) or (isinstance(x, type) and issubclass(x, numpy.generic))):
        return to_dtype(numpy.dtype(x).name)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.dtype):
        return to_dtype(str(x).removeprefix("torch."))
    if isinstance(x, type) and x in _PYTHON_TYPES:
        return _DTYPES[_PYTHON_TYPES[x]]
    return None
