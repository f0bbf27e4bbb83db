"""The runtime and everything below it builds, and passes its tests, where MLIR and LLVM are switched off."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build-without-mlir"
BIN = Path(sys.executable).parent


def _run(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def built() -> Path:
    switches = ["-DEPI_WITH_COMPILER=OFF", "-DEPI_BUILD_PYTHON=OFF", f"-DCMAKE_MAKE_PROGRAM={BIN / 'ninja'}"]
    _run(str(BIN / "cmake"), "-G", "Ninja", "-S", ".", "-B", str(BUILD), *switches)
    _run(str(BIN / "ninja"), "-C", str(BUILD))
    return BUILD


def test_nothing_of_llvm_is_on_a_command_line(built: Path) -> None:
    assert not re.findall(
        r"/llvm-19/\S*|-l(?:LLVM|MLIR)\w*|lib(?:LLVM|MLIR)\w*\.a", (built / "build.ninja").read_text()
    )


def test_the_tests_of_the_lower_floors_pass(built: Path) -> None:
    shown = _run(str(BIN / "ctest"), "--test-dir", str(built), "--output-on-failure", "--timeout", "300")
    assert re.search(r"100% tests passed, 0 tests failed out of [1-9]", shown), shown[-2000:]
