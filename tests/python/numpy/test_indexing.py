"""Shapes, basic indexing, views and assignment: what NumPy does on the same array."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epitaxy.numpy as ep

sys.path.insert(0, str(Path(__file__).parent))
from cases import DTYPES, assert_same

CUBE = np.arange(2 * 3 * 5).reshape(2, 3, 5)
KEYS: list[Any] = [
    0,
    -1,
    ...,
    None,
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    (0, 1),
    (0, 1, 2),
    (-1, -1, -1),
    (..., 0),
    (0, ...),
    (slice(None), None, 1),
    (slice(None, None, 2), slice(None, None, -2)),
    (..., slice(4, 0, -1)),
    (None, ..., None),
    (1, slice(5, 2)),
    slice(2, 2),
    (slice(-100, 100), slice(None), slice(3, -100, -3)),
    (slice(None), 0, slice(1, 4)),
    (),
]
PAIRS = [
    ((3, 1), (1, 4)),
    ((5,), (2, 5)),
    ((), (3,)),
    ((1, 1, 1), (2,)),
    ((0, 3), (1, 3)),
    ((2, 1, 4), (3, 1)),
    ((1,), (0,)),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_basic_indexing(key: Any) -> None:
    assert_same(ep.array(CUBE)[key], np.asarray(CUBE[key]))


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_assignment_of_a_scalar(key: Any) -> None:
    x, y = CUBE.copy(), ep.array(CUBE)
    x[key] = -7
    y[key] = -7
    assert_same(y, x)


@pytest.mark.parametrize("first", KEYS, ids=str)
@pytest.mark.parametrize("second", [slice(None, None, -1), (..., slice(1, None)), 0])
def test_indexing_of_a_view(first: Any, second: Any) -> None:
    try:
        wanted = np.asarray(CUBE[first][second])
    except IndexError:
        with pytest.raises(IndexError):
            ep.array(CUBE)[first][second]
        return
    assert_same(ep.array(CUBE)[first][second], wanted)


@pytest.mark.parametrize("key", [5, -3, (0, 9), (0, 0, 0, 0), (..., ...), (0, 0, -6)], ids=str)
def test_index_out_of_range(key: Any) -> None:
    with pytest.raises(IndexError):
        CUBE[key]
    with pytest.raises(IndexError):
        ep.array(CUBE)[key]


@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_broadcasting(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    x, y = (np.arange(np.prod(s, dtype=int)).reshape(s) for s in shapes)
    assert_same(ep.array(x) - ep.array(y), np.asarray(x - y))


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((2, 3), (2,)), ((0,), (2,))], ids=str)
def test_shapes_that_do_not_broadcast(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    with pytest.raises(ValueError, match="could not be broadcast"):
        ep.zeros(shapes[0]) + ep.zeros(shapes[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_views_of_every_dtype(dtype: np.dtype[Any]) -> None:
    x = np.arange(60).reshape(3, 4, 5).astype(dtype)
    assert_same(ep.array(x)[::2, ::-1, 1::3] == ep.array(x)[::2, ::-1, 1::3], np.ones((2, 4, 2), bool))
    assert_same(ep.array(x).transpose(2, 0, 1)[1:, ::-1], x.transpose(2, 0, 1)[1:, ::-1])


@pytest.mark.parametrize("axes", [(), (2, 1, 0), (1, 0, 2), (-1, 0, 1)], ids=str)
def test_transpose(axes: tuple[int, ...]) -> None:
    assert_same(ep.array(CUBE).transpose(*axes), CUBE.transpose(*axes))
    assert_same(ep.array(CUBE).transpose(*axes) * 2 + ep.array(CUBE).transpose(*axes), CUBE.transpose(*axes) * 3)


@pytest.mark.parametrize("shape", [(30,), (5, 6), (2, 15), (1, 30, 1), (-1, 3), (3, -1, 2), (2, 3, 5)], ids=str)
@pytest.mark.parametrize(
    "key", [(...,), (slice(None, None, -1),), (slice(None), slice(None), slice(None, None, -1))], ids=str
)
def test_reshape_of_views(shape: tuple[int, ...], key: Any) -> None:
    assert_same(ep.array(CUBE)[key].reshape(shape), CUBE[key].reshape(shape))
    assert_same(ep.array(CUBE).T.reshape(shape), CUBE.T.reshape(shape))


@pytest.mark.parametrize("shape", [(7,), (-1, -1), (-1, 7), (), (-2, 15)], ids=str)
def test_reshape_to_another_size(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"reshape|unknown|negative"):
        ep.array(CUBE).reshape(shape)


def test_reshape_of_nothing() -> None:
    assert ep.zeros((0, 3)).reshape(3, 0).shape == (3, 0)
    assert ep.zeros((0, 3)).reshape(0).shape == (0,)
    assert ep.zeros((2, 0)).reshape(-1, 4).shape == (0, 4)
    with pytest.raises(ValueError, match="reshape"):
        ep.zeros(0).reshape(())
    with pytest.raises(ValueError, match="reshape"):
        ep.zeros((0, 2)).reshape(0, -1)


def test_reshape_of_a_view_shares_memory_where_strides_allow() -> None:
    x = ep.arange(12).reshape(3, 4)
    x[1:].reshape(8)[0] = -1
    x.T.reshape(12)[0] = -2  # a copy
    assert x.tolist() == [[0, 1, 2, 3], [-1, 5, 6, 7], [8, 9, 10, 11]]


OVERLAPS: dict[str, Callable[[Any], None]] = {
    "forward": lambda a: a.__setitem__(slice(1, None), a[:-1]),
    "backward": lambda a: a.__setitem__(slice(None, -1), a[1:]),
    "reversed": lambda a: a.__setitem__(slice(None), a[::-1]),
    "expression": lambda a: a.__setitem__(slice(1, None), a[:-1] * 2 + a[1:]),
    "in place": lambda a: a[1:].__iadd__(a[:-1]),
    "disjoint": lambda a: a.__setitem__(slice(0, a.size // 2), a[a.size - a.size // 2 :] + 1),
    "in place twice": lambda a: a.__setitem__(slice(None), a * a + a),
    "itself": lambda a: a.__setitem__(slice(None), a),
}


@pytest.mark.parametrize("name", OVERLAPS)
@pytest.mark.parametrize("size", [5, 1000, 100_001])
def test_assignment_from_overlapping_memory(name: str, size: int) -> None:
    x = np.arange(size, dtype=np.int64)
    y = ep.array(x)
    OVERLAPS[name](x)
    OVERLAPS[name](y)
    assert_same(y, x)


def test_overlap_of_different_strides() -> None:
    """As if the source were copied; NumPy 2.4 reads a 1 that it has just written."""
    x = ep.arange(5)
    x[::2][:] = x[:3]
    assert x.tolist() == [0, 1, 1, 3, 2]


def test_transposed_overlap() -> None:
    x = np.arange(10_000).reshape(100, 100)
    y = ep.array(x)
    x[...] = x.T + 1
    y[...] = y.T + 1
    assert_same(y, x)


def test_recorded_work_sees_the_contents_at_its_time() -> None:
    x = ep.arange(5)
    before, view = x * 10, x[1:3]
    also = view + 1
    x[2] = 100
    view[0] = 50
    after = x * 10
    assert before.tolist() == [0, 10, 20, 30, 40]
    assert also.tolist() == [2, 3]
    assert after.tolist() == [0, 500, 1000, 30, 40]


def test_in_place_operators_write_through_views() -> None:
    x = ep.arange(6)
    y = x
    view = x[::2]
    view *= 10
    x += 1
    assert y is x
    assert y.tolist() == [1, 2, 21, 4, 41, 6]
    assert view.tolist() == [1, 21, 41]


def test_assignment_does_not_alias_the_source() -> None:
    x, y = ep.zeros(3), ep.ones(3)
    x[...] = y
    y[0] = 5
    assert x.tolist() == [1.0, 1.0, 1.0]


def test_assignment_to_a_recorded_array() -> None:
    x = ep.arange(4) * 2
    x[1] = 7
    assert x.tolist() == [0, 7, 4, 6]


@pytest.mark.parametrize(
    "value", [np.arange(5), np.ones((2, 1, 5)), np.ones((1, 1, 1, 5)), 2.9, [1, 2, 3, 4, 5]], ids=str
)
def test_assignment_broadcasts_and_casts(value: Any) -> None:
    x, y = CUBE.copy(), ep.array(CUBE)
    x[...] = value
    y[...] = value
    assert_same(y, x)


def test_assignment_of_a_shape_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match="could not broadcast"):
        ep.zeros((2, 3))[...] = ep.zeros(2)
    with pytest.raises(ValueError, match="could not broadcast"):
        ep.zeros(3)[...] = ep.zeros((2, 3))


def test_broadcast_views_are_read_only() -> None:
    x = ep.broadcast_to(ep.arange(3), (2, 3))
    assert x.tolist() == [[0, 1, 2], [0, 1, 2]]
    with pytest.raises(ValueError, match="read-only"):
        x[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    with pytest.raises(ValueError, match="broadcast"):
        ep.broadcast_to(ep.arange(3), (3, 2))


def test_masks_and_index_arrays_say_what_to_do() -> None:
    for key in ([0, 1], np.array([0]), True, "a", 1.5):
        with pytest.raises((NotImplementedError, IndexError), match="index"):
            ep.arange(3)[key]


def test_numpy_integers_index() -> None:
    assert int(ep.arange(5)[np.int32(3)]) == 3
    assert ep.arange(5)[np.int64(1) : np.uint8(3)].tolist() == [1, 2]
    assert int(ep.arange(5)[ep.arange(5)[2]]) == 2


def test_iteration_and_length() -> None:
    assert [row.tolist() for row in ep.array(CUBE[0])] == CUBE[0].tolist()
    assert len(ep.array(CUBE)) == 2
    with pytest.raises(TypeError, match="0-d"):
        iter(ep.array(1))
    with pytest.raises(TypeError, match="unsized"):
        len(ep.array(1))


def test_squeeze_expand_flip() -> None:
    x = np.arange(6).reshape(1, 2, 1, 3)
    assert_same(ep.squeeze(ep.array(x)), np.squeeze(x))
    assert_same(ep.squeeze(ep.array(x), 2), np.squeeze(x, 2))
    assert_same(ep.expand_dims(ep.array(x), -1), np.expand_dims(x, -1))
    assert_same(ep.flip(ep.array(x)), np.flip(x))
    assert_same(ep.flip(ep.array(x), 3), np.flip(x, 3))
    with pytest.raises(ValueError, match="squeeze"):
        ep.squeeze(ep.array(x), 1)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concatenate_and_stack(axis: int) -> None:
    x, y = np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3) * 0.5
    assert_same(ep.concatenate([ep.array(x), ep.array(y)], axis), np.concatenate([x, y], axis))
    assert_same(ep.stack([ep.array(x), ep.array(y)], axis), np.stack([x, y], axis))


def test_concatenate_of_shapes_that_differ() -> None:
    with pytest.raises(ValueError, match="differ"):
        ep.concatenate([ep.zeros((2, 3)), ep.zeros((3, 2))])
    with pytest.raises(ValueError, match="at least one"):
        ep.concatenate([])


@pytest.mark.parametrize("rank", [6, 12, 16])
def test_arrays_of_many_axes(rank: int) -> None:
    shape = (2, 1, 3) + (1,) * (rank - 5) + (2, 2)
    x = np.arange(24).reshape(shape)
    order = tuple(range(rank))[::-1]
    assert_same(ep.array(x).transpose(order) + 1, x.transpose(order) + 1)
