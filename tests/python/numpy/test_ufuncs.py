"""Every elementwise function on every dtype against NumPy: result dtypes, special values, integer corner cases."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epitaxy.numpy as ep
from epitaxy.numpy._emit import REAL_ONLY
from epitaxy.numpy._ufunc import BINARY_NAMES, UNARY_NAMES

sys.path.insert(0, str(Path(__file__).parent))
from cases import BFLOAT16, COMPLEXES, DTYPES, FLOATS, INTEGERS, Array, assert_close, assert_same, corners, random

ULPS = {"expm1": 3, "tan": 3, "arctan": 3, "arctan2": 3}  # docs/design/math.md has the bounds; the others' is 2
MATH = set(
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
    "arctan2 hypot power".split()
)


def wider(x: Array) -> Array:
    """Enough precision to judge the last bit; integers as the function sees them."""
    if x.dtype.kind in "biu":
        x = x.astype(np.exp(np.ones(1, x.dtype)).dtype)
    return x.astype(np.longdouble if x.dtype.itemsize == 8 else np.float64)


def reference(name: str, args: tuple[Array, ...]) -> Array | type[Exception]:
    """NumPy's answer or the class of its error; where ours differs on purpose (docs/design/semantics.md), that."""
    zero_signs = {"maximum": np.logical_and, "fmax": np.logical_and, "minimum": np.logical_or, "fmin": np.logical_or}
    with np.errstate(all="ignore"):
        try:
            out = getattr(np, name)(*args)
        except (TypeError, ValueError) as error:
            return type(error)
        if name in zero_signs and out.dtype not in COMPLEXES and out.dtype.kind not in "biu":
            negative = zero_signs[name](*(np.signbit(a) for a in args))  # min-max-zero: -0.0 is below 0.0
            both = (args[0] == 0) & (args[1] == 0)
            return np.where(both, np.where(negative, -0.0, 0.0).astype(out.dtype), out)
        if name == "nextafter" and args[0].dtype.name == "float16":
            return np.where((args[0] == 0) & (args[1] == 0), args[1], out)  # NumPy's differs from C's here only
        if name == "sign" and args[0].dtype == BFLOAT16:
            return np.where(args[0] == 0, np.zeros(1, BFLOAT16), out)
        if name == "reciprocal" and out.dtype.kind in "iu":
            return np.where(args[0] == 0, np.zeros(1, out.dtype), out)  # int-div-zero
        if name in ("multiply", "square") and out.dtype.kind == "c":
            return complex_product(args[0], args[-1])
        return out  # type: ignore[no-any-return]


def complex_product(x: Array, y: Array) -> Array:
    """Four products and two sums, each rounded (NumPy's vector loops fuse some)."""
    x, y = np.broadcast_arrays(x, y)
    out = np.empty(x.shape, x.dtype)
    out.real = x.real * y.real - x.imag * y.imag
    out.imag = x.real * y.imag + x.imag * y.real
    return out


def check(name: str, args: tuple[Array, ...]) -> None:
    """Ours on the same arguments is NumPy's, bit for bit or within the bound of the math page."""
    wanted = reference(name, args)
    if isinstance(wanted, type):
        with pytest.raises(wanted):
            getattr(ep, name)(*(ep.array(a) for a in args)).numpy()
        return
    got = getattr(ep, name)(*(ep.array(a) for a in args))
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    if name in MATH and wanted.dtype.kind not in "biu":
        with np.errstate(all="ignore"):
            assert_close(got, getattr(np, name)(*(wider(a) for a in args)), ULPS.get(name, 2))
    elif name == "absolute" and args[0].dtype.kind == "c":
        with np.errstate(all="ignore"):
            assert_close(got, np.abs(args[0].astype(np.clongdouble)), 2)
    elif name == "logaddexp":
        check_logaddexp(got, args)
    else:
        assert_same(got, wanted)


def check_logaddexp(got: Any, args: tuple[Array, ...]) -> None:
    """Its bound is in units of the largest of result and operands."""
    with np.errstate(all="ignore"):
        wanted = np.logaddexp(*(wider(a) for a in args))
        scale = np.maximum(np.abs(wanted), np.maximum(*(np.abs(wider(a)) for a in args)))
        eps = float(np.exp2(-{"bfloat16": 7, "float16": 10, "float32": 23, "float64": 52}[got.dtype.name]))
        wide = got.numpy().astype(wanted.dtype)
        wrong = np.isfinite(scale) & np.isfinite(wide) & (np.abs(wide - wanted) > 4 * eps * scale + 1e-45)
        wrong |= np.isnan(wide) != np.isnan(wanted)
    assert not wrong.any()


