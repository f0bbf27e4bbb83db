"""The trail as text: a summary, then a section for each kernel and library call, from the line to the completion."""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from epitaxy.tools import _machine
from epitaxy.tools._calls import Call, Subject

_WIDTH = 100
_HEADINGS = {"tile": "Tile IR", "llvm": "LLVM IR", "llvm-opt": "LLVM IR, optimised"}
_ASSEMBLY = {"cpu": "x86 assembly", "cuda": "PTX"}


def render(subjects: list[Subject], *, limit: int | None) -> str:
    """The text of these subjects; `limit` = lines of each listing, None = all of them."""
    if not subjects:
        return "Nothing ran on a device: no kernel was launched and no library was called.\n"
    parts = [_summary(subjects)]
    for number, subject in enumerate(subjects, 1):
        title = f" {number} of {len(subjects)}: {subject.name} on {subject.device} "
        parts.append("=" * 4 + title + "=" * max(4, _WIDTH - 4 - len(title)))
        parts += [*_sections(subject, limit), ""]
    return "\n".join(parts)


def _us(value: float) -> str:
    return f"{value:,.1f}" if value < 1000 else f"{value:,.0f}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Columns aligned: the first to the left, numbers to the right."""
    grid = [head, *rows]
    widths = [max(len(row[i]) for row in grid) for i in range(len(head))]
    lines = [
        "  " + "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in grid
    ]
    return [lines[0].rstrip(), "  " + "-" * (len(lines[0]) - 2), *(line.rstrip() for line in lines[1:])]


def _summary(subjects: list[Subject]) -> str:
    rows = []
    for s in subjects:
        first = sum(us for layer, us in s.first() if layer not in ("listings for this trace", "completion"))
        runs = [c.run.duration_ns * 1e-3 for c in s.calls if c.run is not None]
        rows.append((s.name, s.device, str(len(s.calls)), _us(first), _us(min(runs)) if runs else "-"))
    return "\n".join(_table(("what ran", "device", "calls", "first call us", "shortest run us"), rows)) + "\n"


# -- one subject
def _sections(s: Subject, limit: int | None) -> list[str]:
    out = _python(s)
    out += ["", "-- what each layer added, in microseconds", *_layers(s)]
    if s.kernel is not None:
        out += _program(s.kernel, limit)
    out += ["", "-- " + ("library" if s.kernel is None else "launch"), *_launch(s.calls[0], s.kernel)]
    return out


def _source_line(file: str, line: int) -> str:
    return linecache.getline(file, line).strip()


def _python(s: Subject) -> list[str]:
    out = ["-- Python"]
    seen: dict[tuple[str, int, str], int] = {}
    for call in s.calls:
        if call.line is not None:
            seen[call.line] = seen.get(call.line, 0) + 1
    for (file, line, function), count in list(seen.items())[:4]:
        times = f"  ({count} times)" if count > 1 else ""
        out += [f"  {_short(file)}:{line} in {function}{times}", f"      {_source_line(file, line)}"]
    if len(seen) > 4:
        out.append(f"  ... and {len(seen) - 4} more lines")
    defined = re.fullmatch(r".* \((.+):(\d+)\)", s.name)
    if defined:
        path = _file_of(defined[1], [c.line[0] for c in s.calls if c.line])
        number = int(defined[2])
        texts = [_source_line(path, n) for n in range(number, number + 8)] if path else []
        head = next((t for t in texts if t.startswith("def ")), "")
        out += [f"  defined at {_short(path or defined[1])}:{number}", f"      {head}".rstrip()]
    return out


def _file_of(name: str, near: list[str]) -> str | None:
    loaded = [getattr(m, "__file__", None) for m in list(sys.modules.values())]
    return next((f for f in [*near, *loaded] if f and os.path.basename(f) == name), None)


def _short(file: str) -> str:
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


def _layers(s: Subject) -> list[str]:
    first = dict(s.first())
    later = dict(s.later())
    rows = []
    for layer in _merged(list(first), list(later)):
        rows.append((layer, _us(first[layer]) if layer in first else "-", _us(later[layer]) if layer in later else "-"))
        if layer == "compile":
            rows += [(f"    of it {part}", f"({_us(us)})", "") for part, us in s.parts().items()]
    if len(s.calls) == 1:
        return _table(("layer", "this call"), [r[:2] for r in rows])
    later_head = "second call" if len(s.calls) == 2 else f"median of {len(s.calls) - 1} later"
    return _table(("layer", "first call", later_head), rows)


