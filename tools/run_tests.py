"""Run every test there is and close with one line: `N passed, N failed` (and skipped, where some were).

usage: run_tests.py [runner ...]     runners: layout cpp ir python doctest (all of them by default)
Each runner writes JUnit XML, from which the counts come; a runner that dies, hangs or finds no test where there are
test files counts as one failure.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / ".venv/bin"
OUT = ROOT / "build/test-results"
LIMIT_S = 30 * 60


def _pytest(*args: str) -> list[str]:
    return [str(BIN / "python"), "-m", "pytest", "-q", *args]


def _xdist() -> list[str]:
    return ["-n", str(min(8, os.cpu_count() or 1)), "--dist", "loadfile"]


def runners() -> dict[str, tuple[list[str], bool]]:
    """Runner -> (command without its report option, whether there is anything to run)."""

    def has(folder: str, *patterns: str) -> bool:
        return any(True for p in patterns for _ in (ROOT / folder).rglob(p))

    python = [f"tests/{p.name}" for p in sorted((ROOT / "tests").iterdir()) if p.name not in ("layout", "ir", "cpp")]
    python = [p for p in python if has(p, "test_*.py")]
    examples = [p for p in (ROOT / "python/epitaxy").rglob("*.py") if ">>> " in p.read_text(encoding="utf-8")]
    return {
        "layout": (_pytest("tests/layout"), True),
        "cpp": (
            [str(BIN / "ctest"), "--test-dir", "build", "--output-on-failure", "-j", "2", "--timeout", "300"],
            has("tests/cpp", "*.cpp"),
        ),
        "ir": ([str(BIN / "lit"), "-q", "tests/ir"], has("tests/ir", "*.mlir", "*.test")),
        "python": (_pytest(*python, *_xdist()), bool(python)),
        "doctest": (_pytest("--doctest-modules", "python/epitaxy", "-p", "no:cacheprovider"), bool(examples)),
    }


def _report_option(name: str, report: Path) -> list[str]:
    option = {"cpp": "--output-junit", "ir": "--xunit-xml-output"}.get(name, "--junitxml")
    return [f"{option}={report}"] if option != "--output-junit" else [option, str(report)]


def count(report: Path) -> Counter[str]:
    """Passed, failed and skipped of one JUnit file."""
    out: Counter[str] = Counter()
    for case in ET.parse(report).getroot().iter("testcase"):
        status = case.get("status", "")
        skipped = case.find("skipped")
        not_run = status == "notrun" and (skipped is None or "SKIP" not in skipped.get("message", ""))
        if case.find("failure") is not None or case.find("error") is not None or status == "fail" or not_run:
            out["failed"] += 1
        elif skipped is not None or status == "disabled":
            out["skipped"] += 1
        else:
            out["passed"] += 1
    return out


def run(name: str, command: list[str]) -> Counter[str]:
    """Run one runner and count."""
    report = OUT / f"{name}.xml"
    report.unlink(missing_ok=True)
    print(f"== {name}: {' '.join(command).replace(str(ROOT) + '/', '')}", flush=True)
    process = subprocess.Popen([*command, *_report_option(name, report)], cwd=ROOT, start_new_session=True)
    try:
        status = process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
        print(f"== {name}: stopped after {LIMIT_S} s", flush=True)
    counts = count(report) if report.exists() else Counter()
    if (status and not counts["failed"]) or not sum(counts.values()):
        print(f"== {name}: exit status {status} with {dict(counts)}: counted as a failure", flush=True)
        counts["failed"] += 1
    return counts


def closing(total: Counter[str]) -> str:
    """The line that CI reads."""
    line = f"{total['passed']} passed, {total['failed']} failed"
    return line + (f", {total['skipped']} skipped" if total["skipped"] else "")


def main(names: list[str]) -> int:
    """Run the named runners, or all."""
    table = runners()
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    total: Counter[str] = Counter()
    rows = []
    for name in names or table:
        command, exists = table[name]
        if not exists:
            print(f"== {name}: no test files yet", flush=True)
            continue
        start = time.monotonic()
        counts = run(name, command)
        rows.append(f"{name:8} {time.monotonic() - start:7.1f} s  {closing(counts)}")
        total += counts
    print("", *rows, "", sep="\n")
    print(closing(total), flush=True)
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
