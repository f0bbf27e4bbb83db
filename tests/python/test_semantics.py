"""The table of docs/design/semantics.md, row by row: the IR's column on the interpreter and on the device under test,
epitaxy.numpy's column on the device. A row of the page without a check fails."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import epitaxy
import epitaxy.numpy as ep
from epitaxy import _engine as E

PAGE = Path(__file__).resolve().parents[2] / "docs/design/semantics.md"
CODES = {name: code for code, name, *_ in E.DTYPES}
INF, NAN = np.inf, np.nan
I64 = CODES["int64"]
Body = Callable[..., list[Any]]
Check = Callable[["Machine"], None]
IR: dict[str, list[Check]] = {}
NUMPY: dict[str, list[Check]] = {}


def array(values: Any, dtype: str) -> np.ndarray[Any, Any]:
    return np.atleast_1d(np.asarray(values)).astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


class Machine:
    """Runs a program of one tile: `body(builder, *views)` stores by itself."""

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, body: Body, *arrays: np.ndarray[Any, Any], grid: int = 1, ascending: bool = False) -> None:
        """Runs `body(builder, views)` on host arrays, which hold the results afterwards."""

        def build(specs: list[Any]) -> Any:
            b = E.Builder("semantics", specs, ascending)
            body(b, *b.args())
            return b.finish()

        names = [f"a{i}" for i in range(len(arrays))]
        arguments = E.extract_arguments(arrays, names)
        module = build(arguments.specs(names))
        if self.name == "interp":
            E.interpret(module, arguments, (grid, 1, 1))
            return
        device = E.device(self.name)
        queue = device.default_queue()
        buffers = [E.Buffer.allocate(a.nbytes, queue) for a in arrays]
        into, back = (3, 3) if device.kind == "cpu" else (0, 1)
        for a, m in zip(arrays, buffers, strict=True):
            queue.copy(m.address, a.ctypes.data, a.nbytes, into)
        views = [
            E.RawArg.view(m.address, CODES[a.dtype.name], list(a.shape), [s // a.itemsize for s in a.strides], False)
            for a, m in zip(arrays, buffers, strict=True)
        ]
        kernel = E.load_kernel(device, "semantics", module.print(), [], views, build)
        kernel.launch(queue, grid, 1, 1, views)
        for a, m in zip(arrays, buffers, strict=True):
            queue.copy(a.ctypes.data, m.address, a.nbytes, back)
        queue.synchronise()

    def apply(self, emit: Callable[..., Any], inputs: list[np.ndarray[Any, Any]], out: str) -> np.ndarray[Any, Any]:
        """`emit(builder, tiles)` of whole one-dimensional arrays."""
        n = inputs[0].size
        result = np.zeros(n, array(0, out).dtype)

        def body(b: Any, *views: Any) -> list[Any]:
            zero = index(b, 0)
            tiles = [b.load(v, [zero], [n], None, False) for v in views[:-1]]
            b.store(views[-1], [zero], emit(b, *tiles), False)
            return []

        self.run(body, *inputs, result)
        return result


def index(b: Any, value: int) -> Any:
    return b.constant(E.Scalar.of_int(I64, value))


def same(got: np.ndarray[Any, Any], wanted: Any, dtype: str) -> None:
    """Equal, signs of zeros too; NaN is NaN."""
    wanted = array(wanted, dtype)
    assert got.dtype == wanted.dtype
    if wanted.dtype.kind == "c":
        same(got.real.copy(), wanted.real.copy(), got.real.dtype.name)
        same(got.imag.copy(), wanted.imag.copy(), got.imag.dtype.name)
        return
    if wanted.dtype.kind in "biu":
        assert got.tolist() == wanted.tolist()
        return
    nan = np.isnan(wanted)
    assert np.isnan(got).tolist() == nan.tolist()
    assert got[~nan].tolist() == wanted[~nan].tolist()
    assert np.signbit(got[~nan]).tolist() == np.signbit(wanted[~nan]).tolist()


# -- rows as data --------------------------------------------------------------------------------------------------
def ir(row: str) -> Callable[[Check], Check]:
    return lambda f: IR.setdefault(row, []).append(f) or f


def numpy(row: str) -> Callable[[Check], Check]:
    return lambda f: NUMPY.setdefault(row, []).append(f) or f


def unary(row: str, kind: str, dtype: str, x: Any, wanted: Any, out: str = "", name: str | None = "") -> None:
    """A row of one operand; `name` is NumPy's function, the kind itself by default, None for none."""
    IR.setdefault(row, []).append(
        lambda m: same(
            m.apply(lambda b, t: b.unary(E.UNARY[kind], t, False), [array(x, dtype)], out or dtype),
            wanted,
            out or dtype,
        )
    )
    if name is not None:
        f = getattr(ep, name or kind)
        NUMPY.setdefault(row, []).append(lambda m: same(f(ep.array(array(x, dtype))).numpy(), wanted, out or dtype))


