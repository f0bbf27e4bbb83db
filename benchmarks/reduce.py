"""Sums of whole arrays: float32 at three sizes and float16.

Needs numpy; peers where installed: numba, jax, torch on the CPU (and a plain C loop, where `cc` is), cupy, torch and
cuda.compute on a GPU.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from _harness import Bench, Kept, Maker
from _work import CORES, LARGE_MACHINE, Machine, no_cache, normal

no_cache()

import epitaxy.numpy as ep  # noqa: E402

C_LOOP = """
#include <pthread.h>
typedef struct { const float* x; long n; float s; } part;
static void* run(void* v) {
  part* p = v;
  float s[64] = {0};
  for (long i = 0; i + 64 <= p->n; i += 64)
    for (int k = 0; k < 64; k++) s[k] += p->x[i + k];
  for (int k = 1; k < 64; k++) s[0] += s[k];
  p->s = s[0];
  return 0;
}
float read_speed(const float* x, long n, int threads) {
  part p[256]; pthread_t t[256]; float s = 0; long each = n / threads;
  for (int i = 1; i < threads; i++) { p[i] = (part){x + i * each, each, 0}; pthread_create(&t[i], 0, run, &p[i]); }
  p[0] = (part){x, each, 0}; run(&p[0]); s = p[0].s;
  for (int i = 1; i < threads; i++) { pthread_join(t[i], 0); s += p[i].s; }
  return s;
}
"""


def c_loop(x: np.ndarray[Any, Any]) -> Any:
    """The memory's read speed: each core adds its part in 64 lanes."""
    folder = Path(tempfile.mkdtemp(prefix="epitaxy-bench-"))
    (folder / "loop.c").write_text(C_LOOP)
    subprocess.run(
        ["cc", "-O3", "-march=native", "-ffast-math", "-shared", "-fPIC", "-o", "loop.so", "loop.c", "-lpthread"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    f = ctypes.CDLL(str(folder / "loop.so")).read_speed
    f.restype, f.argtypes = ctypes.c_float, [ctypes.c_void_p, ctypes.c_long, ctypes.c_int]
    threads = CORES if x.size > 1 << 18 else 1
    got = f(x.ctypes.data, x.size, threads)
    if not np.isclose(got, x.sum(dtype=np.float64), rtol=1e-3, atol=1.0):
        raise ValueError(f"the C loop gives {got}")
    return lambda: f(x.ctypes.data, x.size, threads)


def cpu_peers(x: np.ndarray[Any, Any]) -> dict[str, Maker]:
    """NumPy, numba, jax, torch and, for float32, the C loop."""

    def numba() -> Any:
        import numba as nb

        @nb.njit(parallel=True, fastmath=True)
        def total(x: Any) -> Any:
            s = np.float32(0)
            for i in nb.prange(x.size):
                s += x[i]
            return s

        return lambda: total(x)

    def jax() -> Any:
        import jax
        import jax.numpy as jnp

        jx = jax.device_put(x, jax.devices("cpu")[0])
        f = jax.jit(jnp.sum)
        return lambda: f(jx).block_until_ready()

    def torch() -> Any:
        import torch

        t = torch.from_numpy(x)
        return t.sum

    peers: dict[str, Maker] = {"numpy": lambda: x.sum, "jax": jax, "torch": torch}
    return peers if x.dtype != np.float32 else {**peers, "numba": numba, "C loop": lambda: c_loop(x)}


def gpu_peers(x: Any) -> dict[str, Maker]:
    """cupy, torch, cuda.compute on the same device memory."""

    def torch() -> Any:
        import torch

        t = torch.as_tensor(x, device="cuda")
        return t.sum

    def cupy() -> Any:
        import cupy as cp

        a = cp.asarray(x)
        return a.sum

    def compute() -> Any:
        import cuda.compute as cc
        import cupy as cp

        a, out, start = cp.asarray(x), cp.empty(1, x.dtype), np.zeros(1, x.dtype)
        r = cc.make_reduce_into(d_in=a, d_out=out, op=cc.OpKind.PLUS, h_init=start)
        call = {"d_in": a, "d_out": out, "num_items": a.size, "h_init": start, "op": cc.OpKind.PLUS}
        try:
            space = cp.empty(max(1, r(temp_storage=None, **call)), "uint8")
        except TypeError:  # releases before 1.2 take no operator here
            del call["op"]
            space = cp.empty(max(1, r(temp_storage=None, **call)), "uint8")
        return lambda: r(temp_storage=space, **call)

    return {"torch": torch, "cupy": cupy, "cuda.compute": compute}


def main() -> None:
    """The rows."""
    bench = Bench("reduce", __doc__ or "")
    m = Machine(bench)
    large = 20 if bench.args.short else 28 if bench.on_gpu else 26 if LARGE_MACHINE else 24
    # (log2 of size, dtype, unit, peer and ratio to reach)
    gpu = [(large, "float32", "TB/s", "cuda.compute", 1.0), (24, "float32", "us", "cupy", 1.25)]
    gpu += [(16, "float32", "us", "cupy", 1.3), (large, "float16", "TB/s", "cuda.compute", 1.08)]
    best = "torch" if LARGE_MACHINE else "C loop"
    cpu = [(large, "float32", "GB/s", best, 1.0), (16, "float32", "us", "numpy", 1.0)]
    cpu += [(large, "float16", "GB/s", "numpy", 1.0)]
    for log, dtype, unit, peer, target in gpu if bench.on_gpu else cpu:
        name = f"sum {dtype.replace('float', 'f')}, 2^{log}"
        if not bench.wants(name):
            continue
        host = normal(1 << log, dtype, 0.01 if dtype == "float16" else 1.0)
        x = m.array(host)
        got = Kept(m.run(lambda x=x: ep.sum(x)))
        exact = float(np.sum(host, dtype=np.float64))
        near = 1e-6 * float(np.sum(np.abs(host), dtype=np.float64)) + (abs(exact) * 2**-10 if dtype == "float16" else 0)
        bench.row(
            name, n=1 << log, dtype=dtype, unit=unit, ours=got, work=float(host.nbytes), target_peer=peer,
            target=target, check=lambda got=got, exact=exact, near=near: abs(float(got.value) - exact) <= near,
            makers=gpu_peers(x) if bench.on_gpu else cpu_peers(host), queue=m.queue if bench.on_gpu else None,
        )  # fmt: skip
    bench.close()


if __name__ == "__main__":
    main()
