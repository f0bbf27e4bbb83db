"""C = A @ B in tiles; edges need no care, because what lies outside is read as zero and not written."""

import numpy as np

import epitaxy.tile as ct


@ct.kernel
def matmul(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), ct.float32)
    for k in range(ct.num_tiles(a, 1, (tm, tk))):
        acc = ct.mma(ct.load(a, (i, k), (tm, tk)), ct.load(b, (k, j), (tk, tn)), acc)
    ct.store(c, (i, j), acc)


def main() -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((300, 200), dtype=np.float32)
    b = rng.standard_normal((200, 170), dtype=np.float32)
    c = np.empty((300, 170), np.float32)
    grid = (ct.cdiv(300, 64), ct.cdiv(170, 64))
    ct.launch(None, grid, matmul, (a, b, c, 64, 64, 32))
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-4)
    print("matmul: ok")


if __name__ == "__main__":
    main()