def binary(row: str, kind: str, dtype: str, x: Any, y: Any, wanted: Any, name: str | None = "") -> None:
    """A row of two operands."""
    x, y = (a.copy() for a in np.broadcast_arrays(array(x, dtype), array(y, dtype)))
    IR.setdefault(row, []).append(
        lambda m: same(m.apply(lambda b, s, t: b.binary(E.BINARY[kind], s, t, False), [x, y], dtype), wanted, dtype)
    )
    if name is not None:
        f = getattr(ep, name or kind)
        NUMPY.setdefault(row, []).append(lambda m: same(f(ep.array(x), ep.array(y)).numpy(), wanted, dtype))


def compare(row: str, kind: str, dtype: str, x: Any, y: Any, wanted: Any, name: str) -> None:
    """A comparison."""
    x, y = (a.copy() for a in np.broadcast_arrays(array(x, dtype), array(y, dtype)))
    IR.setdefault(row, []).append(
        lambda m: same(m.apply(lambda b, s, t: b.compare(E.COMPARE[kind], s, t), [x, y], "bool"), wanted, "bool")
    )
    NUMPY.setdefault(row, []).append(
        lambda m: same(getattr(ep, name)(ep.array(x), ep.array(y)).numpy(), wanted, "bool")
    )


def cast(row: str, source: str, x: Any, to: str, wrap: Any, saturate: Any = None) -> None:
    """A cast in both modes; NumPy's is wrap."""
    x = array(x, source)
    for mode, wanted in (("wrap", wrap), ("saturate", saturate)):
        if wanted is not None:
            IR.setdefault(row, []).append(
                lambda m, mode=mode, wanted=wanted: same(
                    m.apply(lambda b, t: b.cast(t, CODES[to], E.CAST[mode]), [x], to), wanted, to
                )
            )
    NUMPY.setdefault(row, []).append(lambda m: same(ep.array(x).astype(array(0, to).dtype).numpy(), wrap, to))


LEAST8, LEAST32, LEAST64 = -(2**7), -(2**31), -(2**63)
binary("int-overflow", "add", "int8", 127, 1, -128)
binary("int-overflow", "sub", "int8", -128, 1, 127, "subtract")
binary("int-overflow", "mul", "int32", 2**30, 4, 0, "multiply")
unary("int-overflow", "neg", "int8", LEAST8, LEAST8, name="negative")
unary("int-overflow", "abs", "int64", LEAST64, LEAST64)
binary("int-floordiv", "floordiv", "int32", [-7, 7, 7], [2, -2, 2], [-4, -4, 3], "floor_divide")
binary("int-floordiv", "truncdiv", "int32", [-7, 7], [2, -2], [-3, -3], None)
binary("int-mod", "mod", "int32", [-7, 7], [2, -2], [1, -1], "remainder")
binary("int-mod", "rem", "int32", [-7, 7], [2, -2], [-1, 1], "fmod")
for _dtype in ("int8", "uint8", "int32", "uint32", "int64", "uint64"):
    binary("int-div-zero", "floordiv", _dtype, [0, 1, 100], 0, [0, 0, 0], "floor_divide")
    binary("int-div-zero", "mod", _dtype, [0, 1, 100], 0, [0, 0, 0], "remainder")
    binary("int-div-zero", "truncdiv", _dtype, [0, 1, 100], 0, [0, 0, 0], None)
    binary("int-div-zero", "rem", _dtype, [0, 1, 100], 0, [0, 0, 0], "fmod")
for _dtype, _least in (("int8", LEAST8), ("int32", LEAST32), ("int64", LEAST64)):
    binary("int-div-overflow", "floordiv", _dtype, _least, -1, _least, "floor_divide")
    binary("int-div-overflow", "mod", _dtype, _least, -1, 0, "remainder")
    binary("int-div-overflow", "truncdiv", _dtype, _least, -1, _least, None)
    binary("int-div-overflow", "rem", _dtype, _least, -1, 0, "fmod")
