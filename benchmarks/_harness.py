"""What every benchmark uses: how a call is timed, how a row is checked, compared, printed and kept.

    bench = Bench("elementwise", "vector add and the exp chain")
    bench.row("vector add", n=n, dtype="float32", unit="us", ours=f, peers={"numpy": g},
              target_peer="numpy", target=1.0, check=lambda: np.array_equal(f(), g()))
    bench.close()

`ours` and `peers` are calls to be timed or figures already measured; `makers` are functions that import a peer and
return its call or figure: one that raises is listed as absent with its reason, and the row goes on. CPU times are
medians of perf_counter; GPU times are medians of events with the L2 flushed between runs, peers on their stream, ours
on `queue`. A row is checked after its timed runs. One whose check fails is kept with `checked: false` and the script
exits with 1, as it does where a row could not be measured. benchmarks/results/README.md says what the fields mean.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import statistics
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Call = Callable[[], object]
Measured = Call | float
Maker = Callable[[], Measured]
FLUSH_BYTES = 256 << 20
HIGHER_IS_BETTER = ("TB/s", "GB/s", "TFLOP/s", "GFLOP/s", "Gkeys/s", "items/s")
SECONDS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


@dataclass(frozen=True)
class Row:
    """One line of a results file."""

    bench: str
    row: str
    device: str
    n: int
    dtype: str
    ours: float
    unit: str
    peers: dict[str, float]
    target_peer: str | None
    ratio: float | None
    target: float
    checked: bool
    command: str
    date: str
    absent: dict[str, str] = field(default_factory=dict)


class Kept:
    """A call that keeps its last result, for the check that follows the timing."""

    def __init__(self, f: Callable[[], Any]) -> None:
        self.f = f
        self.value: Any = None

    def __call__(self) -> None:
        self.value = self.f()


def cpu_seconds(f: Call, repeats: int, budget_s: float = 3.0) -> float:
    """Median wall time of `f`. Calls shorter than 1 ms are timed in batches; no more than `budget_s` is spent."""
    f()
    start = time.perf_counter()
    f()
    once = time.perf_counter() - start
    batch = max(1, min(10_000, int(1e-3 / max(once, 1e-9))))
    times: list[float] = []
    spent = 0.0
    while len(times) < repeats and (spent < budget_s or len(times) < 3):
        start = time.perf_counter()
        for _ in range(batch):
            f()
        times.append((time.perf_counter() - start) / batch)
        spent += times[-1] * batch
    return statistics.median(times)


def gpu_seconds(f: Call, repeats: int, stream: int | None = None) -> float:
    """Median time of the work `f` puts on `stream` (a raw handle; torch's current stream where None), L2 flushed."""
    import torch

    with torch.cuda.stream(torch.cuda.ExternalStream(stream) if stream is not None else torch.cuda.current_stream()):
        flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        for _ in range(3):
            f()
        torch.cuda.synchronize()
        times: list[float] = []
        for _ in range(repeats):
            flush.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            f()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1e-3)
    return statistics.median(times)


