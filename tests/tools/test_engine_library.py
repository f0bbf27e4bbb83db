"""The built engine as a shared library: nothing undefined that should be inside, nothing exported but its door."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def engine() -> Path:
    spec = importlib.util.find_spec("epitaxy._engine")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin)


def _symbols(library: Path, *options: str) -> list[str]:
    text = subprocess.run(["nm", "-D", *options, str(library)], check=True, capture_output=True, text=True).stdout
    return [line.split()[-1] for line in text.splitlines()]


def test_no_llvm_symbol_is_left_to_be_found_at_import(engine: Path) -> None:
    assert not [s for s in _symbols(engine, "--undefined-only") if re.search("llvm|mlir|polly|LLVM|MLIR", s)]


def test_only_the_module_init_is_exported(engine: Path) -> None:
    exported = [s for s in _symbols(engine, "--defined-only") if not s.startswith(("_init", "_fini"))]
    assert exported == ["PyInit__engine"]


def test_only_system_libraries_are_needed(engine: Path) -> None:
    text = subprocess.run(["readelf", "-d", str(engine)], check=True, capture_output=True, text=True).stdout
    needed = re.findall(r"NEEDED.*\[(.+?)\]", text)
    assert set(needed) <= {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2"}