def takes(name: str, dtype: np.dtype[Any]) -> bool:
    """Whether the pair is offered; the rest of complex is in test_complex_functions_that_are_not_offered."""
    return not (dtype.kind == "c" and name in REAL_ONLY)


UNARY = [(n, d) for n in UNARY_NAMES for d in DTYPES if takes(n, d)]
BINARY = [(n, d) for n in BINARY_NAMES for d in DTYPES if takes(n, d)]


@pytest.mark.parametrize(("name", "dtype"), UNARY)
def test_unary_function_at_corners(name: str, dtype: np.dtype[Any]) -> None:
    check(name, (corners(dtype),))


@pytest.mark.parametrize(("name", "dtype"), BINARY)
def test_binary_function_at_pairs_of_corners(name: str, dtype: np.dtype[Any]) -> None:
    values = corners(dtype)
    if name == "power" and dtype.kind == "i":
        check(name, (values[:, None], np.arange(0, 41, 5, dtype=dtype)))  # int-pow-negative is our own
    else:
        check(name, (values[:, None], values[None, :]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "maximum", "not_equal"])
def test_binary_function_on_random_numbers(name: str, dtype: np.dtype[Any], rng: np.random.Generator) -> None:
    if takes(name, dtype):
        check(name, (random(rng, dtype, 1003), random(rng, dtype, 1003)))


@pytest.mark.parametrize("name", sorted(REAL_ONLY - {"erf"}))
@pytest.mark.parametrize("dtype", COMPLEXES)
def test_complex_functions_that_are_not_offered(name: str, dtype: np.dtype[Any]) -> None:
    x = ep.array(np.ones(3, dtype))
    with pytest.raises((NotImplementedError, TypeError)):
        getattr(ep, name)(*[x] * (1 if name in UNARY_NAMES else 2))


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", DTYPES)
def test_mixed_dtypes_promote_as_in_numpy(left: np.dtype[Any], right: np.dtype[Any]) -> None:
    x, y = np.ones(3, left), np.ones(3, right)
    for name in ("add", "divide", "less_equal", "bitwise_and", "left_shift"):
        if name == "less_equal" and "c" in (left.kind, right.kind):
            continue
        try:
            wanted = getattr(np, name)(x, y).dtype
        except TypeError:
            with pytest.raises(TypeError):
                getattr(ep, name)(ep.array(x), ep.array(y))
            continue
        assert getattr(ep, name)(ep.array(x), ep.array(y)).dtype == wanted


SCALARS = [
    True,
    3,
    2.5,
    1 + 2j,
    np.int8(3),
    np.uint8(200),
    np.float32(0.1),
    np.float64(0.1),
    np.complex64(1j),
    np.bool_(True),
]


@pytest.mark.parametrize("scalar", SCALARS, ids=[f"{type(s).__name__}-{s}" for s in SCALARS])
@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != BFLOAT16])
def test_scalars_promote_as_in_numpy(dtype: np.dtype[Any], scalar: Any) -> None:
    x = np.arange(4).astype(dtype)
    for ours, theirs in (
        (lambda: ep.array(x) + scalar, lambda: x + scalar),
        (lambda: scalar * ep.array(x), lambda: scalar * x),
        (lambda: ep.array(x) == scalar, lambda: x == scalar),
    ):
        assert_same(ours(), np.asarray(theirs()))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_python_integer_that_does_not_fit_is_refused(dtype: np.dtype[Any]) -> None:
    x = ep.zeros(3, dtype)
    with pytest.raises(OverflowError):
        x + (int(np.iinfo(dtype).max) + 1)
    with pytest.raises(OverflowError):
        x * (int(np.iinfo(dtype).min) - 1)


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons_of_integers_are_exact_whatever_their_types(name: str) -> None:
    unsigned = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    for dtype in ("int8", "int64"):
        signed = np.array([-1, 0, 1, np.iinfo(dtype).max], dtype)
        for x, y in ((unsigned, signed), (signed, unsigned)):
            check(name, (x[:, None], y[None, :]))
    for number in (-1, 300, 2**70, -(2**70), 0):
        x = np.arange(5, dtype=np.uint8)
        assert_same(getattr(ep, name)(ep.array(x), number), getattr(np, name)(x, number))
        assert_same(getattr(ep, name)(number, ep.array(x)), getattr(np, name)(number, x))


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_casts_are_numpys(source: np.dtype[Any], target: np.dtype[Any]) -> None:
    values = corners(source)
    if source.kind not in "biu" and target.kind in "iu":
        finite = (
            np.abs(np.where(np.isfinite(values.real), values.real, 0).astype(np.float64)) < np.iinfo(target).max / 2
        )
        finite &= ~(values.real < 0) if target.kind == "u" else True
        values = values[finite & ~np.isnan(values)]  # beyond: test_semantics.py
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of discarded imaginary parts
        wanted = values.astype(target)
    assert_same(ep.array(values).astype(target), wanted)


