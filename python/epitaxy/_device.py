"""The current device: which one new arrays and kernels use where their arguments do not say.

>>> import epitaxy
>>> epitaxy.current_device().label
'cpu:0'
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from epitaxy import _engine

Device = _engine.Device

_known: dict[str, Any] = {}  # one object a device, so that `is` tells devices apart
_current: contextvars.ContextVar[Any] = contextvars.ContextVar("epitaxy_device")
_cpu: Any = None


def _the_one(found: Any) -> Any:
    return _known.setdefault(found.label, found)


def devices() -> list[Any]:
    """The devices that compute, the host first. Touches each driver that this build has."""
    return [_the_one(d) for d in _engine.devices()]


def current_device() -> Any:
    """The device of the innermost `with epitaxy.device(...)` of this thread or task; the CPU outside of all."""
    global _cpu
    found = _current.get(None)
    if found is None:
        if _cpu is None:
            _cpu = _the_one(_engine.device("cpu"))
        return _cpu
    return found


def as_device(device: str | Any | None) -> Any:
    """A device from its name ("cpu", "cuda:0"), a device itself, or the current one for None.

    Raises DeviceError for a name that is not there (it says which are), TypeError for other types.
    """
    if device is None:
        return current_device()
    if isinstance(device, str):
        return _known.get(device) or _the_one(_engine.device(device))
    if isinstance(device, Device):
        return _the_one(device)
    raise TypeError(f"device: got {type(device).__name__}; accepted are a name such as 'cpu' or 'cuda:0', or a Device")


@contextmanager
def device(which: str | Any) -> Iterator[Any]:
    """Makes `which` the current device inside the block, and gives it.

    >>> import epitaxy
    >>> with epitaxy.device("cpu") as d:
    ...     d.kind
    'cpu'
    """
    token = _current.set(as_device(which))
    try:
        yield _current.get()
    finally:
        _current.reset(token)