def queue_seconds(f: Call, repeats: int, queue: Any) -> float:
    """gpu_seconds for one of our queues: the same flush and events, on that queue."""
    from epitaxy import _engine

    flush = _engine.Buffer.allocate(FLUSH_BYTES, queue)
    for _ in range(3):
        f()
    queue.synchronise()
    times: list[float] = []
    for _ in range(repeats):
        queue.fill(flush.address, b"\0\0\0\0", FLUSH_BYTES // 4)
        begin = queue.record()
        f()
        end = queue.record()
        end.wait()
        times.append(begin.elapsed_ns(end) * 1e-9)
    return statistics.median(times)


def host_seconds(f: Call, calls: int = 2000, synchronize: Call | None = None) -> float:
    """Time the host spends in one call of `f`: the median of batches short enough that no queue fills. `synchronize`
    runs between them, outside the timing."""
    batch = 100
    times: list[float] = []
    for _ in range(2 + calls // batch):
        start = time.perf_counter()
        for _ in range(batch):
            f()
        times.append((time.perf_counter() - start) / batch)
        if synchronize:
            synchronize()
    return statistics.median(times[2:])


def ratio_of(ours: float, other: float, unit: str) -> float:
    """How much faster `ours` is than `other`."""
    return ours / other if unit in HIGHER_IS_BETTER else other / ours


def machine(device: str) -> str:
    """The folder of benchmarks/results/ of this machine: the GPU's name, or the CPU's cores and widest vectors."""
    if device.startswith("cuda"):
        from epitaxy import _engine

        return re.sub(r"[^a-z0-9]+", "-", str(_engine.device(device).info["name"]).lower()).strip("-")
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    widest = next((f for f in ("amx_tile", "avx512f", "avx2") if f in flags), "sse2")
    return f"cpu-{len(os.sched_getaffinity(0))}-cores-{widest.replace('_tile', '').replace('512f', '512')}"


class Bench:
    """The command line, rows and results file of one benchmark script."""

    def __init__(self, name: str, description: str, argv: list[str] | None = None) -> None:
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--device", default="cpu", help="cpu or cuda[:N]")
        parser.add_argument("--json", metavar="FILE", help="write one JSON object a row")
        parser.add_argument("--short", action="store_true", help="few repeats: does it run, not how fast")
        parser.add_argument("--only", metavar="WORD", help="rows whose name holds WORD")
        self.args = parser.parse_args(argv)
        self.name = name
        self.device: str = self.args.device
        self.repeats = 3 if self.args.short else 15
        self.rows: list[Row] = []
        self.failed: list[str] = []

    @property
    def on_gpu(self) -> bool:
        """Whether the work runs on a GPU."""
        return not self.device.startswith("cpu")

    def wants(self, row: str) -> bool:
        """Whether --only lets this row run; ask before preparing large inputs."""
        return self.args.only is None or self.args.only in row

    def measure(self, what: Measured, unit: str, work: float, stream: int | None = None, queue: Any = None) -> float:
        """The figure of `what` in `unit`: a time, or `work` (bytes, flops, items) a second."""
        if not callable(what):
            return float(what)
        if not self.on_gpu:
            seconds = cpu_seconds(what, self.repeats)
        elif queue is not None:
            seconds = queue_seconds(what, self.repeats, queue)
        else:
            seconds = gpu_seconds(what, self.repeats, stream)
        if unit in SECONDS:
            return seconds * SECONDS[unit]
        return work / seconds / (1e12 if unit[0] == "T" else 1e9 if unit[0] == "G" else 1.0)

    def _peers(self, makers: Mapping[str, Maker], unit: str, work: float) -> tuple[dict[str, float], dict[str, str]]:
        """(figures, why the others have none)"""
        figures: dict[str, float] = {}
        absent: dict[str, str] = {}
        for name, make in makers.items():
            try:
                figures[name] = self.measure(make(), unit, work)
            except Exception as e:  # a peer may fail in any way
                absent[name] = f"{type(e).__name__}: {e}".splitlines()[0][:160]
        return figures, absent

    def row(
        self,
        row: str,
        *,
        n: int,
        dtype: str,
        unit: str,
        ours: Measured,
        check: Callable[[], bool],
        peers: Mapping[str, Measured] | None = None,
        makers: Mapping[str, Maker] | None = None,
        target_peer: str | None = None,
        target: float = 1.0,
        absolute: float | None = None,
        work: float = 0.0,
        stream: int | None = None,
        queue: Any = None,
    ) -> None:
        """Measure, check and print one row. With `absolute` (a figure in `unit`) the ratio is against that figure."""
        if not self.wants(row):
            return
        try:
            mine = self.measure(ours, unit, work, stream, queue)
            checked = bool(check())
        except Exception:  # the other rows are still worth having
            traceback.print_exc()
            print(f"{row:46} {n:12} {dtype:9} COULD NOT BE MEASURED", flush=True)
            self.failed.append(row)
            return
        given = {name: (lambda call=call: call) for name, call in (peers or {}).items()}
        theirs, absent = self._peers({**given, **(makers or {})}, unit, work)
        reference = absolute if absolute is not None else theirs.get(target_peer or "")
        self._keep(
            Row(
                self.name,
                row,
                machine(self.device),
                n,
                dtype,
                mine,
                unit,
                theirs,
                None if absolute is not None else target_peer,
                None if reference is None else ratio_of(mine, reference, unit),
                target,
                checked,
                _command(),
                datetime.date.today().isoformat(),
                absent,
            )
        )

    def _keep(self, row: Row) -> None:
        if not self.rows:
            print(f"{'row':46} {'n':>12} {'dtype':9} {'ours':>12} {'ratio':>7} {'target':>7}  peers")
        self.rows.append(row)
        ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
        peers = ", ".join(f"{k} {v:.4g}" for k, v in row.peers.items())
        absent = "".join(f"; no {name} ({why})" for name, why in row.absent.items())
        wrong = absent + ("" if row.checked else "  WRONG RESULT")
        ours = f"{row.ours:.4g} {row.unit}"
        print(
            f"{row.row:46} {row.n:12} {row.dtype:9} {ours:>12} {ratio:>7} {row.target:7.2f}  {peers}{wrong}", flush=True
        )

    def close(self) -> None:
        """Write the results file; exit with 1 if a result was wrong, a row failed, or no row ran."""
        if self.args.json:
            path = Path(self.args.json)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(asdict(r)) + "\n" for r in self.rows), encoding="utf-8")
        if self.failed:
            print(f"not measured: {', '.join(self.failed)}")
        if self.failed or not self.rows or not all(r.checked for r in self.rows):
            sys.exit(1)


def _command() -> str:
    script = Path(sys.argv[0])
    shown: list[Any] = [f"benchmarks/{script.name}"]
    skip = False
    for word in sys.argv[1:]:
        if skip or word.startswith("--json"):
            skip = word == "--json"
            continue
        shown.append(word)
    return " ".join(shown)
