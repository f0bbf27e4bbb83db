"""examples/probes on the interpreter and on the device under test: against NumPy, and floats bit for bit."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
from probes.plan import Machine

from probes import gemm, radix, scan

SIZES = [1, 4095, 4096, 4097, 50_000]


@pytest.fixture(scope="module", params=["interp", "device"])
def machine(request: pytest.FixtureRequest, device: str) -> Machine:
    """The interpreter, and the device that --device names."""
    return Machine("interp" if request.param == "interp" else device)


def wrapped_maps(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> list[np.ndarray[Any, Any]]:
    """The maps' prefixes one after another, in 32 bits."""
    p, q, out = 1, 0, np.empty((2, a.size), np.uint32)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        p, q = p * x & 0xFFFFFFFF, (q * x + y) & 0xFFFFFFFF
        out[:, i] = p, q
    return [out[0], out[1]]


@pytest.mark.parametrize("n", SIZES)
def test_sum_of_integers(machine: Machine, n: int, rng: np.random.Generator) -> None:
    x = rng.integers(-(1 << 31), 1 << 31, n).astype(np.int32)
    assert np.array_equal(scan.scan(machine, scan.SUM, x)[0], np.cumsum(x, dtype=np.int32))


@pytest.mark.parametrize("n", SIZES)
def test_maps_are_composed_in_order(machine: Machine, n: int, rng: np.random.Generator) -> None:
    a, b = (rng.integers(0, 1 << 32, n, dtype=np.uint32) for _ in range(2))
    a |= 1  # odd factors: no product forgets its past
    for got, wanted in zip(scan.scan(machine, scan.AFFINE, a, b), wrapped_maps(a, b), strict=True):
        assert np.array_equal(got, wanted)


def test_sum_of_floats_is_near_the_exact_one(machine: Machine, rng: np.random.Generator) -> None:
    x = rng.standard_normal(60_000).astype(np.float32)
    exact = np.cumsum(x, dtype=np.float64)
    assert np.abs(scan.scan(machine, scan.SUM, x)[0] - exact).max() < 2e-4


def test_recurrence_of_floats(machine: Machine, rng: np.random.Generator) -> None:
    a, b = rng.uniform(-0.9, 0.9, 20_000).astype(np.float32), rng.standard_normal(20_000).astype(np.float32)
    y, wanted = 0.0, np.empty(a.size)
    for i in range(a.size):
        y = wanted[i] = float(a[i]) * y + float(b[i])
    got = scan.scan(machine, scan.AFFINE, a, b)[1]  # y starts at 0, so the maps' constants are the answer
    assert np.abs(got - wanted).max() < 1e-5


@pytest.mark.parametrize("tile", [512, 4096, 8192])
def test_floats_have_the_interpreters_bits(device: str, tile: int, rng: np.random.Generator) -> None:
    x = (rng.standard_normal(50_000) * np.exp2(rng.integers(-20, 20, 50_000))).astype(np.float32)
    a = rng.uniform(-1, 1, x.size).astype(np.float32)
    for operator, columns in ((scan.SUM, [x]), (scan.AFFINE, [a, x])):
        wanted = scan.scan(Machine("interp"), operator, *columns, tile=tile)
        for got, want in zip(scan.scan(Machine(device), operator, *columns, tile=tile), wanted, strict=True):
            assert np.array_equal(got.view(np.uint32), want.view(np.uint32))


def test_floats_repeat(device: str, rng: np.random.Generator) -> None:
    x = rng.standard_normal(1 << 20).astype(np.float32)
    machine = Machine(device if device != "interp" else "cpu")
    first = scan.scan(machine, scan.SUM, x)[0]
    for _ in range(5):
        assert np.array_equal(scan.scan(machine, scan.SUM, x)[0], first)


@pytest.mark.parametrize("n", SIZES)
def test_keys_are_sorted(machine: Machine, n: int, rng: np.random.Generator) -> None:
    keys = rng.integers(0, 1 << 32, n, dtype=np.uint32)
    assert np.array_equal(radix.sort(machine, keys)[0], np.sort(keys))


def test_equal_keys_keep_their_order(machine: Machine, rng: np.random.Generator) -> None:
    keys = rng.integers(0, 1 << 32, 30_000, dtype=np.uint32) & np.uint32(0x00030081)
    got, order = radix.sort(machine, keys, np.arange(keys.size, dtype=np.uint32))
    wanted = np.argsort(keys, kind="stable")
    assert np.array_equal(order, wanted)
    assert np.array_equal(got, keys[wanted])


def test_one_pass_sorts_by_its_digit(machine: Machine, rng: np.random.Generator) -> None:
    keys = rng.integers(0, 1 << 32, 10_000, dtype=np.uint32)
    plan = radix.RadixSort(machine, keys.size)
    array, out = machine.upload(keys), machine.empty("uint32", keys.shape)
    plan.prepare(array)
    plan.one_pass(2, [array], [out])
    assert np.array_equal(machine.download(out), keys[np.argsort(keys >> 16 & 0xFF, kind="stable")])


def test_a_million_of_each(device: str, rng: np.random.Generator) -> None:
    machine = Machine(device if device != "interp" else "cpu")
    x = rng.integers(-1000, 1000, 1_000_003).astype(np.int32)
    assert np.array_equal(scan.scan(machine, scan.SUM, x)[0], np.cumsum(x, dtype=np.int32))
    keys = rng.integers(0, 1 << 32, 1_000_003, dtype=np.uint32)
    assert np.array_equal(radix.sort(machine, keys)[0], np.sort(keys))


@pytest.mark.parametrize("shape", [(128, 256, 64), (130, 264, 72), (1, 8, 8), (200, 256, 200)])
def test_product(machine: Machine, shape: tuple[int, int, int], rng: np.random.Generator) -> None:
    m, n, k = shape
    a = rng.standard_normal((m, k)).astype(ml_dtypes.bfloat16)
    b = rng.standard_normal((k, n)).astype(ml_dtypes.bfloat16)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    got = gemm.matmul(machine, a, b).astype(np.float64)
    # Half a unit of bfloat16's last place, and the rounding of k products to 22 bits or better.
    products = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64))
    bound = np.abs(exact) * 2.0**-8 + products * k * 2.0**-22
    assert (np.abs(got - exact) <= bound).all()
