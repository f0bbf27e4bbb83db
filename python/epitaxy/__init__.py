"""Epitaxy: one Python-native compute stack. `epitaxy.tile` has tile kernels, `epitaxy.numpy` arrays."""

from __future__ import annotations

from ._errors import CompileError, DeviceError, InternalError

__version__ = "0.1.0"
__all__ = ["CompileError", "DeviceError", "InternalError", "__version__"]
