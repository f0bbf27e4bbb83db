"""Random numbers: the cipher's published vectors, the same stream everywhere, and distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import epitaxy.numpy as ep
from epitaxy import _engine
from epitaxy.numpy._emit import Context
from epitaxy.numpy.random import _Philox

MASK = 0xFFFFFFFF
# Random123 1.14, examples/kat_vectors: philox4x32 10, counter, key, answer
VECTORS = [
    ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([MASK] * 4, [MASK] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        [0xA4093822, 0x299F31D0],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Philox 4x32-10 (Salmon et al., SC 2011)."""
    x, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [(p1 >> 32) ^ x[1] ^ k[0], p1 & MASK, (p0 >> 32) ^ x[3] ^ k[1], p0 & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return x


@pytest.mark.parametrize(("counter", "key", "answer"), VECTORS)
def test_published_vectors(counter: list[int], key: list[int], answer: list[int]) -> None:
    assert philox(counter, key) == answer


@pytest.mark.parametrize(("counter", "key"), [(0, 0), (5, 1), (2**64 - 3, 2**64 - 1), (2**32 - 2, 0x243F6A8885A308D3)])
def test_program_is_the_cipher(counter: int, key: int) -> None:
    """The interpreter's words for four neighbouring counters."""
    out = np.zeros((4, 4), np.uint32)
    columns = [np.ascontiguousarray(out[:, i]) for i in range(4)]
    arguments = _engine.extract_arguments((*columns,), ["a", "b", "c", "d"])
    b = _engine.Builder("philox", arguments.specs(["a", "b", "c", "d"]))
    cipher = _Philox(Context(b, [4]))
    u64 = np.dtype("uint64")
    code = next(c for c, name, *_ in _engine.DTYPES if name == "uint64")
    steps = b.iota(code, [4], 0)
    number = cipher.op("add", steps, cipher.c.full(counter, u64))
    signed = key - 2**64 if key >= 2**63 else key
    words = cipher.block(number, b.constant(_engine.Scalar.of_int(code, signed)))
    zero = b.constant(_engine.Scalar.of_int(next(c for c, name, *_ in _engine.DTYPES if name == "int64"), 0))
    for view, word in zip(b.args(), words, strict=True):
        b.store(view, [zero], word, False)
    _engine.interpret(b.finish(), arguments, (1, 1, 1))
    for i in range(4):
        at = (counter + i) & (2**64 - 1)
        assert [int(c[i]) for c in columns] == philox([at & MASK, at >> 32, 0, 0], [key & MASK, key >> 32])


def test_integers_follow_the_cipher() -> None:
    drawn = ep.random.default_rng(7).integers(0, 2**63, 5, dtype="int64").numpy()
    for i, value in enumerate(drawn.tolist()):
        words = philox([i, 0, 0, 0], [7, 0])
        assert value == (words[0] | words[1] << 32) >> 1


def test_uniform_follows_the_cipher() -> None:
    single = ep.random.default_rng(3).random(5, dtype="float32").numpy()
    double = ep.random.default_rng(3).random(5).numpy()
    for i in range(5):
        words = philox([i, 0, 0, 0], [3, 0])
        assert single[i] == np.float32((words[0] >> 8) * 2.0**-24)
        assert double[i] == ((words[0] | words[1] << 32) >> 11) * 2.0**-53


def test_stream_does_not_depend_on_how_it_is_cut() -> None:
    whole = ep.random.default_rng(5).random(10_000).numpy()
    rng = ep.random.default_rng(5)
    parts = [rng.random(n).numpy() for n in (1, 255, 1000, 8744)]
    assert np.concatenate(parts).tobytes() == whole.tobytes()


@pytest.mark.parametrize("draw", ["random", "standard_normal"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_device_gives_the_cpus_bits(draw: str, dtype: str) -> None:
    here = getattr(ep.random.default_rng(11), draw)((100, 77), dtype=dtype).numpy()
    cpu = getattr(ep.random.default_rng(11, device="cpu"), draw)((100, 77), dtype=dtype).numpy()
    assert here.tobytes() == cpu.tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_moments(dtype: str) -> None:
    n = 400_000
    u = ep.random.default_rng(1).random(n, dtype=dtype).numpy().astype(float)
    z = ep.random.default_rng(2).standard_normal(n, dtype=dtype).numpy().astype(float)
    assert u.min() >= 0
    assert u.max() < 1
    assert abs(u.mean() - 0.5) < 5 / np.sqrt(12 * n)
    assert abs(u.var() - 1 / 12) < 5 * np.sqrt(1 / 180 / n)
    assert abs(z.mean()) < 5 / np.sqrt(n)
    assert abs(z.var() - 1) < 5 * np.sqrt(2 / n)
    assert abs((z**3).mean()) < 5 * np.sqrt(15 / n)
    assert abs((z**4).mean() - 3) < 5 * np.sqrt(96 / n)
    assert np.isfinite(z).all()


def test_uniform_fills_its_bins() -> None:
    n, bins = 1_000_000, 100
    counts = np.bincount((ep.random.default_rng(9).random(n).numpy() * bins).astype(int), minlength=bins)
    assert ((counts - n / bins) ** 2 / (n / bins)).sum() < 170  # 99 degrees of freedom; 1e-5 is beyond 170


@pytest.mark.parametrize(
    ("low", "high", "dtype"),
    [(0, 10, "int64"), (-5, 5, "int8"), (0, 256, "uint8"), (-(2**31), 2**31, "int32"), (3, 4, "int16")],
)
def test_integers_stay_in_range_and_reach_its_ends(low: int, high: int, dtype: str) -> None:
    x = ep.random.default_rng(4).integers(low, high, 20_000, dtype=dtype).numpy()
    assert x.dtype == np.dtype(dtype)
    assert low <= int(x.min())
    assert int(x.max()) < high
    if high - low <= 256:
        assert set(x.tolist()) == set(range(low, high))


@pytest.mark.parametrize(("arguments", "error"), [((5, 5), ValueError), ((0, 300), ValueError), ((-1, 5), ValueError)])
def test_integer_ranges_that_are_refused(arguments: tuple[int, int], error: type[Exception]) -> None:
    with pytest.raises(error):
        ep.random.default_rng(1).integers(*arguments, 3, dtype="uint8")


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (1.5, TypeError), (True, TypeError), ("a", TypeError)])
def test_seeds_that_are_refused(seed: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        ep.random.default_rng(seed)


def test_shapes_and_fresh_seeds() -> None:
    rng = ep.random.default_rng()
    assert rng.random().shape == ()
    assert rng.random((0, 3)).shape == (0, 3)
    assert rng.normal(5.0, 2.0, (2, 3)).shape == (2, 3)
    assert ep.random.default_rng().random(4).tolist() != rng.random(4).tolist()
    with pytest.raises(ValueError, match="negative"):
        rng.random((-1,))
    with pytest.raises(TypeError, match="float32"):
        rng.random(3, dtype="int32")
