"""Reductions against NumPy: axes, keepdims, dtypes, empty and odd shapes, NaN, ties, accuracy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epitaxy.numpy as ep

sys.path.insert(0, str(Path(__file__).parent))
from cases import COMPLEXES, DTYPES, FLOATS, INTEGERS, assert_same, random

NAMES = ["sum", "prod", "mean", "min", "max", "any", "all"]
SHAPES = [(), (1,), (7,), (1, 1), (3, 5), (0,), (0, 3), (3, 0), (2, 3, 4), (5, 1, 7), (1, 300, 2), (129, 65)]


def tolerance(dtype: np.dtype[Any]) -> float:
    return {"float16": 4e-3, "bfloat16": 4e-2, "float32": 3e-6, "complex64": 3e-6}.get(dtype.name, 1e-13)


def compare(got: Any, wanted: Any, scale: float = 1.0) -> None:
    """Exactly for what is exact, else within the rounding of a sum of that scale."""
    wanted = np.asarray(wanted)
    if wanted.dtype.kind in "biu":
        assert_same(got, wanted)
        return
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(
        got.numpy().astype(wide),
        wanted.astype(wide),
        rtol=tolerance(wanted.dtype),
        atol=scale * tolerance(wanted.dtype),
    )


def reduce_numpy(name: str, x: Any, **options: Any) -> Any:
    with np.errstate(all="ignore"):
        return getattr(np, name)(x, **options)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_every_axis_of_every_shape(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    x = rng.integers(-3, 4, shape).astype(np.float64)
    axes = [None, (), *range(-len(shape), len(shape)), tuple(range(len(shape)))]
    axes += [(0, len(shape) - 1)] if len(shape) > 2 else []
    for axis in axes:
        for keepdims in (False, True):
            try:
                wanted = reduce_numpy(name, x, axis=axis, keepdims=keepdims)
            except ValueError:
                with pytest.raises(ValueError, match="no identity"):
                    getattr(ep, name)(ep.array(x), axis=axis, keepdims=keepdims)
                continue
            compare(getattr(ep, name)(ep.array(x), axis=axis, keepdims=keepdims), wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_every_dtype(name: str, dtype: np.dtype[Any], rng: np.random.Generator) -> None:
    x = random(rng, dtype, 600).reshape(20, 30)
    if dtype in COMPLEXES and name in ("min", "max"):
        with pytest.raises(NotImplementedError):
            getattr(ep, name)(ep.array(x))
        return
    if name == "prod" and dtype not in INTEGERS:
        x = (
            np.abs(x) * 0 + 1 if dtype.kind == "b" else x / np.maximum(np.abs(x), np.asarray(1e-3, x.real.dtype))
        ).astype(dtype)
    for axis in (None, 0, 1):
        wanted = reduce_numpy(name, x, axis=axis)
        if dtype.name == "bfloat16" and name in ("sum", "prod", "mean"):
            wanted = np.asarray(getattr(np, name)(x.astype(np.float32), axis=axis)).astype(dtype)
        scale = float(np.abs(x.astype(np.complex128)).sum()) if dtype.kind not in "biu" and name == "sum" else 1.0
        compare(getattr(ep, name)(ep.array(x), axis=axis), wanted, scale)


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 4095, 4097, 8192, 8193, 65_537, 1_000_003])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_sizes_around_tiles(size: int, dtype: str, rng: np.random.Generator) -> None:
    x = rng.integers(-1000, 1000, size).astype(dtype)
    y = ep.array(x)
    assert int(y.sum()) == int(x.astype(np.int64).sum()) or dtype == "float32"
    assert abs(float(y.sum()) - float(x.astype(np.float64).sum())) <= 1e-6 * float(np.abs(x).astype(np.float64).sum())
    assert (float(y.max()), float(y.min())) == (float(x.max()), float(x.min()))
    assert (int(y.argmax()), int(y.argmin())) == (int(x.argmax()), int(x.argmin()))


@pytest.mark.parametrize(
    "shape", [(1, 1_000_001), (1_000_001, 1), (3, 333_333), (333_333, 3), (1000, 1001), (17, 1, 40_001)], ids=str
)
@pytest.mark.parametrize("axis", [0, 1, None])
def test_long_and_narrow_shapes(shape: tuple[int, ...], axis: int | None, rng: np.random.Generator) -> None:
    x = rng.integers(-100, 100, shape)
    assert_same(ep.array(x).sum(axis), np.asarray(x.sum(axis)))
    assert_same(ep.array(x).max(axis), np.asarray(x.max(axis)))
    assert_same(ep.array(x).argmax(axis), np.asarray(x.argmax(axis)))


@pytest.mark.parametrize("name", ["sum", "max", "all", "argmin"])
def test_views_that_are_not_contiguous(name: str, rng: np.random.Generator) -> None:
    x = rng.integers(-50, 50, (40, 50, 30))
    for view in (
        lambda a: a[::2, ::-3, 1:],
        lambda a: a.T,
        lambda a: a.transpose(1, 0, 2)[3:],
        lambda a: a[:, 7],
        lambda a: a[::-1, :, ::-1],
    ):
        for axis in (None, 0, 1):
            assert_same(getattr(ep, name)(view(ep.array(x)), axis), np.asarray(getattr(np, name)(view(x), axis)))


def test_broadcast_views() -> None:
    x = ep.broadcast_to(ep.arange(5)[:, None], (3, 5, 7))
    y = np.broadcast_to(np.arange(5)[:, None], (3, 5, 7))
    for axis in (None, 0, 1, 2, (0, 2), (1, 2)):
        assert_same(x.sum(axis), np.asarray(y.sum(axis)))
    for axis in (None, 0, 1, 2):
        assert_same(x.argmax(axis), np.asarray(y.argmax(axis)))


@pytest.mark.parametrize("axis", [(0, 2), (1, 2), (0, 1), (0, 1, 2), (2, 0), None], ids=str)
def test_several_axes_of_a_fused_expression(axis: Any, rng: np.random.Generator) -> None:
    x, y = rng.integers(0, 9, (6, 7, 8)), rng.integers(0, 9, (7, 1))
    assert_same(ep.sum(ep.array(x) * ep.array(y) + 1, axis), np.asarray(np.sum(x * y + 1, axis)))
    assert_same(ep.max(ep.array(x) * ep.array(y) - 1, axis), np.asarray(np.max(x * y - 1, axis)))


def test_a_constant_expression_is_reduced() -> None:
    assert float((ep.zeros((3, 4)) * 0 + 2).sum()) == 24.0
    assert (ep.broadcast_to(ep.array(3), (4, 5)) + 1).sum(0).tolist() == [16] * 5


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d.kind != "c"])
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_position_of_extremes(name: str, dtype: np.dtype[Any], rng: np.random.Generator) -> None:
    x = random(rng, dtype, 840).reshape(7, 8, 15)
    for axis in (None, 0, 1, 2, -1):
        assert_same(getattr(ep, name)(ep.array(x), axis), np.asarray(getattr(np, name)(x, axis)))
        assert_same(
            getattr(ep, name)(ep.array(x), axis, keepdims=True), np.asarray(getattr(np, name)(x, axis, keepdims=True))
        )


TIES: list[Any] = [
    [3, np.nan, 1, 5], [np.inf, np.nan, -np.inf], [-np.inf], [np.inf, np.inf], [np.nan, np.nan], [2.0, 2.0, 2.0],
    [0.0, -0.0], [-0.0, 0.0], [1.7976931348623157e308] * 3, [-np.inf, -np.inf], [1.0, np.nan, np.nan],
]  # fmt: skip


@pytest.mark.parametrize("values", TIES, ids=str)
def test_ties_and_nan(values: list[float]) -> None:
    for repeat in (1, 5000):
        x = np.array(values * repeat)
        assert_same(ep.argmax(ep.array(x)), np.asarray(x.argmax()))
        assert_same(ep.argmin(ep.array(x)), np.asarray(x.argmin()))
        assert_same(ep.min(ep.array(x)) + 0.0, np.asarray(x.min() + 0.0))
        assert_same(ep.max(ep.array(x)) + 0.0, np.asarray(x.max() + 0.0))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_extremes_of_integers_at_their_limits(dtype: np.dtype[Any]) -> None:
    info = np.iinfo(dtype)
    for value in (info.min, info.max, 0):
        x = np.full(300, value, dtype)
        assert int(ep.argmax(ep.array(x))) == 0
        assert int(ep.argmin(ep.array(x))) == 0
        assert int(ep.max(ep.array(x))) == int(ep.min(ep.array(x))) == value


@pytest.mark.parametrize("where", [0, 1, 4999, 9999])
def test_one_nan_among_many(where: int) -> None:
    x = np.arange(10_000.0)
    x[where] = np.nan
    y = ep.array(x)
    assert (int(y.argmax()), int(y.argmin())) == (where, where)
    assert np.isnan([float(y.max()), float(y.min()), float(y.sum()), float(y.mean())]).all()


def test_empty_has_no_extreme() -> None:
    for name in ("argmin", "argmax", "min", "max"):
        with pytest.raises(ValueError, match=r"empty|no identity"):
            getattr(ep, name)(ep.zeros((0, 3)))
    assert ep.max(ep.zeros((0, 3)), axis=1).shape == (0,)
    assert ep.argmax(ep.zeros((0, 3)), axis=1).shape == (0,)
    with pytest.raises(ValueError, match=r"empty|no identity"):
        ep.argmax(ep.zeros((0, 3)), axis=0)


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", ["int32", "float64", "float32", "complex128", "uint8"])
def test_dtype_argument(source: np.dtype[Any], target: str) -> None:
    x = np.arange(12).reshape(3, 4).astype(source)
    if source.kind == "c" and np.dtype(target).kind != "c":
        return
    compare(ep.sum(ep.array(x), 0, dtype=target), np.sum(x, 0, dtype=target))


def test_out_argument() -> None:
    out = ep.zeros(3)
    assert ep.sum(ep.ones((2, 3)), axis=0, out=out) is out
    assert out.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("axis", [3, -4, (0, 0), (0, 5)], ids=str)
def test_axes_that_are_not_there(axis: Any) -> None:
    with pytest.raises((ValueError, IndexError), match=r"axis|out of bounds"):
        ep.sum(ep.zeros((2, 3, 4)), axis=axis)


def test_long_sums_of_float32_are_accurate() -> None:
    exact = float(np.float32(0.1)) * 2**22
    assert abs(float(ep.full(2**22, 0.1, "float32").sum()) - exact) < 0.5
    assert abs(float(ep.full((2**11, 2**11), 0.1, "float32").sum(0).sum()) - exact) < 0.5


@pytest.mark.parametrize("axis", [None, 0])
def test_long_sums_over_the_slow_axis_are_accurate(axis: int | None) -> None:
    x = ep.full((2**20, 3), 0.1, "float32")
    assert abs(np.asarray(x.sum(axis)).astype(np.float64).sum() - 3 * float(np.float32(0.1)) * 2**20) < 1.0


def test_means_of_float16_do_not_overflow() -> None:
    assert float(ep.full(70_000, 2, "float16").mean()) == 2.0
    assert float(ep.full(70_000, 60_000, "float16").mean()) == 60_000.0


def test_small_integers_are_summed_widely() -> None:
    assert_same(ep.full(1000, 127, "int8").sum(), np.asarray(127_000))
    assert_same(ep.full(1000, 255, "uint8").sum(), np.asarray(255_000, np.uint64))
    assert_same(ep.ones(1000, bool).sum(), np.asarray(1000))


@pytest.mark.parametrize("dtype", FLOATS)
def test_sums_repeat_bit_for_bit(dtype: np.dtype[Any], rng: np.random.Generator) -> None:
    x = ep.array(random(rng, dtype, 300_001))
    first = x.sum().numpy().tobytes()
    assert all(x.sum().numpy().tobytes() == first for _ in range(5))


def test_infinities() -> None:
    assert np.isnan(float(ep.array([np.inf, -np.inf]).sum()))
    assert float(ep.array([np.inf, 1.0]).sum()) == np.inf
    assert np.isnan(float(ep.array([0.0, np.inf]).prod()))
    assert bool(ep.array([np.nan]).all())
    assert bool(ep.array([0.0, np.nan]).any())