binary("shift-wide", "shl", "int32", [1, -1], [32, 100], [0, 0], "left_shift")
binary("shift-wide", "shr", "int32", [1, -1], [32, 100], [0, -1], "right_shift")
binary("shift-wide", "shr", "uint8", [255], [8], [0], "right_shift")
binary("shift-wide", "shr", "int64", [1, -1], 64, [0, -1], "right_shift")
binary("shift-negative", "shl", "int32", [1, -1], -1, [0, 0], "left_shift")
binary("shift-negative", "shr", "int32", [1, -1], -1, [0, -1], "right_shift")
binary("shift-right", "shr", "int32", -5, 1, -3, "right_shift")
binary("shift-right", "shr", "uint32", 2**32 - 5, 1, 2**31 - 3, "right_shift")
binary("mulhi", "mulhi", "uint32", 2**31, 6, 3, None)
binary("mulhi", "mulhi", "int64", [2**62, LEAST64], [8, 2], [2, -1], None)
binary("mulhi", "mulhi", "uint64", 2**63, 6, 3, None)
binary(
    "int-pow",
    "pow",
    "int32",
    [3, 0],
    [40, 0],
    [3**40 % 2**32 - 2**32 if 3**40 % 2**32 >= 2**31 else 3**40 % 2**32, 1],
    "power",
)
binary("int-pow-negative", "pow", "int32", [5, 1, -1, -1, 0], [-1, -3, -1, -2, -1], [0, 1, -1, 1, 0], "power")
for _kind in ("floor", "ceil", "trunc", "rint"):
    unary("int-rounding", _kind, "int16", [-7, 0, 9], [-7, 0, 9], name=None if _kind == "rint" else "")
unary("int-isnan", "isnan", "int32", [0, 1], [False, False], "bool")
unary("int-isnan", "isinf", "int32", [0, 1], [False, False], "bool")
unary("int-isnan", "isfinite", "int32", [0, 1], [True, True], "bool")
unary("int-sign", "sign", "int8", [-128, 0, 5], [-1, 0, 1])
unary("int-sign", "sign", "uint8", [0, 200], [0, 1])
binary("bool-order", "minimum", "bool", [True, True], [False, True], [False, True])
binary("bool-order", "maximum", "bool", [True, False], [False, False], [True, False])
compare("bool-order", "lt", "bool", [False, True], [True, False], [True, False], "less")
unary("bool-not", "bitnot", "bool", [True, False], [False, True], name="invert")

binary("float-rounding", "add", "float16", 2048, 1, 2048)
binary("float-rounding", "mul", "bfloat16", 1.0078125, 1.0078125, 1.015625, "multiply")
binary("float-rounding", "div", "float32", 1, 3, np.float32(1) / np.float32(3), "divide")
unary("float-rounding", "sqrt", "float64", 2, np.sqrt(2.0))
for _dtype, _tiny in (("float32", 2.0**-149), ("float64", 2.0**-1074), ("float16", 2.0**-24)):
    binary("denormals", "add", _dtype, _tiny, _tiny, 2 * _tiny)
    binary("denormals", "mul", _dtype, 2 * _tiny, 0.5, _tiny, "multiply")
unary("float-neg", "neg", "float32", [0.0, -0.0, 1.0], [-0.0, 0.0, -1.0], name="negative")
binary("float-div-zero", "div", "float64", [1, -1, 0], 0.0, [INF, -INF, NAN], "divide")
binary("float-mod", "mod", "float64", [-7, 7, 5, -5], [2, -2, INF, INF], [1, -1, 5, INF], "remainder")
binary("float-mod", "rem", "float64", [-7, 7, 5, -5], [2, -2, INF, INF], [-1, 1, 5, -5], "fmod")
binary("float-mod-zero", "mod", "float32", [4, 4, 1, INF], [2, -2, 0, 2], [0.0, -0.0, NAN, NAN], "remainder")
binary("float-floordiv", "floordiv", "float64", [1, 5, -5], [0.1, INF, INF], [9, 0, -1], "floor_divide")
binary("float-floordiv-zero", "floordiv", "float64", [5, 0, -0.0], [0, 0, 2], [INF, NAN, -0.0], "floor_divide")
unary("rint", "rint", "float32", [0.5, 1.5, -0.5, 2.5], [0.0, 2.0, -0.0, 2.0])
unary("sign-zero", "sign", "float64", [-0.0, NAN, -3], [0.0, NAN, -1])
unary("signbit", "signbit", "float64", [-0.0, 0.0, -1], [True, False, True], "bool")
for _kind in ("minimum", "maximum"):
    binary("min-max-nan", _kind, "float32", [NAN, 1, NAN], [1, NAN, NAN], [NAN] * 3)
for _kind in ("fmin", "fmax"):
    binary("fmin-fmax-nan", _kind, "float32", [NAN, 1, NAN], [1, NAN, NAN], [1, 1, NAN])
for _kind, _zero in (("minimum", -0.0), ("fmin", -0.0), ("maximum", 0.0), ("fmax", 0.0)):
    binary("min-max-zero", _kind, "float64", [0.0, -0.0], [-0.0, 0.0], [_zero, _zero])
for _kind, _name, _truth in (
    ("eq", "equal", False),
    ("lt", "less", False),
    ("ge", "greater_equal", False),
    ("ne", "not_equal", True),
):
    compare("compare-nan", _kind, "float32", [NAN, 1, NAN], [1, NAN, NAN], [_truth] * 3, _name)
