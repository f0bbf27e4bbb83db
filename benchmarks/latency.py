"""What a call costs beside its work: the first call, one from the disk cache, a launch, a small array, the import.

"First call" is wall time in a process that has compiled something else before, with no cache; the GPU's context exists.
"New process" is the first call's time beyond the import in a process of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from _harness import Bench, Kept, Maker, host_seconds
from _work import Machine, argument, empty_cache, no_cache

no_cache()

import epitaxy.numpy as ep  # noqa: E402
import epitaxy.tile as ct  # noqa: E402
from epitaxy import _engine  # noqa: E402
from epitaxy.numpy._exec import PROGRAMS  # noqa: E402

N = 1 << 16


def write_add(x, y, z):  # type: ignore[no-untyped-def]
    i = ct.bid(0)
    ct.store(z, (i,), ct.load(x, (i,), (256,)) + ct.load(y, (i,), (256,)))


def write_nothing(x):  # type: ignore[no-untyped-def]
    pass


def write_many(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s):  # type: ignore[no-untyped-def]  # noqa: E741
    t = ct.bid(0)
    ct.store(s, (t,), ct.load(a, (t,), (256,)) + ct.load(r, (t,), (256,)))


class Case:
    """Arrays of the front end, tile arguments on the same memory, and what their results must be."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        rng = np.random.default_rng(0)
        self.x, self.y = (rng.standard_normal(N, dtype=np.float32) for _ in range(2))
        self.dx, self.dy = m.array(self.x), m.array(self.y)
        self.out = ep.empty(N, dtype="float32", device=m.device)
        self.args = tuple(argument(a, m.on_gpu) for a in (self.dx, self.dy, self.out))

    def chain(self) -> Any:
        """exp(-x*x)*y+1 by NumPy's names, computed."""
        z = ep.exp(-self.dx * self.dx) * self.dy + 1
        z._compute()
        self.m.queue.synchronise()
        return z

    def reduction(self) -> Any:
        """sum(x*y)."""
        s = ep.sum(self.dx * self.dy)
        self.m.queue.synchronise()
        return s

    def tile(self, kernel: Any = None) -> Any:
        """A tile vector add by a kernel that no launch has seen."""
        ct.launch(self.m.queue, (N // 256,), kernel or ct.kernel(write_add), self.args)
        self.m.queue.synchronise()
        return self.out

    def right(self, what: str, got: Any) -> bool:
        """Whether a result is what NumPy says."""
        if got is None:
            return False
        if what == "chain":
            return bool(np.allclose(np.asarray(got), np.exp(-self.x * self.x) * self.y + 1, rtol=1e-6, atol=1e-6))
        if what == "reduction":
            return abs(float(got) - float(np.dot(self.x.astype("f8"), self.y.astype("f8")))) < 1e-2
        return np.array_equal(np.asarray(got), self.x + self.y)


FIRST = {"chain": "elementwise chain", "reduction": "reduction", "tile": "tile vector add"}


def first_ms(case: Case, what: str, repeats: int) -> tuple[float, Any]:
    """(median time of a call for which nothing is cached, its result; None if some call compiled nothing)"""
    times = []
    got = None
    for _ in range(repeats):
        _engine.clear_memory_cache()
        PROGRAMS.clear()
        before = _engine.jit_statistics()["compiled"]
        start = time.perf_counter()
        got = getattr(case, what)()
        times.append((time.perf_counter() - start) * 1e3)
        if _engine.jit_statistics()["compiled"] == before:
            return statistics.median(times), None
    return statistics.median(times), got


def first_peers(case: Case, what: str) -> dict[str, Maker]:
    """The first call of peers, in ms, once."""

    def once(f: Callable[[], Any]) -> float:
        start = time.perf_counter()
        f()
        return (time.perf_counter() - start) * 1e3

    def numba() -> float:
        import numba as nb

        def chain(x: Any, y: Any) -> Any:
            o = np.empty_like(x)
            for i in nb.prange(x.size):
                o[i] = np.exp(-x[i] * x[i]) * y[i] + 1
            return o

        def reduction(x: Any, y: Any) -> Any:
            s = np.float32(0)
            for i in nb.prange(x.size):
                s += x[i] * y[i]
            return s

        nb.njit(parallel=True)(lambda x: x + 1)(case.x)
        return once(
            lambda: nb.njit(parallel=True, fastmath=True)(chain if what == "chain" else reduction)(case.x, case.y)
        )

    def jax() -> float:
        import jax
        import jax.numpy as jnp

        x, y = (jax.device_put(a, jax.devices("cpu")[0]) for a in (case.x, case.y))
        jax.jit(lambda a: a + 1)(x).block_until_ready()
        f = jax.jit((lambda a, b: jnp.exp(-a * a) * b + 1) if what == "chain" else (lambda a, b: jnp.sum(a * b)))
        return once(lambda: f(x, y).block_until_ready())

    def compiled() -> float:
        import torch

        x, y = (torch.as_tensor(a, device="cuda" if case.m.on_gpu else "cpu") for a in (case.x, case.y))
        f = torch.compile((lambda a, b: torch.exp(-a * a) * b + 1) if what == "chain" else (lambda a, b: (a * b).sum()))

        def call() -> None:
            f(x, y)
            if case.m.on_gpu:
                torch.cuda.synchronize()

        return once(call)

    def triton() -> float:
        import torch

        import _triton

        call = _triton.add(*case.args)

        def run() -> None:
            call()
            torch.cuda.synchronize()

        return once(run)

    def compute() -> float:
        import cuda.compute as cc
        import cupy as cp

        x, o = cp.asarray(case.dx), cp.empty(1, "float32")

        def call() -> None:
            cc.reduce_into(d_in=x, d_out=o, num_items=N, op=lambda a, b: a + b, h_init=np.zeros(1, "float32"))
            cp.cuda.runtime.deviceSynchronize()

        return once(call)

    if case.m.on_gpu:
        return {
            "chain": {"torch.compile": compiled},
            "reduction": {"cuda.compute": compute},
            "tile": {"triton": triton},
        }[what]
    return {} if what == "tile" else {"numba": numba, "jax": jax, "torch.compile": compiled}


# -- processes of their own ------------------------------------------------------------------------------------------
CHILD = """
import json, sys, time
sys.path[:0] = {path!r}
import latency
from _work import Machine
class Bench: on_gpu, device = {on_gpu!r}, {device!r}
case = latency.Case(Machine(Bench))
start = time.perf_counter()
got = case.{what}()
ms = (time.perf_counter() - start) * 1e3
disk = latency._engine.jit_statistics()
print(json.dumps([ms, bool(case.right({what!r}, got)), disk["disk_hits"], disk["compiled"]]))
"""


def in_new_process(m: Machine, label: str, what: str, cache: str) -> tuple[float, bool, int, int]:
    """(ms of the first call, whether it was right, kernels from disk, kernels compiled)"""
    path = [str(Path(__file__).parent), *[p for p in sys.path if p]]
    text = CHILD.format(path=path, on_gpu=m.on_gpu, device=label, what=what)
    environment = {**os.environ, "EPITAXY_BENCH_CACHE": cache}
    done = subprocess.run([sys.executable, "-c", text], env=environment, check=True, capture_output=True, text=True)
    ms, right, hits, compiled = json.loads(done.stdout)
    return ms, right, hits, compiled


def new_process_rows(bench: Bench, m: Machine) -> None:
    """From the disk, and with nothing cached, in a process of its own."""
    for what, name in FIRST.items():
        row = f"new process, from disk: {name}"
        if not bench.wants(row):
            continue
        cache = empty_cache()
        cold = in_new_process(m, bench.device, what, cache)
        runs = [in_new_process(m, bench.device, what, cache) for _ in range(1 if bench.args.short else 7)]
        shutil.rmtree(cache)
        right = all(r[1] and r[2] > 0 and r[3] == 0 for r in runs) and cold[1] and cold[3] > 0
        bench.row(
            row, n=N, dtype="float32", unit="ms", ours=statistics.median(r[0] for r in runs), absolute=10.0,
            check=lambda right=right: right,
        )  # fmt: skip
        bench.row(
            f"new process, nothing cached: {name}", n=N, dtype="float32", unit="ms", ours=cold[0],
            absolute=100.0 if m.on_gpu else 30.0, check=lambda cold=cold: cold[1],
        )  # fmt: skip


def import_rows(bench: Bench) -> None:
    """What importing costs, and that it touches nothing of CUDA."""

    def seconds(statement: str, before: str = "") -> tuple[float, bool]:
        text = f"{before}\nimport sys, time; t = time.perf_counter()\n{statement}\nt = time.perf_counter() - t\n"
        text += "print(t, 'libcuda' in open('/proc/self/maps').read())"
        times, touched = [], False
        for _ in range(3 if bench.args.short else 9):
            out = subprocess.run(
                [sys.executable, "-c", text], check=True, capture_output=True, text=True
            ).stdout.split()
            times.append(float(out[0]) * 1e3)
            touched = touched or out[1] == "True"
        return statistics.median(times), not touched

    for row, statement, before in (
        ("import epitaxy", "import epitaxy", ""),
        ("import epitaxy.numpy and .tile, beyond numpy", "import epitaxy.numpy, epitaxy.tile", "import numpy"),
    ):
        if bench.wants(row):
            ms, clean = seconds(statement, before)
            bench.row(
                row, n=1, dtype="-", unit="ms", ours=ms, absolute=100.0, check=lambda clean=clean: clean,
                makers={"numpy": lambda: seconds("import numpy")[0]},
            )  # fmt: skip


# -- calls that are cached -------------------------------------------------------------------------------------------
def launch_rows(bench: Bench, m: Machine, case: Case) -> None:
    """The host's side of cached launches; on the CPU also to completion."""
    add, nothing, many = ct.kernel(write_add), ct.kernel(write_nothing), ct.kernel(write_many)
    case.out.fill(0)
    submit = lambda: ct.launch(m.queue, (1,), add, case.args)  # noqa: E731
    finish = m.queue.synchronise
    first = lambda: np.array_equal(np.asarray(case.out)[:256], (case.x + case.y)[:256])  # noqa: E731
    peers: dict[str, Maker] = {"triton": lambda: host_us(_triton_launch(case))} if m.on_gpu else {}
    bench.row(
        "cached tile launch, 3 arguments", n=256, dtype="float32", unit="us", absolute=2.5 if m.on_gpu else 1.0,
        ours=host_seconds(submit, synchronize=finish) * 1e6, check=first, makers=peers,
    )  # fmt: skip
    case.out.fill(0)
    args = (case.args[0],) + (case.args[1],) * 17 + (case.args[2],)
    launch19 = lambda: ct.launch(m.queue, (1,), many, args)  # noqa: E731
    bench.row(
        "cached tile launch, 19 arguments", n=256, dtype="float32", unit="us", absolute=3.0,
        ours=host_seconds(launch19, synchronize=finish) * 1e6, check=first,
    )  # fmt: skip
    if m.on_gpu:
        return
    empty = lambda: ct.launch(m.queue, (1,), nothing, (case.args[0],))  # noqa: E731

    def complete() -> None:
        empty()
        finish()

    done = lambda: bool(m.queue.is_idle())  # noqa: E731
    bench.row(
        "empty kernel, submit", n=1, dtype="float32", unit="us", absolute=1.0, check=done,
        ours=host_seconds(empty, synchronize=finish) * 1e6,
    )  # fmt: skip
    bench.row("empty kernel, to completion", n=1, dtype="float32", unit="us", absolute=5.0, check=done, ours=complete)


def _triton_launch(case: Case) -> Callable[[], Any]:
    import _triton

    return _triton.add(*(a[:256] for a in case.args))


def host_us(f: Callable[[], Any]) -> float:
    """Host time of one of many queued calls of a peer on the GPU."""
    import torch

    return host_seconds(f, synchronize=torch.cuda.synchronize) * 1e6


def small_rows(bench: Bench, m: Machine) -> None:
    """x + x of 16 elements; a small reduction's host side."""
    host = np.arange(16, dtype=np.float32)
    x = m.array(host)

    def add() -> Any:
        z = x + x
        z._compute()
        if not m.on_gpu:
            m.queue.synchronise()
        return z

    kept, total = Kept(add), Kept(lambda: ep.sum(x))

    def torch(f: str) -> Any:
        import torch

        t = torch.as_tensor(host, device="cuda" if m.on_gpu else "cpu")
        call = (lambda: t + t) if f == "add" else (t.sum)
        return host_us(call) if m.on_gpu else call

    def cupy(f: str) -> float:
        import cupy as cp

        t = cp.asarray(host)
        return host_us((lambda: t + t) if f == "add" else (t.sum))

    def jax() -> Any:
        import jax

        t = jax.device_put(host, jax.devices("cpu")[0])
        return lambda: jax.block_until_ready(t + t)

    gpu: dict[str, Maker] = {"torch": lambda: torch("add"), "cupy": lambda: cupy("add")}
    cpu: dict[str, Maker] = {"numpy": lambda: lambda: host + host, "torch": lambda: torch("add"), "jax": jax}
    ours = host_seconds(kept, synchronize=m.queue.synchronise) * 1e6 if m.on_gpu else kept
    bench.row(
        "x + x, 16 elements", n=16, dtype="float32", unit="us", ours=ours, absolute=4.0 if m.on_gpu else 1.0,
        check=lambda: np.array_equal(np.asarray(kept.value), host + host), makers=gpu if m.on_gpu else cpu,
    )  # fmt: skip
    gpu = {"torch": lambda: torch("sum"), "cupy": lambda: cupy("sum")}
    bench.row(
        "sum of 16, host side", n=16, dtype="float32", unit="us", absolute=4.0,
        ours=host_seconds(total, synchronize=m.queue.synchronise) * 1e6, check=lambda: float(total.value) == 120.0,
        makers=gpu if m.on_gpu else {"numpy": lambda: host.sum, "torch": lambda: torch("sum")},
    )  # fmt: skip


def first_rows(bench: Bench, case: Case) -> None:
    """First calls in this process."""
    case.tile(ct.kernel(write_add))  # something else has been compiled
    limits = {"chain": 50.0, "reduction": 100.0, "tile": 60.0} if case.m.on_gpu else dict.fromkeys(FIRST, 30.0)
    for what, name in FIRST.items():
        if bench.wants(f"first call: {name}"):
            ms, got = first_ms(case, what, bench.repeats if bench.args.short else 9)
            bench.row(
                f"first call: {name}", n=N, dtype="float32", unit="ms", ours=ms, absolute=limits[what],
                check=lambda what=what, got=got: case.right(what, got), makers=first_peers(case, what),
            )  # fmt: skip


def main() -> None:
    """The rows."""
    os.environ["TRITON_CACHE_DIR"], os.environ["TORCHINDUCTOR_CACHE_DIR"] = empty_cache(), empty_cache()
    bench = Bench("latency", __doc__ or "")
    m = Machine(bench)
    case = Case(m)
    launch_rows(bench, m, case)
    small_rows(bench, m)
    first_rows(bench, case)
    new_process_rows(bench, m)
    import_rows(bench)
    bench.close()


if __name__ == "__main__":
    main()
