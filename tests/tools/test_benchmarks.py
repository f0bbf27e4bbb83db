"""The harness measures, checks and keeps rows; the report neither drops nor embellishes any."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import _harness
import report

ROOT = Path(__file__).resolve().parents[2]

ROW = {"bench": "b", "row": "r", "device": "cpu", "n": 1024, "dtype": "float32", "ours": 2.0, "unit": "us"}
ROW |= {"peers": {"numpy": 3.0}, "target_peer": "numpy", "ratio": 1.5, "target": 1.0, "checked": True}
ROW |= {"command": "benchmarks/b.py", "date": "2026-01-01", "absent": {}}


def _results(folder: Path, *rows: dict[str, object]) -> list[report.Row]:
    (folder / "cpu").mkdir()
    (folder / "cpu/b.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    return report.read(folder)


def test_a_call_is_timed() -> None:
    assert 0.002 <= _harness.cpu_seconds(lambda: time.sleep(0.002), 3) < 0.02


@pytest.mark.parametrize(("unit", "ratio"), [("us", 2.0), ("TB/s", 0.5)])
def test_ratio_is_how_much_faster_ours_is(unit: str, ratio: float) -> None:
    assert _harness.ratio_of(1.0, 2.0, unit) == ratio


def test_a_row_is_kept_with_every_field(tmp_path: Path) -> None:
    bench = _harness.Bench("b", "", ["--json", str(tmp_path / "x/b.jsonl"), "--short"])
    bench.row("r", n=4, dtype="int8", unit="us", ours=2.0, peers={"p": 3.0}, target_peer="p", check=lambda: True)
    bench.close()
    row = json.loads((tmp_path / "x/b.jsonl").read_text())
    assert set(row) == set(ROW)
    assert (row["ratio"], row["checked"], row["peers"]) == (1.5, True, {"p": 3.0})


def test_a_wrong_result_is_kept_and_fails_the_script(tmp_path: Path) -> None:
    bench = _harness.Bench("b", "", ["--json", str(tmp_path / "b.jsonl")])
    bench.row("r", n=4, dtype="int8", unit="us", ours=2.0, absolute=4.0, check=lambda: False)
    with pytest.raises(SystemExit):
        bench.close()
    row = json.loads((tmp_path / "b.jsonl").read_text())
    assert (row["checked"], row["ratio"], row["target_peer"]) == (False, 2.0, None)


def test_a_peer_that_cannot_run_is_listed_with_its_reason(tmp_path: Path) -> None:
    bench = _harness.Bench("b", "", ["--json", str(tmp_path / "b.jsonl")])
    makers = {"good": lambda: 3.0, "gone": lambda: __import__("no_such_module")}
    bench.row("r", n=4, dtype="int8", unit="us", ours=2.0, makers=makers, target_peer="gone", check=lambda: True)
    bench.close()
    row = json.loads((tmp_path / "b.jsonl").read_text())
    assert (row["peers"], row["ratio"]) == ({"good": 3.0}, None)
    assert "no_such_module" in row["absent"]["gone"]


def test_a_row_that_raises_leaves_the_others_and_fails_the_script(tmp_path: Path) -> None:
    bench = _harness.Bench("b", "", ["--json", str(tmp_path / "b.jsonl")])
    bench.row("bad", n=4, dtype="int8", unit="us", ours=lambda: 1 / 0, check=lambda: True)
    bench.row("good", n=4, dtype="int8", unit="us", ours=2.0, absolute=4.0, check=lambda: True)
    with pytest.raises(SystemExit):
        bench.close()
    assert [json.loads(line)["row"] for line in (tmp_path / "b.jsonl").read_text().splitlines()] == ["good"]


def test_the_newest_measurement_of_a_row_counts(tmp_path: Path) -> None:
    rows = _results(tmp_path, ROW | {"date": "2026-01-02", "ours": 5.0}, ROW)
    assert [r["ours"] for r in rows] == [5.0]


def test_rows_under_target_come_worst_first_and_none_is_dropped(tmp_path: Path) -> None:
    rows = _results(
        tmp_path,
        ROW | {"row": "slow", "ratio": 0.9},
        ROW | {"row": "wrong", "checked": False},
        ROW | {"row": "slower", "ratio": 0.5},
        ROW | {"row": "alone", "ratio": None},
        ROW,
    )
    lines = report.short(rows).splitlines()
    assert [next(w for w in ("wrong", "alone", "slower", "slow,") if w in line) for line in lines[:4]] == [
        "wrong",
        "alone",
        "slower",
        "slow,",
    ]
    assert lines[-1] == "4 of 5 rows are under their target"
    assert report.table(rows).count("\n| ") == 6


def test_the_block_is_replaced_and_the_rest_stays(tmp_path: Path) -> None:
    text = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
    new = report.merged(text, _results(tmp_path, ROW))
    assert new.startswith("before\n")
    assert new.endswith("\nafter\n")
    assert "1.50x of numpy" in new
    assert "old" not in new
    assert report.merged(new, report.read(tmp_path)) == new


def test_the_readme_says_what_the_results_say() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/report.py", "--check"], cwd=ROOT, check=False, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
