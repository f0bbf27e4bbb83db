"""Listings: SASS by NVIDIA's disassembler where one is installed, and the part of a long text that is worth its lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

_VECTOR = re.compile(r"%[yz]mm|fma|mma|ld\.global|st\.global|\bLDG|\bSTG|FFMA|HGMMA|HMMA|UTMALDG")
_LABEL = re.compile(r"^\s*([.$\w]+):")
_JUMP = {
    "assembly": re.compile(r"^\s*(?:j\w+|@?%?\w*\s*bra(?:\.uni)?)\s+([.$\w]+)|^\s*@!?%\w+\s+bra(?:\.uni)?\s+([.$\w]+)"),
    "sass": re.compile(r"BRA\s+`?\(?([.$\w]+)"),
}


def _disassembler() -> str | None:
    """cuobjdump or nvdisasm: of the PATH, of CUDA_HOME, or where the toolkit puts itself."""
    folders = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    path = os.pathsep.join([os.environ.get("PATH", ""), *(f"{f}/bin" for f in folders if f)])
    return shutil.which("nvdisasm", path=path) or shutil.which("cuobjdump", path=path)


def sass(code: bytes) -> tuple[str, str]:
    """(the listing of a GPU binary, "") or ("", why there is none)."""
    tool = _disassembler()
    if tool is None:
        return "", "no cuobjdump or nvdisasm on PATH or in CUDA_HOME, so the machine code is not listed"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(code)
        option = "-sass" if Path(tool).name == "cuobjdump" else "-c"
        done = subprocess.run([tool, option, str(file)], check=False, capture_output=True, text=True, timeout=60)
    if done.returncode:
        return "", f"{tool} failed: {done.stderr.strip()}"
    lines = (re.sub(r"/\*(0x)?[0-9a-f]{16}\*/", "", line).rstrip() for line in done.stdout.splitlines())
    return "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith((".section", "//", "\t\t..."))), ""


def heart(lines: list[str], limit: int, kind: str) -> tuple[int, list[str]]:
    """(where it begins, at most `limit` lines): the program's start, or of machine code the busiest loop."""
    if len(lines) <= limit:
        return 0, lines
    start = 0
    if kind == "llvm":
        start = next((i for i, line in enumerate(lines) if line.startswith("define")), 0)
    elif kind in _JUMP:
        start = _busiest(lines, limit, _JUMP[kind])
    return start, lines[start : start + limit]


def _busiest(lines: list[str], limit: int, jump: re.Pattern[str]) -> int:
    """The loop with the most vector or memory instructions in its first `limit` lines; without loops, that window."""
    labels: dict[str, int] = {}
    starts = []
    for i, line in enumerate(lines):
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = i
        found = jump.search(line)
        target = next((g for g in found.groups() if g), None) if found else None
        if target in labels:
            starts.append(labels[target])
    score = [1 if _VECTOR.search(line) else 0 for line in lines]
    return max(starts or range(0, len(lines) - limit + 1, 4), key=lambda i: sum(score[i : i + limit]))
