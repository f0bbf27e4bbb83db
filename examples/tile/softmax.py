"""Softmax of each row. Padding with -inf makes the row's true length irrelevant."""

import numpy as np

import epitaxy.tile as ct


@ct.kernel
def softmax(x, y, n: ct.Constant[int]):
    row = ct.load(x, (ct.bid(0), 0), (1, n), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(row - ct.max(row, 1, keepdims=True))
    ct.store(y, (ct.bid(0), 0), e / ct.sum(e, 1, keepdims=True))


def main() -> None:
    x = np.random.default_rng(0).standard_normal((200, 300), dtype=np.float32)
    y = np.empty_like(x)
    ct.launch(None, (x.shape[0],), softmax, (x, y, 512))
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)
    print("softmax: ok")


if __name__ == "__main__":
    main()
