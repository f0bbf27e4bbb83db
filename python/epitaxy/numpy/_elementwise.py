"""One kernel for one recorded expression: no temporaries in memory, any layout of the inputs."""

from __future__ import annotations

from typing import Any

from epitaxy import _engine
from epitaxy.numpy import _exec
from epitaxy.numpy._expr import Leaf, Node, Op, linearise, signature
from epitaxy.numpy._layout import broadcast_strides, merge, size_of
from epitaxy.numpy._program import Frame, bind, blocks_of, leaf_strides, tile_of


def evaluate(root: Node, out: Leaf) -> None:
    """Computes `root`, broadcast to out's shape, into `out` (any strides). Queues the work and does not wait."""
    if size_of(out.shape) == 0:
        return
    order, leaves, constants = linearise(root)
    strides = leaf_strides(leaves, out.shape)
    own = broadcast_strides(out.shape, out.strides, out.shape)
    shape, columns = merge(out.shape, [*strides, own])
    if not shape:
        shape, columns = (1,), [(0,) for _ in columns]
    device = out.storage.device
    tile = tile_of(shape, _exec.tile_budget(device, size_of(shape)))
    key = f"elementwise {signature(order, shape)} rank={len(shape)} tile={tile}"

    def build(specs: list[Any]) -> Any:
        b = _engine.Builder("elementwise", specs)
        frame = Frame(b, tile)
        views, (target,), values = bind(b, leaves, constants, 1)
        _, offsets = frame.split(frame.program(), target, range(len(tile)))
        value = frame.expression(order, views, values, offsets)
        b.store(target, offsets, b.broadcast(value, tile), False)
        return b.finish()

    views = [_exec.View(x.address, x.dtype, shape, s, True) for x, s in zip(leaves, columns[:-1], strict=True)]
    views.append(_exec.View(out.address, out.dtype, shape, columns[-1], False))
    name = root.name if isinstance(root, Op) else "copy"
    _exec.launch(device, name, key, build, views, constants, blocks_of(shape, tile))
