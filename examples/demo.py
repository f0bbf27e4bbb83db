"""The main job on real input: two photographs, computed with NumPy's names, tile kernels and reductions, and checked.
The table has the times of the first call (with compiling, where no cache has the kernel) and the best later one.

    python examples/demo.py [--device cpu|cuda] [--out FOLDER]

Every result is compared with NumPy's or SciPy's; a mismatch ends the program with exit code 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
from scipy import ndimage
from sklearn.datasets import load_sample_image

import epitaxy
import epitaxy.numpy as np
import epitaxy.tile as ct

BLUR = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)  # binomial, close to a Gaussian of sigma 1
TILE_H, TILE_W = 8, 128


@ct.kernel
def blur(src, dst, H: ct.Constant[int], W: ct.Constant[int]):
    """5 x 5 Gaussian; what lies outside the picture counts as 0 (padding)."""
    y, x = ct.bid(0) * H, ct.bid(1) * W
    acc = ct.zeros((H, W), ct.float32)
    for i in ct.static_iter(range(5)):
        for j in ct.static_iter(range(5)):
            acc = acc + BLUR[i] * BLUR[j] * ct.load(src, at=(y + (i - 2), x + (j - 2)), shape=(H, W))
    ct.store(dst, (ct.bid(0), ct.bid(1)), acc)


@ct.kernel
def sobel(src, dst, H: ct.Constant[int], W: ct.Constant[int]):
    """Magnitude of the Sobel gradient; what lies outside the picture counts as 0 (padding)."""
    y, x = ct.bid(0) * H, ct.bid(1) * W
    gx = ct.zeros((H, W), ct.float32)
    gy = ct.zeros((H, W), ct.float32)
    for k in ct.static_iter(range(3)):
        w = (1.0, 2.0, 1.0)[k]
        right = ct.load(src, at=(y + (k - 1), x + 1), shape=(H, W))
        left = ct.load(src, at=(y + (k - 1), x - 1), shape=(H, W))
        below = ct.load(src, at=(y + 1, x + (k - 1)), shape=(H, W))
        above = ct.load(src, at=(y - 1, x + (k - 1)), shape=(H, W))
        gx = gx + w * (right - left)
        gy = gy + w * (below - above)
    ct.store(dst, (ct.bid(0), ct.bid(1)), ct.sqrt(gx * gx + gy * gy))


@ct.kernel
def softmax(src, dst, W: ct.Constant[int]):
    """Softmax of each row."""
    row = ct.load(src, (ct.bid(0), 0), (1, W), padding_mode=ct.PaddingMode.NEG_INF)
    e = ct.exp(row - ct.max(row, axis=1, keepdims=True))
    ct.store(dst, (ct.bid(0), 0), e / ct.sum(e, axis=1, keepdims=True))


def tiled(kernel: Any, source: Any) -> Any:
    """Launches a stencil over a picture."""
    out = np.empty(source.shape, "float32", device=source.device)
    height, width = source.shape
    ct.launch(None, (ct.cdiv(height, TILE_H), ct.cdiv(width, TILE_W)), kernel, (source, out, TILE_H, TILE_W))
    return out


def row_softmax(source: Any) -> Any:
    """Launches one program a row."""
    out = np.empty(source.shape, "float32", device=source.device)
    width = 1 << (source.shape[1] - 1).bit_length()
    ct.launch(None, (source.shape[0],), softmax, (source, out, width))
    return out


def numpy_softmax(gray: Any) -> Any:
    e = numpy.exp(gray - gray.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def numpy_sobel(gray: Any) -> Any:
    gx, gy = (ndimage.sobel(gray, axis=a, mode="constant") for a in (1, 0))
    return numpy.sqrt(gx * gx + gy * gy)


def gray_of(image: Any) -> Any:
    return 0.299 * image[..., 0] + 0.587 * image[..., 1] + 0.114 * image[..., 2]


def expose(lib: Any, gray: Any) -> Any:
    """To linear light, exposure, a filmic curve, and back by gamma: one chain, one kernel."""
    x = gray * gray * 1.6
    y = lib.clip((x * (2.51 * x + 0.03)) / (x * (2.43 * x + 0.59) + 0.14), 0.0, 1.0)
    return lib.exp(lib.log(y + 1e-6) / 2.2)


def statistics_of(image: Any) -> list[Any]:
    return [image.mean(axis=(0, 1)), image.min(axis=(0, 1)), image.max(axis=(0, 1))]


class Table:
    """Runs each step on the device and in NumPy, checks, and prints a line."""

    def __init__(self, device: Any) -> None:
        self.queue = device.default_queue()
        self.failed = 0
        print(f"{'step':<24}{'first call':>12}{'steady':>12}{'NumPy':>12}{'faster':>9}{'error':>10}{'allowed':>10}")

    def timed(self, work: Callable[[], Any]) -> tuple[Any, float]:
        start = time.perf_counter()
        result = work()
        for part in result if isinstance(result, list) else [result]:
            part._compute()
        self.queue.synchronise()
        return result, (time.perf_counter() - start) * 1e3

    def step(self, name: str, ours: Callable[[], Any], reference: Callable[[], Any], tolerance: float) -> Any:
        """One line; gives the device's result."""
        result, first = self.timed(ours)
        steady = min(self.timed(ours)[1] for _ in range(15))
        expected, best = reference(), float("inf")
        for _ in range(5):
            start = time.perf_counter()
            expected = reference()
            best = min(best, (time.perf_counter() - start) * 1e3)
        pairs = zip(result, expected, strict=True) if isinstance(result, list) else [(result, expected)]
        error = max(float(numpy.abs(numpy.asarray(a) - b).max()) for a, b in pairs)
        good = error <= tolerance
        self.failed += not good
        times = f"{first:>9.2f} ms{steady:>9.3f} ms{best:>9.3f} ms{best / steady:>8.1f}x"
        print(f"{name:<24}{times}{error:>10.1e}{tolerance:>10.0e}{'' if good else '   WRONG'}", flush=True)
        return result