compare("compare-zero", "eq", "float32", 0.0, -0.0, True, "equal")
binary("pow", "pow", "float64", [0, 1, -8, 0], [0, NAN, 1 / 3, -1], [1, 1, NAN, INF], "power")
unary("math-domain", "sqrt", "float64", -1, NAN)
unary("math-domain", "log", "float64", [-1, 0], [NAN, -INF])
binary("copysign", "copysign", "float64", [3, -3], [-1, 0.0], [-3, 3])
binary("nextafter", "nextafter", "float64", [0, 0.0], [1, -0.0], [5e-324, -0.0])
binary("logaddexp", "logaddexp", "float64", [-INF, INF], [-INF, -INF], [-INF, INF])
unary("complex-abs", "abs", "complex64", [3 + 4j, complex(INF, NAN), complex(NAN, -INF)], [5, INF, INF], "float32")
unary("complex-isnan", "isnan", "complex64", [1, complex(0, NAN), complex(NAN, 0)], [False, True, True], "bool")
binary(
    "complex-mul", "mul", "complex128", [1 + 2j, complex(INF, 0)], [3 - 1j, 1j], [5 + 5j, complex(NAN, INF)], "multiply"
)
binary("complex-div", "div", "complex128", [5 + 5j, 1e300 + 1e300j], [2 - 2j, 1e300 + 1e300j], [2.5j, 1], "divide")

cast("cast-int", "int32", 300, "uint8", 44, 255)
cast("cast-int", "int32", -1, "uint64", 2**64 - 1, 0)
cast("cast-float-trunc", "float32", [2.9, -2.9], "int32", [2, -2], [2, -2])
cast("cast-float-narrow", "float32", [300.0, 255.9], "uint8", [44, 255], [255, 255])
cast("cast-float-narrow", "float32", 300.0, "int8", 44, 127)
cast("cast-float-int32", "float32", [3e9, INF, NAN], "int32", [LEAST32] * 3, [2**31 - 1, 2**31 - 1, 0])
cast("cast-float-beyond-int32", "float32", [3e9, INF, NAN], "int8", [0, 0, 0], [127, 127, 0])
cast("cast-float-beyond-int32", "float64", [3e9, INF, NAN], "uint16", [0, 0, 0], [65535, 65535, 0])
cast("cast-float-int64", "float64", [1e19, NAN], "int64", [LEAST64] * 2, [2**63 - 1, 0])
cast(
    "cast-float-uint32",
    "float64",
    [-1.0, 3e9, 2.0**32 + 300, NAN],
    "uint32",
    [2**32 - 1, 3 * 10**9, 300, 0],
    [0, 3 * 10**9, 2**32 - 1, 0],
)
cast(
    "cast-float-uint64", "float64", [-1.0, 1e19, 1e30, NAN], "uint64",
    np.array([2**64 - 1, 10**19, 0, 2**63], np.uint64), np.array([0, 10**19, 2**64 - 1, 0], np.uint64),
)  # fmt: skip
cast("cast-to-bool", "float32", [0.5, NAN, -0.0], "bool", [True, True, False])
cast("cast-to-bool", "int32", 256, "bool", True)
cast("cast-from-bool", "bool", True, "float32", 1.0)
cast("cast-int-float", "int32", 2**24 + 1, "float32", 2.0**24)
cast("cast-int-float", "int32", 65520, "float16", INF)
cast(
    "cast-float-float",
    "float64",
    [1 + 2.0**-11 + 2.0**-40, 1e-7],
    "float16",
    [np.float16(1 + 2.0**-10), np.float16(1e-7)],
)
cast("cast-float-float", "float64", 1 + 2.0**-8 + 2.0**-40, "bfloat16", 1 + 2.0**-7)
cast("cast-complex-real", "complex64", [3 + 4j, 0], "float32", [3, 0])
cast("cast-complex-real", "complex64", [1j, 0], "bool", [True, False])


# -- rows of their own ---------------------------------------------------------------------------------------------
def refused(row: str, emit: Callable[[Any, Any], Any], dtype: str) -> None:
    """The builder refuses the op for the dtype."""

    def check(m: Machine) -> None:
        with pytest.raises(epitaxy.CompileError):
            m.apply(emit, [array([1], dtype)], dtype)

    IR.setdefault(row, []).append(check)


refused("int-true-div", lambda b, t: b.binary(E.BINARY["div"], t, t, False), "int32")
refused("bool-arithmetic", lambda b, t: b.binary(E.BINARY["add"], t, t, False), "bool")
refused("bool-neg", lambda b, t: b.unary(E.UNARY["neg"], t, False), "bool")
refused("bool-sum", lambda b, t: b.binary(E.BINARY["add"], t, t, False), "bool")
refused("complex-order", lambda b, t: b.compare(E.COMPARE["lt"], t, t), "complex64")
refused("complex-order", lambda b, t: b.binary(E.BINARY["minimum"], t, t, False), "complex64")
refused("bitcast", lambda b, t: b.bitcast(t, CODES["uint8"]), "bool")


