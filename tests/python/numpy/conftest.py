"""Tests of epitaxy.numpy run on the device that --device names; NumPy's answers are the reference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import epitaxy


@pytest.fixture(autouse=True)
def current(device: str) -> Iterator[Any]:
    """The device under test is the current one. The interpreter has no arrays, so there it is the CPU."""
    with epitaxy.device("cpu" if device == "interp" else device) as chosen:
        yield chosen


@pytest.fixture
def is_host(current: Any) -> bool:
    """Whether the device under test computes in host memory."""
    return bool(current.kind == "cpu")


def pytest_make_parametrize_id(val: Any) -> str | None:
    """Names of dtypes rather than numbers of parameters."""
    return val.name if isinstance(val, np.dtype) else None
