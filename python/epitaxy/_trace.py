"""Recording what happens: calls with the user's line, stages, launches, packets, waits. `epitaxy.trace` shows it.

Off, a hook costs a look at one flag. The engine records (src/epi/base/trace.h); this module finds the user's lines and
tells nested recordings apart.
"""

from __future__ import annotations

import json
import sys
from typing import Any, NamedTuple

from epitaxy import _engine

SPAN, INSTANT, COUNTER = range(3)


class Event(NamedTuple):
    """One thing that was recorded; `track` is a thread or a queue, times are of the steady clock."""

    kind: int
    track: int
    start_ns: int
    duration_ns: int
    category: str
    name: str
    args: dict[str, Any]

    @property
    def end_ns(self) -> int:
        """Where the span ends."""
        return self.start_ns + self.duration_ns


def _origin() -> tuple[str, int, str]:
    """File, line and function of the innermost frame that is not of this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "epitaxy":
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name


_engine.set_trace_origin(_origin)


def begin() -> int:
    """The start of a layer's span, for `end`; 0 where nothing is recorded."""
    return _engine.trace_now_ns() if _engine.trace_enabled() else 0


def end(start_ns: int, name: str) -> None:
    """Records the span of a front end's call."""
    if start_ns:
        _engine.trace_span("front end", name, start_ns, _engine.trace_now_ns() - start_ns)


class Recording:
    """The events from `start` to `finish`. Recordings may lie within each other: each gets its own events."""

    _running = 0
    _log: list[Any] = []  # noqa: RUF012 - the process has one

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._start_ns = 0

    def start(self) -> None:
        """Begins."""
        if Recording._running == 0:
            Recording._log.clear()
            _engine.trace_start()
        Recording._running += 1
        self._start_ns = _engine.trace_now_ns()

    def finish(self) -> None:
        """Ends, and waits for GPUs' work."""
        Recording._log += _engine.trace_events()
        Recording._running -= 1
        if Recording._running == 0:
            _engine.trace_stop()
        self.rows = [row for row in Recording._log if row[2] >= self._start_ns]

    def events(self) -> list[Event]:
        """What was recorded, in order of start."""
        return [Event._make((*row[:6], json.loads(row[6]))) for row in self.rows]

    def chrome_json(self) -> str:
        """The same as a text that Perfetto and chrome://tracing open."""
        return str(_engine.trace_chrome_json(self.rows))
