"""Programs that other tile compilers were reported to get wrong; each with what is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import epitaxy.tile as ct


def test_division_floors_for_every_pair_of_signs(run: Any) -> None:
    """Quotient and remainder, of tiles, scalars and constants: q*b + r == a."""

    @ct.kernel
    def kernel(out: Any, a: int, b: int, ca: ct.Constant[int], cb: ct.Constant[int]) -> None:
        ta, tb = ct.full((1,), a, ct.int32), ct.full((1,), b, ct.int32)
        ct.store(out, (0,), ta // tb)
        ct.store(out, (1,), ta % tb)
        ct.store(out, (2,), a // b)
        ct.store(out, (3,), a % b)
        ct.store(out, (4,), ca // cb)
        ct.store(out, (5,), ca % cb)
        ct.store(out, (6,), ct.truncdiv(ta, tb) * tb + ct.rem(ta, tb))

    for a in (-7, -6, 0, 6, 7):
        for b in (-3, -2, 2, 3):
            out = np.zeros(7, np.int32)
            run(kernel, (1,), out, a, b, a, b)
            assert out.tolist() == [a // b, a % b] * 3 + [a]


def test_bools_add_up_as_numbers(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any) -> None:
        t = ct.load(x, (0,), (2,))
        ct.store(out, (0,), t + t)
        ct.store(out, (1,), ct.astype(t, ct.int32))

    out = np.zeros(4, np.int32)
    run(kernel, (1,), np.array([True, False]), out)
    assert out.tolist() == [2, 0, 1, 0]


def test_sum_of_256_bools_is_true(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any) -> None:
        ct.store(out, (0,), ct.sum(ct.ones(256, ct.bool_)))

    out = np.zeros(1, bool)
    run(kernel, (1,), out)
    assert out[0]


@pytest.mark.parametrize("value", [0.5, -0.25, 1e-30, 0.0, -0.0])
def test_float_to_bool_is_not_zero(run: Any, value: float) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any) -> None:
        ct.store(out, (0,), ct.load(x, (0,), (1,)).astype(ct.bool_))

    out = np.zeros(1, bool)
    run(kernel, (1,), np.array([value], np.float32), out)
    assert out[0] == (value != 0)


@pytest.mark.parametrize("axis", [0, 1])
def test_reduction_over_an_axis_of_one(run: Any, axis: int) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any, shape: ct.Constant, axis: ct.Constant[int]) -> None:
        ct.store(out, (0,), ct.max(ct.load(x, (0, 0), shape), axis))

    shape = (16, 1) if axis == 1 else (1, 16)
    x = np.arange(16, dtype=np.float32).reshape(shape) - 20
    out = np.zeros(16, np.float32)
    run(kernel, (1,), x, out, shape, axis)
    np.testing.assert_array_equal(out, x.reshape(-1))


def test_chained_reductions_of_four_axes(run: Any, rng: np.random.Generator) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any) -> None:
        t = ct.load(x, (0, 0, 0, 0), (2, 4, 4, 8))
        ct.store(out, (0, 0), ct.sum(ct.sum(t, 2), 2))

    x = rng.integers(0, 9, (2, 3, 3, 7)).astype(np.int32)
    out = np.zeros((2, 3), np.int32)
    run(kernel, (1,), x, out)
    np.testing.assert_array_equal(out, x.sum((2, 3)))


def test_offsets_past_two_to_the_31(run: Any) -> None:
    """A view whose rows lie 2^31 elements apart; both rows are one byte in memory that is there."""
    @ct.kernel
    def kernel(x: Any, out: Any) -> None:
        row = ct.bid(0)
        ct.store(out, (row,), ct.load(x, (row, 0), (1, 4)).reshape((4,)))
        i = ct.arange(4, dtype=ct.int32)
        ct.store(out, (row + 2,), ct.gather(x, (row, i)))

    base = np.zeros(2**31 + 8, np.int8)
    base[:4], base[2**31 : 2**31 + 4] = [1, 2, 3, 4], [5, 6, 7, 8]
    x = np.lib.stride_tricks.as_strided(base, (2, 4), (2**31, 1))
    out = np.zeros(16, np.int32)
    run(kernel, (2,), x, out)
    assert out.tolist() == [1, 2, 3, 4, 5, 6, 7, 8] * 2


def test_negation_flips_the_sign_of_zero(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any) -> None:
        ct.store(out, (0,), -ct.load(x, (0,), (4,)))

    x = np.array([0.0, -0.0, np.nan, 1], np.float32)
    out = np.zeros(4, np.float32)
    run(kernel, (1,), x, out)
    np.testing.assert_array_equal(np.signbit(out), ~np.signbit(x))


@pytest.mark.parametrize("start", [-0.0, -1.0, -5.0, 3.0])
def test_float_atomic_max_orders_negative_numbers(run: Any, start: float) -> None:
    @ct.kernel
    def kernel(x: Any, v: Any) -> None:
        ct.atomic_max(x, ct.bid(0) * 0, ct.load(v, (ct.bid(0),), ()))

    x = np.array([start], np.float32)
    v = np.array([-3.0, -1.0, -0.0, -7.0], np.float32)
    run(kernel, (4,), x, v)
    assert x[0] == max(start, -0.0)


def test_conditional_carry(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any, n: int) -> None:
        c = ct.bid(0) * 5
        for i in range(n):
            if c > i:
                c -= i + 1
        ct.store(out, (ct.bid(0),), c)

    out = np.zeros(6, np.int32)
    run(kernel, (6,), out, 6)
    expected = []
    for b in range(6):
        c = b * 5
        for i in range(6):
            c -= i + 1 if c > i else 0
        expected.append(c)
    assert out.tolist() == expected


def test_two_products_through_one_accumulator(run: Any, rng: np.random.Generator) -> None:
    @ct.kernel
    def kernel(a: Any, b: Any, c: Any) -> None:
        acc = ct.zeros((16, 16), ct.float32)
        for k in range(3):
            x, y = ct.load(a, (0, k), (16, 16)), ct.load(b, (k, 0), (16, 16))
            acc = ct.mma(x, y, acc)
            acc = ct.mma(y, x, acc)
        ct.store(c, (0, 0), acc)

    a, b = (rng.integers(-3, 4, s).astype(np.float32) for s in ((16, 48), (48, 16)))
    c = np.zeros((16, 16), np.float32)
    run(kernel, (1,), a, b, c)
    expected = sum(a[:, k : k + 16] @ b[k : k + 16] + b[k : k + 16] @ a[:, k : k + 16] for k in (0, 16, 32))
    np.testing.assert_array_equal(c, expected)


def test_statement_order_does_not_matter_where_it_should_not(run: Any, rng: np.random.Generator) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any, swap: ct.Constant[bool]) -> None:
        p, q = ct.zeros(8, ct.float32), ct.zeros(8, ct.float32)
        for k in range(4):
            t = ct.load(x, (k,), (8,))
            if swap:
                q = q + t * t
                p = p + t
            else:
                p = p + t
                q = q + t * t
        ct.store(out, (0,), p)
        ct.store(out, (1,), q)

    x = rng.standard_normal(32).astype(np.float32)
    one, two = np.zeros(16, np.float32), np.zeros(16, np.float32)
    run(kernel, (1,), x, one, False)
    run(kernel, (1,), x, two, True)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 23])
def test_persistent_loop_drops_no_tile(run: Any, n: int) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any, tiles: int) -> None:
        for t in range(ct.bid(0), tiles, ct.num_blocks(0)):
            ct.store(out, (t,), ct.load(x, (t,), (4,)) + 1)

    x = np.arange(n * 4, dtype=np.int32)
    out = np.zeros_like(x)
    run(kernel, (8,), x, out, n)
    np.testing.assert_array_equal(out, x + 1)


@pytest.mark.parametrize("n", [1, 5, 12])
def test_nested_modulo_of_an_index(run: Any, n: int) -> None:
    @ct.kernel
    def kernel(out: Any, n: int) -> None:
        i = ct.arange(64, dtype=ct.int32)
        ct.store(out, (0,), (i % (n * 4)) % n + (i // n) % 4 * 100)

    out = np.zeros(64, np.int32)
    run(kernel, (1,), out, n)
    i = np.arange(64)
    np.testing.assert_array_equal(out, (i % (n * 4)) % n + (i // n) % 4 * 100)


def test_scalar_index_from_a_tile_of_one(run: Any) -> None:
    @ct.kernel
    def kernel(index: Any, x: Any, out: Any) -> None:
        i = ct.load(index, (0,), (1,))
        ct.store(out, (0,), ct.load(x, (i,), (4,)))
        if i > 0:
            ct.store(out, (i.item(),), ct.full((4,), 5, ct.int32))

    x, out = np.arange(12, dtype=np.int32), np.zeros(8, np.int32)
    run(kernel, (1,), np.array([1], np.int32), x, out)
    assert out.tolist() == [4, 5, 6, 7, 5, 5, 5, 5]


def test_float32_product_is_not_rounded_to_tf32(run: Any) -> None:
    @ct.kernel
    def kernel(a: Any, out: Any) -> None:
        t = ct.load(a, (0, 0), (16, 16))
        ct.store(out, (0, 0), t @ t)

    a = np.diag(np.full(16, 1 + 2.0**-20)).astype(np.float32)
    out = np.zeros((16, 16), np.float32)
    run(kernel, (1,), a, out)
    assert out[0, 0] == np.float32((1 + 2.0**-20) ** 2)
