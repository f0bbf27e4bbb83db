"""Errors of kernels: each names the file and the line, shows it with a caret, and says what is accepted."""

# ruff: noqa: SIM108, F841, SIM115
from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import epitaxy
import epitaxy.tile as ct

ARRAY_OUTSIDE = np.zeros(3)


def reads_array_outside(x: Any) -> None:
    ct.store(x, (0,), ARRAY_OUTSIDE)  # ERROR: is an array from outside the kernel


def uses_try(x: Any) -> None:
    try:  # ERROR: `try` is not supported
        pass
    finally:
        pass


def uses_with(x: Any) -> None:
    with x:  # ERROR: `with` is not supported
        pass


def uses_raise(x: Any) -> None:
    raise ValueError("no")  # ERROR: raise is not supported


def uses_global(x: Any) -> None:
    global ARRAY_OUTSIDE  # ERROR: `global` is not supported
    ARRAY_OUTSIDE = 1


def uses_import(x: Any) -> None:
    import math  # noqa: F401 # ERROR: `import` is not supported


def uses_class(x: Any) -> None:
    class Inner:  # ERROR: `class` is not supported
        pass


def uses_del(x: Any) -> None:
    y = 1
    del y  # ERROR: `del` is not supported


def uses_match(x: Any) -> None:
    match ct.bid(0):  # ERROR: `match` is not supported
        case 1:
            pass


def uses_dict(x: Any) -> None:
    y = {"a": 1}  # ERROR: a dict display is not supported


def uses_set(x: Any) -> None:
    y = {1, 2}  # ERROR: a set display is not supported


def uses_yield(x: Any) -> Any:
    yield 1  # ERROR: yield is not supported


def uses_for_else(x: Any) -> None:
    for k in range(3):  # ERROR: `else` of a loop
        if ct.bid(0) == k:
            break
    else:
        ct.store(x, (0,), 1)


def uses_star_star(x: Any) -> None:
    ct.load(x, **{"index": 0})  # ERROR: ** in a call


def indexes_array(x: Any) -> None:
    ct.store(x, (0,), x[0])  # ERROR: an array is not indexed


def assigns_to_array(x: Any) -> None:
    x[0] = 1  # ERROR: cannot be assigned by item


def assigns_attribute(x: Any) -> None:
    x.name = 1  # ERROR: use a plain name


def adds_array(x: Any) -> None:
    y = x + 1  # ERROR: load a tile first


def mixes_signs(x: Any) -> None:
    y = ct.zeros(4, ct.int32) + ct.zeros(4, ct.uint32)  # ERROR: int32 and uint32 have no common type


def mixes_halves(x: Any) -> None:
    y = ct.zeros(4, ct.float16) * ct.zeros(4, ct.bfloat16)  # ERROR: float16 and bfloat16


def shapes_do_not_broadcast(x: Any) -> None:
    y = ct.zeros((4, 2), ct.int32) + ct.zeros((4, 3), ct.int32)  # ERROR: [4, 2] and [4, 3]


def shifts_float(x: Any) -> None:
    y = ct.zeros(4, ct.float32) << 1  # ERROR: takes integers or bools


def constant_out_of_range(x: Any) -> None:
    y = ct.zeros(4, ct.int8) + 300  # ERROR: 300 is out of range of int8


def runtime_shape(x: Any) -> None:
    y = ct.zeros(ct.bid(0), ct.int32)  # ERROR: compile-time integers


def tile_condition(x: Any) -> None:
    if ct.load(x, (0,), (4,)) > 0:  # ERROR: must be a scalar
        pass


def tile_and(x: Any) -> None:
    t = ct.load(x, (0,), (4,))
    y = t > 0 and t < 1  # ERROR: must be a scalar


def branch_types(x: Any) -> None:
    if ct.bid(0) > 0:
        y = ct.zeros(4, ct.int32)
    else:
        y = ct.zeros(4, ct.float32)
    ct.store(x, (0,), y)  # ERROR: int32[4] on one path and float32[4]


def branch_missing(x: Any) -> None:
    if ct.bid(0) > 0:
        y = 1
    ct.store(x, (0,), y)  # ERROR: may be undefined