@numpy("int-true-div")
def _(m: Machine) -> None:
    same((ep.array([1, 3]) / 2).numpy(), [0.5, 1.5], "float64")


@numpy("bool-arithmetic")
def _(m: Machine) -> None:
    x, y = ep.array([True, True, False]), ep.array([True, False, False])
    same((x + y).numpy(), [True, True, False], "bool")
    same((x * y).numpy(), [True, False, False], "bool")
    with pytest.raises(TypeError):
        x - y


@numpy("bool-neg")
def _(m: Machine) -> None:
    with pytest.raises(TypeError):
        -ep.array([True])


@numpy("bool-sum")
@numpy("sum-dtype")
def _(m: Machine) -> None:
    wanted = {"bool": "int64", "int8": "int64", "uint8": "uint64", "float16": "float16"}
    assert {d: ep.ones(3, d).sum().dtype.name for d in wanted} == wanted


@numpy("complex-order")
def _(m: Machine) -> None:
    x = ep.array([1j, 2j])
    for f in (lambda: x < x, lambda: ep.minimum(x, x), lambda: ep.argmax(x)):
        with pytest.raises((TypeError, NotImplementedError)):
            f()


@ir("no-contraction")
def _(m: Machine) -> None:
    x, y = array([1 + 2.0**-12], "float32"), array([-(1 + 2.0**-11)], "float32")
    two = m.apply(
        lambda b, s, t: b.binary(E.BINARY["add"], b.binary(E.BINARY["mul"], s, s, False), t, False), [x, y], "float32"
    )
    assert two[0] == 0.0
    assert m.apply(lambda b, s, t: b.fma(s, s, t), [x, y], "float32")[0] == 2.0**-24


@numpy("no-contraction")
def _(m: Machine) -> None:
    x, y = ep.array(array([1 + 2.0**-12], "float32")), ep.array(array([-(1 + 2.0**-11)], "float32"))
    assert float((x * x + y)[0]) == 0.0


@ir("nan-payload")
def _(m: Machine) -> None:
    bits = np.array([0x7FC12345, 0xFFC00001], np.uint32)
    x = bits.view(np.float32)
    for kind, wanted in (("neg", bits ^ 0x80000000), ("abs", bits & 0x7FFFFFFF)):
        got = m.apply(lambda b, t, kind=kind: b.unary(E.UNARY[kind], t, False), [x], "float32")
        assert got.view(np.uint32).tolist() == wanted.tolist()
    assert np.isnan(m.apply(lambda b, t: b.binary(E.BINARY["add"], t, t, False), [x], "float32")).all()


@numpy("nan-payload")
def _(m: Machine) -> None:
    bits = np.array([0x7FC12345, 0xFFC00001], np.uint32)
    assert (-ep.array(bits.view(np.float32))).numpy().view(np.uint32).tolist() == (bits ^ 0x80000000).tolist()


@ir("copysign")
def _(m: Machine) -> None:
    got = m.apply(
        lambda b, s, t: b.binary(E.BINARY["copysign"], s, t, False),
        [array([NAN], "float32"), array([-1], "float32")],
        "float32",
    )
    assert got.view(np.uint32)[0] == 0xFFC00000


@ir("math-bits")
@numpy("math-bits")
def _(m: Machine) -> None:
    x = np.linspace(-20, 20, 257, dtype=np.float32)
    for kind in ("exp", "sin", "tanh", "expm1"):
        oracle = Machine("interp").apply(lambda b, t, kind=kind: b.unary(E.UNARY[kind], t, False), [x], "float32")
        got = m.apply(lambda b, t, kind=kind: b.unary(E.UNARY[kind], t, False), [x], "float32")
        assert got.tobytes() == oracle.tobytes()
        assert getattr(ep, kind)(ep.array(x)).numpy().tobytes() == oracle.tobytes()


@ir("bitcast")
def _(m: Machine) -> None:
    same(
        m.apply(lambda b, t: b.bitcast(t, CODES["uint32"]), [array([1.0, -0.0], "float32")], "uint32"),
        [0x3F800000, 0x80000000],
        "uint32",
    )


def fold(m: Machine, kind: str, x: np.ndarray[Any, Any], lanes: int = 128) -> Any:
    """One tile folded to a scalar, stored as one element. Absent lanes would be the device's choice."""
    out = np.zeros(1, x.dtype)

    def body(b: Any, source: Any, target: Any) -> list[Any]:
        tile = b.load(source, [index(b, 0)], [x.size], None, False)
        (total,) = b.reduce(E.COMBINE[kind], [tile], 0, lanes, None)
        b.store(target, [index(b, 0)], b.broadcast(total, [1]), False)
        return []

    m.run(body, x, out)
    return out[0]


