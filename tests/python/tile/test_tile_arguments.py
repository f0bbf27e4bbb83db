"""What a launch takes: arrays of other libraries, read-only and strange ones, wrong arguments; prints and assertions."""

# ruff: noqa: E501, PT009, RUF012, RUF043
from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import epitaxy
import epitaxy.tile as ct


@ct.kernel
def double(x: Any, y: Any) -> None:
    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (8,)) * 2)


class Interface:
    """An array that has __array_interface__ only."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.__array_interface__ = array.__array_interface__


class Dlpack:
    """An array that has DLPack only; `old` knows neither versions nor keywords."""

    def __init__(self, array: np.ndarray, *, old: bool = False) -> None:
        self.array, self.old = array, old

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __dlpack__(self, **options: Any) -> Any:
        if self.old and options:
            raise TypeError("unexpected keyword")
        return self.array.__dlpack__(**options)


@pytest.mark.parametrize(
    "wrap", [Interface, Dlpack, lambda a: Dlpack(a, old=True), lambda a: a.view(type("Sub", (np.ndarray,), {}))]
)
def test_host_arrays_of_other_libraries(wrap: Any) -> None:
    x, y = np.arange(8, dtype=np.float32), np.zeros(16, np.float32)
    ct.launch(None, (1,), double, (wrap(x), wrap(y[::2])))
    np.testing.assert_array_equal(y[::2], x * 2)
    assert not y[1::2].any()


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
     "float64", "complex64", "complex128"],
)  # fmt: skip
def test_every_dtype_is_copied(run: Any, rng: np.random.Generator, dtype: str) -> None:
    @ct.kernel
    def copy(x: Any, y: Any) -> None:
        ct.store(y, (0,), ct.load(x, (0,), (8,)))

    x = rng.integers(0, 2, 8).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    y = np.zeros_like(x)
    run(copy, (1,), x, y)
    np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("checked", [False, True])
def test_read_only_output_is_refused_and_named(checked: bool) -> None:
    y = np.zeros(8, np.float32)
    y.flags.writeable = False
    with ct.checked(checked), pytest.raises(ValueError, match=r"y.*read-only|read-only.*y"):
        ct.launch(None, (1,), double, (np.zeros(8, np.float32), y))
    ct.launch(None, (1,), double, (y, np.zeros(8, np.float32)))


def test_wrong_arguments_are_named() -> None:
    x = np.zeros(8, np.float32)
    with pytest.raises(TypeError, match="no value for 'y'"):
        ct.launch(None, (1,), double, (x,))
    with pytest.raises(TypeError, match="takes 2 arguments, got 3"):
        ct.launch(None, (1,), double, (x, x, x))
    with pytest.raises(TypeError, match="argument 'y': a str is not an argument"):
        ct.launch(None, (1,), double, (x, "text"))
    with pytest.raises(TypeError, match="argument 'y': elements of dtype object"):
        ct.launch(None, (1,), double, (x, np.zeros(8, object)))
    with pytest.raises(TypeError, match="big-endian"):
        ct.launch(None, (1,), double, (x, np.zeros(8, ">f4")))
    with pytest.raises(ValueError, match="does not fit 64 bits"):
        ct.launch(None, (1,), double, (x, 2**80))
    with pytest.raises(ValueError, match="not a multiple of its element size"):
        ct.launch(None, (1,), double, (x, np.zeros(8, np.dtype([("a", "i1"), ("b", "f4")]))["b"]))


def test_wrong_grids_and_kernels() -> None:
    x = np.zeros(8, np.float32)
    for grid, error in [
        ((), ValueError),
        ((1, 1, 1, 1), ValueError),
        (-1, ValueError),
        ((1.5,), TypeError),
        ("a", TypeError),
        (True, TypeError),
    ]:
        with pytest.raises(error):
            ct.launch(None, grid, double, (x, x))
    with pytest.raises(TypeError, match="decorated with @kernel"):
        ct.launch(None, (1,), lambda x: None, (x,))
    with pytest.raises(TypeError, match="stream"):
        ct.launch("stream", (1,), double, (x, x))
    with pytest.raises(TypeError, match="Python function"):
        ct.kernel(3)
    with pytest.raises(ValueError, match="num_ctas"):
        ct.kernel(num_ctas=17)(lambda x: None)


def test_wrong_use_of_an_argument_is_located() -> None:
    with pytest.raises(ct.TileTypeError, match="load takes an array of the kernel's arguments"):
        ct.launch(None, (1,), double, (3, np.zeros(8, np.float32)))


def test_arrays_on_two_devices_are_refused() -> None:
    class Gpu:
        __cuda_array_interface__ = {"shape": (8,), "typestr": "<f4", "data": (4096, False), "version": 3}

    with pytest.raises(ValueError, match=r"argument 'y' is on cuda:0 and argument 0 is in host memory"):
        ct.launch(None, (1,), double, (np.zeros(8, np.float32), Gpu()))


def test_a_queue_can_be_given() -> None:
    from epitaxy import _engine

    queue = _engine.device("cpu").create_queue()
    x, y = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    ct.launch(queue, (1,), double, (x, y))
    queue.synchronise()
    np.testing.assert_array_equal(y, x * 2)


def test_hints_are_accepted(run: Any) -> None:
    @ct.kernel(num_ctas=2, occupancy=ct.ByTarget(sm_90=2, default=1), opt_level=3)
    def kernel(x: Any) -> None:
        ct.store(x, (0,), 1)

    x = np.zeros(1, np.int32)
    run(kernel, (1,), x)
    run(kernel.replace_hints(occupancy=4), (1,), x)
    assert x[0] == 1


# -- prints and assertions -----------------------------------------------------------------------------------------
def printed(kernel: Any, *args: Any, grid: Any = (1,)) -> str:
    out: list[str] = []
    ct.interpret(grid, kernel, args, print=out.append)
    return "".join(out)


def test_print_is_pythons() -> None:
    @ct.kernel
    def kernel(x: Any) -> None:
        i = ct.bid(0)
        print("block", i, f"of {ct.num_blocks(0)}: {i + 0.5:.2f} {i * 10:>4d}|{'static'} 100%", end=";\n")
        print((i, i + 1), ct.arange(4, dtype=ct.int32).reshape((2, 2)), sep=" | ")

    lines = printed(kernel, np.zeros(1), grid=(2,)).splitlines()
    assert lines[0] == "block 0 of 2: 0.50    0|static 100%;"
    assert lines[1] == "(0, 1) | [[0, 1], [2, 3]]"
    assert lines[2] == "block 1 of 2: 1.50   10|static 100%;"


def test_printf_takes_a_c_format() -> None:
    @ct.kernel
    def kernel(x: Any) -> None:
        ct.printf("value: %d %5.1f %x%%\n", ct.bid(0) + 42, 2.25, ct.full((), 255, ct.int32))

    assert printed(kernel, np.zeros(1)) == "value: 42   2.2 ff%\n"


def test_failed_assertion_surfaces(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any) -> None:
        t = ct.load(x, (ct.bid(0),), (4,))
        ct.assert_(t >= 0, "no negative numbers")
        assert ct.bid(0) < 5

    run(kernel, (2,), np.zeros(8, np.int32))
    with pytest.raises(
        epitaxy.DeviceError, match=r"test_tile_arguments.py:\d+.*no negative numbers|no negative numbers"
    ):
        run(kernel, (2,), np.array([0, 0, 0, 0, 1, -2, 3, 4], np.int32))
    run(kernel, (2,), np.zeros(8, np.int32))


def test_checked_mode_finds_promises_that_are_broken() -> None:
    @ct.kernel
    def outside(x: Any) -> None:
        ct.store(x, (0,), ct.load(x, (2,), (4,), check_bounds=False))

    with ct.checked(), pytest.raises(IndexError, match="test_tile_arguments.py"):
        ct.launch(None, (1,), outside, (np.zeros(9, np.int32),))


def test_checked_mode_finds_races() -> None:
    @ct.kernel
    def race(x: Any) -> None:
        ct.store(x, (0,), ct.bid(0))

    with ct.checked(), pytest.raises(epitaxy.DeviceError, match="test_tile_arguments.py"):
        ct.launch(None, (2,), race, (np.zeros(1, np.int32),))


def test_launch_from_many_threads() -> None:
    from concurrent.futures import ThreadPoolExecutor

    def one(i: int) -> bool:
        x, y = np.full(8, i, np.float32), np.zeros(8, np.float32)
        for _ in range(20):
            ct.launch(None, (1,), double, (x, y))
        return bool((y == 2 * i).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(40)))
