"""Random numbers: Philox 4x32-10 (Salmon et al., SC 2011), the same stream on every device.

A generator has a 64-bit key from its seed and a 64-bit counter. Element i of a draw takes words from block
`counter + i // words` of the cipher, so any element can be computed alone and the bits do not depend on the device.

>>> import epitaxy.numpy as np
>>> rng = np.random.default_rng(1)
>>> rng.random(3).shape
(3,)
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as _np

from epitaxy import _engine, _trace
from epitaxy._device import as_device
from epitaxy.numpy import _exec
from epitaxy.numpy._array import ndarray
from epitaxy.numpy._emit import BINARY, UNARY, Context, dtype_code
from epitaxy.numpy._expr import Const
from epitaxy.numpy._layout import Shape, size_of
from epitaxy.numpy._program import Frame
from epitaxy.numpy._ufunc import FUNCTIONS

__all__ = ["Generator", "default_rng"]

_U32, _U64 = _np.dtype("uint32"), _np.dtype("uint64")
_F32, _F64 = _np.dtype("float32"), _np.dtype("float64")
_WRAP: int = _engine.CAST["wrap"]
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10


class _Philox:
    """Emits the cipher on uint32 tiles."""

    def __init__(self, context: Context) -> None:
        self.c = context
        self.b = context.b

    def op(self, kind: str, x: Any, y: Any) -> Any:
        return self.b.binary(BINARY[kind], x, y, False)

    def word(self, value: int) -> Any:
        return self.c.full(value & 0xFFFFFFFF, _U32)

    def halves(self, value: Any) -> tuple[Any, Any]:
        """The low and high words of a uint64 tile."""
        high = self.op("shr", value, self.c.full(32, _U64))
        return tuple(self.b.cast(v, dtype_code(_U32), _WRAP) for v in (value, high))

    def block(self, counter: Any, key: Any) -> list[Any]:
        """Four uint32 tiles from a uint64 counter tile and a uint64 key scalar."""
        x0, x1 = self.halves(counter)
        x2, x3 = self.word(0), self.word(0)
        k0, k1 = self.halves(self.b.broadcast(key, self.c.shape))
        for _ in range(_ROUNDS):
            m0, m1 = self.word(_MULTIPLIERS[0]), self.word(_MULTIPLIERS[1])
            high0, low0 = self.op("mulhi", m0, x0), self.op("mul", m0, x0)
            high1, low1 = self.op("mulhi", m1, x2), self.op("mul", m1, x2)
            x0, x2 = (
                self.op("bitxor", self.op("bitxor", high1, x1), k0),
                self.op("bitxor", self.op("bitxor", high0, x3), k1),
            )
            x1, x3 = low1, low0
            k0, k1 = self.op("add", k0, self.word(_WEYL[0])), self.op("add", k1, self.word(_WEYL[1]))
        return [x0, x1, x2, x3]

    def unit32(self, word: Any) -> Any:
        """[0, 1) in float32 from the upper 24 bits."""
        upper = self.b.cast(self.op("shr", word, self.word(8)), dtype_code(_F32), _WRAP)
        return self.op("mul", upper, self.c.full(2.0**-24, _F32))

    def unit64(self, low: Any, high: Any) -> Any:
        """[0, 1) in float64 from the upper 53 bits of two words."""
        wide = [self.b.cast(v, dtype_code(_U64), _WRAP) for v in (low, high)]
        joined = self.op("bitor", wide[0], self.op("shl", wide[1], self.c.full(32, _U64)))
        upper = self.b.cast(self.op("shr", joined, self.c.full(11, _U64)), dtype_code(_F64), _WRAP)
        return self.op("mul", upper, self.c.full(2.0**-53, _F64))

    def normal(self, u: Any, v: Any, dtype: _np.dtype[Any]) -> Any:
        """Standard normal by Box and Muller (1958) from two values in [0, 1)."""
        one = self.c.full(1.0, dtype)
        log = self.b.unary(UNARY["log"], self.op("sub", one, u), False)
        radius = self.b.unary(UNARY["sqrt"], self.op("mul", self.c.full(-2.0, dtype), log), False)
        angle = self.op("mul", v, self.c.full(2.0 * _np.pi, dtype))
        return self.op("mul", radius, self.b.unary(UNARY["cos"], angle, False))


class Generator:
    """A stream of random numbers. Draws take consecutive parts of it; see `default_rng`."""

    def __init__(self, seed: int, device: Any) -> None:
        self._key = seed & 0xFFFFFFFFFFFFFFFF
        self._counter = 0
        self._device = device

    def random(self, size: int | Sequence[int] | None = None, dtype: Any = float) -> ndarray:
        """Uniform in [0, 1); float64 or float32."""
        return self._draw("uniform", size, self._float(dtype), ())

    def uniform(self, low: float = 0.0, high: float = 1.0, size: int | Sequence[int] | None = None) -> ndarray:
        """Uniform in [low, high), float64."""
        return _scaled(self.random(size), high - low, low)

    def standard_normal(self, size: int | Sequence[int] | None = None, dtype: Any = float) -> ndarray:
        """Standard normal; float64 or float32."""
        return self._draw("normal", size, self._float(dtype), ())

    def normal(self, loc: float = 0.0, scale: float = 1.0, size: int | Sequence[int] | None = None) -> ndarray:
        """Normal with mean `loc` and standard deviation `scale`, float64."""
        return _scaled(self.standard_normal(size), scale, loc)

    def integers(
        self,
        low: int,
        high: int | None = None,
        size: int | Sequence[int] | None = None,
        dtype: Any = _np.int64,
        endpoint: bool = False,
    ) -> ndarray:
        """Integers in [low, high), high included with `endpoint`: a 64-bit word times the range, its high half."""
        if high is None:
            low, high = 0, low
        high += int(endpoint)
        kind = _np.dtype(dtype)
        facts = _np.iinfo(kind)
        if not facts.min <= low < high <= int(facts.max) + 1:
            raise ValueError(f"integers: low {low} and high {high} must satisfy low < high within {kind}")
        if high - low > 1 << 63:
            raise ValueError(f"integers: a range of {high - low} values; at most 2**63 are supported")
        words = self._draw("integers", size, _U64, (Const(high - low, _U64),))
        return FUNCTIONS["add"](words.astype(_np.int64), low).astype(kind) if low else words.astype(kind)

    @staticmethod
    def _float(dtype: Any) -> _np.dtype[Any]:
        kind: _np.dtype[Any] = _np.dtype(dtype)
        if kind not in (_F32, _F64):
            raise TypeError(f"dtype {kind} is not supported; accepted are float32 and float64")
        return kind

    def _draw(self, what: str, size: Any, dtype: _np.dtype[Any], extra: tuple[Const, ...]) -> ndarray:
        shape: Shape = () if size is None else (tuple(size) if isinstance(size, (tuple, list)) else (int(size),))
        if any(e < 0 for e in shape):
            raise ValueError(f"negative dimensions are not allowed; got shape {shape}")
        count = size_of(shape)
        out = _exec.empty_leaf(self._device, dtype, shape)
        if count:
            self._launch(what, dtype, out.address, count, extra)
        self._counter = (self._counter + count) & 0xFFFFFFFFFFFFFFFF
        return ndarray(out, self._device)

    def _launch(self, what: str, dtype: _np.dtype[Any], address: int, count: int, extra: tuple[Const, ...]) -> None:
        start = _trace.begin()
        tile = [_exec.tile_budget(self._device, count)]

        def build(specs: list[Any]) -> Any:
            b = _engine.Builder("random", specs)
            frame = Frame(b, tile)
            target, key, start, *rest = b.args()
            offset = frame.op("mul", frame.program(), frame.i64(tile[0]))
            position = b.cast(frame.position([offset]), dtype_code(_U64), _WRAP)
            philox = _Philox(frame.context)
            words = philox.block(philox.op("add", position, b.broadcast(start, tile)), key)
            b.store(target, [offset], _value(philox, what, dtype, words, rest), False)
            return b.finish()

        key = (id(self._device), "random", what, dtype, tile[0])
        constants = [Const(self._key, _U64), Const(self._counter, _U64), *extra]
        program = _exec.PROGRAMS.get(key)
        if program is None:
            scalars = [c.dtype for c in constants]
            program = _exec.prepare(self._device, f"random_{what}", key, [dtype], 1, scalars, build)
        _exec.launch(program, -(-count // tile[0]), ((address, (count,), (1,)),), constants)
        _trace.end(start, "random")


def _scaled(x: ndarray, factor: float, offset: float) -> ndarray:
    return FUNCTIONS["add"](FUNCTIONS["multiply"](x, factor), offset)


def _value(philox: _Philox, what: str, dtype: _np.dtype[Any], words: list[Any], extra: list[Any]) -> Any:
    if what == "integers":
        wide = [philox.b.cast(w, dtype_code(_U64), _WRAP) for w in words[:2]]
        joined = philox.op("bitor", wide[0], philox.op("shl", wide[1], philox.c.full(32, _U64)))
        return philox.op("mulhi", joined, philox.b.broadcast(extra[0], philox.c.shape))
    if dtype == _F32:
        units = [philox.unit32(w) for w in words[:2]]
    else:
        units = [philox.unit64(words[0], words[1]), philox.unit64(words[2], words[3])]
    return units[0] if what == "uniform" else philox.normal(units[0], units[1], dtype)


def default_rng(seed: int | None = None, *, device: Any = None) -> Generator:
    """A generator on a device (the current one for None). Equal seeds give equal numbers on every device.

    Raises TypeError for a seed that is not an integer, ValueError for a negative one.
    """
    if seed is None:
        seed = secrets.randbits(64)
    if isinstance(seed, bool) or not hasattr(seed, "__index__"):
        raise TypeError(f"seed: got {type(seed).__name__}; accepted are integers and None")
    if int(seed) < 0:
        raise ValueError(f"seed: got {seed}; expected a non-negative integer")
    return Generator(int(seed), as_device(device))
