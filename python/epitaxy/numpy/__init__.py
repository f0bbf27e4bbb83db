"""NumPy's names on any device: elementwise work is recorded and runs as one kernel when values are needed.

>>> import epitaxy.numpy as np
>>> x = np.arange(5)
>>> (x * x + 1).tolist()
[1, 2, 5, 10, 17]
"""

from __future__ import annotations

from typing import Any

import numpy as _np

from epitaxy.numpy import random
from epitaxy.numpy._array import ndarray
from epitaxy.numpy._create import (
    arange,
    array,
    asarray,
    asnumpy,
    broadcast_to,
    concatenate,
    empty,
    empty_like,
    expand_dims,
    eye,
    flip,
    from_dlpack,
    full,
    full_like,
    linspace,
    ones,
    ones_like,
    permute_dims,
    reshape,
    squeeze,
    stack,
    transpose,
    zeros,
    zeros_like,
)
from epitaxy.numpy._linalg import dot, matmul
from epitaxy.numpy._reduce import all, any, argmax, argmin, max, mean, min, prod, sum
from epitaxy.numpy._ufunc import FUNCTIONS as _FUNCTIONS
from epitaxy.numpy._ufunc import clip, imag, real, round, where

globals().update(_FUNCTIONS)

bool_, int8, int16, int32, int64 = _np.bool_, _np.int8, _np.int16, _np.int32, _np.int64
uint8, uint16, uint32, uint64 = _np.uint8, _np.uint16, _np.uint32, _np.uint64
float16, float32, float64 = _np.float16, _np.float32, _np.float64
complex64, complex128 = _np.complex64, _np.complex128
dtype, result_type, finfo, iinfo = _np.dtype, _np.result_type, _np.finfo, _np.iinfo
pi, e, inf, nan, newaxis = _np.pi, _np.e, _np.inf, _np.nan, None

_NAMES = """
all any arange argmax argmin array asarray asnumpy bool_ broadcast_to clip complex128 complex64 concatenate dot dtype
e empty empty_like expand_dims eye finfo flip from_dlpack float16 float32 float64 full full_like iinfo imag inf int16
int32 int64 int8 linspace matmul max mean min nan ndarray newaxis ones ones_like permute_dims pi prod random real
reshape result_type round squeeze stack sum transpose uint16 uint32 uint64 uint8 where zeros zeros_like
"""
__all__ = sorted([*_NAMES.split(), *_FUNCTIONS])


def __getattr__(name: str) -> Any:
    if name == "bfloat16":
        import ml_dtypes

        return _np.dtype(ml_dtypes.bfloat16)
    hint = f"; numpy has it: numpy.{name}(x.numpy())" if hasattr(_np, name) else ""
    raise AttributeError(f"module 'epitaxy.numpy' has no attribute {name!r}{hint}")
