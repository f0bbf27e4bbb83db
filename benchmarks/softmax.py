"""Softmax of rows as a tile kernel, one program a row.

Needs numpy; peers where installed: torch, jax, numba on the CPU, torch and triton on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from _harness import Bench, Maker
from _work import LARGE_MACHINE, Machine, argument, no_cache, normal

no_cache()

import epitaxy.numpy as ep  # noqa: E402
import epitaxy.tile as ct  # noqa: E402


@ct.kernel
def softmax(x, o, columns: ct.Constant[int]):  # type: ignore[no-untyped-def]
    r = ct.bid(0)
    row = ct.load(x, (r, 0), (1, columns))
    e = ct.exp(row - ct.max(row, 1, keepdims=True))
    ct.store(o, (r, 0), e / ct.sum(e, 1, keepdims=True))


def reference(x: np.ndarray[Any, Any]) -> Any:
    """Softmax in NumPy, float32."""
    e = np.exp(x - x.max(1, keepdims=True))
    e /= e.sum(1, keepdims=True)
    return e


def cpu_peers(x: np.ndarray[Any, Any]) -> dict[str, Maker]:
    """NumPy, numba, jax, torch."""

    def numba() -> Any:
        import numba as nb

        @nb.njit(parallel=True, fastmath=True)
        def rows(x: Any, o: Any) -> None:
            for r in nb.prange(x.shape[0]):
                top = x[r, 0]
                for c in range(x.shape[1]):
                    top = max(top, x[r, c])
                s = np.float32(0)
                for c in range(x.shape[1]):
                    o[r, c] = np.exp(x[r, c] - top)
                    s += o[r, c]
                for c in range(x.shape[1]):
                    o[r, c] /= s

        o = np.empty_like(x)
        return lambda: rows(x, o)

    def jax() -> Any:
        import jax

        jx = jax.device_put(x, jax.devices("cpu")[0])
        f = jax.jit(lambda a: jax.nn.softmax(a, axis=1))
        return lambda: f(jx).block_until_ready()

    def torch() -> Any:
        import torch

        t = torch.from_numpy(x)
        return lambda: torch.softmax(t, 1)

    return {"numpy": lambda: lambda: reference(x), "numba": numba, "jax": jax, "torch": torch}


def gpu_peers(x: Any, o: Any) -> dict[str, Maker]:
    """torch and triton on the same device memory."""

    def torch() -> Any:
        import torch

        t = torch.as_tensor(x, device="cuda")
        return lambda: torch.softmax(t, 1)

    def triton() -> Any:
        import torch

        import _triton

        return _triton.softmax(torch.as_tensor(x, device="cuda"), torch.as_tensor(o, device="cuda"))

    return {"torch": torch, "triton": triton}


def main() -> None:
    """The rows."""
    bench = Bench("softmax", __doc__ or "")
    m = Machine(bench)
    small = bench.args.short or not (bench.on_gpu or LARGE_MACHINE)
    for rows, columns in ((2048 if small else 32768, 8192), (4096, 1024)):
        name = f"softmax {rows} x {columns}"
        if not bench.wants(name):
            continue
        host = normal(rows * columns).reshape(rows, columns)
        x, o = m.array(host), ep.empty((rows, columns), dtype="float32", device=m.device)
        args = (argument(x, bench.on_gpu), argument(o, bench.on_gpu), columns)
        peer = "triton" if bench.on_gpu else "torch" if LARGE_MACHINE else "numba"
        bench.row(
            name, n=rows * columns, dtype="float32", unit="TB/s" if bench.on_gpu else "GB/s", work=8.0 * rows * columns,
            ours=m.run(lambda args=args, rows=rows: ct.launch(m.queue, (rows,), softmax, args)), target_peer=peer,
            check=lambda o=o, host=host: np.allclose(np.asarray(o), reference(host), rtol=2e-5, atol=0),
            makers=gpu_peers(x, o) if bench.on_gpu else cpu_peers(host), queue=m.queue if bench.on_gpu else None,
        )  # fmt: skip
    bench.close()


if __name__ == "__main__":
    main()
