"""Reductions, scans, matrix products and changes of shape, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import epitaxy.tile as ct

SHAPE = (4, 3, 8)


def apply(run: Any, function: Any, out: np.ndarray, *inputs: np.ndarray) -> np.ndarray:
    """out = function(whole tiles)."""
    if len(inputs) == 1:

        @ct.kernel
        def kernel(out: Any, x: Any, shape: ct.Constant) -> None:
            r = function(ct.load(x, (0,) * x.ndim, shape))
            ct.store(out, (0,) * out.ndim, r)

        run(kernel, (1,), out, inputs[0], inputs[0].shape)
    else:

        @ct.kernel
        def kernel(out: Any, x: Any, y: Any, s: ct.Constant, t: ct.Constant) -> None:
            r = function(ct.load(x, (0,) * x.ndim, s), ct.load(y, (0,) * y.ndim, t))
            ct.store(out, (0,) * out.ndim, r)

        run(kernel, (1,), out, *inputs, inputs[0].shape, inputs[1].shape)
    return out


@pytest.mark.parametrize("axis", [None, 0, 1, 2, -1, (0, 1), (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sum_over_axes(run: Any, rng: np.random.Generator, axis: Any, keepdims: bool) -> None:
    x = rng.integers(-50, 50, SHAPE).astype(np.int32)
    expected = np.asarray(x.sum(axis, keepdims=keepdims))
    out = np.zeros(expected.shape or (1,), np.int32)
    apply(run, lambda t: ct.sum(t, axis, keepdims=keepdims), out, x)
    np.testing.assert_array_equal(out.reshape(expected.shape), expected)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "float16", "float32", "float64"])
def test_reductions_of_dtypes(run: Any, rng: np.random.Generator, name: str, dtype: str) -> None:
    x = rng.integers(0, 3, (6, 5)).astype(dtype)
    expected = getattr(np, name)(x, axis=1)
    out = np.zeros(6, bool if name in ("any", "all") else dtype)
    apply(run, lambda t: getattr(ct, name)(t, 1), out, x)
    np.testing.assert_array_equal(out, expected.astype(out.dtype))


def test_float_sum_is_close(run: Any, rng: np.random.Generator) -> None:
    x = rng.standard_normal(1000).astype(np.float32)
    out = apply(run, ct.sum, np.zeros(1, np.float32), x)
    np.testing.assert_allclose(out[0], x.astype(np.float64).sum(), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 7, 16, 100])
@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_arg_reductions_pick_the_lowest_index(run: Any, rng: np.random.Generator, n: int, dtype: str) -> None:
    x = rng.integers(0, 4, (3, n)).astype(dtype)
    np.testing.assert_array_equal(apply(run, lambda t: ct.argmax(t, 1), np.zeros(3, np.int32), x), x.argmax(1))
    np.testing.assert_array_equal(apply(run, lambda t: ct.argmin(t, 1), np.zeros(3, np.int32), x), x.argmin(1))
    assert apply(run, ct.argmax, np.zeros(1, np.int32), x)[0] == x.argmax()


@pytest.mark.parametrize(
    ("row", "ignoring", "propagating"),
    [([np.nan, 6, 8], 2, 0), ([np.nan, np.nan], 0, 0), ([1, np.nan, 0], 0, 1), ([-np.inf, np.nan], 0, 1)],
)
def test_argmax_with_nan(run: Any, row: list[float], ignoring: int, propagating: int) -> None:
    x = np.array(row, np.float32)
    assert apply(run, lambda t: ct.argmax(t, 0), np.zeros(1, np.int32), x)[0] == ignoring
    assert apply(run, lambda t: ct.argmax(t, 0, propagate_nan=True), np.zeros(1, np.int32), x)[0] == propagating


def test_max_with_nan(run: Any) -> None:
    x = np.array([[np.nan, 1, 3], [np.nan] * 3, [2, 1, 0]], np.float32)
    out = apply(run, lambda t: ct.max(t, 1), np.zeros(3, np.float32), x)
    np.testing.assert_array_equal(out, np.fmax.reduce(x, 1))
    out = apply(run, lambda t: ct.max(t, 1, propagate_nan=True), np.zeros(3, np.float32), x)
    np.testing.assert_array_equal(out, x.max(1))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_scans(run: Any, rng: np.random.Generator, axis: int, reverse: bool) -> None:
    x = rng.integers(1, 4, (5, 7)).astype(np.int64)
    flip = (lambda a: np.flip(a, axis)) if reverse else (lambda a: a)
    out = apply(run, lambda t: ct.cumsum(t, axis, reverse=reverse), np.zeros_like(x), x)
    np.testing.assert_array_equal(out, flip(flip(x).cumsum(axis)))
    out = apply(run, lambda t: ct.cumprod(t, axis, reverse=reverse), np.zeros_like(x), x)
    np.testing.assert_array_equal(out, flip(flip(x).cumprod(axis)))


def test_reduce_and_scan_with_a_function(run: Any, rng: np.random.Generator) -> None:
    x = rng.integers(0, 50, 20).astype(np.int32)
    out = apply(run, lambda t: ct.reduce(t, 0, lambda a, b: max(a, b) + 0, 0), np.zeros(1, np.int32), x)
    assert out[0] == x.max()
    out = apply(run, lambda t: ct.scan(t, 0, max, 0), np.zeros(20, np.int32), x)
    np.testing.assert_array_equal(out, np.maximum.accumulate(x))


def test_reduce_of_a_tuple(run: Any, rng: np.random.Generator) -> None:
    """Composition of affine maps: associative, not commutative."""

    def compose(a1: Any, b1: Any, a2: Any, b2: Any) -> Any:
        return a2 * a1, a2 * b1 + b2

    def function(a: Any, b: Any) -> Any:
        return ct.cat(tuple(ct.reshape(t, (1,)) for t in ct.reduce((a, b), 0, compose, (1, 0), ordered=True)), 0)

    a, b = rng.integers(-2, 3, 9).astype(np.int64), rng.integers(-2, 3, 9).astype(np.int64)
    out = apply(run, function, np.zeros(2, np.int64), a, b)
    x, y = 1, 0
    for p, q in zip(a, b, strict=True):
        x, y = p * x, p * y + q
    assert out.tolist() == [x, y]


@pytest.mark.parametrize(
    ("inner", "acc"),
    [
        ("float32", "float32"),
        ("float64", "float64"),
        ("float16", "float32"),
        ("bfloat16", "float32"),
        ("int8", "int32"),
        ("uint8", "int32"),
    ],
)
def test_mma(run: Any, rng: np.random.Generator, inner: str, acc: str) -> None:
    d = np.dtype(ml_dtypes.bfloat16) if inner == "bfloat16" else np.dtype(inner)
    a, b = (rng.integers(-3 if d.kind != "u" else 0, 4, s).astype(d) for s in ((16, 8), (8, 12)))
    out = apply(run, lambda x, y: ct.mma(x, y, ct.full((16, 12), 5, acc)), np.zeros((16, 12), acc), a, b)
    np.testing.assert_array_equal(out, a.astype(np.float64) @ b.astype(np.float64) + 5)


@pytest.mark.parametrize(
    ("s", "t"),
    [((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5))],
)
def test_matmul_shapes(run: Any, rng: np.random.Generator, s: tuple[int, ...], t: tuple[int, ...]) -> None:
    a, b = (rng.integers(-4, 5, n).astype(np.float32) for n in (s, t))
    expected = np.asarray(a @ b)
    out = apply(run, lambda x, y: x @ y, np.zeros(expected.shape or (1,), np.float32), a, b)
    np.testing.assert_array_equal(out.reshape(expected.shape), expected)


def test_matmul_kernel(run: Any, rng: np.random.Generator) -> None:
    @ct.kernel
    def kernel(a: Any, b: Any, c: Any, m: ct.Constant[int], n: ct.Constant[int], k: ct.Constant[int]) -> None:
        i, j = ct.bid(0), ct.bid(1)
        acc = ct.zeros((m, n), ct.float32)
        for p in range(ct.num_tiles(a, 1, (m, k))):
            acc = ct.mma(ct.load(a, (i, p), (m, k)), ct.load(b, (p, j), (k, n)), acc)
        ct.store(c, (i, j), acc)

    a, b = (rng.integers(-5, 6, s).astype(np.float32) for s in ((50, 70), (70, 40)))
    c = np.zeros((50, 40), np.float32)
    run(kernel, (4, 3), a, b, c, 16, 16, 32)
    np.testing.assert_array_equal(c, a @ b)


SHAPES = {
    "reshape": (lambda t: ct.reshape(t, (6, -1)), lambda x: x.reshape(6, -1)),
    "permute": (lambda t: t.permute((2, 0, 1)), lambda x: x.transpose(2, 0, 1)),
    "transpose": (lambda t: ct.transpose(t, 0, 2), lambda x: x.swapaxes(0, 2)),
    "expand": (lambda t: ct.expand_dims(t, 1), lambda x: np.expand_dims(x, 1)),
    "index": (lambda t: t[:, None, :, None], lambda x: x[:, None, :, None]),
    "ellipsis": (lambda t: t[..., None], lambda x: x[..., None]),
    "broadcast": (lambda t: ct.broadcast_to(t, (2, *SHAPE)), lambda x: np.broadcast_to(x, (2, *SHAPE))),
    "cat": (lambda t: ct.cat((t, t + 1, t), 1), lambda x: np.concatenate((x, x + 1, x), 1)),
    "extract": (lambda t: ct.extract(t, (1, 2, 0), (2, 1, 4)), lambda x: x[2:4, 2:3, 0:4]),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("dtype", ["int32", "float64", "bool"])
def test_shapes(run: Any, rng: np.random.Generator, name: str, dtype: str) -> None:
    function, reference = SHAPES[name]
    x = rng.integers(0, 100, SHAPE).astype(dtype)
    if dtype == "bool" and name == "cat":
        return
    expected = reference(x)
    np.testing.assert_array_equal(apply(run, function, np.zeros(expected.shape, dtype), x), expected)


def test_insert_replaces_a_part(run: Any) -> None:
    out = apply(
        run,
        lambda t: t.insert((1, 0), ct.full((2, 2), 99, ct.int32)),
        np.zeros((4, 4), np.int32),
        np.zeros((4, 4), np.int32),
    )
    expected = np.zeros((4, 4), np.int32)
    expected[2:4, 0:2] = 99
    np.testing.assert_array_equal(out, expected)


def test_take_permutes_by_index(run: Any, rng: np.random.Generator) -> None:
    x = rng.integers(0, 100, 10).astype(np.float32)
    index = rng.permutation(10).astype(np.int32)
    np.testing.assert_array_equal(
        apply(run, lambda t, i: ct.take(t, i, 0), np.zeros(10, np.float32), x, index), x[index]
    )


def test_creation(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any, n: int) -> None:
        ct.store(out, (0, 0), ct.arange(8, dtype=ct.float32)[None, :])
        ct.store(out, (1, 0), ct.arange(8, dtype=ct.int32, start=7, step=-2)[None, :])
        ct.store(out, (2, 0), ct.full((1, 8), n, ct.float32))
        ct.store(out, (3, 0), ct.ones((1, 8), ct.int8) + ct.zeros((1, 8), ct.int8))
        ct.store(out, (4, 0), ct.astile(((1, 2, 3, 4, 5, 6, 7, 8),), dtype=ct.int32))
        ct.store(out, (5, 0), ct.arange(8, dtype=ct.int32, start=n)[None, :])

    out = np.zeros((6, 8), np.float32)
    run(kernel, (1,), out, 3)
    r = np.arange(8)
    np.testing.assert_array_equal(out, [r, 7 - 2 * r, r * 0 + 3, r * 0 + 1, r + 1, r + 3])


def test_softmax(run: Any, rng: np.random.Generator) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any, n: ct.Constant[int]) -> None:
        row = ct.load(x, (ct.bid(0), 0), (1, n), padding_mode=ct.PaddingMode.NEG_INF)
        e = ct.exp(row - ct.max(row, 1, keepdims=True))
        ct.store(y, (ct.bid(0), 0), e / ct.sum(e, 1, keepdims=True))

    x = rng.standard_normal((9, 50)).astype(np.float32)
    y = np.zeros_like(x)
    run(kernel, (9,), x, y, 64)
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)
