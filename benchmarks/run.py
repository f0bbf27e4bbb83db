"""Run every benchmark of this folder and keep its rows.  usage: run.py [--device cpu|cuda] [--short] [--out FOLDER]

Rows go to benchmarks/results/<machine>/<benchmark>.jsonl (or below --out). One benchmark that fails or hangs does not
stop the others; the exit status tells. The last lines are the rows under their target, worst first.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from _harness import machine
from report import read, short

HERE = Path(__file__).resolve().parent
NOT_BENCHMARKS = {"run.py", "report.py"}
LIMIT_S = 600


def main() -> int:
    """Run them one after another: they share the machine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    args = parser.parse_args()
    folder = args.out / machine(args.device)
    failed = []
    for script in sorted(HERE.glob("*.py")):
        if script.name.startswith("_") or script.name in NOT_BENCHMARKS:
            continue
        print(f"== {script.name}", flush=True)
        command = [sys.executable, str(script), "--device", args.device, "--json", str(folder / f"{script.stem}.jsonl")]
        command += ["--short"] if args.short else []
        start = time.perf_counter()
        try:
            code = subprocess.run(command, check=False, timeout=LIMIT_S).returncode
        except subprocess.TimeoutExpired:
            code = 1
            print(f"{script.name}: stopped after {LIMIT_S} s")
        print(f"== {script.name}: {time.perf_counter() - start:.0f} s", flush=True)
        if code:
            failed.append(script.name)
    print(short([row for row in read(args.out) if row["device"] == folder.name]))
    print(f"rows are in {folder}" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
