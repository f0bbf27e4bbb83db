"""From recorded events to calls: a launch's line, stages and run, and what each layer took."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from epitaxy._trace import SPAN, Event


@dataclass
class Call:
    """One launch of a kernel, or one call of a library."""

    submit: Event
    python: Event | None = None  # the binding's span, with the user's line
    front_ns: int = 0  # the array front end's own time before it
    stages: list[Event] = field(default_factory=list)
    run: Event | None = None
    waited: Event | None = None  # the host's first wait that ended after the run
    signals: list[Event] = field(default_factory=list)

    @property
    def line(self) -> tuple[str, int, str] | None:
        """File, line and function of the user's program."""
        a = self.python.args if self.python else {}
        return (a["file"], a["line"], a["function"]) if a.get("file") else None

    @property
    def completion_us(self) -> float | None:
        """From the end of the run, or from the host's question where that came later, to the host's knowing."""
        if self.run is None or self.waited is None:
            return None
        return (self.waited.end_ns - max(self.run.end_ns, self.waited.start_ns)) * 1e-3

    def layers(self, compile_us: float = 0.0) -> list[tuple[str, float]]:
        """(layer, microseconds it added), from the Python line down to the completion.

        `compile_us` is the compile stage without the writing of listings, where that is known.
        """
        out: list[tuple[str, float]] = []
        if self.python is not None:
            if self.front_ns:
                out.append(("array front end", self.front_ns * 1e-3))
            own = self.submit.start_ns - self.python.start_ns
            if self.stages:
                before = self.stages[0].start_ns - self.python.start_ns
                tile = self.python.name == "tile.launch"
                out.append(("parse and infer" if tile else "arguments, key", before * 1e-3))
                times = {s.name: s.duration_ns * 1e-3 for s in self.stages}
                rest = (own - before) * 1e-3 - sum(times.values())
                if compile_us and "compile" in times:
                    rest += times["compile"] - compile_us
                    times["compile"] = compile_us
                out += [*times.items(), ("listings for this trace", max(rest, 0.0))]
            else:
                out.append(("arguments, key, cache" if self.submit.category == "submit" else "arguments", own * 1e-3))
        library = self.submit.category == "library"
        out.append(("library call" if library else "submit (driver call)", self.submit.duration_ns * 1e-3))
        if self.run is not None:
            queued = self.run.args.get("queued_ns", self.run.start_ns - self.submit.end_ns)
            out.append(("queue", max(queued, 0) * 1e-3))
            out.append(("run", self.run.duration_ns * 1e-3))
        if self.completion_us is not None:
            out.append(("completion", self.completion_us))
        return out


@dataclass
class Subject:
    """A kernel, or a kind of library call, with everything that was asked of it in order."""

    name: str
    device: str
    kernel: Any  # None: a library call
    calls: list[Call]

    def parts(self) -> dict[str, float]:
        """Microseconds of the compile stage's parts."""
        outer = {s.name for s in self.calls[0].stages}
        return {k: us for k, us in self.kernel.stages if k not in outer} if self.kernel is not None and outer else {}

    def first(self) -> list[tuple[str, float]]:
        """The layers of the first call."""
        return self.calls[0].layers(sum(self.parts().values()))

    def later(self) -> list[tuple[str, float]]:
        """The layers' medians over the calls after the first."""
        values: dict[str, list[float]] = defaultdict(list)
        for call in self.calls[1:]:
            for layer, us in call.layers():
                values[layer].append(us)
        return [(layer, sorted(us)[len(us) // 2]) for layer, us in values.items()]


class _Spans:
    """Spans of one track by start, to find those that enclose a moment."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events
        self.starts = [e.start_ns for e in events]

    def enclosing(self, moment_ns: int) -> list[Event]:
        """From the outermost to the innermost."""
        upto = bisect_left(self.starts, moment_ns + 1)
        return [e for e in self.events[max(0, upto - 64) : upto] if e.end_ns >= moment_ns]

    def within(self, outer: Event) -> list[Event]:
        """Those that begin inside of another."""
        first, last = (bisect_left(self.starts, ns) for ns in (outer.start_ns, outer.end_ns))
        return self.events[first:last]


def _by_track(events: list[Event], category: str) -> dict[int, _Spans]:
    tracks: dict[int, list[Event]] = defaultdict(list)
    for e in events:
        if e.kind == SPAN and e.category == category:
            tracks[e.track].append(e)
    return defaultdict(lambda: _Spans([]), {t: _Spans(found) for t, found in tracks.items()})


def _attach_python(call: Call, python: dict[int, _Spans], jit: dict[int, _Spans]) -> None:
    """The binding's span around a call, and the stages that came before the submit."""
    around = python[call.submit.track].enclosing(call.submit.start_ns)
    if not around:
        return
    call.python = around[-1]
    stages = jit[call.submit.track].within(call.python)
    call.stages = [s for s in stages if s.end_ns <= call.submit.start_ns]


def calls_of(events: list[Event]) -> list[Call]:
    """Every launch and library call with its line, its stages, its run and its completion."""
    python, jit, front, waits = (_by_track(events, c) for c in ("python", "jit", "front end", "wait"))
    runs: dict[str, deque[Event]] = defaultdict(deque)
    for e in events:
        if e.category == "run":
            runs[e.name].append(e)
    signals = [e for e in events if e.category == "signal"]
    ends: dict[int, int] = {}  # by track: where the last call ended, so that a front end's time is counted once
    out = []
    for event in events:
        if event.category not in ("submit", "library"):
            continue
        call = Call(event)
        _attach_python(call, python, jit)
        if call.python is not None:
            outer = front[event.track].enclosing(call.python.start_ns)
            if outer:
                since = max(outer[0].start_ns, ends.get(event.track, 0))
                call.front_ns = max(0, call.python.start_ns - since)
            ends[event.track] = call.python.end_ns
        matching = runs[event.name] or (runs["host call"] if event.category == "library" else deque())
        call.run = matching.popleft() if matching else None
        if call.run is not None:
            after = [w for w in waits[event.track].events if w.end_ns >= call.run.end_ns]
            call.waited = after[0] if after else None
            until = after[0].end_ns if after else call.run.end_ns
            call.signals = [s for s in signals if call.run.start_ns <= s.start_ns <= until]
        out.append(call)
    return out


def subjects(events: list[Event], kernels: dict[int, Any]) -> list[Subject]:
    """What ran, grouped by kernel and by kind of library call, in order of the first call."""
    found: dict[Any, Subject] = {}
    for call in calls_of(events):
        args = call.submit.args
        key = args.get("kernel", (call.submit.name, args["device"]))
        if key not in found:
            found[key] = Subject(call.submit.name, args["device"], kernels.get(args.get("kernel", 0)), [])
        found[key].calls.append(call)
    return list(found.values())