@ir("fold-order")
def _(m: Machine) -> None:
    x = np.random.default_rng(1).standard_normal(1024).astype(np.float32)
    wide = x.reshape(-1, 128).copy()
    for step in wide[1:]:
        wide[0] += step  # lane l folds the elements l, l + 128, ...
    row = wide[0]
    while row.size > 1:
        row = row[: row.size // 2] + row[row.size // 2 :]
    assert fold(m, "add", x).tobytes() == row[0].tobytes()


@numpy("fold-order")
def _(m: Machine) -> None:
    x = ep.array(np.random.default_rng(1).standard_normal(100_003).astype(np.float32))
    assert len({x.sum().numpy().tobytes() for _ in range(4)}) == 1


@ir("fold-empty")
def _(m: Machine) -> None:
    x = np.array([NAN], np.float32)  # a tile all outside of its view is padding, and folds to it
    out = np.ones(1, np.float32)

    def body(b: Any, source: Any, target: Any) -> list[Any]:
        tile = b.load(source, [index(b, 1)], [8], None, False)
        (total,) = b.reduce(E.COMBINE["add"], [tile], 0, 0, None)
        b.store(target, [index(b, 0)], b.broadcast(total, [1]), False)
        return []

    m.run(body, x, out)
    assert out[0] == 0.0


@numpy("fold-empty")
def _(m: Machine) -> None:
    x = ep.zeros((0,))
    assert (float(x.sum()), float(x.prod()), bool(x.all()), bool(x.any())) == (0.0, 1.0, True, False)
    assert np.isnan(float(x.mean()))
    for name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError, match=r"no identity|empty"):
            getattr(ep, name)(x)


@ir("fold-nan")
def _(m: Machine) -> None:
    for kind in ("minimum", "maximum"):
        assert np.isnan(fold(m, kind, np.array([1, NAN, 3, -2], np.float32)))


@numpy("fold-nan")
def _(m: Machine) -> None:
    x = ep.array([1, NAN, 3])
    assert np.isnan([float(x.min()), float(x.max())]).all()


@ir("arg-ties")
@ir("arg-nan")
def _(m: Machine) -> None:
    """A region is its user's choice: here the greater value, of equal ones the greater index."""
    x, out = np.array([3, 7, 7, 1], np.int64), np.zeros(2, np.int64)

    def choose(b: Any, left: list[Any], right: list[Any]) -> list[Any]:
        greater, same = (b.compare(E.COMPARE[k], right[0], left[0]) for k in ("gt", "eq"))
        later = b.binary(E.BINARY["bitand"], same, b.compare(E.COMPARE["gt"], right[1], left[1]), False)
        take = b.binary(E.BINARY["bitor"], greater, later, False)
        return [b.select(take, r, x) for x, r in zip(left, right, strict=True)]

    def body(b: Any, source: Any, target: Any) -> list[Any]:
        tile = b.load(source, [index(b, 0)], [4], None, False)
        best = b.reduce(E.COMBINE["region"], [tile, b.iota(I64, [4], 0)], 0, 0, choose)
        for i, v in enumerate(best):
            b.store(target, [index(b, i)], b.broadcast(v, [1]), False)
        return []

    m.run(body, x, out)
    assert out.tolist() == [7, 2]


@numpy("arg-ties")
def _(m: Machine) -> None:
    assert (int(ep.argmax(ep.array([1, 9, 9]))), int(ep.argmin(ep.array([5, 2, 2])))) == (1, 1)


@numpy("arg-nan")
def _(m: Machine) -> None:
    x = ep.array([3, NAN, 1, NAN])
    assert (int(x.argmax()), int(x.argmin())) == (1, 1)


@ir("sum-dtype")
def _(m: Machine) -> None:
    assert fold(m, "add", np.full(4, 100, np.int8)) == np.int8(-112)


