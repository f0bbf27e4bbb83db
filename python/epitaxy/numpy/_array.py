"""The array: NumPy's ndarray on a device, elementwise work recorded until someone needs the values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as _np

from epitaxy import _engine
from epitaxy._device import as_device
from epitaxy.numpy import _exec
from epitaxy.numpy._elementwise import evaluate
from epitaxy.numpy._emit import dtype_code
from epitaxy.numpy._expr import MAX_NODES, Leaf, Node, Walked, cast
from epitaxy.numpy._layout import Shape, broadcast_strides, index, reshape_strides, row_major, size_of

_DLPACK_TYPES = {"cuda": 2, "hip": 10}


class ndarray:
    """A multidimensional array on a device.

    Made by the functions of `epitaxy.numpy`, not directly. Elementwise operations are recorded and run as one kernel
    when values are needed: printing, conversion, reductions, views, assignment.

    >>> import epitaxy.numpy as np
    >>> (np.arange(4) * 2 + 1).tolist()
    [1, 3, 5, 7]
    """

    __slots__ = ("__weakref__", "_device", "_node")
    __array_ufunc__ = None  # NumPy's operators leave mixed expressions to ours
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, node: Node, device: Any) -> None:
        self._node = node
        self._device = device
        if not isinstance(node, Leaf):
            for storage in node.storages:
                storage.watch(self)
            if node.size_nodes > MAX_NODES:
                self._compute()

    # -- facts
    @property
    def shape(self) -> Shape:
        """Extents of the axes."""
        return self._node.shape

    @property
    def dtype(self) -> _np.dtype[Any]:
        """NumPy's dtype of the elements."""
        return self._node.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._node.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return size_of(self._node.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self) -> Any:
        """The device that holds the array."""
        return self._device

    @property
    def strides(self) -> Shape:
        """Bytes from one element to the next along each axis."""
        return tuple(s * self.itemsize for s in self._leaf().strides)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    # -- computing
    def _compute(self) -> None:
        """Runs what was recorded. The work is queued, not waited for."""
        if isinstance(self._node, Leaf):
            return
        out = _exec.empty_leaf(self._device, self.dtype, self.shape)
        evaluate(self._node, out)
        self._node = out

    def _is_computed(self) -> bool:
        return isinstance(self._node, Leaf)

    def _leaf(self) -> Leaf:
        self._compute()
        assert isinstance(self._node, Leaf)
        return self._node

    def _contiguous(self) -> Leaf:
        leaf = self._leaf()
        return leaf if leaf.is_contiguous() else _exec.materialise(leaf, self._device)

    def numpy(self) -> _np.ndarray[Any, Any]:
        """The values as a new NumPy array; waits for the device."""
        return _exec.to_host(self._contiguous())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> _np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("an array on a device cannot be shown to NumPy without a copy; use copy=True or None")
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if not _exec.is_host(self._device):
            raise AttributeError("__array_interface__: the array is on " + self._device.label)
        return self._interface()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if _exec.is_host(self._device):
            raise AttributeError("__cuda_array_interface__: the array is on " + self._device.label)
        return self._interface()

    def _interface(self) -> dict[str, Any]:
        leaf = self._leaf()
        leaf.storage.before_write()  # whoever takes the address may write
        _exec.queue_of(self._device).synchronise()
        strides = tuple(s * self.itemsize for s in leaf.strides)
        return {
            "shape": leaf.shape,
            "typestr": self.dtype.str,
            "data": (leaf.address, leaf.readonly or leaf.storage.readonly),
            "strides": strides,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        if _exec.is_host(self._device):
            return 1, 0
        return _DLPACK_TYPES[self._device.kind], int(self._device.info["ordinal"])

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of the same memory (of a copy where `copy` is True). Waits for the device first."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is on {self._device.label}; move it with .to(...) first")
        if copy:
            return self.copy()._capsule(max_version, 2)
        return self._capsule(max_version, 0)

    def _capsule(self, max_version: tuple[int, int] | None, flags: int) -> Any:
        leaf = self._leaf()
        versioned = max_version is not None and max_version[0] >= 1
        if leaf.readonly or leaf.storage.readonly:
            if not versioned:
                raise BufferError("a read-only array needs a consumer of DLPack 1.0 or later, or copy=True")
            flags |= 1
        else:
            leaf.storage.before_write()  # whoever takes the capsule may write
        _exec.queue_of(self._device).synchronise()
        kind, ordinal = self.__dlpack_device__()
        code = dtype_code(self.dtype)
        return _engine.export_dlpack(
            leaf.storage, leaf.address, code, leaf.shape, leaf.strides, kind, ordinal, versioned, flags
        )

    def item(self) -> Any:
        """The only element as a Python number; ValueError where there are more or none."""
        if self.size != 1:
            raise ValueError(f"can only convert an array of size 1 to a Python scalar; this one has size {self.size}")
        return self.numpy().item()

    def tolist(self) -> Any:
        """The values as nested lists of Python numbers."""
        return self.numpy().tolist()

    def __bool__(self) -> bool:
        if self.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.kind not in "iu" or self.shape != ():
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return int(self.item())

    def __repr__(self) -> str:
        text = repr(self.numpy())
        return text if _exec.is_host(self._device) else f"{text[:-1]}, device='{self._device.label}')"

    def __str__(self) -> str:
        return str(self.numpy())

    def __format__(self, spec: str) -> str:
        return format(self.item() if self.shape == () else self.numpy(), spec)

    def __iter__(self) -> Iterator[Any]:
        if not self.shape:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(self.shape[0]))

    # -- views and copies
    def _view(self, shape: Shape, strides: Shape, offset: int) -> ndarray:
        leaf = self._leaf()
        return ndarray(leaf.view(shape, strides, offset), self._device)

    def __getitem__(self, key: Any) -> ndarray:
        leaf = self._leaf()
        return self._view(*index(leaf.shape, leaf.strides, leaf.offset, key))

    def __setitem__(self, key: Any, value: Any) -> None:
        leaf = self._leaf()
        target = leaf.view(*index(leaf.shape, leaf.strides, leaf.offset, key))
        self._assign(target, value)

    def _assign(self, target: Leaf, value: Any) -> None:
        from epitaxy.numpy._ufunc import as_node

        if target.readonly or target.storage.readonly:
            raise ValueError("assignment destination is read-only")
        node = as_node(value, self._device, self.dtype)
        shape = node.shape
        extra = len(shape) - len(target.shape)
        if extra > 0 and all(e == 1 for e in shape[:extra]):
            if not isinstance(node, Leaf):
                node = _exec.materialise(node, self._device)
            node = Leaf(node.storage, node.dtype, shape[extra:], node.strides[extra:], node.offset)
        node = cast(node, self.dtype)
        try:
            broadcast_strides(node.shape, (0,) * len(node.shape), target.shape)
            fits = all(e in (1, t) for e, t in zip(reversed(node.shape), reversed(target.shape), strict=False))
        except ValueError:
            fits = False
        if not fits or len(node.shape) > len(target.shape):
            raise ValueError(f"could not broadcast input array from shape {shape} into shape {target.shape}")
        target.storage.before_write()
        if target.storage in node.storages and any(_may_clash(x, target) for x in Walked(node).leaves):
            node = _exec.materialise(node, self._device)
        evaluate(node, target)

    def reshape(self, *shape: Any) -> ndarray:
        """The same elements under another shape: a view where strides allow, else a copy. One extent may be -1."""
        wanted = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        wanted = _resolve_shape(tuple(int(e) for e in wanted), self.size, self.shape)
        leaf = self._leaf()
        strides = row_major(wanted) if self.size == 0 else reshape_strides(leaf.shape, leaf.strides, wanted)
        if strides is None:
            leaf = self._contiguous()
            strides = row_major(wanted)
        return ndarray(leaf.view(wanted, strides, leaf.offset), self._device)

    def ravel(self) -> ndarray:
        """One axis: a view where possible."""
        return self.reshape(-1)

    def flatten(self) -> ndarray:
        """One axis: always a copy."""
        return self.copy().reshape(-1)

    def transpose(self, *axes: Any) -> ndarray:
        """A view with permuted axes (reversed where none are given)."""
        order = axes[0] if len(axes) == 1 and isinstance(axes[0], (tuple, list)) else axes
        order = tuple(range(self.ndim))[::-1] if not order or order == (None,) else tuple(a % self.ndim for a in order)
        if sorted(order) != list(range(self.ndim)):
            raise ValueError(f"axes {order} don't match an array of {self.ndim} axes")
        leaf = self._leaf()
        return self._view(tuple(leaf.shape[a] for a in order), tuple(leaf.strides[a] for a in order), leaf.offset)

    @property
    def T(self) -> ndarray:
        """The transposed view."""
        return self.transpose()

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> ndarray:
        """A view without axes of extent 1 (all of them, or the given ones)."""
        from epitaxy.numpy._layout import normalise_axes

        axes = [i for i, e in enumerate(self.shape) if e == 1] if axis is None else normalise_axes(axis, self.ndim)
        if any(self.shape[a] != 1 for a in axes):
            raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
        leaf = self._leaf()
        kept = [i for i in range(self.ndim) if i not in axes]
        return self._view(tuple(leaf.shape[i] for i in kept), tuple(leaf.strides[i] for i in kept), leaf.offset)

    def astype(self, dtype: Any, copy: bool = True) -> ndarray:
        """The elements converted to `dtype`, by NumPy's rules."""
        wanted = _np.dtype(dtype)
        if wanted == self.dtype and not copy:
            return self
        return ndarray(cast(self._node, wanted), self._device) if wanted != self.dtype else self.copy()

    def copy(self) -> ndarray:
        """A new contiguous array with the same elements."""
        if not isinstance(self._node, Leaf):
            self._compute()
        return ndarray(_exec.materialise(self._node, self._device), self._device)

    def to(self, device: str | Any) -> ndarray:
        """A copy on another device (the array itself where it is there already)."""
        target = as_device(device)
        if target == self._device:
            return self
        return ndarray(_exec.from_host(self.numpy(), target), target)

    def fill(self, value: Any) -> None:
        """Sets every element."""
        self[...] = value


