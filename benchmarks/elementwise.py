"""Elementwise work: z = x + y, as a tile kernel and through NumPy's names, and the chain exp(-x*x)*y+1 into fresh
memory and into `out=`.

Needs numpy; peers where installed: numba, jax, torch on the CPU, and torch, triton, cupy on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from _harness import Bench, Kept, Maker
from _work import LARGE_MACHINE, Machine, argument, no_cache, normal

no_cache()

import epitaxy.numpy as ep  # noqa: E402
import epitaxy.tile as ct  # noqa: E402


@ct.kernel
def add_tiles(x, y, z, n: ct.Constant[int]):  # type: ignore[no-untyped-def]
    i = ct.bid(0)
    ct.store(z, (i,), ct.load(x, (i,), (n,)) + ct.load(y, (i,), (n,)))


class Inputs:
    """x, y and a result, on the host and on the device."""

    def __init__(self, m: Machine, n: int) -> None:
        self.n = n
        self.x, self.y = normal(n), normal(n, seed=1)
        self.z = np.empty_like(self.x)
        self.dx, self.dy = m.array(self.x), m.array(self.y)
        self.dz = ep.empty(n, dtype="float32", device=m.device)


def cpu_peers(d: Inputs, what: str) -> dict[str, Maker]:
    """NumPy, numba, jax, torch; `what` is add, fresh or out."""
    x, y, z = d.x, d.y, d.z

    def numpy() -> Any:
        if what == "add":
            return lambda: np.add(x, y, out=z)
        if what == "fresh":
            return lambda: np.exp(-x * x) * y + 1

        def chain() -> None:
            np.multiply(x, x, out=z)
            np.negative(z, out=z)
            np.exp(z, out=z)
            np.multiply(z, y, out=z)
            np.add(z, 1, out=z)

        return chain

    def numba() -> Any:
        import numba as nb

        @nb.njit(parallel=True, fastmath=True)
        def add(x: Any, y: Any, z: Any) -> None:
            for i in nb.prange(x.size):
                z[i] = x[i] + y[i]

        @nb.njit(parallel=True, fastmath=True)
        def into(x: Any, y: Any, z: Any) -> None:
            for i in nb.prange(x.size):
                z[i] = np.exp(-x[i] * x[i]) * y[i] + np.float32(1)

        @nb.njit(parallel=True, fastmath=True)
        def fresh(x: Any, y: Any) -> Any:
            o = np.empty_like(x)
            for i in nb.prange(x.size):
                o[i] = np.exp(-x[i] * x[i]) * y[i] + np.float32(1)
            return o

        return {"add": lambda: add(x, y, z), "out": lambda: into(x, y, z), "fresh": lambda: fresh(x, y)}[what]

    def jax() -> Any:
        import jax
        import jax.numpy as jnp

        jx, jy = jax.device_put(x, jax.devices("cpu")[0]), jax.device_put(y, jax.devices("cpu")[0])
        f = jax.jit((lambda a, b: a + b) if what == "add" else (lambda a, b: jnp.exp(-a * a) * b + 1))
        return lambda: f(jx, jy).block_until_ready()

    return {"numpy": numpy, "numba": numba, "jax": jax, **torch_peers(x, y, z, what)}


def torch_peers(x: Any, y: Any, z: Any, what: str) -> dict[str, Maker]:
    """torch eager and compiled, on the tensors' device."""

    def tensors() -> tuple[Any, ...]:
        import torch

        return tuple(
            torch.from_numpy(a) if isinstance(a, np.ndarray) else torch.as_tensor(a, device="cuda") for a in (x, y, z)
        )

    def eager() -> Any:
        import torch

        a, b, c = tensors()
        if what == "add":
            return lambda: torch.add(a, b, out=c)
        return lambda: torch.exp(-a * a) * b + 1

    def compiled() -> Any:
        import torch

        a, b, c = tensors()
        if what == "out":
            f = torch.compile(lambda a, b, c: c.copy_(torch.exp(-a * a) * b + 1))
            return lambda: f(a, b, c)
        g = torch.compile((lambda a, b: a + b) if what == "add" else (lambda a, b: torch.exp(-a * a) * b + 1))
        return lambda: g(a, b)

    return {"torch.compile": compiled} if what == "out" else {"torch": eager, "torch.compile": compiled}


