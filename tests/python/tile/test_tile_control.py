"""Control flow: each function below runs in a kernel and in Python, and must give the same numbers."""

# ruff: noqa: SIM108, SIM201, B007
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import epitaxy.tile as ct

N = 24


def if_else(i: int, n: int) -> int:
    if i > n:
        x = i * 2
    elif i == n:
        x = -1
    else:
        x = i + 100
    return x


def if_without_else(i: int, n: int) -> int:
    x = i
    if i % 3 == 0:
        x = x + n
    return x


def nested_ifs(i: int, n: int) -> int:
    x = 0
    if i < 10:
        if i % 2 == 0:
            x = 1
            if i == n:
                x = 7
        else:
            x = 2
    else:
        x = 3
    return x


def early_return(i: int, n: int) -> int:
    if i < n:
        return i
    if i == n:
        return -7
    return i * i


def return_in_else(i: int, n: int) -> int:
    x = 5
    if i < n:
        x = 6
    else:
        return 1
    return x + i


def maybe_return_deep(i: int, n: int) -> int:
    x = 0
    if i > 2:
        if i % 2 == 0:
            if i > 12:
                return 99
            x = 1
        x = x + 10
    else:
        x = 5
    x = x * 2
    if i == 20:
        return x
    return x + n


def for_sum(i: int, n: int) -> int:
    total = 0
    for k in range(i):
        total = total + k * n
    return total


def for_with_bounds(i: int, n: int) -> int:
    total = 0
    for k in range(n, i + n, 3):
        total += k
    return total


def for_down(i: int, n: int) -> int:
    total = 0
    for k in range(i, -n, -2):
        total = total * 2 % 1000 + k
    return total


def for_runtime_step(i: int, n: int) -> int:
    total = 0
    step = i - 10
    if step == 0:
        step = 1
    for k in range(0, 40 - i * 4, step):
        total = total + k + 1
    return total


def for_constant_down(i: int, n: int) -> int:
    total = i
    for k in range(9, 0, -3):
        total = total * 3 + k
    return total


def for_continue(i: int, n: int) -> int:
    total = 0
    for k in range(i):
        if k % 2 == 0:
            continue
        t = k * n
        total = total + t
    return total


def for_break(i: int, n: int) -> int:
    total = 0
    for k in range(100):
        if k > i:
            break
        total += k
    return total


def for_break_and_continue(i: int, n: int) -> int:
    total = 0
    for k in range(50):
        if k % 3 == 0:
            continue
        if k * k > i:
            total += 1000
            break
        total += k
    return total


def for_return(i: int, n: int) -> int:
    for k in range(30):
        if k * n >= i:
            return k
    return -1


def for_break_return(i: int, n: int) -> int:
    best = 0
    for k in range(30):
        if k == i:
            return 500 + best
        if k > 9:
            break
        best = best + k
    return best


def nested_loops(i: int, n: int) -> int:
    total = 0
    for a in range(i):
        for b in range(a):
            if (a + b) % n == 0:
                continue
            if b > 7:
                break
            total += a * b
        total += 1
    return total


def return_from_nested_loops(i: int, n: int) -> int:
    for a in range(6):
        for b in range(6):
            if a * b == i:
                return a * 10 + b
    return -1


def break_inner_only(i: int, n: int) -> int:
    total = 0
    for a in range(5):
        for b in range(10):
            if b >= i:
                break
            total += 1
        total += 100
    return total


def while_halving(i: int, n: int) -> int:
    steps = 0
    x = i
    while x > 0:
        x = x // 2
        steps += 1
    return steps


def while_never(i: int, n: int) -> int:
    x = i
    while x < 0:
        x += 1
    return x


def while_true_break(i: int, n: int) -> int:
    x = i
    while True:
        x = x * 2 + 1
        if x > 1000:
            break
    return x


def while_true_return(i: int, n: int) -> int:
    x = i
    while True:
        x += n
        if x % 11 == 0:
            return x


def while_with_everything(i: int, n: int) -> int:
    x, y = i, 0
    while x > 0:
        x -= 1
        if x % 4 == 1:
            continue
        if x == 11:
            break
        if x == 17:
            return y * 1000
        y += x
    return y


def while_in_while(i: int, n: int) -> int:
    total = 0
    a = i
    while a > 0:
        b = a
        while b > 0:
            total += 1
            b -= n
        a -= 2
    return total


def collatz(i: int, n: int) -> int:
    x = i + 1
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps = steps + 1
    return steps


def conditional_carry(i: int, n: int) -> int:
    c = i
    for k in range(8):
        if c > k:
            c -= k + 1
    return c


def swap_in_loop(i: int, n: int) -> int:
    a, b = 0, 1
    for _ in range(i):
        a, b = b, (a + b) % 10007
    return a


def boolean_operators(i: int, n: int) -> int:
    x = 0
    if (i > 3 and i < 12) or i == 20:
        x += 1
    if not (i % 2 == 0) and (i % 3 == 0 or i % 5 == 0):
        x += 10
    if 5 <= i < 9 < n + 5:
        x += 100
    return x


def conditional_expression(i: int, n: int) -> int:
    a = i if i % 2 else -i
    return a + (1000 if i > n else 0 if i == n else 1)


def constant_conditions(i: int, n: int) -> int:
    big = 10
    if big > 5:
        x = i
    else:
        x = undefined_name  # noqa: F821 - never reached, never compiled
    return x if big == 10 else "text"  # type: ignore[return-value]


def after_constant_return(i: int, n: int) -> int:
    if True:
        return i + n
    return undefined_name  # noqa: F821


def last_index(i: int, n: int) -> int:
    k = -1
    for k in range(i):
        pass
    return k


