"""Merge benchmarks/results/<device>/*.jsonl into the README's table of measured speed.

usage: report.py            rewrite the block between the markers of README.md
       report.py --check    exit with 1 if the block is not what the results say
       report.py --short    print the rows under their target, worst first
Where a row was measured more than once, the last line of the newest date counts. No row is ever left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BEGIN = "<!-- measured: begin (written by benchmarks/report.py) -->"
END = "<!-- measured: end -->"
Row = dict[str, Any]


def read(results: Path) -> list[Row]:
    """The rows that count, in the order of device, benchmark and first appearance."""
    newest: dict[tuple[Any, ...], Row] = {}
    for path in sorted(results.glob("*/*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row: Row = json.loads(line)
            key = tuple(row[k] for k in ("device", "bench", "row", "n", "dtype"))
            if key not in newest or row["date"] >= newest[key]["date"]:
                newest[key] = row
    return sorted(newest.values(), key=lambda r: (r["device"], r["bench"]))


def reached(row: Row) -> bool:
    """Whether the row is checked and at its target."""
    return bool(row["checked"]) and row["ratio"] is not None and row["ratio"] >= row["target"]


def size(n: int) -> str:
    """2^28 for a power of two, the number itself otherwise."""
    return f"2^{n.bit_length() - 1}" if n >= 1024 and n & (n - 1) == 0 else str(n)


def _cells(row: Row) -> list[str]:
    peers = ", ".join(f"{name} {value:.3g}" for name, value in row["peers"].items()) or "-"
    against = row["target_peer"] or "fixed figure"
    ratio = "not measured" if row["ratio"] is None else f"{row['ratio']:.2f}x of {against}"
    state = "wrong result" if not row["checked"] else "yes" if reached(row) else "no"
    ours = f"{row['ours']:.3g} {row['unit']}"
    what = f"{row['row']}, {row['dtype']}, {size(row['n'])}"
    return [what, ours, peers, ratio, f"{row['target']:.2f}x", state]


def table(rows: list[Row]) -> str:
    """The Markdown that goes between the markers."""
    if not rows:
        return "No results are kept yet; `make bench` and `make bench-gpu` measure.\n"
    out = []
    for device in dict.fromkeys(r["device"] for r in rows):
        mine = [r for r in rows if r["device"] == device]
        out.append(f"\n**{device}**: {sum(map(reached, mine))} of {len(mine)} rows at their target\n")
        out.append("| what | Epitaxy | peers | ratio | target | reached |")
        out.append("|---|---|---|---|---|---|")
        out += ["| " + " | ".join(_cells(r)) + " |" for r in mine]
        commands = sorted({f"`python {r['command']}` ({r['date']})" for r in mine})
        out.append("\nMeasured by " + ", ".join(commands) + ".")
    return "\n".join(out) + "\n"


def merged(readme: str, rows: list[Row]) -> str:
    """README text with the block replaced."""
    if BEGIN not in readme or END not in readme:
        raise SystemExit(f"README.md lacks the markers {BEGIN} and {END}")
    before, rest = readme.split(BEGIN, 1)
    rows = [r for r in rows if r["bench"] != "compile_time"]  # dozens of alike ones, which the files have
    return f"{before}{BEGIN}\n{table(rows)}{END}{rest.split(END, 1)[1]}"


def short(rows: list[Row]) -> str:
    """Rows under their target, worst first: wrong, then unmeasured, then by ratio over target."""

    def badness(row: Row) -> float:
        if not row["checked"]:
            return -2.0
        return -1.0 if row["ratio"] is None else float(row["ratio"] / row["target"])

    under = sorted((r for r in rows if not reached(r)), key=badness)
    lines = [f"{r['device']:28} {r['bench']:14} " + "  ".join(_cells(r)) for r in under]
    return "\n".join([*lines, f"{len(under)} of {len(rows)} rows are under their target"])


def main() -> int:
    """The three uses."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    rows = read(ROOT / "benchmarks/results")
    if args.short:
        print(short(rows))
        return 0
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    new = merged(text, rows)
    if args.check:
        if new != text:
            print("README.md's table of measured speed is not what benchmarks/results says; run benchmarks/report.py")
        return int(new != text)
    readme.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
