"""Epitaxy: one Python-native compute stack. `epitaxy.tile` has tile kernels, `epitaxy.numpy` arrays.

Importing touches no driver: a device is opened when it is first asked for.
"""

from __future__ import annotations

from ._device import current_device, device, devices
from ._errors import CompileError, DeviceError, InternalError
from .tools.trace import trace

__version__ = "0.1.0"
__all__ = [
    "CompileError",
    "DeviceError",
    "InternalError",
    "__version__",
    "current_device",
    "device",
    "devices",
    "trace",
]
