"""Elementwise functions of every dtype against NumPy."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import epitaxy.tile as ct

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
N = 64


def np_dtype(name: str) -> np.dtype:
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def values(rng: np.random.Generator, dtype: str, n: int = N) -> np.ndarray:
    d = np_dtype(dtype)
    if d.kind in "iu":
        info = np.iinfo(d)
        x = rng.integers(info.min, info.max, n, dtype=d, endpoint=True)
        x[:4] = [info.min, info.max, 0, 1]
        return x
    return (rng.standard_normal(n) * 3).astype(d)


def apply(run: Any, function: Any, out_dtype: Any, *inputs: np.ndarray) -> np.ndarray:
    """function of whole tiles, in a kernel."""
    if len(inputs) == 1:

        @ct.kernel
        def kernel(out: Any, x: Any) -> None:
            ct.store(out, (0,), function(ct.load(x, (0,), (N,))))
    else:

        @ct.kernel
        def kernel(out: Any, x: Any, y: Any) -> None:
            ct.store(out, (0,), function(ct.load(x, (0,), (N,)), ct.load(y, (0,), (N,))))

    out = np.zeros(N, out_dtype)
    run(kernel, (1,), out, *inputs)
    return out


ARITHMETIC = [
    (lambda a, b: a + b), (lambda a, b: a - b), (lambda a, b: a * b),
    (lambda a, b: ct.maximum(a, b) if isinstance(a, ct.Tile) else np.maximum(a, b)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", INTS + FLOATS)
def test_add_sub_mul_are_numpys(run: Any, rng: np.random.Generator, dtype: str) -> None:
    x, y = values(rng, dtype), values(rng, dtype)[::-1].copy()
    np.testing.assert_array_equal(apply(run, lambda a, b: a + b, x.dtype, x, y), x + y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a - b, x.dtype, x, y), x - y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a * b, x.dtype, x, y), x * y)


@pytest.mark.parametrize("dtype", INTS)
def test_floor_division_and_remainder_are_numpys(run: Any, rng: np.random.Generator, dtype: str) -> None:
    x, y = values(rng, dtype), values(rng, dtype)[::-1].copy()
    y[y == 0] = 3
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(apply(run, lambda a, b: a // b, x.dtype, x, y), x // y)
        np.testing.assert_array_equal(apply(run, lambda a, b: a % b, x.dtype, x, y), x % y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float_floor_division_and_remainder(run: Any, rng: np.random.Generator, dtype: str) -> None:
    x, y = values(rng, dtype), values(rng, dtype)[::-1].copy()
    np.testing.assert_array_equal(apply(run, lambda a, b: a // b, x.dtype, x, y), x // y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a % b, x.dtype, x, y), x % y)


@pytest.mark.parametrize("dtype", INTS)
def test_bits_are_numpys(run: Any, rng: np.random.Generator, dtype: str) -> None:
    x, y = values(rng, dtype), values(rng, dtype)[::-1].copy()
    s = (np.arange(N) % (x.dtype.itemsize * 8)).astype(dtype)
    np.testing.assert_array_equal(apply(run, lambda a, b: a & b, x.dtype, x, y), x & y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a | b, x.dtype, x, y), x | y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a ^ b, x.dtype, x, y), x ^ y)
    np.testing.assert_array_equal(apply(run, lambda a: ~a, x.dtype, x), ~x)
    np.testing.assert_array_equal(apply(run, lambda a, b: a << b, x.dtype, x, s), x << s)
    np.testing.assert_array_equal(apply(run, lambda a, b: a >> b, x.dtype, x, s), x >> s)


@pytest.mark.parametrize("dtype", INTS + FLOATS)
def test_comparisons_are_numpys(run: Any, rng: np.random.Generator, dtype: str) -> None:
    x, y = values(rng, dtype), values(rng, dtype)[::-1].copy()
    y[::5] = x[::5]
    np.testing.assert_array_equal(apply(run, lambda a, b: a < b, bool, x, y), x < y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a <= b, bool, x, y), x <= y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a > b, bool, x, y), x > y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a >= b, bool, x, y), x >= y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a == b, bool, x, y), x == y)
    np.testing.assert_array_equal(apply(run, lambda a, b: a != b, bool, x, y), x != y)


MATH = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "sin": np.sin, "cos": np.cos, "tan": np.tan, "atan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "round": np.rint, "abs": np.abs, "negative": np.negative, "sign": np.sign,
}  # fmt: skip
POSITIVE = {
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
UNIT = {"asin": np.arcsin, "acos": np.arccos, "atanh": np.arctanh}


@pytest.mark.parametrize("name", [*MATH, *POSITIVE, *UNIT])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_math_is_close_to_numpys(run: Any, rng: np.random.Generator, name: str, dtype: str) -> None:
    x = values(rng, dtype)
    if name in POSITIVE:
        x = np.abs(x) + x.dtype.type(0.01)
    if name in UNIT:
        x = np.tanh(x)
    reference = ({**MATH, **POSITIVE, **UNIT}[name])(x.astype(np.float64)).astype(dtype)
    got = apply(run, getattr(ct, name), x.dtype, x)
    np.testing.assert_array_max_ulp(got, reference, maxulp=4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_math_of_16_bit_floats(run: Any, rng: np.random.Generator, dtype: str) -> None:
    x = values(rng, dtype)
    got = apply(run, ct.exp, x.dtype, x).astype(np.float32)
    np.testing.assert_allclose(got, np.exp(x.astype(np.float32)), rtol=0.01)


@pytest.mark.parametrize("name", ["atan2", "hypot", "copysign", "nextafter", "logaddexp"])
def test_binary_math_is_close_to_numpys(run: Any, rng: np.random.Generator, name: str) -> None:
    x, y = values(rng, "float32"), values(rng, "float32")
    reference = {"atan2": np.arctan2}.get(name, getattr(np, name, None))
    np.testing.assert_allclose(apply(run, getattr(ct, name), np.float32, x, y), reference(x, y), rtol=1e-6, atol=1e-6)


def test_nan_and_infinity_are_seen(run: Any) -> None:
    x = np.resize(np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5], np.float32), N)
    np.testing.assert_array_equal(apply(run, ct.isnan, bool, x), np.isnan(x))
    np.testing.assert_array_equal(apply(run, ct.isinf, bool, x), np.isinf(x))
    np.testing.assert_array_equal(apply(run, ct.isfinite, bool, x), np.isfinite(x))
    np.testing.assert_array_equal(apply(run, ct.signbit, bool, x), np.signbit(x))


def test_minimum_ignores_nan_unless_asked(run: Any) -> None:
    x = np.resize(np.array([np.nan, 1, 2], np.float32), N)
    y = np.resize(np.array([3, np.nan, 1], np.float32), N)
    np.testing.assert_array_equal(apply(run, ct.minimum, np.float32, x, y), np.fmin(x, y))
    np.testing.assert_array_equal(apply(run, ct.maximum, np.float32, x, y), np.fmax(x, y))
    got = apply(run, lambda a, b: ct.maximum(a, b, propagate_nan=True), np.float32, x, y)
    np.testing.assert_array_equal(got, np.maximum(x, y))


@pytest.mark.parametrize("source", [*INTS, *FLOATS, "bool"])
@pytest.mark.parametrize("target", [*INTS, *FLOATS, "bool"])
def test_casts_of_ordinary_values(run: Any, rng: np.random.Generator, source: str, target: str) -> None:
    x = (rng.integers(0, 2, N) == 1) if source == "bool" else rng.integers(0, 100, N).astype(np_dtype(source))
    to = np.dtype(bool) if target == "bool" else np_dtype(target)
    got = apply(run, lambda a: a.astype(target), to, x)
    np.testing.assert_array_equal(got, x.astype(to))


def test_float_to_int_saturates(run: Any) -> None:
    x = np.resize(np.array([np.inf, -np.inf, np.nan, 510.0, -200.0, 1e20, -1e20, 0.5, -1.9], np.float32), N)
    clean = np.where(np.isnan(x), 0, x).astype(np.float64)
    for d in (np.int8, np.uint8, np.int32, np.uint32):
        info = np.iinfo(d)
        expected = np.clip(np.trunc(clean), info.min, info.max).astype(d)
        np.testing.assert_array_equal(apply(run, lambda a, d=d: a.astype(d), d, x), expected)


def test_where_broadcasts_and_promotes(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any) -> None:
        i = ct.arange(8, dtype=ct.int32)
        ct.store(out, (0, 0), ct.where((i % 2 == 0)[:, None], i[None, :], 0.5))

    out = np.zeros((8, 8), np.float32)
    run(kernel, (1,), out)
    i = np.arange(8)
    np.testing.assert_array_equal(out, np.where((i % 2 == 0)[:, None], i[None, :], np.float32(0.5)))


def test_fma_rounds_once(run: Any) -> None:
    x = np.full(N, 1 + 2.0**-12, np.float32)
    got = apply(run, lambda a, b: ct.fma(a, b, -1.0), np.float32, x, x)
    assert got[0] == np.float32((1 + 2.0**-12) ** 2 - 1)


@pytest.mark.parametrize(("a", "b"), [(-72, 10), (72, 10), (-72, -10), (72, -10), (70, 10), (0, 7), (-7, 7)])
def test_cdiv_rounds_up_everywhere(run: Any, a: int, b: int) -> None:
    @ct.kernel
    def kernel(out: Any, x: int, y: int) -> None:
        ct.store(out, (0,), ct.cdiv(x, y))
        ct.store(out, (1,), ct.cdiv(x, ct.full((), y, ct.int32)))

    out = np.zeros(2, np.int32)
    run(kernel, (1,), out, a, b)
    assert out.tolist() == [-(-a // b)] * 2
    assert ct.cdiv(a, b) == -(-a // b)


def test_bitcast_keeps_bits(run: Any, rng: np.random.Generator) -> None:
    x = values(rng, "float32")
    np.testing.assert_array_equal(apply(run, lambda a: ct.bitcast(a, ct.uint32), np.uint32, x), x.view(np.uint32))
