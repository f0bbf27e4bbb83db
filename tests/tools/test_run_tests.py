"""The test runner counts what ran, and calls a runner that died or ran nothing a failure."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

import run_tests

FAILED, ERROR, SKIPPED = (f"<testcase><{s}/></testcase>" for s in ("failure", "error", "skipped"))
PYTEST = f"<testsuites><testsuite><testcase/>{FAILED}{ERROR}{SKIPPED}</testsuite></testsuites>"
NOT_RUN = '<testcase status="notrun"><skipped message="%s"/></testcase>'
CTEST = f'<testsuite><testcase status="run"/>{FAILED}{NOT_RUN % "SKIP_RETURN_CODE=4"}</testsuite>'
ABSENT = f"<testsuite>{NOT_RUN % 'Unable to find executable'}</testsuite>"


@pytest.mark.parametrize(
    ("xml", "counts"),
    [
        (PYTEST, {"passed": 1, "failed": 2, "skipped": 1}),
        (CTEST, {"passed": 1, "failed": 1, "skipped": 1}),
        (ABSENT, {"failed": 1}),
    ],
)
def test_reports_are_counted(xml: str, counts: dict[str, int], tmp_path: Path) -> None:
    (tmp_path / "r.xml").write_text(xml)
    assert run_tests.count(tmp_path / "r.xml") == counts


@pytest.mark.parametrize("code", ["raise SystemExit(1)", "raise SystemExit(0)", "import os; os.abort()"])
def test_a_runner_without_a_report_is_a_failure(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tests, "OUT", tmp_path)
    assert run_tests.run("x", [sys.executable, "-c", code]) == {"failed": 1}


def test_a_runner_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tests, "OUT", tmp_path)
    monkeypatch.setattr(run_tests, "LIMIT_S", 1)
    assert run_tests.run("x", [sys.executable, "-c", "import time; time.sleep(60)"]) == {"failed": 1}


def test_the_closing_line_is_the_one_ci_reads() -> None:
    assert run_tests.closing(Counter(passed=3)) == "3 passed, 0 failed"
    assert run_tests.closing(Counter(passed=3, skipped=1)) == "3 passed, 0 failed, 1 skipped"