def gpu_peers(d: Inputs, what: str) -> dict[str, Maker]:
    """torch, cupy, triton on the same device memory."""

    def cupy() -> Any:
        import cupy as cp

        x, y, z = cp.asarray(d.dx), cp.asarray(d.dy), cp.asarray(d.dz)
        if what == "add":
            return lambda: cp.add(x, y, out=z)
        f = cp.ElementwiseKernel("float32 x, float32 y", "float32 z", "z = expf(-x * x) * y + 1", "chain")
        return (lambda: f(x, y)) if what == "fresh" else (lambda: f(x, y, z))

    def triton() -> Any:
        import torch

        import _triton

        x, y, z = (torch.as_tensor(a, device="cuda") for a in (d.dx, d.dy, d.dz))
        return (_triton.add if what == "add" else _triton.chain)(x, y, z)

    peers = {"cupy": cupy, **torch_peers(d.dx, d.dy, d.dz, what)}
    return peers if what == "fresh" else {**peers, "triton": triton}


def chain_reference(d: Inputs) -> Any:
    """The chain in NumPy's float32."""
    z = np.exp(-d.x * d.x)
    z *= d.y
    z += 1
    return z


def close(got: Any, wanted: Any) -> bool:
    """Within a few roundings of the chain's four operations."""
    return bool(np.allclose(np.asarray(got), wanted, rtol=1e-6, atol=1e-6))


def main() -> None:
    """The rows."""
    bench = Bench("elementwise", __doc__ or "")
    m = Machine(bench)
    n = 1 << (20 if bench.args.short else 28 if bench.on_gpu else 26 if LARGE_MACHINE else 24)
    d = Inputs(m, n)
    peers = gpu_peers if bench.on_gpu else cpu_peers
    queue = m.queue if bench.on_gpu else None
    block = 2048 if bench.on_gpu else 8192
    args = (*(argument(a, bench.on_gpu) for a in (d.dx, d.dy, d.dz)), block)
    grid = (-(-n // block),)
    rate = {"n": n, "dtype": "float32", "unit": "TB/s" if bench.on_gpu else "GB/s", "work": 12.0 * n, "queue": queue}
    best = "triton" if bench.on_gpu else "numba"
    total = d.x + d.y
    added = lambda: np.array_equal(np.asarray(d.dz), total)  # noqa: E731
    bench.row(
        "vector add, tile kernel", **rate, target_peer=best, makers=peers(d, "add"), check=added,
        ours=m.run(lambda: ct.launch(m.queue, grid, add_tiles, args)),
    )  # fmt: skip
    d.dz.fill(0)
    bench.row(
        "vector add, NumPy names", **rate, target_peer=best, makers=peers(d, "add"), check=added,
        ours=m.run(lambda: ep.add(d.dx, d.dy, out=d.dz)),
    )  # fmt: skip
    wanted = chain_reference(d)
    time = {"n": n, "dtype": "float32", "unit": "us" if bench.on_gpu else "ms", "queue": queue}
    compiled = bench.on_gpu or LARGE_MACHINE
    goal = {
        "target_peer": "torch.compile" if compiled else "numba",
        "target": 1.1 if compiled and not bench.on_gpu else 1.0,
    }
    fresh = Kept(m.run(lambda: ep.exp(-d.dx * d.dx) * d.dy + 1))
    bench.row(
        "exp(-x*x)*y+1, fresh",
        **time,
        **goal,
        makers=peers(d, "fresh"),
        ours=fresh,
        check=lambda: close(fresh.value, wanted),
    )
    fresh.value = None
    d.dz.fill(0)
    bench.row(
        "exp(-x*x)*y+1, out=", **time, **goal, makers=peers(d, "out"), check=lambda: close(d.dz, wanted),
        ours=m.run(lambda: ep.add(ep.exp(-d.dx * d.dx) * d.dy, 1, out=d.dz)),
    )  # fmt: skip
    bench.close()


if __name__ == "__main__":
    main()