def tuple_carried(i: int, n: int) -> int:
    pair = (0, 1)
    for k in range(i):
        pair = (pair[1], pair[0] + k)
    return pair[0] * 100 + pair[1]


def tuple_joined(i: int, n: int) -> int:
    if i > n:
        pair = (i, 1)
    else:
        pair = (n, 2)
    a, b = pair
    return a * 10 + b


def static_tuple_loop(i: int, n: int) -> int:
    total = 0
    for weight in (3, 5, 7):
        if i % weight == 0:
            continue
        if total > 10:
            break
        total += weight * i
    return total


def flag_in_loop(i: int, n: int) -> int:
    found = False
    at = -1
    for k in range(12):
        if not found and k * k >= i:
            found = True
            at = k
    return at if found else 77


def assigned_in_branch_then_loop(i: int, n: int) -> int:
    if i > 5:
        limit = 3
    else:
        limit = i
    total = 0
    for k in range(limit):
        total += k + 1
    return total


def loop_in_branch(i: int, n: int) -> int:
    total = 0
    if i % 2 == 0:
        for k in range(i):
            total += k
            if total > 50:
                break
    else:
        while total < i:
            total += 3
    return total


def return_in_loop_in_branch(i: int, n: int) -> int:
    x = 1
    if i > 4:
        for k in range(10):
            if k + 8 == i:
                return 1000 + x
            x += k
    x *= 2
    return x + i


def augmented(i: int, n: int) -> int:
    x = i
    x += 3
    x *= 2
    x -= n
    x //= 3
    x %= 11
    x <<= 2
    x |= 1
    x ^= 6
    x &= 31
    x >>= 1
    return x


def deep_continue(i: int, n: int) -> int:
    total = 0
    for a in range(10):
        if a > 2:
            if a % 2 == 0:
                if a == i:
                    continue
                total += 1
            else:
                total += 10
        else:
            total += 100
        total += 1000
    return total


def two_exits(i: int, n: int) -> int:
    x = 0
    while x < 40:
        x += 1
        if x == i:
            break
        if x == 15:
            break
    return x


def first_round_defines(i: int, n: int) -> int:
    for k in range(3):
        last = k + i
    return last


def while_true_defines(i: int, n: int) -> int:
    x = i
    while True:
        y = x * 2
        x += 1
        if y > 20:
            break
    return y


def kept_for_the_exit(i: int, n: int) -> int:
    """What a path that leaves the loop still needs, though the path that stays assigns it anew."""
    a, b, c = i, 3, 0
    for k in range(i % 6):
        if i > 3:
            if a < b + k:
                break
            if a < 9:
                c = c + b
        a = c * 2 + k
    return a + c * 100


FUNCTIONS = [f for f in list(globals().values()) if getattr(f, "__code__", None) and f.__module__ == __name__]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [1, 3, 7])
def test_control_flow_is_pythons(run: Any, function: Any, n: int) -> None:
    @ct.kernel
    def kernel(out: Any, n: int) -> None:
        i = ct.bid(0)
        ct.store(out, (i,), function(i, n))

    out = np.zeros(N, np.int32)
    run(kernel, (N,), out, n)
    assert out.tolist() == [function(i, n) for i in range(N)]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_control_flow_with_a_constant_is_pythons(run: Any, function: Any) -> None:
    @ct.kernel
    def kernel(out: Any, n: ct.Constant[int]) -> None:
        i = ct.bid(0)
        ct.store(out, (i,), function(i, n))

    out = np.zeros(N, np.int32)
    run(kernel, (N,), out, 4)
    assert out.tolist() == [function(i, 4) for i in range(N)]


def test_kernel_returns_early(run: Any) -> None:
    @ct.kernel
    def kernel(out: Any) -> None:
        i = ct.bid(0)
        if i == 2:
            return
        ct.store(out, (i,), i + 1)

    out = np.zeros(4, np.int32)
    run(kernel, (4,), out)
    assert out.tolist() == [1, 2, 0, 4]


def test_tile_is_carried_through_a_loop(run: Any, rng: np.random.Generator) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any, n: int) -> None:
        acc = ct.zeros((8,), ct.float32)
        for k in range(n):
            acc = acc + ct.load(x, (k,), (8,))
        ct.store(out, (0,), acc)

    x = rng.integers(0, 100, (5, 8)).astype(np.float32)
    out = np.zeros(8, np.float32)
    run(kernel, (1,), x.reshape(-1), out, 5)
    np.testing.assert_array_equal(out, x.sum(0))


def test_store_under_a_short_circuit(run: Any) -> None:
    @ct.kernel
    def kernel(log: Any, out: Any) -> None:
        i = ct.bid(0)

        def touched() -> Any:
            ct.store(log, (i,), 1)
            return i > 2

        ct.store(out, (i,), 1 if i % 2 == 0 and touched() else 0)

    log, out = np.zeros(6, np.int32), np.zeros(6, np.int32)
    run(kernel, (6,), log, out)
    assert log.tolist() == [1, 0, 1, 0, 1, 0]
    assert out.tolist() == [0, 0, 0, 0, 1, 0]


def test_while_condition_with_a_load(run: Any) -> None:
    @ct.kernel
    def kernel(x: Any, out: Any) -> None:
        k = 0
        while ct.load(x, (k,), ()) != 0:
            k += 1
            if k == 5:
                break
        ct.store(out, (0,), k)

    out = np.zeros(1, np.int32)
    for x, expected in [([1, 1, 0, 1], 2), ([0], 0), ([1] * 9, 5)]:
        run(kernel, (1,), np.array(x, np.int32), out)
        assert out[0] == expected
