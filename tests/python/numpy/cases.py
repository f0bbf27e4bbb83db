"""Values that find mistakes, for every dtype, and how results are compared with a reference."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
BOOL = np.dtype(bool)
INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype("float16"), BFLOAT16, np.dtype("float32"), np.dtype("float64")]
COMPLEXES = [np.dtype("complex64"), np.dtype("complex128")]
DTYPES = [BOOL, *INTEGERS, *FLOATS, *COMPLEXES]


def finfo(dtype: np.dtype[Any]) -> Any:
    """Facts of a float type, bfloat16 included."""
    return ml_dtypes.finfo(dtype) if dtype.name == "bfloat16" else np.finfo(dtype)


def corners(dtype: np.dtype[Any]) -> Array:
    """Zeros of both signs, ones, limits, infinities, NaN, subnormals, halves, small and large numbers."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        near = [info.min, info.min + 1, info.max - 1, info.max, info.max // 2, 0, 1, 2, 3, 5, 7, 8, 31, 63, 64, 100]
        return np.unique(np.array([v for v in [*near, -1, -2, -3, -7, -64, -100] if info.min <= v <= info.max], dtype))
    if dtype.kind == "c":
        parts = np.array([0.0, -0.0, 1.0, -1.5, 0.25, 3e3, -2e-3, np.inf, -np.inf, np.nan])
        return _pairs(parts, dtype)
    info = finfo(dtype)
    magnitudes = [0, 1, 0.5, 1.5, 2, 2.5, 3, 7, 0.1, 0.7, 10.25, 100, 1e-3, float(info.smallest_subnormal)]
    magnitudes += [
        float(info.smallest_normal),
        float(info.max),
        float(info.eps),
        float(info.smallest_normal) / 2,
        np.inf,
        np.nan,
    ]
    values = np.array(magnitudes, np.float64)
    with np.errstate(over="ignore"):
        return np.concatenate([values, -values]).astype(dtype)


def _pairs(parts: Array, dtype: np.dtype[Any]) -> Array:
    out = np.empty((parts.size, parts.size), dtype)
    out.real, out.imag = parts[:, None], parts[None, :]
    return out.ravel()


def random(rng: np.random.Generator, dtype: np.dtype[Any], n: int) -> Array:
    """Ordinary numbers of a dtype."""
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    if dtype.kind == "c":
        return (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)
    return (rng.standard_normal(n) * 4).astype(dtype)


def bits(x: Array) -> Array:
    """The bits of floats, with one NaN for all."""
    kind = {2: np.uint16, 4: np.uint32, 8: np.uint64}[x.dtype.itemsize]
    return np.where(np.isnan(x), np.array(np.nan, x.dtype), x).astype(x.dtype).view(kind)


def assert_same(got: Any, wanted: Array) -> None:
    """Equal dtype, shape and values; floats bit for bit but for the payload of NaN."""
    got = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
    assert got.dtype == wanted.dtype, f"dtype {got.dtype}, NumPy has {wanted.dtype}"
    assert got.shape == wanted.shape, f"shape {got.shape}, NumPy has {wanted.shape}"
    if wanted.dtype.kind == "c":
        for part in ("real", "imag"):
            assert_same(getattr(got, part).copy(), getattr(wanted, part).copy())
        return
    different = (bits(got) != bits(wanted)) if wanted.dtype.kind not in "biu" else got != wanted
    assert not different.any(), _report(got, wanted, different)


def assert_close(got: Any, wanted: Array, ulps: float) -> None:
    """Within `ulps` units in the last place of `wanted`, which is more precise; special values equal."""
    got = np.asarray(got.numpy())
    with np.errstate(all="ignore"):
        rounded = wanted.astype(got.dtype)
        info = finfo(got.dtype)
        near = rounded.astype(wanted.dtype)
        exponent = np.frexp(np.maximum(np.abs(wanted), float(info.smallest_normal)))[1]
        unit = np.ldexp(np.ones_like(wanted), exponent - 1 - info.nmant)
        wide = got.astype(wanted.dtype)
        error = np.abs(wide - wanted) / unit
        special = ~np.isfinite(near) | ~np.isfinite(wide)
        beyond = (
            np.isinf(near)
            & (np.abs(wide) >= float(info.max))
            & (np.signbit(wide) == np.signbit(near))
            & np.isfinite(wanted)
        )
        same = (bits(rounded) == bits(got)) | beyond
        wrong = np.where(special, ~same, error > ulps)
        wrong |= (wanted == 0) & (np.signbit(wide) != np.signbit(wanted)) & (wide == 0)
    assert not wrong.any(), _report(got, rounded, wrong)


def _report(got: Array, wanted: Array, wrong: Array) -> str:
    where = np.argwhere(wrong)[:6]
    rows = [f"{tuple(int(v) for v in i)}: got {got[tuple(i)]!r}, wanted {wanted[tuple(i)]!r}" for i in where]
    return f"{int(wrong.sum())} of {wrong.size} differ\n" + "\n".join(rows)
