"""The disk cache as users meet it: a second process compiles nothing; no state of the folder stops a computation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np, epitaxy.numpy as ep
from epitaxy import _engine
x = ep.array(np.arange(1000, dtype="f4"))
got = (ep.exp(-x * x) * x + 1).numpy()
ref = np.exp(-np.arange(1000, dtype="f4") ** 2) * np.arange(1000, dtype="f4") + 1
assert np.allclose(got, ref)
print(_engine.jit_statistics())
"""


def run(folder: str, program: str = PROGRAM) -> dict[str, int]:
    env = {**os.environ, "EPITAXY_CACHE_DIR": folder}
    done = subprocess.run([sys.executable, "-c", program], env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    statistics: dict[str, int] = eval(done.stdout)
    return statistics


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    first = run(str(tmp_path / "cache"))
    second = run(str(tmp_path / "cache"))
    assert first["compiled"] > 0
    assert (second["compiled"], second["disk_hits"]) == (0, first["compiled"])


def test_an_empty_variable_turns_the_disk_off() -> None:
    assert run("")["disk_hits"] == 0


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_damaged_files_are_compiled_again_and_replaced(tmp_path: Path, damage: str) -> None:
    first = run(str(tmp_path))
    for file in tmp_path.glob("*.epi"):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 0x40
        file.write_bytes({"cut": bytes(data[:-9]), "flip": bytes(data), "empty": b""}[damage])
    assert run(str(tmp_path))["compiled"] == first["compiled"]
    assert run(str(tmp_path))["compiled"] == 0


def test_a_folder_that_others_may_write_is_refused_with_what_to_do(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    env = {**os.environ, "EPITAXY_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, check=False, capture_output=True, text=True)
    assert done.returncode != 0
    assert "OSError" in done.stderr
    assert "chmod go-w" in done.stderr


def test_many_processes_on_one_cold_folder(tmp_path: Path) -> None:
    env = {**os.environ, "EPITAXY_CACHE_DIR": str(tmp_path / "shared")}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    for process in started:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert run(str(tmp_path / "shared"))["compiled"] == 0


def test_a_size_bound_keeps_the_folder_small(tmp_path: Path) -> None:
    program = """
import numpy as np, epitaxy.numpy as ep
x = ep.array(np.arange(100, dtype="f4"))
for f in (ep.exp, ep.sin, ep.cos, ep.tanh, ep.log1p, ep.sqrt, ep.square, ep.floor):
    f(x).numpy()
print({})
"""
    os.environ["EPITAXY_CACHE_SIZE"] = "20000"
    try:
        run(str(tmp_path / "small"), program)
    finally:
        del os.environ["EPITAXY_CACHE_SIZE"]
    files = list((tmp_path / "small").glob("*.epi"))
    assert files
    assert sum(f.stat().st_size for f in files) <= 20000 + max(f.stat().st_size for f in files)