def _merged(first: list[str], later: list[str]) -> list[str]:
    """The layers of both columns in one order."""
    out = list(first)
    for before, layer in pairwise(["", *later]):
        if layer not in out:
            out.insert(out.index(before) + 1 if before in out else 0, layer)
    return out


def _program(kernel: Any, limit: int | None) -> list[str]:
    """The listings of a kernel: Tile IR, LLVM IR, assembly, machine code."""
    texts = dict(kernel.texts)
    tile = next((text for stage, text in kernel.texts if stage == "tile"), None)
    if tile is None:
        return ["", "-- compiled before this trace: no listings were kept"]
    out = _listing("Tile IR", tile, limit, "program")
    stages = ["llvm", "llvm-opt"] if limit is None else ["llvm-opt"]
    for stage in (st for st in stages if st in texts):
        out += _listing(_HEADINGS[stage], texts[stage], limit, "llvm")
    kind = kernel.device_kind
    if "asm" in texts:
        out += _listing(_ASSEMBLY.get(kind, "assembly"), texts["asm"], limit, "assembly")
    if kind == "cuda":
        sass, note = _machine.sass(kernel.code)
        out += _listing("SASS", sass, limit, "sass") if sass else ["", f"-- SASS: {note}"]
    return out


def _listing(title: str, text: str, limit: int | None, kind: str) -> list[str]:
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and ".p2align" not in line]
    most = len(lines) if limit is None else 3 * limit if kind == "program" else limit
    first, shown = _machine.heart(lines, most, kind)
    part = "" if len(shown) == len(lines) else f", {len(shown)} of them from line {first + 1}"
    body = shown if limit is None else [_clipped(line) for line in shown]
    return ["", f"-- {title} ({len(lines)} lines{part})", *("  " + line.expandtabs(4) for line in body)]


def _clipped(line: str) -> str:
    line = line.expandtabs(4)
    return line if len(line) <= _WIDTH + 16 else line[: _WIDTH + 13] + "..."


def _launch(call: Call, kernel: Any) -> list[str]:
    a, run = call.submit.args, call.run
    out = []
    if kernel is None:
        out.append(f"  {call.submit.name}, batch of {a['batch']}, by {a['library']} on {a['device']}")
        out.append("  machine code: the library's own, which it chooses for the processor; not listed")
    else:
        grid = " x ".join(str(a[f"grid_{axis}"]) for axis in "xyz")
        info = kernel.info
        threads = f", {info['block_threads']} threads a block" if info["block_threads"] else ""
        out.append(f"  {info['symbol']} on a grid of {grid} programs{threads}, {info['slots']} slots")
        out += _wrapped("slots: ", a["slots"].split(", "))
        scratch = {"shared memory": info["shared_bytes"], "arena of a worker": info["arena_bytes"]}
        out += [f"  {what}: {size} bytes" for what, size in scratch.items() if size]
    if run is not None and "packet" in run.args:
        kind = "kernel dispatch" if kernel is not None else "agent dispatch (host call)"
        chunk = f"; workers claim {run.args['chunk']} programs at a time" if "chunk" in run.args else ""
        out.append(f"  packet {run.args['packet']} of queue {run.args['queue']}: {kind}, 64 bytes{chunk}")
    elif run is not None:
        out.append("  put on the stream by the driver; timed by an event before it and one after it")
    out += ["", "-- completion"]
    if run is None:
        return [*out, "  not seen: the trace ended first"]
    out.append(f"  done {_us((run.end_ns - call.submit.start_ns) * 1e-3)} us after the submit began")
    for signal in call.signals:
        out.append(f"  signal {signal.args['signal']:#x} of queue {signal.args['queue']}: decremented to 0")
    if call.waited is not None and call.completion_us is not None:
        asked = call.waited.start_ns - run.end_ns
        when = f", which it asked for {_us(asked * 1e-3)} us later" if asked > 0 else ""
        out.append(f"  the host knew {_us(call.completion_us)} us after that{when}")
    return out


def _wrapped(head: str, words: list[str]) -> list[str]:
    lines, line = [], "  " + head
    for i, word in enumerate(words):
        piece = word + ("," if i + 1 < len(words) else "")
        if len(line) + len(piece) > _WIDTH:
            lines.append(line.rstrip())
            line = " " * (2 + len(head))
        line += piece + " "
    return [*lines, line.rstrip()]
