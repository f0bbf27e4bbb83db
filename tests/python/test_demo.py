"""The demo does its job on the photographs, and a wrong result makes it fail."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import epitaxy

pytest.importorskip("sklearn", reason="the demo's photographs come with scikit-learn, which only `make setup` installs")
Image = pytest.importorskip("PIL.Image", reason="the demo writes PNG with pillow, which only `make setup` installs")

DEMO = Path(__file__).resolve().parents[2] / "examples/demo.py"
STEPS = ("grayscale", "exposure and gamma", "blur (tile", "sobel (tile", "mean, min, max", "softmax of rows")


@pytest.fixture
def place(device: str) -> str:
    return "cpu" if device == "interp" else device


def load_demo() -> Any:
    spec = importlib.util.spec_from_file_location("demo_under_test", DEMO)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_demo_computes_checks_writes_and_ends_with_a_trail(tmp_path: Path, place: str) -> None:
    command = [sys.executable, str(DEMO), "--device", place, "--out", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    for step in STEPS:
        assert done.stdout.count(f"\n{step}") == 2
    assert "WRONG" not in done.stdout
    assert "every result agrees" in done.stdout
    assert "-- Tile IR" in done.stdout
    for what in ("input", "exposed", "blur", "edges"):
        with Image.open(tmp_path / f"china_{what}.png") as picture:
            assert picture.size == (640, 427)
            assert len(picture.convert("L").getcolors(256)) > 100


def test_a_wrong_result_fails_the_demo(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = load_demo()
    monkeypatch.setattr(demo, "sobel", demo.blur)
    monkeypatch.setattr(sys, "argv", ["demo.py", "--device", place, "--out", str(tmp_path)])
    monkeypatch.setattr(demo, "show_trail", lambda device: None)
    assert demo.main() == 1
    wrong = [line for line in capsys.readouterr().out.splitlines() if line.endswith("   WRONG")]
    assert [line.split()[0] for line in wrong] == ["sobel", "sobel"]
    assert epitaxy.current_device().kind == "cpu"
