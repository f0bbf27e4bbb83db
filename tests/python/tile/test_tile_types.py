"""Types: loose constants, promotion, carried variables, integer arguments."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import pytest

import epitaxy.tile as ct

F16 = lambda: ct.zeros(4, ct.float16)  # noqa: E731
I8 = lambda: ct.zeros(4, ct.int8)  # noqa: E731
I32 = lambda: ct.zeros(4, ct.int32)  # noqa: E731
I64 = lambda: ct.zeros(4, ct.int64)  # noqa: E731
U8 = lambda: ct.zeros(4, ct.uint8)  # noqa: E731
BOOL = lambda: ct.zeros(4, ct.bool_)  # noqa: E731
F32 = lambda: ct.zeros(4, ct.float32)  # noqa: E731
F64 = lambda: ct.zeros(4, ct.float64)  # noqa: E731


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (lambda: F16() * 2, "float16"),
        (lambda: F16() * 2.5, "float16"),
        (lambda: 2.5 * F16(), "float16"),
        (lambda: I8() + 1, "int8"),
        (lambda: I8() + 1.5, "float32"),
        (lambda: U8() + 255, "uint8"),
        (lambda: I8() + I32(), "int32"),
        (lambda: I32() + I64(), "int64"),
        (lambda: I64() + F16(), "float16"),
        (lambda: F16() + F32(), "float32"),
        (lambda: F32() + F64(), "float64"),
        (lambda: BOOL() + BOOL(), "int32"),
        (lambda: BOOL() + I8(), "int8"),
        (lambda: BOOL() & BOOL(), "bool"),
        (lambda: I32() / I32(), "float32"),
        (lambda: I8() / 2, "float32"),
        (lambda: F64() / 2, "float64"),
        (lambda: I8() // 2, "int8"),
        (lambda: I8() ** 2, "int8"),
        (lambda: I32() < 1.5, "bool"),
        (lambda: ct.exp(I32()), "float32"),
        (lambda: ct.where(BOOL(), F16(), 1.0), "float16"),
        (lambda: ct.sum(BOOL()), "int32"),
        (lambda: ct.sum(I8()), "int8"),
        (lambda: ct.argmax(F16()), "int32"),
        (lambda: ct.bid(0) * 2, "int32"),
        (lambda: ct.int64(3) + ct.bid(0), "int64"),
        (lambda: ct.maximum(I8(), 3), "int8"),
        (lambda: -BOOL(), "int32"),
        (lambda: ~BOOL(), "bool"),
    ],
)
def test_promotion(body: Any, expected: str) -> None:
    @ct.kernel
    def kernel(out: Any, name: ct.Constant[str]) -> None:
        ct.static_assert(body().dtype == name, body())

    ct.interpret((1,), kernel, (np.zeros(1), expected))


def test_constant_takes_the_type_that_the_loop_gives_it(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any, n: int) -> None:
        acc = 0.0
        for k in range(n):
            acc = acc + ct.load(x, (k,), (4,))
        ct.static_assert(acc.dtype == ct.float16 and acc.shape == (4,))
        ct.store(out, (0,), acc)

    x = np.arange(12, dtype=np.float16)
    out = np.zeros(4, np.float16)
    run(kernel, (1,), x, out, 3)
    np.testing.assert_array_equal(out, x.reshape(3, 4).sum(0))


def test_counter_in_a_loop_is_int32(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any, n: int) -> None:
        count = 0
        for k in range(n):
            if k % 3 == 0:
                count += 1
        ct.static_assert(count.dtype == ct.int32)
        ct.store(out, (0,), count)

    out = np.zeros(1, np.int32)
    run(kernel, (1,), out, 10)
    assert out[0] == 4


def test_maximum_starts_from_minus_infinity(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any, n: int) -> None:
        best = float("-inf")
        for k in range(n):
            best = max(best, ct.load(x, (k,), ()))
        ct.store(out, (0,), best)

    x = np.array([3, 9, -4], np.float32)
    out = np.zeros(1, np.float32)
    run(kernel, (1,), x, out, 3)
    assert out[0] == 9


def test_python_arguments_are_int32_float32_and_bool(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any, i: int, f: float, b: bool) -> None:
        ct.static_assert(i.dtype == ct.int32 and f.dtype == ct.float32 and b.dtype == ct.bool_)
        ct.store(out, (0,), i + f + b)

    out = np.zeros(1, np.float64)
    run(kernel, (1,), out, 3, 0.5, True)
    assert out[0] == 4.5


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "uint64", "float16", "float64", "bool"])
def test_numpy_scalars_keep_their_dtype(run: Any, dtype: str) -> None:
    @ct.kernel
    def kernel(out: Any, v: Any, name: ct.Constant[str]) -> None:
        ct.static_assert(v.dtype.name == name)
        ct.store(out, (0,), v)

    out = np.zeros(1, dtype)
    run(kernel, (1,), out, np.dtype(dtype).type(1), dtype)
    assert out[0] == 1


def test_large_integer_argument_is_64_bit(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any, v: int) -> None:
        ct.store(out, (0,), v + 1)

    out = np.zeros(1, np.int64)
    run(kernel, (1,), out, 2**40)
    assert out[0] == 2**40 + 1


def test_constants_are_told_apart_by_type(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any, c: ct.Constant) -> None:
        ct.store(out, (0,), ct.zeros(1, ct.float32) + (1 if isinstance(c, bool) else 2 if isinstance(c, int) else 3))

    out = np.zeros(1, np.float32)
    for value, expected in [(1, 2), (1.0, 3), (True, 1)]:
        run(kernel, (1,), out, value)
        assert out[0] == expected


def test_negative_zero_constant_keeps_its_sign(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any, c: ct.Constant[float]) -> None:
        ct.store(out, (0,), ct.full((1,), c, ct.float32))
        ct.store(out, (1,), -ct.full((1,), 0.0, ct.float32))
        ct.store(out, (2,), -0.0)

    out = np.zeros(3, np.float32)
    run(kernel, (1,), out, 0.0)
    assert np.signbit(out).tolist() == [False, True, True]
    run(kernel, (1,), out, -0.0)
    assert np.signbit(out).tolist() == [True, True, True]


def test_dtype_objects_of_others_are_understood(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any) -> None:
        a = ct.zeros(1, np.float32) + ct.full(1, 2, "float32") + np.float32(1.5)
        ct.static_assert(a.dtype == np.float32)
        ct.store(out, (0,), a.astype(np.int32))

    out = np.zeros(1, np.int32)
    run(kernel, (1,), out)
    assert out[0] == 3


def test_shapes_and_strides_are_int32_where_they_fit() -> None:
    @ct.kernel
    def kernel(x: Any) -> None:
        ct.static_assert(x.shape[0].dtype == ct.int32 and x.strides[0].dtype == ct.int32)
        ct.static_assert(x.strides[1] == 1 and x.ndim == 2 and len(x.shape) == 2)

    ct.interpret((1,), kernel, (np.zeros((4, 8)),))


def test_shapes_are_int64_where_the_array_is_large() -> None:
    @ct.kernel
    def kernel(x: Any) -> None:
        ct.static_assert(x.shape[0].dtype == ct.int64 and x.strides[0].dtype == ct.int64)

    huge = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (2**20, 2**20), (0, 0))
    strided = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (2, 2), (2**31, 1))
    ct.interpret((1,), kernel, (strided,))
    assert huge.size > 2**31


def test_annotations_make_extents_constant(run: Any) -> None:
    @ct.kernel
    def kernel(
        x: Annotated[ct.Array, ct.ArrayAnnotation(static_shape_dims=(0, -1), static_stride_dims=(0,))], out: Any
    ) -> None:
        ct.store(out, (0,), ct.sum(ct.load(x, (0, 0), x.shape)) + x.strides[0])

    for shape in [(4, 8), (2, 3)]:
        x = np.ones(shape, np.int32)
        out = np.zeros(1, np.int32)
        run(kernel, (1,), x, out)
        assert out[0] == x.size + shape[1]
