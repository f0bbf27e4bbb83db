"""A while loop with its own end in each program, and a picture in characters."""

import numpy as np

import epitaxy.tile as ct


@ct.kernel
def mandelbrot(out, limit: ct.Constant[int]):
    row, column = ct.bid(0), ct.bid(1)
    cr = column / 79.0 * 3.2 - 2.2
    ci = row / 23.5 * 2.4 - 1.2
    zr, zi, steps = 0.0, 0.0, 0
    while zr * zr + zi * zi <= 4.0:
        zr, zi = zr * zr - zi * zi + cr, 2.0 * zr * zi + ci
        steps += 1
        if steps == limit:
            break
    ct.store(out, (row, column), steps)


def main() -> None:
    out = np.zeros((24, 80), np.int32)
    ct.launch(None, (24, 80), mandelbrot, (out, 50))
    for row in out:
        print("".join(" .:-=+*#%@"[min(9, int(s) // 5)] for s in row))


if __name__ == "__main__":
    main()
