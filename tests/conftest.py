"""Shared by all Python tests: the device they run on, and seeded random input that a failure can repeat.

pytest tests/python --device cuda        (or EPI_TEST_DEVICE=cuda; default cpu)
"""

from __future__ import annotations

import os
import zlib

import numpy as np
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        default=os.environ.get("EPI_TEST_DEVICE", "cpu"),
        help="where programs run: cpu, interp, cuda or cuda:N",
    )


def pytest_report_header(config: pytest.Config) -> str:
    return f"epitaxy device: {config.getoption('--device')}"


@pytest.fixture(scope="session")
def device(request: pytest.FixtureRequest) -> str:
    """The device under test, as `--device` says."""
    return str(request.config.getoption("--device"))


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random input with a seed of the test's own, printed when the test fails."""
    seed = int(os.environ.get("EPI_TEST_SEED", zlib.crc32(request.node.nodeid.encode())))
    print(f"seed: EPI_TEST_SEED={seed}")
    return np.random.default_rng(seed)
