"""Memory of arrays, and the arrays that wait to be computed from it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from epitaxy.numpy._array import ndarray


class Storage:
    """A block of memory on a device. `owner` keeps it alive; `address` is of its first byte."""

    __slots__ = ("__weakref__", "address", "device", "nbytes", "owner", "pending", "readonly")

    def __init__(self, device: Any, address: int, nbytes: int, owner: Any, readonly: bool = False) -> None:
        self.device = device
        self.address = address
        self.nbytes = nbytes
        self.owner = owner
        self.readonly = readonly
        self.pending: list[weakref.ref[ndarray]] = []

    def watch(self, array: ndarray) -> None:
        """Remembers that `array` is recorded on the present contents."""
        if len(self.pending) >= 64:
            self.pending = [r for r in self.pending if r() is not None and not r()._is_computed()]  # type: ignore[union-attr]
        self.pending.append(weakref.ref(array))

    def before_write(self) -> None:
        """Computes what was recorded on the present contents. Call before anything changes them."""
        waiting, self.pending = self.pending, []
        for reference in waiting:
            array = reference()
            if array is not None:
                array._compute()
