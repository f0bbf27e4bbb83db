"""Arrays to and from NumPy and other libraries: copies, DLPack, the array interfaces, creation."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import epitaxy
import epitaxy.numpy as ep

sys.path.insert(0, str(Path(__file__).parent))
from cases import BFLOAT16, DTYPES, assert_same, corners


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_and_back(dtype: np.dtype[Any]) -> None:
    x = corners(dtype)
    assert_same(ep.array(x), x)
    assert ep.array(x).numpy().tobytes() == x.tobytes()
    assert np.asarray(ep.array(x)).tobytes() == x.tobytes()


def test_layouts_of_numpy_arrays() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    for view in (
        x.T,
        x[::-1, :, ::2],
        np.asfortranarray(x),
        x[:, 1],
        x[:0],
        np.array(3),
        np.broadcast_to(x[0], (5, 3, 4)),
    ):
        assert_same(ep.array(view), np.array(view))


def test_foreign_byte_order_is_made_native() -> None:
    x = np.arange(5, dtype=">i4")
    assert ep.array(x).tolist() == [0, 1, 2, 3, 4]
    assert (ep.zeros(5, "int32") + x).tolist() == [0, 1, 2, 3, 4]
    assert ep.array(np.array([1.5], ">f8")).dtype == np.dtype("float64")


def test_later_changes_of_the_source_do_not_show() -> None:
    x = np.zeros(3)
    y = ep.array(x)
    x[:] = 1
    assert y.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    "value", [np.array(["a"]), np.array([object()]), np.array([1], "M8[s]"), np.zeros(2, "i4,f4"), "text"]
)
def test_dtypes_that_are_not_supported(value: Any) -> None:
    with pytest.raises(TypeError, match="not supported"):
        ep.array(value)


def test_longdouble_is_refused_not_rounded() -> None:
    with pytest.raises(TypeError, match="not supported"):
        ep.zeros(3, np.longdouble)


def test_dlpack_to_numpy_shares_memory(is_host: bool) -> None:
    x = ep.arange(6).reshape(2, 3)
    assert x.__dlpack_device__()[0] == (1 if is_host else 2)
    if is_host:
        shown = np.from_dlpack(x.T)
        assert_same(shown, np.arange(6).reshape(2, 3).T)
        shown[0, 0] = 50
        assert int(x[0, 0]) == 50


def test_pending_work_is_done_before_memory_is_given_away(is_host: bool) -> None:
    x = ep.arange(4)
    later = x * 10
    if is_host:
        np.from_dlpack(x)[:] = -1
        assert x.tolist() == [-1] * 4
    assert later.tolist() == [0, 10, 20, 30]


def test_dlpack_of_read_only_views(is_host: bool) -> None:
    x = ep.broadcast_to(ep.arange(3), (2, 3))
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    if is_host:
        assert not np.from_dlpack(x).flags.writeable
    again = ep.from_dlpack(x)
    with pytest.raises(ValueError, match="read-only"):
        again[...] = 1


def test_dlpack_copy_and_device(is_host: bool) -> None:
    x = ep.arange(3)
    if is_host:
        y = np.from_dlpack(x, copy=True)
        y[0] = 9
        assert int(x[0]) == 0
    with pytest.raises(BufferError, match="move"):
        x.__dlpack__(dl_device=(4, 0))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != BFLOAT16])
def test_from_dlpack_shares_numpys_memory(dtype: np.dtype[Any]) -> None:
    x = np.arange(12).reshape(3, 4).astype(dtype)
    y = ep.from_dlpack(x[::-1, ::2])
    assert_same(y, x[::-1, ::2])
    x[0, 0] = 1
    assert_same(y, x[::-1, ::2])


def test_from_dlpack_keeps_the_source_alive() -> None:
    y = ep.from_dlpack(np.arange(100_000) * 2)
    assert int(y.sum()) == 9_999_900_000


def test_from_dlpack_of_our_own_arrays(current: Any) -> None:
    x = ep.arange(5)
    y = ep.from_dlpack(x)
    y[0] = 7
    assert y.device == current
    assert int(x[0]) == 7
    assert ep.from_dlpack(x, device="cpu").tolist() == [7, 1, 2, 3, 4]


def test_capsules_nobody_takes_are_freed() -> None:
    before = ep.arange(10).device.memory["live_blocks"]
    x = ep.arange(10)
    for _ in range(50):
        x.__dlpack__()
        x.__dlpack__(max_version=(1, 0))
    del x
    assert ep.arange(1).device.memory["live_blocks"] <= before + 1


def test_from_dlpack_of_something_else() -> None:
    with pytest.raises((TypeError, ValueError)):
        ep.from_dlpack(5)


def test_array_interfaces(is_host: bool) -> None:
    x = ep.arange(6).reshape(2, 3)[:, ::-1]
    if is_host:
        shown = np.asarray(type("Holder", (), {"__array_interface__": x.__array_interface__, "keep": x})())
        assert_same(shown, np.arange(6).reshape(2, 3)[:, ::-1])
        assert not hasattr(x, "__cuda_array_interface__")
    else:
        facts = x.__cuda_array_interface__
        assert (facts["shape"], facts["strides"], facts["version"]) == ((2, 3), (24, -8), 3)
        assert not hasattr(x, "__array_interface__")


def test_arrays_of_two_devices_do_not_mix(is_host: bool) -> None:
    if is_host:
        return
    x, y = ep.arange(3), ep.arange(3, device="cpu")
    for f in (lambda: x + y, lambda: ep.matmul(x * 1.0, y * 1.0), lambda: ep.where(x > 1, x, y)):
        with pytest.raises(ValueError, match="different devices"):
            f()
    assert (x + y.to(x.device)).tolist() == [0, 2, 4]


def test_unknown_device() -> None:
    with pytest.raises(epitaxy.DeviceError):
        ep.zeros(3, device="toaster")
    with pytest.raises(TypeError):
        ep.zeros(3, device=7)


ARANGES: list[tuple[Any, ...]] = [
    (5,), (2.5,), (0.0, 1.0, 0.1), (10, 0, -3), (0,), (5, 0), (3, 3), (-1.5, 1.5, 0.25), (0, 1000), (0.0, 100.0, 0.1),
    (1, 5000, 7), (1000, 0, -1), (0.5, 500), (0, 2**40, 2**34),
]  # fmt: skip


@pytest.mark.parametrize("args", ARANGES, ids=str)
@pytest.mark.parametrize("dtype", [None, "float32", "int16", "float64"])
def test_arange(args: tuple[Any, ...], dtype: Any) -> None:
    if dtype == "int16" and args[-1] == 2**34:
        return
    assert_same(ep.arange(*args, dtype=dtype), np.arange(*args, dtype=dtype))


def test_arange_of_step_zero() -> None:
    with pytest.raises((ValueError, ZeroDivisionError)):
        ep.arange(0, 5, 0)


LINSPACES: list[tuple[Any, ...]] = [
    (-2.3328583, 2.8459014, 10),
    (0, 1, 3),
    (True, False, 3),
    (5, 5, 4),
    (0, 10, 1),
    (0, 1, 0),
]


@pytest.mark.parametrize("args", LINSPACES, ids=str)
@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace(args: tuple[Any, ...], endpoint: bool) -> None:
    assert_same(ep.linspace(*args, endpoint=endpoint), np.linspace(*args, endpoint=endpoint))


def test_linspace_of_integers_rounds_down() -> None:
    assert ep.linspace(-3.5, 3.5, 4, dtype="int32").tolist() == [-4, -2, 1, 3]


@pytest.mark.parametrize("dtype", DTYPES)
def test_filled_arrays(dtype: np.dtype[Any]) -> None:
    assert_same(ep.zeros((2, 3), dtype), np.zeros((2, 3), dtype))
    assert_same(ep.ones(4, dtype), np.ones(4, dtype))
    assert_same(ep.full((), 3, dtype), np.full((), 3, dtype))
    assert_same(ep.full_like(ep.zeros(3, dtype), 5), np.full(3, 5, dtype))
    assert_same(ep.eye(3, 4, 1, dtype), np.eye(3, 4, 1, dtype))
    assert ep.empty((0, 2), dtype).shape == (0, 2)


def test_full_finds_its_dtype() -> None:
    for value in (True, 3, 2.5, 1j, np.float32(1.5), np.int8(3)):
        assert_same(ep.full(3, value), np.full(3, value))


def test_negative_extents_are_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        ep.zeros((2, -1))


def test_scalars_of_python() -> None:
    assert (int(ep.array(3)), float(ep.array([2.5])), bool(ep.array(0)), complex(ep.array(1j))) == (3, 2.5, False, 1j)
    assert f"{ep.array(2.5):.2f}" == "2.50"
    with pytest.raises(ValueError, match="ambiguous"):
        bool(ep.arange(2))
    with pytest.raises(ValueError, match="size 1"):
        ep.arange(2).item()


def test_text() -> None:
    assert repr(ep.array([1, 2])).startswith("array([1, 2]")
    assert str(ep.array([1.5])) == "[1.5]"


def test_astype_and_copies() -> None:
    x = ep.arange(3)
    assert x.astype("int64", copy=False) is x
    y = x.astype("int64")
    y[0] = 9
    assert int(x[0]) == 0
    assert x.astype(ml_dtypes.bfloat16).dtype == BFLOAT16


def test_numpy_arrays_take_part_in_operators() -> None:
    x = np.arange(3.0)
    assert isinstance(x + ep.arange(3), ep.ndarray)
    assert_same(x - ep.arange(3), x - np.arange(3))
    assert_same(ep.arange(3) * x, x * np.arange(3))
    assert (ep.arange(3) == "a") is False


def test_names_that_are_missing_say_so() -> None:
    with pytest.raises(AttributeError, match=r"numpy\.histogram"):
        ep.histogram  # noqa: B018
    assert set(ep.__all__) <= set(dir(ep))