def scan(m: Machine, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return m.apply(lambda b, t: b.scan(E.COMBINE["add"], [t], 0, False, 4, None)[0], [x], x.dtype.name)


@ir("scan-order")
def _(m: Machine) -> None:
    x = np.random.default_rng(2).standard_normal(256).astype(np.float32)
    assert scan(m, x).tobytes() == scan(Machine("interp"), x).tobytes()
    assert scan(m, np.arange(64)).tolist() == np.cumsum(np.arange(64)).tolist()


@ir("load-outside")
def _(m: Machine) -> None:
    x, out = np.arange(1, 5, dtype=np.int32), np.full(16, 9, np.int32)

    def body(b: Any, source: Any, target: Any) -> list[Any]:
        b.store(target, [index(b, 0)], b.load(source, [index(b, 2)], [8], None, False), False)
        b.store(
            target, [index(b, 8)], b.load(source, [index(b, 2)], [8], E.Scalar.of_int(CODES["int32"], -5), False), False
        )
        return []

    m.run(body, x, out)
    assert out.tolist() == [3, 4, *[0] * 6, 3, 4, *[-5] * 6]


@ir("store-outside")
def _(m: Machine) -> None:
    out = np.zeros(8, np.int32)

    def body(b: Any, target: Any) -> list[Any]:
        part = b.slice(target, 0, index(b, 1), index(b, 4))
        b.store(part, [index(b, 0)], b.full(E.Scalar.of_int(CODES["int32"], 7), [8]), False)
        return []

    m.run(body, out)
    assert out.tolist() == [0, 7, 7, 7, 0, 0, 0, 0]


@ir("inbounds")
def _(m: Machine) -> None:
    """Undefined but in the checked interpreter, which says so."""
    x, out = np.arange(4, dtype=np.int32), np.zeros(8, np.int32)
    arguments = E.extract_arguments((x, out), ["x", "out"])
    b = E.Builder("inbounds", arguments.specs(["x", "out"]))
    source, target = b.args()
    b.store(target, [index(b, 0)], b.load(source, [index(b, 2)], [8], None, True), True)
    with pytest.raises(IndexError):
        E.interpret(b.finish(), arguments, (1, 1, 1), checked=True)


@ir("gather-outside")
def _(m: Machine) -> None:
    x, where = np.array([10, 11, 12], np.int32), np.array([2, -1, 3, 0], np.int64)
    got = m.apply(lambda b, t: t, [where], "int64")
    assert got.tolist() == where.tolist()
    out = np.zeros(4, np.int32)

    def body(b: Any, source: Any, indices: Any, target: Any) -> list[Any]:
        i = b.load(indices, [index(b, 0)], [4], None, False)
        b.store(target, [index(b, 0)], b.gather(source, [i], None, E.Scalar.of_int(CODES["int32"], -9), False), False)
        return []

    m.run(body, x, where, out)
    assert out.tolist() == [12, -9, -9, 10]


@numpy("gather-outside")
def _(m: Machine) -> None:
    assert int(ep.arange(3)[-1]) == 2
    with pytest.raises(IndexError):
        ep.arange(3)[3]


@ir("scatter-duplicate")
def _(m: Machine) -> None:
    values, where, out = np.array([5, 6, 7, 8], np.int32), np.array([1, 1, 0, 9], np.int64), np.zeros(3, np.int32)

    def body(b: Any, source: Any, indices: Any, target: Any) -> list[Any]:
        v, i = (b.load(s, [index(b, 0)], [4], None, False) for s in (source, indices))
        b.scatter(target, [i], v, None, False)
        return []

    m.run(body, values, where, out)
    assert out[0] == 7
    assert out[1] in (5, 6)
    assert out[2] == 0


@ir("atomic-old")
@ir("atomic-float")
def _(m: Machine) -> None:
    for dtype, value in (("int32", 3), ("float32", 0.5)):
        where, cells, out = np.array([0, 9], np.int64), array([10, 20], dtype), array([7, 7], dtype)

        def body(b: Any, indices: Any, target: Any, old: Any, dtype: str = dtype, value: Any = value) -> list[Any]:
            i = b.load(indices, [index(b, 0)], [2], None, False)
            scalar = (
                E.Scalar.of_int(CODES[dtype], value) if dtype == "int32" else E.Scalar.of_float(CODES[dtype], value)
            )
            got = b.atomic_rmw(
                E.ATOMIC["add"], target, [i], b.full(scalar, [2]), None, E.ORDER["relaxed"], E.SCOPE["device"]
            )
            b.store(old, [index(b, 0)], got, False)
            return []

        m.run(body, where, cells, out)
        assert (cells.tolist(), out.tolist()) == ([10 + value, 20], [10, 0])


@ir("cas-bits")
def _(m: Machine) -> None:
    where, cells, out = np.arange(2, dtype=np.int64), array([0.0, NAN], "float32"), array([1, 1], "float32")

    def body(b: Any, indices: Any, target: Any, old: Any) -> list[Any]:
        i = b.load(indices, [index(b, 0)], [2], None, False)
        expected = b.cat([b.full(E.Scalar.of_float(CODES["float32"], v), [1]) for v in (-0.0, NAN)], 0)
        desired = b.full(E.Scalar.of_float(CODES["float32"], 5.0), [2])
        got = b.atomic_cas(target, [i], expected, desired, None, E.ORDER["relaxed"], E.SCOPE["device"])
        b.store(old, [index(b, 0)], got, False)
        return []

    m.run(body, where, cells, out)
    assert cells.tolist() == [0.0, 5.0]  # -0.0 is not 0.0; NaN is the same NaN


@ir("program-order")
def _(m: Machine) -> None:
    out = np.zeros(4, np.int32)

    def body(b: Any, target: Any) -> list[Any]:
        one = b.full(E.Scalar.of_int(CODES["int32"], 1), [4])
        for _ in range(3):
            seen = b.load(target, [index(b, 0)], [4], None, False)
            b.store(
                b.slice(target, 0, index(b, 0), index(b, 3)),
                [index(b, 0)],
                b.binary(E.BINARY["add"], seen, one, False),
                False,
            )
        return []

    m.run(body, out)
    assert out.tolist() == [3, 3, 3, 0]


@ir("take-outside")
def _(m: Machine) -> None:
    where = np.array([1, -1, 4, 3], np.int32)
    got = m.apply(lambda b, s, t: b.take(s, t, 0), [array([10, 11, 12, 13], "int32"), where], "int32")
    assert got.tolist() == [11, 0, 0, 13]


@ir("rank-outside")
def _(m: Machine) -> None:
    got = m.apply(lambda b, t: b.rank(t, 4)[0], [np.array([3, 9, 0, -1, 3, 0], np.int32)], "int32")
    assert got.tolist() == [2, 4, 0, 5, 3, 1]


@numpy("bitcast")
@numpy("scan-order")
@numpy("scatter-duplicate")
def _(m: Machine) -> None:
    """Not offered yet: each says so."""
    x = ep.arange(3)
    with pytest.raises(AttributeError, match="cumsum"):
        ep.cumsum(x)
    with pytest.raises(AttributeError, match="view"):
        x.view("uint8")
    with pytest.raises(NotImplementedError, match="index"):
        x[[0, 0]] = [1, 2]


@ir("slice-clamp")
def _(m: Machine) -> None:
    out = np.zeros(3, np.int64)

    def body(b: Any, target: Any) -> list[Any]:
        for i, (start, stop) in enumerate(((-5, 2), (1, 99), (2, 1))):
            extent = b.dim(b.slice(target, 0, index(b, start), index(b, stop)), 0)
            b.store(target, [index(b, i)], b.broadcast(extent, [1]), False)
        return []

    m.run(body, out)
    assert out.tolist() == [2, 2, 0]


@numpy("slice-clamp")
def _(m: Machine) -> None:
    x = ep.arange(3)
    assert (x[-5:2].tolist(), x[1:99].tolist(), x[2:1].tolist()) == ([0, 1], [1, 2], [])


@ir("lookback-order")
def _(m: Machine) -> None:
    """Covered with its state's layout in the probes' tests; here: programs fold left to right whatever their timing."""
    words = 64
    state, out = np.zeros(words, np.uint64), np.zeros(8, np.int64)

    def body(b: Any, scratch: Any, target: Any) -> list[Any]:
        program = b.cast(b.program_id(0), I64, E.CAST["wrap"])
        aggregate = b.broadcast(program, [1])
        prefix = b.lookback(E.COMBINE["add"], scratch, [aggregate], [E.Scalar.of_int(I64, 0)], None)
        b.store(target, [program], prefix[0], False)
        return []

    m.run(body, state, out, grid=8, ascending=True)
    assert out.tolist() == [0, 0, 1, 3, 6, 10, 15, 21]


# -- the page ------------------------------------------------------------------------------------------------------
def rows() -> dict[str, list[str]]:
    """Row id -> its cells."""
    found = re.findall(r"^\| `([a-z0-9-]+)` \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.M)
    return {row: [c.strip() for c in re.split(r"(?<!\\)\|", cells)] for row, cells in found}


ROWS = rows()
NOTHING = {"-", "not reached", "not offered (its random generators use it)"}


@pytest.fixture(params=["interp", "device"])
def machine(request: pytest.FixtureRequest, device: str) -> Machine:
    """The interpreter, and the device that --device names."""
    name = "interp" if request.param == "interp" or device == "interp" else device
    return Machine("cuda:0" if name == "cuda" else name)


@pytest.mark.parametrize("row", ROWS)
def test_row_of_the_ir(row: str, machine: Machine) -> None:
    assert row in IR, "no check of the IR's column"
    for check in IR[row]:
        check(machine)


@pytest.mark.parametrize("row", [r for r, cells in ROWS.items() if cells[2] not in NOTHING])
def test_row_of_numpy(row: str, device: str) -> None:
    assert row in NUMPY, "no check of epitaxy.numpy's column"
    with epitaxy.device("cpu" if device == "interp" else device):
        for check in NUMPY[row]:
            check(Machine("cpu" if device == "interp" else device))


def test_checks_belong_to_rows() -> None:
    assert set(IR) | set(NUMPY) <= set(ROWS)
    assert len(ROWS) > 60