def loop_type_changes(x: Any) -> None:
    acc = ct.zeros(4, ct.float32)
    for _ in range(3):  # ERROR: 'acc' is float32[4] before the loop and float64[4]
        acc = acc + ct.zeros(4, ct.float64)
    ct.store(x, (0,), acc)


def loop_shape_changes(x: Any) -> None:
    acc = ct.zeros(4, ct.float32)
    for _ in range(3):  # ERROR: a loop-carried variable keeps its type
        acc = acc[:, None] + acc
    ct.store(x, (0,), acc)


def loop_may_not_run(x: Any) -> None:
    for i in range(ct.bid(0)):
        y = i
    ct.store(x, (0,), y)  # ERROR: the loop may run zero times


def never_ends(x: Any) -> None:
    while True:  # ERROR: this loop never ends
        pass


def recursion(x: Any) -> None:
    ct.store(x, (0,), factorial(ct.bid(0)))


def factorial(n: Any) -> Any:
    return 1 if n == 0 else n * factorial(n - 1)  # ERROR: factorial calls itself


def unknown_name(x: Any) -> None:
    ct.store(x, (0,), undefined_thing)  # noqa: F821 # ERROR: 'undefined_thing' is not defined


def used_before_assignment(x: Any) -> None:
    ct.store(x, (0,), y)  # noqa: F821 # ERROR: used before it is assigned
    y = 1


def unknown_function(x: Any) -> None:
    ct.store(x, (0,), ct.nothing_such(1))  # ERROR: has no attribute 'nothing_such'


def wrong_keyword(x: Any) -> None:
    ct.store(x, (0,), ct.load(x, (0,), (4,), pading=1))  # ERROR: load: got an unexpected keyword argument 'pading'


def wrong_rank(x: Any) -> None:
    ct.store(x, (0, 0), ct.zeros((1, 1), ct.int32))  # ERROR: the tile int32[1, 1] has 2 axes; the array 'x' has 1


def wrong_padding(x: Any) -> None:
    ct.load(x, (0,), (4,), padding_mode=ct.PaddingMode.NAN)  # ERROR: padding_mode NAN is for floats


def bad_axis(x: Any) -> None:
    ct.sum(ct.zeros((4, 4), ct.int32), 2)  # ERROR: axis 2 is out of range for 2 axes


def bad_reshape(x: Any) -> None:
    ct.reshape(ct.zeros((4, 4), ct.int32), (3, 5))  # ERROR: cannot reshape [4, 4] (16 elements) to [3, 5] (15 elements)


def bad_mma(x: Any) -> None:
    a = ct.zeros((4, 4), ct.float32)
    ct.mma(a, ct.zeros((3, 4), ct.float32), a)  # ERROR: mma: shapes [4, 4], [3, 4] and [4, 4] do not fit


def kernel_in_kernel(x: Any) -> None:
    another(x)  # ERROR: the kernel another is called from a kernel


@ct.kernel
def another(x: Any) -> None:
    pass


def returns_a_value(x: Any) -> Any:  # ERROR: returns a value
    return 1


def host_math(x: Any) -> None:
    import_free = np.exp(ct.zeros(4, ct.float32))  # ERROR: use ct.exp


def tuple_by_runtime_index(x: Any) -> None:
    y = (1, 2, 3)[ct.bid(0)]  # ERROR: must be known at compile time


def unpacks_wrong(x: Any) -> None:
    a, b = (1, 2, 3)  # ERROR: cannot unpack 3 values into 2 names


def divides_by_zero(x: Any) -> None:
    y = 1 // 0  # ERROR: raised ZeroDivisionError


def static_assertion(x: Any) -> None:
    ct.static_assert(x.ndim == 2, f"ndim is {x.ndim}")  # ERROR: static assertion failed: ndim is 1


def effects_in_combiner(x: Any) -> None:
    t = ct.load(x, (0,), (4,))

    def combine(a: Any, b: Any) -> Any:
        ct.store(x, (0,), a)  # ERROR: it may compute with scalars only
        return a + b

    ct.store(x, (0,), ct.reduce(t, 0, combine, 0))