def _may_clash(source: Leaf, target: Leaf) -> bool:
    """Whether writing an element of `target` may change another one of `source` that is still to be read."""
    if source.storage is not target.storage:
        return False
    if (source.offset, source.shape, source.strides) == (target.offset, target.shape, target.strides):
        return False  # each element is read before it is written
    (low, high), (first, last) = _reach(source), _reach(target)
    return low <= last and first <= high


def _reach(leaf: Leaf) -> tuple[int, int]:
    """Offsets of the lowest and highest element."""
    steps = [(e - 1) * s for e, s in zip(leaf.shape, leaf.strides, strict=True)]
    return leaf.offset + sum(s for s in steps if s < 0), leaf.offset + sum(s for s in steps if s > 0)


def _resolve_shape(shape: Shape, size: int, old: Shape) -> Shape:
    if shape.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    if -1 in shape:
        known = -size_of(shape)
        if known == 0 or size % known:
            raise ValueError(f"cannot reshape array of shape {old} into shape {shape}")
        shape = tuple(size // known if e == -1 else e for e in shape)
    if any(e < 0 for e in shape):
        raise ValueError(f"negative dimensions are not allowed; got shape {shape}")
    if size_of(shape) != size:
        raise ValueError(f"cannot reshape array of shape {old} into shape {shape}")
    return shape
