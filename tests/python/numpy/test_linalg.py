"""Matrix products against NumPy: shapes, strides, batches, dtypes, empty sums."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epitaxy.numpy as ep

sys.path.insert(0, str(Path(__file__).parent))
from cases import BFLOAT16, COMPLEXES, random

SHAPES = [
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((2, 3), (3, 4)),
    ((1, 1), (1, 1)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (4, 3, 2)),
    ((2, 0), (0, 3)),
    ((0, 3), (3, 2)),
    ((4, 3), (3, 0)),
    ((0, 2, 3), (3, 4)),
    ((65, 130), (130, 33)),
    ((1, 300), (300, 1)),
    ((300, 1), (1, 300)),
    ((2, 1, 1), (2, 1, 1)),
    ((3, 2, 4), (4,)),
    ((4,), (3, 4, 2)),
]
DTYPES = [np.dtype("float16"), BFLOAT16, np.dtype("float32"), np.dtype("float64"), *COMPLEXES]
BOUND = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "complex64": 4e-6}


def close(got: Any, wanted: Any, dtype: np.dtype[Any], scale: float) -> None:
    assert got.dtype == dtype
    assert got.shape == wanted.shape
    wide = np.complex128 if dtype.kind == "c" else np.float64
    assert np.abs(got.numpy().astype(wide) - wanted).max(initial=0) <= BOUND.get(dtype.name, 1e-13) * scale


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_matmul(
    shapes: tuple[tuple[int, ...], tuple[int, ...]], dtype: np.dtype[Any], rng: np.random.Generator
) -> None:
    x, y = (random(rng, dtype, int(np.prod(s))).reshape(s) for s in shapes)
    wide = np.complex128 if dtype.kind == "c" else np.float64
    wanted = np.asarray(np.matmul(x.astype(wide), y.astype(wide)))
    bound = np.abs(x.astype(wide)), np.abs(y.astype(wide))
    close(ep.array(x) @ ep.array(y), wanted, dtype, float(np.max(np.matmul(*bound), initial=1)))


VIEWS = {
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-1],
    "strided": lambda a: a[::2, ::2],
    "part": lambda a: a[1:9, 3:11],
    "columns": lambda a: a[:, :1],
    "rows": lambda a: a[:1],
}


@pytest.mark.parametrize("right", VIEWS)
@pytest.mark.parametrize("left", VIEWS)
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_matmul_of_views(left: str, right: str, dtype: str, rng: np.random.Generator) -> None:
    x, y = (random(rng, np.dtype(dtype), 400).reshape(20, 20) for _ in range(2))
    a, b = VIEWS[left](x), VIEWS[right](y)
    k = min(a.shape[1], b.shape[0])
    wanted = np.matmul(a[:, :k], b[:k])
    got = VIEWS[left](ep.array(x))[:, :k] @ VIEWS[right](ep.array(y))[:k]
    close(got, wanted, np.dtype(dtype), 300.0)


def test_matmul_of_permuted_and_broadcast_batches(rng: np.random.Generator) -> None:
    x, y = rng.standard_normal((4, 5, 6, 7)), rng.standard_normal((7, 3))
    close(
        ep.array(x).transpose(1, 0, 2, 3) @ ep.array(y), np.matmul(x.transpose(1, 0, 2, 3), y), np.dtype(float), 100.0
    )
    close(ep.array(x)[:, ::2] @ ep.array(y), np.matmul(x[:, ::2], y), np.dtype(float), 100.0)
    wide = ep.broadcast_to(ep.array(y), (4, 5, 7, 3))
    close(ep.array(x) @ wide, np.matmul(x, y), np.dtype(float), 100.0)


def test_matmul_of_recorded_expressions(rng: np.random.Generator) -> None:
    x = rng.standard_normal((8, 8))
    close((ep.array(x) * 2) @ (ep.array(x).T + 1), np.matmul(x * 2, x.T + 1), np.dtype(float), 100.0)


def test_product_is_not_changed_by_a_later_write(rng: np.random.Generator) -> None:
    x = ep.array(rng.standard_normal((64, 64)))
    before = x.numpy()
    y = x @ x
    x[...] = 0
    close(y, before @ before, np.dtype(float), 1000.0)


def test_mixed_dtypes_and_numpy_operands() -> None:
    x, y = np.ones((2, 3), np.float32), np.ones((3, 2))
    assert (ep.array(x) @ ep.array(y)).dtype == np.float64
    assert (ep.array(y) @ x).tolist() == (y @ x).tolist()
    assert (x @ ep.array(y)).tolist() == (x @ y).tolist()


@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((3,), (4,)), ((2, 2, 3), (3, 3, 2))], ids=str)
def test_shapes_that_do_not_fit(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match=r"matmul|broadcast"):
        ep.zeros(shapes[0]) @ ep.zeros(shapes[1])
    with pytest.raises(ValueError, match="dimensions"):
        ep.matmul(ep.array(1.0), ep.zeros(3))


def test_integers_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="astype"):
        ep.ones((2, 2), int) @ ep.ones((2, 2), int)


def test_dot() -> None:
    x = ep.arange(3) * 1.0
    assert float(ep.dot(x, x)) == 5.0
    assert ep.dot(x, 2.0).tolist() == [0.0, 2.0, 4.0]
