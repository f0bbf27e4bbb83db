"""Loads, stores, gathers, scatters, atomics and views."""

# ruff: noqa: E501
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import epitaxy.tile as ct


def test_partial_tiles_are_clipped(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        i = ct.bid(0)
        ct.store(y, (i,), ct.load(x, (i,), (16,)) + 1)

    x = np.arange(37, dtype=np.int32)
    y = np.zeros(37, np.int32)
    run(kernel, (3,), x, y)
    np.testing.assert_array_equal(y, x + 1)


@pytest.mark.parametrize(
    ("mode", "value"),
    [("ZERO", 0), ("UNDETERMINED", 0), ("NEG_ZERO", -0.0), ("NAN", np.nan), ("POS_INF", np.inf), ("NEG_INF", -np.inf)],
)
def test_padding_is_what_was_asked_for(run: Any, mode: str, value: float) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any, mode: ct.Constant) -> None:
        ct.store(y, (0,), ct.load(x, (0,), (8,), padding_mode=mode))

    y = np.ones(8, np.float32)
    run(kernel, (1,), np.ones(5, np.float32), y, ct.PaddingMode[mode])
    np.testing.assert_array_equal(y[5:], np.float32(value))
    assert np.signbit(y[5:]).all() == np.signbit(value)


def test_tile_wholly_outside_is_padding_and_its_store_is_dropped(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        t = ct.load(x, (100,), (4,)) + ct.load(x, (-5,), (4,))
        ct.store(x, (100,), t)
        ct.store(y, (0,), t)

    x, y = np.ones(4, np.int32), np.ones(4, np.int32)
    run(kernel, (1,), x, y)
    assert y.tolist() == [0] * 4
    assert x.tolist() == [1] * 4


def test_element_offsets(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        i = ct.bid(0)
        total = ct.load(x, at=i - 1, shape=4) + ct.load(x, at=(i + 1,), shape=(4,))
        ct.store(y, at=(i * 4,), tile=total)

    x = np.arange(1, 11, dtype=np.int32)
    y = np.zeros(12, np.int32)
    run(kernel, (3,), x, y)
    padded = np.pad(x, (1, 8))
    expected = [padded[i : i + 4] + padded[i + 2 : i + 6] for i in range(3)]
    np.testing.assert_array_equal(y, np.concatenate(expected))


@pytest.mark.parametrize("order", ["C", "F", (0, 1), (1, 0)])
def test_order_permutes_the_array(run: Any, order: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any, order: ct.Constant) -> None:
        ct.store(y, (0, 0), ct.load(x, (1, 0), (2, 3), order=order))

    x = np.arange(24, dtype=np.int32).reshape(4, 6)
    y = np.zeros((2, 3), np.int32)
    run(kernel, (1,), x, y, order)
    source = x if order in ("C", (0, 1)) else x.T
    np.testing.assert_array_equal(y, source[2:4, 0:3])


def test_scalar_load_and_store_in_two_axes(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        i, j = ct.bid(0), ct.bid(1)
        ct.store(y, (j, i), ct.load(x, (i, j), ()) * 10)

    x = np.arange(6, dtype=np.int32).reshape(2, 3)
    y = np.zeros((3, 2), np.int32)
    run(kernel, (2, 3), x, y)
    np.testing.assert_array_equal(y, x.T * 10)


@pytest.mark.parametrize("layout", ["transposed", "negative", "every third", "broadcast", "offset"])
def test_strided_arrays(run: Any, layout: str) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        ct.store(y, (ct.bid(0), 0), ct.load(x, (ct.bid(0), 0), (2, 8)))

    base = np.arange(600, dtype=np.float32).reshape(20, 30)
    x = {
        "transposed": base.T[:6, :7], "negative": base[::-1, ::-1][:6, :7], "every third": base[:18:3, :21:3],
        "broadcast": np.broadcast_to(base[:1, :7], (6, 7)), "offset": base[3:9, 5:12],
    }[layout]  # fmt: skip
    y = np.zeros((6, 7), np.float32)
    run(kernel, (3,), x, y)
    np.testing.assert_array_equal(y, x)


def test_store_to_a_strided_view(run: Any) -> None:
    @ct.kernel
    def kernel(y: Any) -> None:
        ct.store(y, (0, 0), ct.arange(8, dtype=ct.int32).reshape((2, 4)))

    base = np.zeros((4, 8), np.int32)
    run(kernel, (1,), base[::2, ::-2])
    expected = np.zeros((4, 8), np.int32)
    expected[::2, ::-2] = np.arange(8).reshape(2, 4)
    np.testing.assert_array_equal(base, expected)


def test_any_tile_size(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any, n: ct.Constant[int]) -> None:
        t = ct.load(x, (ct.bid(0),), (n,))
        ct.store(y, (ct.bid(0),), t + ct.sum(t))

    for n in (1, 3, 7, 12, 33, 100):
        x = np.arange(3 * n, dtype=np.int64)
        y = np.zeros_like(x)
        run(kernel, (3,), x, y, n)
        rows = x.reshape(3, n)
        np.testing.assert_array_equal(y, (rows + rows.sum(1, keepdims=True)).reshape(-1))


def test_slice_clamps_and_bounds_accesses(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any, start: int, stop: int) -> None:
        part = x.slice(axis=0, start=start, stop=stop)
        ct.store(y, (0,), ct.load(part, (0,), (8,)))
        ct.store(y, (8,), part.shape[0])

    x = np.arange(1, 11, dtype=np.int32)
    for start, stop in [(2, 6), (0, 10), (7, 40), (4, 4)]:
        y = np.zeros(9, np.int32)
        run(kernel, (1,), x, y, start, stop)
        part = x[start:stop]
        assert y[:8].tolist()[: len(part)] == part[:8].tolist()
        assert not y[len(part) : 8].any()
        assert y[8] == len(part)


def test_num_tiles_and_num_blocks(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        ct.store(
            y, (0,), ct.num_tiles(x, 0, (4, 8)) * 100 + ct.num_tiles(x, 1, shape=(4, 8)) + ct.num_blocks(0) * 10000
        )

    y = np.zeros(1, np.int32)
    run(kernel, (2,), np.zeros((42, 64)), y)
    assert y[0] == 20000 + 1100 + 8


def test_tiled_view_with_steps(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        view = x.tiled_view((4,), traversal_steps=(2,))
        for i in range(view.num_tiles(0)):
            ct.store(y, (i, 0), view.load((i,))[None, :])

    x = np.arange(10, dtype=np.int32)
    y = np.full((5, 4), -1, np.int32)
    run(kernel, (1,), x, y)
    np.testing.assert_array_equal(y, [[*x[i : i + 4]] for i in (0, 2, 4, 6)] + [[-1] * 4])


def test_gather_is_bounded_and_masked(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, index: Any, y: Any) -> None:
        i = ct.load(index, (0,), (8,))
        ct.store(y, (0,), ct.gather(x, i))
        ct.store(y, (1,), ct.gather(x, (i,), padding_value=-7))
        ct.store(y, (2,), ct.gather(x, i, mask=i % 2 == 0, padding_value=5))
        ct.store(y, (3,), ct.gather(x, i, padding_value=ct.arange(8, dtype=ct.int32)))

    x = np.arange(100, 110, dtype=np.int32)
    index = np.array([0, 9, 10, -1, 3, 2, 2**31 - 1, -(2**31)], np.int32)
    y = np.zeros(32, np.int32)
    run(kernel, (1,), x, index, y)
    ok = (index >= 0) & (index < 10)
    picked = x[np.where(ok, index, 0)]
    even = ok & (index % 2 == 0)
    np.testing.assert_array_equal(
        y.reshape(4, 8),
        [
            np.where(ok, picked, 0),
            np.where(ok, picked, -7),
            np.where(even, picked, 5),
            np.where(ok, picked, np.arange(8)),
        ],
    )


def test_gather_of_two_axes_broadcasts_its_indices(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        i, j = ct.arange(4, dtype=ct.int64), ct.arange(3, dtype=ct.uint8)
        ct.store(y, (0, 0), ct.gather(x, (i[:, None], j * 2)))

    x = np.arange(30, dtype=np.float64).reshape(5, 6)
    y = np.zeros((4, 3))
    run(kernel, (1,), x, y)
    np.testing.assert_array_equal(y, x[:4, :6:2])


def test_scatter_is_bounded_and_masked(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any) -> None:
        i = ct.arange(8, dtype=ct.int32) * 2 - 2
        ct.scatter(x, i, i * 1.5, mask=i != 4)

    x = np.full(10, -1, np.float32)
    run(kernel, (1,), x)
    assert x.tolist() == [0, -1, 3, -1, -1, -1, 9, -1, 12, -1]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float32"])
def test_atomic_add_counts_everything(run: Any, dtype: str) -> None:
    @ct.kernel
    def kernel(x: Any, n: ct.Constant[int]) -> None:
        i = ct.arange(n, dtype=ct.int32)
        ct.atomic_add(x, (i + ct.bid(0)) % 7, 1)

    x = np.zeros(7, dtype)
    run(kernel, (20,), x, 32)
    assert x.sum() == 640
    expected = np.bincount((np.arange(32) + np.arange(20)[:, None]).reshape(-1) % 7, minlength=7)
    np.testing.assert_array_equal(x, expected.astype(dtype))


@pytest.mark.parametrize(
    ("name", "fold"),
    [("atomic_max", np.maximum), ("atomic_min", np.minimum), ("atomic_and", np.bitwise_and), ("atomic_or", np.bitwise_or),
     ("atomic_xor", np.bitwise_xor)],
)  # fmt: skip
def test_atomics_fold(run: Any, rng: np.random.Generator, name: str, fold: Any) -> None:
    @ct.kernel
    def kernel(x: Any, v: Any, operation: ct.Constant) -> None:
        operation(x, ct.bid(0) * 0, ct.load(v, (ct.bid(0),), ()))

    v = rng.integers(-1000, 1000, 50).astype(np.int32)
    x = np.array([v[0]], np.int32)
    run(kernel, (49,), x, v[1:].copy(), getattr(ct, name))
    assert x[0] == fold.reduce(v)


def test_atomics_give_the_old_value(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        i = ct.arange(4, dtype=ct.int32)
        ct.store(y, (0,), ct.atomic_xchg(x, i, 9))
        ct.store(y, (1,), ct.atomic_cas(x, i, 9, i + 20))
        ct.store(y, (2,), ct.atomic_cas(x, i, 9, 0))
        ct.store(y, (3,), ct.atomic_add(x, i + 2, 1, memory_order=ct.MemoryOrder.RELAXED))

    x, y = np.arange(4, dtype=np.int32), np.zeros(16, np.int32)
    run(kernel, (1,), x, y)
    assert y.reshape(4, 4).tolist() == [[0, 1, 2, 3], [9] * 4, [20, 21, 22, 23], [22, 23, 0, 0]]
    assert x.tolist() == [20, 21, 23, 24]


def test_store_casts_to_the_array(run: Any) -> None:
    @ct.kernel
    def kernel(f: Any, i: Any, b: Any) -> None:
        t = ct.arange(4, dtype=ct.int32) * 100 - 100
        ct.store(f, (0,), t)
        ct.store(i, (0,), t * 1.5)
        ct.store(b, (0,), t)

    f, i, b = np.zeros(4, np.float16), np.zeros(4, np.int8), np.zeros(4, bool)
    run(kernel, (1,), f, i, b)
    assert f.tolist() == [-100, 0, 100, 200]
    assert i.tolist() == [-128, 0, 127, 127]
    assert b.tolist() == [True, False, True, True]


def test_zero_sized_arrays_and_grids(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        ct.store(y, (ct.bid(0),), ct.sum(ct.load(x, (0,), (8,))) + x.shape[0] + 1)

    y = np.zeros(2, np.float32)
    run(kernel, (2,), np.zeros(0, np.float32), y)
    assert y.tolist() == [1, 1]
    run(kernel, (0,), np.zeros(0, np.float32), y)
    run(kernel, (3, 0, 2), np.zeros(0, np.float32), y)
    run(kernel, (2,), np.zeros(0, np.float32), np.zeros(0, np.float32))


def test_overlapping_arguments_are_one_memory(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, y: Any) -> None:
        ct.store(y, (0,), ct.load(x, (0,), (4,)) + 1)
        ct.store(y, (0,), ct.load(x, (0,), (4,)) * 10)

    base = np.arange(6, dtype=np.int32)
    run(kernel, (1,), base[:4], base[:4])
    assert base.tolist() == [10, 20, 30, 40, 4, 5]
    base = np.arange(6, dtype=np.int32)
    run(kernel, (1,), base[:4], base[1:5])
    first = [0, 1, 2, 3, 4, 5]
    first[1:5] = [v + 1 for v in first[0:4]]
    first[1:5] = [v * 10 for v in first[0:4]]
    assert base.tolist() == first
