"""lit for IR tests: `epi-opt` parses, verifies, runs passes and prints; `epi-compile` compiles and prints a stage;
FileCheck reads what they printed."""

import os
import shutil
from pathlib import Path

import lit.formats

root = Path(__file__).resolve().parents[2]
build = Path(os.environ.get("EPI_BUILD", root / "build"))
llvm = Path("/usr/lib/llvm-19/bin")


def _tool(name: str) -> str:
    """The built tool's path; where it was not built, a name whose run fails (never a skip)."""
    found = sorted(p for p in build.rglob(name) if p.is_file() and os.access(p, os.X_OK))
    return str(found[0]) if found else f"{build}/{name}-is-not-built"


config.name = "ir"  # type: ignore[name-defined]  # noqa: F821
config.test_format = lit.formats.ShTest(False)  # type: ignore[name-defined]  # noqa: F821
config.suffixes = [".mlir", ".test"]  # type: ignore[name-defined]  # noqa: F821
config.test_source_root = str(Path(__file__).parent)  # type: ignore[name-defined]  # noqa: F821
config.test_exec_root = str(build / "lit")  # type: ignore[name-defined]  # noqa: F821
config.substitutions += [  # type: ignore[name-defined]  # noqa: F821
    (r"\bepi-opt\b", _tool("epi-opt")),
    (r"\bepi-compile\b", _tool("epi-compile")),
    (r"\bFileCheck\b", shutil.which("FileCheck-19") or str(llvm / "FileCheck")),
    (r"(?<![\w/])not(?= )", str(llvm / "not")),
]
