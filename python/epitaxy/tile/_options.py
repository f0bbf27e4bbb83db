"""Options and annotations of kernels, with cuTile's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, TypeVar

from .._dtypes import DType, to_dtype

__all__ = [
    "ArrayAnnotation",
    "ByTarget",
    "Constant",
    "ConstantAnnotation",
    "IndexedWithInt64",
    "MemoryOrder",
    "MemoryScope",
    "PaddingMode",
    "RoundingMode",
    "ScalarAnnotation",
    "ScalarInt64",
]


class PaddingMode(Enum):
    """What a load gives outside its array. UNDETERMINED is zero here: the answer never depends on the device."""

    UNDETERMINED = "undetermined"
    ZERO = "zero"
    NEG_ZERO = "neg_zero"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"


class RoundingMode(Enum):
    """RN (and FULL) is what every operation does; APPROX allows the device's fast approximation where it has one."""

    RN = "nearest_even"
    RZ = "zero"
    RM = "negative_inf"
    RP = "positive_inf"
    RA = "nearest_away"
    FULL = "full"
    APPROX = "approx"
    RZI = "nearest_int_to_zero"


class MemoryOrder(Enum):
    """The order of an access with respect to others of its program."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"


class MemoryScope(Enum):
    """Who takes part in that order."""

    NONE = "none"
    BLOCK = "block"
    DEVICE = "device"
    SYS = "sys"


class ConstantAnnotation:
    """Metadata of a parameter whose value is known at compile time."""

    def __repr__(self) -> str:
        return "ConstantAnnotation()"


T = TypeVar("T")
Constant = Annotated[T, ConstantAnnotation()]


@dataclass(frozen=True, kw_only=True)
class ArrayAnnotation:
    """Metadata of an array parameter: which extents and strides are compile-time constants, and the index type."""

    index_dtype: DType | None = None
    static_shape_dims: tuple[int, ...] = ()
    static_stride_dims: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.index_dtype is not None and self.index_dtype.name not in ("int32", "int64"):
            raise ValueError(f"index_dtype must be int32 or int64, got {self.index_dtype}")
        for name in ("static_shape_dims", "static_stride_dims"):
            dims = getattr(self, name)
            if not isinstance(dims, tuple) or not all(isinstance(d, int) and not isinstance(d, bool) for d in dims):
                raise TypeError(f"{name} must be a tuple of integers, got {dims!r}")


@dataclass(frozen=True, kw_only=True)
class ScalarAnnotation:
    """Metadata of a scalar parameter: its dtype, int32 or int64."""

    dtype: DType

    def __post_init__(self) -> None:
        if self.dtype.name not in ("int32", "int64"):
            raise ValueError(f"dtype must be int32 or int64, got {self.dtype}")


_INT64 = to_dtype("int64")
assert _INT64 is not None
IndexedWithInt64 = Annotated[T, ArrayAnnotation(index_dtype=_INT64)]
ScalarInt64 = Annotated[T, ScalarAnnotation(dtype=_INT64)]


class ByTarget:
    """A value that depends on the target: `ByTarget(sm_90=2, default=1)`."""

    def __init__(self, *, default: Any = None, **by_target: Any) -> None:
        self.default = default
        self.by_target: Mapping[str, Any] = by_target

    def get(self, target: str) -> Any:
        """The value for `target`, such as "sm_90"."""
        return self.by_target.get(target, self.default)
