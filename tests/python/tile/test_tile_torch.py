"""Tensors of torch as arguments, where torch is installed: on the CPU, and on the GPU where the tests run there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import epitaxy.tile as ct

torch = pytest.importorskip("torch", reason="torch is not installed; the GPU machine of the test suite has it")


@ct.kernel
def double(x: Any, y: Any) -> None:
    ct.store(y, (ct.bid(0), 0), ct.load(x, (ct.bid(0), 0), (1, 8)) * 2)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int64", "int8"])
def test_tensors_are_read_and_written(device: str, dtype: str) -> None:
    where = device if device.startswith("cuda") else "cpu"
    x = torch.arange(24, device=where).reshape(8, 3).T.to(getattr(torch, dtype))
    y = torch.zeros((3, 8), dtype=x.dtype, device=where)
    ct.launch(None, (3,), double, (x, y))
    assert torch.equal(y, x * 2)


def test_the_current_stream_can_be_given(device: str) -> None:
    if not device.startswith("cuda"):
        x, y = torch.ones((3, 8)), torch.zeros((3, 8))
        ct.launch(None, (3,), double, (x, y))
    else:
        with torch.cuda.stream(torch.cuda.Stream()):
            x, y = torch.ones((3, 8), device=device), torch.zeros((3, 8), device=device)
            ct.launch(torch.cuda.current_stream(), (3,), double, (x, y))
    np.testing.assert_array_equal(y.cpu().numpy(), 2)
