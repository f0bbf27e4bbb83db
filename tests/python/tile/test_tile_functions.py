"""Functions in kernels: helpers, inner functions, lambdas, closures, defaults; and what of them is captured."""

# ruff: noqa: PLW0108
from __future__ import annotations

import functools
import math
import operator
from types import SimpleNamespace
from typing import Any

import numpy as np

import epitaxy.tile as ct

SCALE = 3
TABLE = (1, 10, 100)
SETTINGS = SimpleNamespace(offset=5)
CHOICES = {"fast": 2, "slow": 7}


def helper(t: Any, by: int = 2, *, add: int = 0) -> Any:
    """Doubles unless told otherwise."""
    return t * by + add


@ct.function
def marked(t: Any) -> Any:
    return t + 1


def scalar(run: Any, body: Any) -> float:
    """The number that `body(x)` gives in a kernel, for x = 4."""

    @ct.kernel
    def kernel(out: Any, x: int) -> None:
        ct.store(out, (0,), body(x))

    out = np.zeros(1, np.float64)
    run(kernel, (1,), out, 4)
    return float(out[0])


def test_helper_with_defaults_and_keywords(run: Any) -> None:
    assert scalar(run, lambda x: helper(x)) == 8
    assert scalar(run, lambda x: helper(x, 3)) == 12
    assert scalar(run, lambda x: helper(by=5, t=x, add=1)) == 21
    assert scalar(run, lambda x: helper(*(x, 4))) == 16


def test_marked_function_is_for_kernels(run: Any) -> None:
    assert scalar(run, lambda x: marked(x)) == 5


def test_inner_functions_see_the_variables_as_they_are_when_called(run: Any) -> None:
    def body(x: Any) -> Any:
        y = 1

        def inner(z: Any) -> Any:
            return z * y + x

        first = inner(10)
        y = 2
        return first * 1000 + inner(10)

    assert scalar(run, body) == 14 * 1000 + 24


def test_inner_function_with_its_own_control_flow(run: Any) -> None:
    def body(x: Any) -> Any:
        def collatz(n: Any) -> Any:
            steps = 0
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                steps += 1
            return steps

        return collatz(x + 3) * 100 + collatz(x)

    assert scalar(run, body) == 16 * 100 + 2


def test_function_values_are_passed_and_returned(run: Any) -> None:
    def adder(n: int) -> Any:
        return lambda t: t + n

    def body(x: Any) -> Any:
        twice = lambda f, t: f(f(t))  # noqa: E731
        return twice(adder(10), x)

    assert scalar(run, body) == 24


def test_partial_and_operator_functions(run: Any) -> None:
    add_five = functools.partial(helper, by=1, add=5)
    assert scalar(run, lambda x: add_five(x)) == 9
    assert scalar(run, lambda x: operator.mul(x, operator.sub(10, x))) == 24


def test_constants_are_computed_by_python(run: Any) -> None:
    got = scalar(run, lambda x: x + math.factorial(5) + len("four") + TABLE[2] + sum(TABLE) + int(3.9))
    assert got == 4 + 120 + 4 + 100 + 111 + 3


def test_builtins_on_tiles(run: Any) -> None:
    assert scalar(run, lambda x: abs(-x) + min(x, 3) + max(x, 9, 2) + pow(x, 2) + divmod(x, 3)[1]) == 4 + 3 + 9 + 16 + 1
    assert scalar(run, lambda x: float(x) / 8 + int(x * 1.5) + bool(x)) == 0.5 + 6 + 1
    assert scalar(run, lambda x: sum([x * k for k in range(4) if k != 2]) + sum((x, x))) == 4 * 4 + 8


def test_comprehensions_enumerate_and_zip(run: Any) -> None:
    def body(x: Any) -> Any:
        total = 0
        for i, (a, b) in enumerate(zip(TABLE, [x, x + 1, x + 2], strict=True)):
            total += a * b * (i + 1)
        return total

    assert scalar(run, body) == 4 + 100 + 1800


def test_star_unpacking(run: Any) -> None:
    def body(x: Any) -> Any:
        first, *middle, last = (x, 2, 3, 4)
        return first * 1000 + len(middle) * 100 + middle[1] * 10 + last

    assert scalar(run, body) == 4234


