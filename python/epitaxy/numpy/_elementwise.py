"""One kernel for one recorded expression: no temporaries in memory, any layout of the inputs."""

from __future__ import annotations

from typing import Any

from epitaxy import _engine, _trace
from epitaxy.numpy import _exec
from epitaxy.numpy._expr import Leaf, Node, Op, Walked
from epitaxy.numpy._layout import Shape, broadcast_strides, merge, size_of
from epitaxy.numpy._program import Frame, bind, blocks_of, leaf_strides, tile_of


def evaluate(root: Node, out: Leaf) -> None:
    """Computes `root`, broadcast to out's shape, into `out` (any strides). Queues the work and does not wait."""
    size = size_of(out.shape)
    if size == 0:
        return
    start = _trace.begin()
    walked = Walked(root)
    leaves = walked.leaves
    device = out.storage.device
    shape, columns = _layout(leaves, out, size)
    rank = len(shape)
    budget = _exec.tile_budget(device, size)
    tile = (budget,) if rank == 1 else tuple(tile_of(shape, budget))
    key = (id(device), walked.key, out.dtype, tile)
    program = _exec.PROGRAMS.get(key)
    if program is None:
        program = _prepare(key, root, walked, out)
    views = tuple([(x.address, shape, s) for x, s in zip((*leaves, out), columns, strict=True)])
    _exec.launch(program, blocks_of(shape, tile), views, walked.constants)
    _trace.end(start, "elementwise")


def _layout(leaves: list[Leaf], out: Leaf, size: int) -> tuple[Shape, list[Shape]]:
    """The walk of a kernel: its shape, and the strides of every leaf and of `out` along it."""
    shape = out.shape
    if out.is_contiguous() and all(x.shape == shape and x.is_contiguous() for x in leaves):
        return (size,), [(1,)] * (len(leaves) + 1)
    merged, columns = merge(shape, [*leaf_strides(leaves, shape), broadcast_strides(shape, out.strides, shape)])
    return (merged, columns) if merged else ((1,), [(0,) for _ in columns])


def _prepare(key: tuple[Any, ...], root: Node, walked: Walked, out: Leaf) -> Any:
    tile = list(key[-1])
    order, leaves, constants = walked.skeleton()

    def build(specs: list[Any]) -> Any:
        b = _engine.Builder("elementwise", specs)
        frame = Frame(b, tile)
        views, (target,), values = bind(b, leaves, constants, 1)
        _, offsets = frame.split(frame.program(), target, range(len(tile)))
        value = frame.expression(order, views, values, offsets)
        b.store(target, offsets, b.broadcast(value, tile), False)
        return b.finish()

    name = root.name if isinstance(root, Op) else "copy"
    dtypes = [*(x.dtype for x in leaves), out.dtype]
    return _exec.prepare(out.storage.device, name, key, dtypes, 1, [c.dtype for c in constants], build)
