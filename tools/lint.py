"""Formatters and type checker, each run to its end.  usage: lint.py [--fix]"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / ".venv/bin"


def cpp_files() -> list[str]:
    """Every C++ file of the tree."""
    found = (p for f in ("src", "python/bind", "tests/cpp", "examples", "tools") for p in (ROOT / f).rglob("*"))
    return [str(p.relative_to(ROOT)) for p in sorted(found) if p.suffix in (".h", ".cpp")]


def commands(fix: bool) -> dict[str, list[str]]:
    """Name -> command; with `fix` the formatters rewrite what they would complain of."""
    ruff = str(BIN / "ruff")
    out = {
        "ruff": [ruff, "check", "--quiet", *(["--fix"] if fix else []), "."],
        "ruff format": [ruff, "format", "--quiet", *([] if fix else ["--check"]), "."],
        "clang-format": [str(BIN / "clang-format"), *(["-i"] if fix else ["--dry-run", "-Werror"]), *cpp_files()],
        "mypy tests/layout": [str(BIN / "mypy"), "--strict", "tests/layout", "tools/run_tests.py", "tools/lint.py"],
        "mypy benchmarks": [str(BIN / "mypy"), "--strict", "benchmarks/_harness.py", "benchmarks/report.py"],
    }
    if any((ROOT / "python/epitaxy").glob("_engine*.so")):
        stub = ["-m", "epitaxy._engine", "-o", "python/epitaxy/_engine.pyi", "-q"]
        out["the engine's stub"] = [str(BIN / "python"), "-m", "nanobind.stubgen", *stub]
        out["mypy epitaxy"] = [str(BIN / "mypy"), "-p", "epitaxy"]
    return out


def main(fix: bool) -> int:
    """Run all; non-zero if any complained."""
    failed = []
    for name, command in commands(fix).items():
        result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
        print(f"{'ok    ' if result.returncode == 0 else 'FAILED'} {name}", flush=True)
        if result.returncode:
            failed.append(name)
            print("\n".join((result.stdout + result.stderr).splitlines()[:60]), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main("--fix" in sys.argv[1:]))
