"""Compiles a function for arguments of given types: walks its source and gives the recorded program."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ._calls import bind
from ._captures import Captures
from ._errors import TileError, TileTypeError
from ._loops import Loops
from ._record import Recorder, recording
from ._source import source_of
from ._walk import Conflict, Frame, Undefined

__all__ = ["Walker", "record_kernel"]


class Walker(Loops):
    """Everything the walker can do."""


def record_kernel(function: FunctionType, values: list[Any]) -> tuple[Recorder, Captures]:
    """Walks a kernel with `values` as its arguments, in the order of its parameters."""
    source = source_of(function)
    recorder, captures = Recorder(), Captures()
    walker = Walker(recorder, captures)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    frame = Frame(source, function.__globals__, cells, None, [], [function.__code__])
    names = [p.arg for p in (*source.node.args.posonlyargs, *source.node.args.args, *source.node.args.kwonlyargs)]
    frame.env = dict(zip(names, values, strict=True))
    with recording(recorder):
        try:
            result = walker.run_frame(frame, source.node)
        except TileError as e:
            raise e.at(source.place(source.node)) from e.__cause__
        if result is not None and not isinstance(result, Undefined | Conflict):
            error = TileTypeError(
                f"the kernel {source.name} returns a value", hint="store results in an array argument"
            )
            raise error.at(source.place(source.node))
    return recorder, captures


__all__ += ["bind"]
