"""Tile kernels in Python, with cuTile's names, on CPUs and GPUs.

>>> import numpy as np
>>> import epitaxy.tile as ct
>>> @ct.kernel
... def double(x, y, n: ct.Constant[int]):
...     i = ct.bid(0)
...     ct.store(y, (i,), ct.load(x, (i,), (n,)) * 2)

`ct.launch(None, (4,), double, (x, y, 16))` runs it on four programs. docs/reference/tile.md has the language.
"""

from __future__ import annotations

from .._dtypes import DType, all_dtypes
from . import _operations, _values
from ._errors import (
    StaticException,
    TileError,
    TileRecursionError,
    TileStaticAssertionError,
    TileStaticEvalError,
    TileSyntaxError,
    TileTypeError,
    TileUnsupportedFeatureError,
    TileValueError,
)
from ._kernel import checked, function, interpret, kernel, launch
from ._operations import *  # noqa: F403 - the list is _operations.__all__
from ._options import (
    ArrayAnnotation,
    ByTarget,
    Constant,
    ConstantAnnotation,
    IndexedWithInt64,
    MemoryOrder,
    MemoryScope,
    PaddingMode,
    RoundingMode,
    ScalarAnnotation,
    ScalarInt64,
)
from ._values import Array, Tile

_values._ops = _operations

int8, int16, int32, int64, uint8, uint16, uint32, uint64 = (d for d in all_dtypes() if d.kind in "iu")
bool_ = next(d for d in all_dtypes() if d.kind == "b")
float16, bfloat16, float32, float64 = (d for d in all_dtypes() if d.kind == "f")
complex64, complex128 = (d for d in all_dtypes() if d.kind == "c")
Scalar = Tile

__all__ = [
    "Array",
    "ArrayAnnotation",
    "ByTarget",
    "Constant",
    "ConstantAnnotation",
    "DType",
    "IndexedWithInt64",
    "MemoryOrder",
    "MemoryScope",
    "PaddingMode",
    "RoundingMode",
    "Scalar",
    "ScalarAnnotation",
    "ScalarInt64",
    "StaticException",
    "Tile",
    "TileError",
    "TileRecursionError",
    "TileStaticAssertionError",
    "TileStaticEvalError",
    "TileSyntaxError",
    "TileTypeError",
    "TileUnsupportedFeatureError",
    "TileValueError",
    "bfloat16",
    "bool_",
    "checked",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "function",
    "int8",
    "int16",
    "int32",
    "int64",
    "interpret",
    "kernel",
    "launch",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
__all__ += _operations.__all__
