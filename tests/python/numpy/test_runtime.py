"""The array front end and the machine: memory limits, threads, contexts, fork, and what repeats cost."""

from __future__ import annotations

import contextvars
import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import epitaxy
import epitaxy.numpy as ep
from epitaxy import _engine
from epitaxy.numpy import _exec


def test_memory_beyond_the_limit_is_an_error_with_figures(current: Any) -> None:
    gc.collect()
    current.default_queue().synchronise()
    current.trim()
    used = current.memory["used_bytes"]
    current.set_memory_limit(used + (64 << 20))
    try:
        x = ep.zeros(4 << 20)
        with pytest.raises(MemoryError, match=r"bytes") as caught:
            ep.zeros(8 << 20)
        assert "67108864" in str(caught.value)
        assert float(x.sum()) == 0.0
        del x
        assert ep.zeros(7 << 20).size == 7 << 20  # memory comes back
    finally:
        current.set_memory_limit(0)


def test_memory_of_dropped_arrays_comes_back(current: Any) -> None:
    gc.collect()
    before = current.memory["used_bytes"]
    for _ in range(20):
        x = ep.ones(1 << 20)
        (x * 2 + 1).sum()
    del x
    gc.collect()
    current.default_queue().synchronise()
    assert current.memory["used_bytes"] <= before


def test_programs_keep_no_array_alive() -> None:
    x = ep.ones(1000)
    storage = weakref.ref(x._leaf().storage)
    (x * 3 - 1).sum().numpy()
    (x * 3 - 1).numpy()
    del x
    gc.collect()
    assert storage() is None


def test_threads_compute_on_one_device(current: Any) -> None:
    x = ep.arange(50_000)

    def work(i: int) -> int:
        with epitaxy.device(current):
            total = 0
            for k in range(20):
                total += int(((x + i) * (k % 3 + 1)).sum())
            return total

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(work, range(8)))
    base = int(np.arange(50_000).sum())
    assert results == [sum((base + i * 50_000) * (k % 3 + 1) for k in range(20)) for i in range(8)]


def test_threads_compile_one_program_at_once() -> None:
    _exec.PROGRAMS.clear()
    _engine.clear_memory_cache()
    x = ep.arange(300)
    start = threading.Barrier(4)

    def work(i: int) -> list[int]:
        start.wait()
        return (x * 7 - 3).tolist()[:2]  # type: ignore[no-any-return]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == [[-3, 4]] * 4


def test_current_device_belongs_to_its_context(current: Any) -> None:
    seen: list[str] = []
    thread = threading.Thread(target=lambda: seen.append(epitaxy.current_device().label))
    thread.start()
    thread.join()
    assert seen == ["cpu:0"]
    context = contextvars.copy_context()
    assert context.run(epitaxy.current_device) == current
    with epitaxy.device("cpu"):
        assert ep.zeros(1).device.kind == "cpu"
    assert ep.zeros(1).device == current


def test_current_device_returns_after_an_error(current: Any) -> None:
    with pytest.raises(RuntimeError), epitaxy.device("cpu"):
        raise RuntimeError
    assert epitaxy.current_device() == current


def test_devices_are_listed_with_the_host_first(current: Any) -> None:
    found = epitaxy.devices()
    assert found[0].kind == "cpu"
    assert current in found


def in_child(f: Any) -> None:
    """Runs f in a fork, which must return within half a minute."""
    pid = os.fork()
    if pid == 0:
        try:
            f()
            os._exit(0)
        except BaseException:
            os._exit(1)
    deadline = threading.Timer(30, os.kill, (pid, 9))
    deadline.start()
    status = os.waitpid(pid, 0)[1]
    deadline.cancel()
    assert status == 0


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_computes_on_the_cpu() -> None:
    with epitaxy.device("cpu"):
        x = ep.arange(200_000)
        pending = x + 1
        assert int(x.sum()) == 19_999_900_000

        def child() -> None:
            assert int(x.sum()) == 19_999_900_000
            assert int(pending.sum()) == 19_999_900_000 + 200_000
            assert (ep.arange(100_000) * 3 - 5).tolist()[:2] == [-5, -2]  # compiled in the child

        in_child(child)
        assert int((x * 2).sum()) == 2 * 19_999_900_000


def test_a_repeated_expression_compiles_once() -> None:
    x = ep.arange(1000) * 1.0
    f = lambda n: (x[:n] * 2.5 - 1).sum().numpy()  # noqa: E731
    f(1000)
    before = _engine.jit_statistics()
    for n in (1000, 999, 800, 517):
        f(n)
    after = _engine.jit_statistics()
    assert after["compiled"] == before["compiled"]


def test_another_value_of_a_constant_does_not_compile() -> None:
    x = ep.arange(10) * 1.0
    (x * 1.5).numpy()
    before = _engine.jit_statistics()["compiled"]
    for c in (2.5, 3.0, 1e300, float("nan")):
        (x * c).numpy()
    assert _engine.jit_statistics()["compiled"] == before


def test_import_touches_no_gpu() -> None:
    import subprocess
    import sys

    code = "import epitaxy, epitaxy.numpy; print('libcuda' in open('/proc/self/maps').read())"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
        == "False"
    )