@pytest.mark.parametrize("dtype", FLOATS)
def test_in_place_operators(dtype: np.dtype[Any]) -> None:
    x = np.arange(1, 7).astype(dtype)
    y = ep.array(x)
    for a in (x, y):
        alias = a
        alias += 1
        alias *= 2
        alias -= alias / 4
        alias /= 3
        assert alias is a
    assert_same(y, x)


def test_out_takes_the_result_and_is_given_back() -> None:
    x, out = ep.arange(5), ep.zeros(5)
    assert ep.multiply(x, 2, out=out) is out
    assert out.tolist() == [0.0, 2.0, 4.0, 6.0, 8.0]


def test_out_of_another_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="non-broadcastable"):
        ep.add(ep.arange(5), 1, out=ep.zeros(4))


def test_out_of_a_lesser_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="same_kind"):
        ep.add(ep.arange(5), 0.5, out=ep.zeros(5, "int64"))


def test_where_selects_and_broadcasts() -> None:
    mask, x = np.array([[True], [False]]), np.arange(3.0)
    assert_same(ep.where(ep.array(mask), ep.array(x), -1), np.where(mask, x, -1))


def test_clip_with_nan_limits_is_nan() -> None:
    assert_same(ep.clip(ep.array([1.0, 5.0]), np.nan, 3.0), np.array([np.nan, np.nan]))
    assert_same(ep.clip(ep.array([1.0, 5.0]), 4.0, 2.0), np.array([2.0, 2.0]))


def test_rounding_to_decimals() -> None:
    x = np.array([2.5, 0.5, 1.25, -1.35, 123.456, np.nan, np.inf])
    for decimals in (0, 1, 2, -1):
        assert_same(ep.round(ep.array(x), decimals), np.round(x, decimals))
    assert_same(ep.round(ep.array([15, 25])), np.array([15, 25]))


@pytest.mark.parametrize("dtype", COMPLEXES)
def test_parts_of_complex_numbers(dtype: np.dtype[Any]) -> None:
    x = corners(dtype)
    assert_same(ep.array(x).real, x.real.copy())
    assert_same(ep.array(x).imag, x.imag.copy())
    assert_same(ep.array(x).conj(), x.conj())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floor_division_of_floats_is_numpys(dtype: str) -> None:
    x = np.array([-4.4, 5.6650004, 105.880005, 1.0, -0.0, 5.0, -5.0], dtype)
    for divisor in (0.1, -0.1, 2.0, np.inf, 0.0):
        with np.errstate(all="ignore"):
            assert_same(ep.array(x) // divisor, x // np.asarray(divisor, dtype))
            assert_same(ep.array(x) % divisor, x % np.asarray(divisor, dtype))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_selection_between_a_value_and_its_bits(dtype: str, rng: np.random.Generator) -> None:
    sign = np.iinfo(dtype).min
    x, y = (random(rng, np.dtype(dtype), 512) for _ in range(2))

    def formula(m: Any, a: Any, b: Any) -> Any:
        return m.where(a < 7, a, (a & sign) | ((b + b) & ~np.asarray(sign, dtype)))

    assert_same(formula(ep, ep.array(x), ep.array(y)), formula(np, x, y))


def test_hundreds_of_recorded_operations_stay_right() -> None:
    x = y = None
    x, y = ep.arange(10) * 1.0, np.arange(10) * 1.0
    for i in range(300):
        x, y = x * 0.5 + i, y * 0.5 + i
    assert_same(x, y)


def test_repeated_doubling_of_one_expression_does_not_explode() -> None:
    x = ep.ones(3)
    for _ in range(200):
        x = x + x * 0
    assert x.tolist() == [1.0, 1.0, 1.0]