def walrus_in_while(x: Any) -> None:
    while (y := ct.bid(0)) > 1:  # ERROR: `:=` in the condition of a while
        pass


def iterates_tile(x: Any) -> None:
    for _ in ct.load(x, (0,), (4,)):  # ERROR: a loop cannot iterate over int32[4]
        pass


def unsupported_of_cutile(x: Any) -> None:
    ct.mma_scaled(1, 2, 3, 4, 5)  # ERROR: mma_scaled is not supported


def bitcast_of_other_size(x: Any) -> None:
    ct.bitcast(ct.zeros(4, ct.int32), ct.float64)  # ERROR: the sizes must be equal


BODIES = [
    f for f in list(globals().values())
    if getattr(f, "__module__", "") == __name__ and f.__name__ not in ("factorial", "another")
]  # fmt: skip


def _marked(function: Any) -> tuple[int, str]:
    """Line and message of the ERROR mark in a function (or in what it calls)."""
    import inspect

    start = factorial if function is recursion else function
    lines, first = inspect.getsourcelines(start)
    for i, line in enumerate(lines):
        found = re.search(r"# ERROR: (.*)$", line)
        if found:
            return first + i, found[1].strip()
    raise AssertionError("no mark")


@pytest.mark.parametrize("body", BODIES, ids=lambda f: f.__name__)
def test_error_names_the_line_and_shows_it(body: Any) -> None:
    line, message = _marked(body)
    with pytest.raises(epitaxy.CompileError) as caught:
        ct.interpret((1,), ct.kernel(body), (np.zeros(8, np.int32),))
    text = str(caught.value)
    assert text.startswith(f"{__file__}:{line}:"), text
    assert message in text
    shown, caret = text.splitlines()[1:3]
    assert shown.split(" | ", 1)[1] in open(__file__).read()
    assert set(caret.split("|")[1].strip()) == {"^"}


def test_there_are_enough_constructs() -> None:
    assert len(BODIES) >= 50


def test_error_in_a_helper_names_the_calls() -> None:
    def helper(t: Any) -> Any:
        return t + ct.zeros(3, ct.int32)

    @ct.kernel
    def kernel(x: Any) -> None:
        ct.store(x, (0,), helper(ct.zeros(4, ct.int32)))

    with pytest.raises(ct.TileTypeError) as caught:
        ct.interpret((1,), kernel, (np.zeros(8, np.int32),))
    assert "return t + ct.zeros(3" in str(caught.value)
    assert "called from" in str(caught.value)


def test_a_failed_kernel_can_be_launched_again() -> None:
    @ct.kernel
    def kernel(x: Any, n: ct.Constant[int]) -> None:
        ct.store(x, (0,), ct.zeros(n, ct.int32))

    x = np.ones(8, np.int32)
    with pytest.raises(ct.TileValueError, match="must be positive"):
        ct.interpret((1,), kernel, (x, 0))
    ct.interpret((1,), kernel, (x, 4))
    assert x.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_host_call_of_a_kernel_function_says_so() -> None:
    with pytest.raises(TypeError, match="inside a kernel only"):
        ct.zeros(4, ct.int32)


def test_calling_a_kernel_says_launch() -> None:
    with pytest.raises(TypeError, match="launch"):
        another(1)


def test_function_without_source_is_traced() -> None:
    space: dict[str, Any] = {"ct": ct}
    exec("def twice(t):\n    return t * 2 + ct.sum(t)", space)
    twice = space["twice"]

    @ct.kernel
    def kernel(x: Any) -> None:
        ct.store(x, (0,), twice(ct.load(x, (0,), (4,))))

    x = np.arange(4, dtype=np.int32)
    ct.interpret((1,), kernel, (x,))
    assert x.tolist() == [6, 8, 10, 12]


def test_kernel_without_source_is_an_error() -> None:
    space: dict[str, Any] = {"ct": ct}
    exec("def kernel(x):\n    pass", space)
    with pytest.raises(ct.TileSyntaxError, match="source of kernel is not available"):
        ct.interpret((1,), ct.kernel(space["kernel"]), (np.zeros(1),))
