"""A digest of a recorded program: equal digests mean equal programs, so the compiled artefact can be kept on disk.

Places in the source are part of it, because messages of a compiled kernel name them.
"""

from __future__ import annotations

import hashlib
from typing import Any

from .._dtypes import DType
from ._record import Literal, Op, Recorder, Value

__all__ = ["digest"]


class _Writer:
    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.out: list[str] = []
        self.place: Any = None

    def number(self, v: Value) -> int:
        return self.numbers.setdefault(id(v), len(self.numbers))

    def operand(self, a: Any) -> str:
        if isinstance(a, Value):
            return f"%{self.number(a)}"
        if isinstance(a, Literal):
            return f"{a.dtype.name}:{a.value!r}"
        if isinstance(a, DType):
            return a.name
        if isinstance(a, list | tuple):
            return "[" + ",".join([self.operand(x) for x in a]) + "]"
        return repr(a)

    def ops(self, ops: list[Op]) -> None:
        for op in ops:
            if op.place is not self.place and op.place is not None:
                self.place = op.place
                self.out.append(f"@{op.place.file}:{op.place.line}:{op.place.column}")
            results = [
                f"%{self.number(r)}:{getattr(r, 'dtype', '')}{getattr(r, 'shape', '')}"
                if not _is_array(r)
                else f"%{self.number(r)}"
                for r in op.results
            ]
            self.out.append(f"{results}={op.name}{self.operand(op.args)}")
            for region in op.regions:
                self.out.append("{" + self.operand(region.params))
                self.ops(region.ops)
                self.out.append("}" + self.operand(region.yields))


def _is_array(v: Any) -> bool:
    return hasattr(v, "index_dtype")


def digest(recorder: Recorder, params: list[Any], extra: str) -> str:
    """The digest of a program with its arguments and of `extra`."""
    w = _Writer()
    for p in params:
        w.out.append(f"%{w.number(p)}:{p.dtype.name}")
    w.ops(recorder.block)
    w.out.append(extra)
    return hashlib.sha256("\n".join(w.out).encode()).hexdigest()
