"""The command line: `epitaxy trace`."""

from __future__ import annotations

import argparse
import runpy
import shlex
import sys
import traceback
from pathlib import Path

from epitaxy.tools.trace import Trail, trace

_ABOUT = """Runs a Python program and shows, for each kernel and library call, the layers it passed: the Python line,
Tile IR, LLVM IR, assembly, the launch with its grid and slots, the time of each stage, and the completion."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="epitaxy")
    commands = parser.add_subparsers(dest="command", required=True)
    t = commands.add_parser("trace", help="follow a program through the layers", description=_ABOUT)
    t.add_argument("--full", action="store_true", help="whole listings, and LLVM IR before optimisation too")
    t.add_argument("--lines", type=int, default=14, metavar="N", help="lines of each listing (default: 14)")
    t.add_argument("--only", metavar="KERNEL", help="only kernels and library calls with this in their name")
    t.add_argument("--json", metavar="FILE", type=Path, help="also write a trace for ui.perfetto.dev")
    t.add_argument("--markdown", metavar="FILE", type=Path, help="write program and trail as a page instead")
    t.add_argument("script", help="the Python program")
    t.add_argument("args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def _run(script: str, args: list[str]) -> int:
    """The program, as if Python had been started with it. The status it ends with."""
    sys.argv = [script, *args]
    sys.path[0] = str(Path(script).resolve().parent)
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        kind, error, where = sys.exc_info()
        while where is not None and where.tb_frame.f_code.co_filename != script:
            where = where.tb_next  # leaves out how we started it
        traceback.print_exception(kind, error, where)
        return 1
    return 0


def _page(options: argparse.Namespace, text: str) -> str:
    """A page of documentation: how it was made, the program, its trail."""
    command = shlex.join(["epitaxy", "trace", "--markdown", str(options.markdown), options.script, *options.args])
    source = Path(options.script).read_text(encoding="utf-8").rstrip()
    return (
        f"# The trail of `{shlex.join([options.script, *options.args])}`\n\n"
        f"Written by `{command}`. How to read it: [reference/trace.md](reference/trace.md).\n\n"
        f"## The program\n```python\n{source}\n```\n\n## Its trail\n```text\n{text.rstrip()}\n```\n"
    )


def _show(options: argparse.Namespace, trail: Trail) -> None:
    text = trail.text(full=options.full, only=options.only, lines=options.lines)
    if options.json is not None:
        trail.write_json(options.json)
    if options.markdown is not None:
        options.markdown.write_text(_page(options, text), encoding="utf-8")
    else:
        print("\n" + text)


def main(argv: list[str] | None = None) -> int:
    """Runs the command; the status is the traced program's, or 2 for wrong use."""
    parser = _parser()
    options = parser.parse_args(argv)
    if not Path(options.script).is_file():
        parser.error(f"no such program: {options.script}")
    if options.lines < 1:
        parser.error(f"--lines takes a positive number, got {options.lines}")
    with trace() as trail:
        status = _run(options.script, options.args)
    sys.stdout.flush()
    try:
        _show(options, trail)
    except (ValueError, OSError) as error:
        print(f"epitaxy trace: {error}", file=sys.stderr)
        return status or 2
    return status