def test_static_loops_and_conditions(run: Any) -> None:
    def body(x: Any) -> Any:
        parts = ()
        for i in ct.static_iter(range(4)):
            parts += (x + i,)
        total = 0
        for i in ct.static_range(4):
            total += parts[i] * TABLE[i % 3]
        return ct.static_eval(total if len(parts) == 4 else 0)

    assert scalar(run, body) == 4 + 50 + 600 + 7


def test_assert_statement_and_annotations(run: Any) -> None:
    def body(x: Any) -> Any:
        y: Any = x + 1
        assert y > 0, "positive"
        assert True
        return y

    assert scalar(run, body) == 5


def test_kernel_defaults_are_honoured(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any, x: int, y: int = 2, z: ct.Constant[int] = 3) -> None:
        ct.store(out, (0,), x * 100 + y * 10 + z)

    out = np.zeros(1, np.int32)
    run(kernel, (1,), out, 1)
    assert out[0] == 123
    run(kernel, (1,), out, 1, 5, 7)
    assert out[0] == 157


# -- stale kernels -------------------------------------------------------------------------------------------------
def test_changed_global_recompiles(run: Any, monkeypatch: Any) -> None:
    @ct.kernel
    def kernel(out: Any) -> None:
        ct.store(out, (0,), ct.bid(0) + SCALE)

    out = np.zeros(1, np.int32)
    for value in (3, 8, 3):
        monkeypatch.setitem(globals(), "SCALE", value)
        run(kernel, (1,), out)
        assert out[0] == value


def test_changed_closure_variable_recompiles(run: Any) -> None:
    factor = 2

    @ct.kernel
    def kernel(out: Any) -> None:
        ct.store(out, (0,), (ct.bid(0) + 5) * factor)

    out = np.zeros(1, np.int32)
    run(kernel, (1,), out)
    assert out[0] == 10
    factor = 9
    run(kernel, (1,), out)
    assert out[0] == 45


def test_changed_helper_recompiles(run: Any, monkeypatch: Any) -> None:
    @ct.kernel
    def kernel(out: Any) -> None:
        ct.store(out, (0,), helper(ct.bid(0) + 5))

    out = np.zeros(1, np.int32)
    run(kernel, (1,), out)
    assert out[0] == 10
    monkeypatch.setitem(globals(), "helper", lambda t: t - 1)
    run(kernel, (1,), out)
    assert out[0] == 4


def test_changed_code_or_default_of_a_helper_recompiles(run: Any) -> None:
    def local_helper(t: Any, by: int = 2) -> Any:
        return t * by

    def other(t: Any, by: int = 2) -> Any:
        return t + by

    @ct.kernel
    def kernel(out: Any) -> None:
        ct.store(out, (0,), local_helper(ct.bid(0) + 5))

    out = np.zeros(1, np.int32)
    run(kernel, (1,), out)
    assert out[0] == 10
    local_helper.__defaults__ = (7,)
    run(kernel, (1,), out)
    assert out[0] == 35
    local_helper.__code__ = other.__code__
    run(kernel, (1,), out)
    assert out[0] == 12


def test_changed_attribute_item_or_list_recompiles(run: Any) -> None:
    weights = [1, 2]

    @ct.kernel
    def kernel(out: Any) -> None:
        ct.store(out, (0,), ct.bid(0) + SETTINGS.offset + CHOICES["fast"] * 100 + sum(weights) * 1000)

    out = np.zeros(1, np.int32)
    run(kernel, (1,), out)
    assert out[0] == 3205
    try:
        SETTINGS.offset, CHOICES["fast"] = 6, 3
        weights.append(4)
        run(kernel, (1,), out)
        assert out[0] == 7306
    finally:
        SETTINGS.offset, CHOICES["fast"] = 5, 2


def test_equal_values_do_not_recompile() -> None:
    numbers = SimpleNamespace(n=1000)

    @ct.kernel
    def kernel(out: Any) -> None:
        ct.store(out, (0,), ct.bid(0) + numbers.n)

    out = np.zeros(1, np.int32)
    ct.launch(None, (1,), kernel, (out,))
    from epitaxy import _engine

    before = _engine.jit_statistics()
    numbers.n = int("1000")  # another object of the same value
    ct.launch(None, (1,), kernel, (out,))
    after = _engine.jit_statistics()
    assert (before["compiled"], before["disk_hits"]) == (after["compiled"], after["disk_hits"])
    assert out[0] == 1000
