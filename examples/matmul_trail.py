"""A matrix product on the device of your choice, by the library and by a tile kernel: a program to be traced.

usage: epitaxy trace examples/matmul_trail.py [cpu | cuda]
"""

import sys

import epitaxy
import epitaxy.numpy as np
import epitaxy.tile as ct


@ct.kernel
def matmul(a, b, c, M: ct.Constant[int], N: ct.Constant[int], K: ct.Constant[int]):
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((M, N), ct.float32)
    for k in range(ct.num_tiles(a, 1, (M, K))):
        acc = ct.mma(ct.load(a, (i, k), (M, K)), ct.load(b, (k, j), (K, N)), acc)
    ct.store(c, (i, j), acc)


with epitaxy.device(sys.argv[1] if len(sys.argv) > 1 else "cpu") as device:
    rng = np.random.default_rng(2026)
    a = rng.standard_normal((1024, 1024), dtype="float32")
    b = rng.standard_normal((1024, 1024), dtype="float32")
    queue = device.default_queue()

    for _ in range(3):  # the library's product
        c = a @ b
        queue.record().wait()  # an event: a signal that the queue sets when it gets there
    print("library:", c.shape)

    d = np.empty((1024, 1024), "float32")
    for _ in range(3):  # the same product by the kernel above
        ct.launch(queue, (16, 16), matmul, (a, b, d, 64, 64, 32))
        queue.record().wait()
    print("tile kernel:", d.shape)

    difference = abs(c.numpy() - d.numpy()).max()
    print(f"largest difference of an element: {difference:.1e}")
    if difference > 1e-3:
        sys.exit("the products differ")