def picture(values: Any) -> Any:
    """Values in [0, 1] as 8-bit gray."""
    return numpy.clip(numpy.asarray(values) * 255 + 0.5, 0, 255).astype("uint8")


def save(folder: Path, name: str, pictures: dict[str, Any]) -> None:
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    for what, values in pictures.items():
        path = folder / f"{name}_{what}.png"
        Image.fromarray(values if values.dtype == numpy.uint8 else picture(values)).save(path)
        print(f"  wrote {path}")


def work_on(name: str, device: Any, folder: Path) -> int:
    """All steps on one photograph; the number of wrong ones."""
    photograph = load_sample_image(name)
    host = (photograph / 255).astype("float32")
    print(f"\n{name}: {host.shape[1]} x {host.shape[0]} pixels on {device}")
    image = np.array(host, device=device)
    host_gray = gray_of(host)
    kernel = numpy.outer(BLUR, BLUR).astype("float32")
    table = Table(device)
    gray = table.step("grayscale", lambda: gray_of(image), lambda: gray_of(host), 1e-6)
    exposed = table.step("exposure and gamma", lambda: expose(np, gray), lambda: expose(numpy, host_gray), 2e-6)
    blurred = table.step(
        "blur (tile kernel)",
        lambda: tiled(blur, gray),
        lambda: ndimage.convolve(host_gray, kernel, mode="constant"),
        2e-6,
    )
    edges = table.step("sobel (tile kernel)", lambda: tiled(sobel, gray), lambda: numpy_sobel(host_gray), 1e-5)
    # the tolerance is for NumPy, whose mean of float32 errs; ours is held to the exact one below
    table.step("mean, min, max", lambda: statistics_of(image), lambda: statistics_of(host), 5e-4)
    exact = host.astype("float64").mean(axis=(0, 1))
    table.failed += bool(numpy.abs(numpy.asarray(image.mean(axis=(0, 1))) - exact).max() > 1e-6)
    table.step("softmax of rows", lambda: row_softmax(gray), lambda: numpy_softmax(host_gray), 1e-7)
    short = name.split(".")[0]
    save(folder, short, {"input": photograph, "exposed": exposed, "blur": blurred, "edges": edges / np.max(edges)})
    return table.failed


def show_trail(device: Any) -> None:
    """The trail of one kernel, abbreviated."""
    gray = np.array(gray_of(load_sample_image("china.jpg") / 255).astype("float32"), device=device)
    with epitaxy.trace() as trail:
        for _ in range(4):
            tiled(sobel, gray)
            device.default_queue().synchronise()
    print("\nThe trail of one kernel, abbreviated; `epitaxy trace examples/demo.py` shows all of them:\n")
    print(trail.text(lines=6, only="sobel"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda or cuda:N")
    parser.add_argument("--out", type=Path, default=Path("build/demo"), help="where the pictures go")
    options = parser.parse_args()
    with epitaxy.device(options.device) as device:
        failed = sum(work_on(name, device, options.out) for name in ("china.jpg", "flower.jpg"))
        show_trail(device)
    print(f"\n{'every result agrees with NumPy and SciPy' if not failed else f'{failed} results are WRONG'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
