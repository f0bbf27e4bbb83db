"""The exception classes of Epitaxy that are not Python's own. The engine raises them by name."""

from __future__ import annotations

__all__ = ["CompileError", "DeviceError", "InternalError"]


class CompileError(Exception):
    """A program cannot be compiled; the message names the user's line where one is known."""


class DeviceError(Exception):
    """A driver call failed, a kernel's assertion did, or there is no such device."""


class InternalError(Exception):
    """A bug of Epitaxy's; the message says what to report."""
