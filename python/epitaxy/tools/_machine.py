"""Listings: SASS where a disassembler is installed, and the part of a long text that is worth its lines."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

_VECTOR = re.compile(r"<\d+ x |%[yz]mm|fma|mma|ld\.global|st\.global|\bLDG|\bSTG|FFMA|HGMMA|HMMA|UTMALDG")
_LABEL = re.compile(r"^\s*([.$\w]+):")
_HEAVY = re.compile(r"fma|mma|ffma", re.IGNORECASE)
_BLOCK = re.compile(r"^[-.$\w]+:")
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
    lines = (re.sub(r"/\*(0x)?[0-9a-f]{16}\*/", "", line).strip() for line in done.stdout.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith((".section", "//"))), ""


def heart(lines: list[str], limit: int, kind: str) -> tuple[int, list[str]]:
    """(where it begins, at most `limit` lines): the program's start, or of machine code the busiest loop."""
    if len(lines) <= limit:
        return 0, lines
    start, stop = 0, limit
    if kind == "llvm":
        start = max(
            (i for i, line in enumerate(lines) if _BLOCK.match(line)),
            key=lambda i: _density(lines[i : i + limit]),
            default=0,
        )
        stop = start + limit
    elif kind in _JUMP:
        start, stop = _busiest(lines, limit, _JUMP[kind])
    return start, lines[start:stop]


def _density(lines: list[str]) -> float:
    return sum(bool(_VECTOR.search(line)) + 2 * bool(_HEAVY.search(line)) for line in lines) / len(lines)


def _busiest(lines: list[str], limit: int, jump: re.Pattern[str]) -> tuple[int, int]:
    """The loop with the most vector or memory instructions a line, cut to `limit`; without loops, that window."""
    labels: dict[str, int] = {}
    loops = []
    for i, line in enumerate(lines):
        label = _LABEL.match(line)
        if label:
            labels[label[1]] = i
        found = jump.search(line)
        target = next((g for g in found.groups() if g), None) if found else None
        if target in labels:
            loops.append((labels[target], min(i + 1, labels[target] + limit)))
    windows = loops or [(i, i + limit) for i in range(0, len(lines) - limit + 1, 4)]
    return max(windows, key=lambda w: (_density(lines[w[0] : w[1]]), w[1] - w[0]))
