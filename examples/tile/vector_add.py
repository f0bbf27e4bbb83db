"""c = a + b, one tile a program; the last tile is cut off at the arrays' end."""

import numpy as np

import epitaxy.tile as ct


@ct.kernel
def vector_add(a, b, c, n: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (n,)) + ct.load(b, (i,), (n,)))


def main() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 100_003), dtype=np.float32)
    c = np.empty_like(a)
    ct.launch(None, (ct.cdiv(a.size, 1024),), vector_add, (a, b, c, 1024))
    np.testing.assert_array_equal(c, a + b)
    print("vector add: ok")


if __name__ == "__main__":
    main()
