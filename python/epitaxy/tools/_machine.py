"""Listings: SASS where a disassembler is installed, and the part of a long text that is worth its lines."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from itertools import pairwise
from pathlib import Path

_VECTOR = re.compile(r"<\d+ x |%[yz]mm|fma|mma|ld\.global|st\.global|\bLDG|\bSTG|FFMA|HGMMA|HMMA|UTMALDG")
_LABEL = re.compile(r"^\s*([.$\w]+):")
_HEAVY = re.compile(r"fma|mma|ffma", re.IGNORECASE)
_BLOCK = re.compile(r"^[-.$\w]+:")
_JUMP = {
    "assembly": re.compile(r"^\s*(?:j\w+|@?%?\w*\s*bra(?:\.uni)?)\s+([.$\w]+)|^\s*@!?%\w+\s+bra(?:\.uni)?\s+([.$\w]+)"),
    "sass": re.compile(r"BRA\s+`?\(?([.$\w]+)"),
}


def _package(name: str) -> list[Path]:
    """The folders of an installed package, without importing it."""
    spec = importlib.util.find_spec(name)
    return [Path(p) for p in (spec.submodule_search_locations if spec else None) or []]


def _disassembler() -> str | None:
    """nvdisasm or cuobjdump: of the PATH, of a toolkit, of the packages nvidia-cuda-nvdisasm or triton."""
    toolkits = [Path(f) for f in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda") if f]
    folders = [t / "bin" for t in toolkits] + [b for p in _package("nvidia") for b in sorted(p.glob("*/bin"))]
    folders += [p / "backends/nvidia/bin" for p in _package("triton")]
    path = os.pathsep.join([os.environ.get("PATH", ""), *map(str, folders)])
    return shutil.which("nvdisasm", path=path) or shutil.which("cuobjdump", path=path)


def sass(code: bytes) -> tuple[str, str]:
    """(the listing of a GPU binary, "") or ("", why there is none)."""
    tool = _disassembler()
    if tool is None:
        return (
            "",
            "no nvdisasm or cuobjdump found (PATH, CUDA_HOME), so it is not listed; pip install nvidia-cuda-nvdisasm",
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(code)
        option = "-sass" if Path(tool).name == "cuobjdump" else "-c"
        done = subprocess.run([tool, option, str(file)], check=False, capture_output=True, text=True, timeout=60)
    if done.returncode:
        return "", f"{tool} failed: {done.stderr.strip()}"
    lines = (re.sub(r"/\*\s*0x[0-9a-f]{16}\s*\*/", "", line).strip() for line in done.stdout.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith((".section", "//"))), ""


def heart(lines: list[str], limit: int, kind: str) -> tuple[int, list[str]]:
    """(where it begins, at most `limit` lines): a program's start, the busiest block of LLVM IR or loop of code."""
    if len(lines) <= limit:
        return 0, lines
    parts = _blocks(lines) if kind == "llvm" else _loops(lines, _JUMP[kind]) if kind in _JUMP else [(0, limit)]
    begin, end = max(parts or [(0, len(lines))], key=lambda part: _busyness(lines[slice(*part)]))
    starts = range(begin, max(begin, end - limit) + 1)
    start = max(starts, key=lambda i: (_busyness(lines[i : min(i + limit, end)]), -i))
    return start, lines[start : min(start + limit, end)]


def _busyness(lines: list[str]) -> float:
    """Vector and memory instructions a line; multiplications with addition count most."""
    return sum(bool(_VECTOR.search(line)) + 2 * bool(_HEAVY.search(line)) for line in lines) / len(lines)


def _blocks(lines: list[str]) -> list[tuple[int, int]]:
    """From each label to the next."""
    labels = [i for i, line in enumerate(lines) if _BLOCK.match(line)]
    return list(pairwise([*labels, len(lines)]))


def _loops(lines: list[str], jump: re.Pattern[str]) -> list[tuple[int, int]]:
    """From a label to the last jump back to it."""
    labels: dict[str, int] = {}
    ends: dict[int, int] = {}
    for i, line in enumerate(lines):
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = i
        found = jump.search(line)
        target = next((g for g in found.groups() if g), None) if found else None
        if target in labels:
            ends[labels[target]] = i + 1
    return list(ends.items())
