"""The trail: what `epitaxy.trace` and `epitaxy trace` show of a program, and that looking changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import epitaxy
import epitaxy.numpy as np
import epitaxy.tile as ct
from epitaxy import _engine
from epitaxy.tools import _machine

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def current(device: str) -> Iterator[Any]:
    with epitaxy.device("cpu" if device == "interp" else device) as chosen:
        yield chosen


@ct.kernel
def scale_and_add(a, b, c, N: ct.Constant[int]):
    i = ct.bid(0)
    ct.store(c, (i,), ct.load(a, (i,), (N,)) * 3 + ct.load(b, (i,), (N,)))


def run_tile(n: int = 1000) -> None:
    a = np.ones(n, "float32")
    c = np.empty(n, "float32")
    ct.launch(None, (ct.cdiv(n, 256),), scale_and_add, (a, a, c, 256))
    assert c.numpy().tolist() == [4.0] * n


def run_command(*args: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "epitaxy", "trace", *args]
    return subprocess.run(command, env={**os.environ, **environment}, check=False, capture_output=True, text=True)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(
        "import sys\nimport epitaxy.numpy as np\n"
        "x = np.ones(100) * 2\nprint('sum', float(x.sum()), sys.argv[1:])\n"
        "if 'fail' in sys.argv:\n    raise KeyError('on purpose')\n"
        "sys.exit(3 if 'three' in sys.argv else 0)\n",
        encoding="utf-8",
    )
    return path


# -- what is shown
def test_a_tile_kernel_is_followed_from_its_line_to_its_completion(current: Any) -> None:
    with epitaxy.trace() as trail:
        run_tile()
    text = trail.text(only="scale_and_add", full=True)
    for expected in (
        f"test_trace.py:{run_tile.__code__.co_firstlineno + 3} in run_tile",
        "ct.launch(None, (ct.cdiv(n, 256),), scale_and_add",
        "def scale_and_add(a, b, c, N: ct.Constant[int]):",
        "tile.load %arg0",
        "define ",
        "scale_and_add on a grid of 4 x 1 x 1 programs",
        "a.base=0x",
        "c.extent0=1000",
        "the host knew",
    ):
        assert expected in text
    for layer in ("parse and infer", "build", "compile", "of it codegen", "load", "submit", "queue", "run"):
        assert f"  {layer}" in text
    if current.kind == "cpu":
        assert "vmovups" in text
        assert "kernel dispatch, 64 bytes" in text
    else:
        assert "ld.global" in text
        assert "-- SASS" in text


def test_the_line_that_forces_an_expression_is_shown() -> None:
    with epitaxy.trace() as trail:
        x = np.arange(50.0) * 2 + 1
        total = float(x.sum())  # this line
    assert total == 2500.0
    assert [k.name for k in trail.kernels] == ["add", "reduce_add"] or "reduce_add" in [k.name for k in trail.kernels]
    text = trail.text(only="reduce_add")
    assert "total = float(x.sum())  # this line" in text
    assert "array front end" in text


def test_a_library_product_is_shown_with_its_packet_and_signal(current: Any) -> None:
    a = np.ones((64, 32), "float32")
    with epitaxy.trace() as trail:
        c = a @ a.T
        current.default_queue().record().wait()
    assert float(c[0, 0]) == 32.0
    text = trail.text(only="gemm")
    assert "gemm float32 64 x 64 x 32" in text
    assert "c = a @ a.T" in text
    assert "library call" in text
    if current.kind == "cpu":
        assert "agent dispatch (host call)" in text
        assert "decremented to 0" in text


def test_every_stage_shows_for_kernels_that_were_compiled_before() -> None:
    run_tile()
    with epitaxy.trace() as first:
        run_tile()
    with epitaxy.trace() as second:
        run_tile(2000)
    assert "tile.load" in first.text(only="scale_and_add")
    assert "tile.load" in second.text(only="scale_and_add")


def test_every_launch_has_its_run() -> None:
    with epitaxy.trace() as trail:
        for n in (300, 600, 900):
            run_tile(n)
    (subject,) = [s for s in trail.subjects if s.name.startswith("scale_and_add")]
    assert [c.submit.args["grid_x"] for c in subject.calls] == [2, 3, 4]
    assert all(c.run is not None and c.run.start_ns >= c.submit.start_ns - 1000 for c in subject.calls)
    if "grid_x" in subject.calls[0].run.args:
        assert [c.run.args["grid_x"] for c in subject.calls] == [2, 3, 4]
    assert subject.device.startswith(("cpu", "cuda"))


def test_long_listings_are_shortened_unless_full_is_asked_for() -> None:
    with epitaxy.trace() as trail:
        run_tile()
    short, full = trail.text(lines=5), trail.text(full=True)
    assert "5 of them from line" in short
    assert "of them from line" not in full
    assert len(full.splitlines()) > 2 * len(short.splitlines())


def test_an_unknown_name_says_what_ran() -> None:
    with epitaxy.trace() as trail:
        run_tile()
    with pytest.raises(ValueError, match=r"no kernel .*'nosuch'.*what ran: .*scale_and_add"):
        trail.text(only="nosuch")


def test_nothing_ran_is_said() -> None:
    with epitaxy.trace() as trail:
        pass
    assert trail.kernels == []
    assert "Nothing ran" in str(trail)


def test_traces_within_each_other_see_their_own_calls() -> None:
    with epitaxy.trace() as outer:
        run_tile()
        with epitaxy.trace() as inner:
            float(np.arange(7.0).sum())
        run_tile()
    assert [s.name for s in inner.subjects if s.name.startswith("scale")] == []
    (subject,) = [s for s in outer.subjects if s.name.startswith("scale")]
    assert len(subject.calls) == 2
    assert not _engine.trace_enabled()


def test_an_exception_ends_the_trace() -> None:
    trails = []

    def work() -> None:
        with epitaxy.trace() as trail:
            trails.append(trail)
            run_tile()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert not _engine.trace_enabled()
    assert len(trails[0].subjects) >= 1


def test_nothing_is_recorded_or_compiled_again_after_a_trace() -> None:
    with epitaxy.trace():
        run_tile()
    before = _engine.jit_statistics()["compiled"]
    run_tile()
    assert _engine.jit_statistics()["compiled"] == before
    assert _engine.trace_events() == []


def test_results_do_not_depend_on_being_traced() -> None:
    x = numpy.random.default_rng(3).standard_normal(5000).astype("float32")
    plain = (np.exp(np.array(x)) * 2).numpy()
    with epitaxy.trace():
        traced = (np.exp(np.array(x)) * 2).numpy()
    numpy.testing.assert_array_equal(plain, traced)


# -- listings
LOOPS = """start:
    movq %rdi, %rax
.L1:
    addq $1, %rax
    cmpq %rax, %rbx
    jne .L1
.L2:
    vmovups (%rdi), %zmm0
    vfmadd231ps (%rsi), %zmm1, %zmm0
    jb .L2
    retq
""".splitlines()


def test_a_short_listing_shows_the_loop_that_computes() -> None:
    assert _machine.heart(LOOPS, 4, "assembly") == (6, LOOPS[6:10])
    assert _machine.heart(LOOPS, 2, "assembly") == (7, LOOPS[7:9])
    assert _machine.heart(LOOPS, 4, "program") == (0, LOOPS[:4])
    assert _machine.heart(LOOPS, 11, "assembly") == (0, LOOPS)


def test_a_short_listing_of_llvm_shows_the_busiest_block() -> None:
    lines = [
        "define void @f() {",
        "entry:",
        "  br label %loop",
        "loop:  ; preds",
        "  %1 = fadd <4 x float> %0, %0",
        "}",
    ]
    assert _machine.heart(lines, 2, "llvm") == (3, lines[3:5])


@pytest.mark.parametrize(("status", "expected"), [(0, ("FFMA R1, R2 ;", "")), (1, ("", "failed: cannot read"))])
def test_sass_comes_from_the_installed_disassembler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, expected: tuple[str, str]
) -> None:
    tool = tmp_path / "nvdisasm"
    tool.write_text(
        f"#!/bin/sh\necho '    FFMA R1, R2 ;  /* 0x0000000000007919 */'\necho cannot read >&2\nexit {status}\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    listing, note = _machine.sass(b"binary")
    assert (listing, note.removeprefix(f"{tool} ")) == expected


# -- JSON
def test_the_json_is_a_chrome_trace_whose_spans_nest(tmp_path: Path) -> None:
    with epitaxy.trace() as trail:
        run_tile()
    trail.write_json(tmp_path / "t.json")
    events = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["traceEvents"]
    spans = {(e["cat"], e["name"]): e for e in events if e["ph"] == "X"}
    call = spans["python", "tile.launch"]
    submit = next(e for (cat, name), e in spans.items() if cat == "submit" and name.startswith("scale_and_add"))
    run = next(e for (cat, name), e in spans.items() if cat == "run" and name.startswith("scale_and_add"))
    assert call["ts"] <= submit["ts"] <= submit["ts"] + submit["dur"] <= call["ts"] + call["dur"]
    assert call["args"]["file"] == __file__
    assert run["tid"] != call["tid"]
    assert {"python"} <= {e["args"]["name"] for e in events if e["ph"] == "M"}


# -- the command
def test_the_command_shows_the_trail_after_the_programs_own_output(program: Path) -> None:
    done = run_command(str(program), "an", "--argument")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("sum 200.0 ['an', '--argument']\n")
    assert "reduce_add on cpu:0" in done.stdout
    assert f"{program}:4 in <module>" in done.stdout


def test_the_command_ends_with_the_programs_status(program: Path) -> None:
    assert run_command(str(program), "three").returncode == 3


def test_a_failing_program_shows_its_own_traceback_and_the_trail_so_far(program: Path) -> None:
    done = run_command(str(program), "fail")
    assert done.returncode == 1
    assert "KeyError: 'on purpose'" in done.stderr
    assert "runpy" not in done.stderr
    assert "reduce_add" in done.stdout


def test_wrong_use_of_the_command_is_said(program: Path) -> None:
    missing = run_command("no/such.py")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "no such program: no/such.py" in missing.stderr
    unknown = run_command("--only", "nosuch", str(program))
    assert unknown.returncode == 2
    assert "what ran:" in unknown.stderr


def test_the_command_writes_json_and_a_page(program: Path, tmp_path: Path) -> None:
    page, trace = tmp_path / "page.md", tmp_path / "trace.json"
    done = run_command("--json", str(trace), "--markdown", str(page), str(program))
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "sum 200.0 []\n")
    assert "traceEvents" in json.loads(trace.read_text(encoding="utf-8"))
    assert "x = np.ones(100) * 2" in page.read_text(encoding="utf-8")
    assert "-- Tile IR" in page.read_text(encoding="utf-8")


def test_the_environment_traces_any_program(program: Path, tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    environment = {**os.environ, "EPI_TRACE": str(file)}
    done = subprocess.run([sys.executable, str(program)], env=environment, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    names = {e["name"] for e in json.loads(file.read_text(encoding="utf-8"))["traceEvents"]}
    assert {"reduce_add", "compile", "numpy program"} <= names


def test_a_trace_inside_a_program_leaves_the_environments_whole(tmp_path: Path) -> None:
    file = tmp_path / "t.json"
    source = (
        "import epitaxy, epitaxy.numpy as np\nfloat(np.ones(9).sum())\n"
        "with epitaxy.trace() as t:\n    float(np.ones(9).max())\nfloat(np.ones(9).min())\nprint(len(t.kernels))"
    )
    environment = {**os.environ, "EPI_TRACE": str(file)}
    done = subprocess.run([sys.executable, "-c", source], env=environment, check=False, capture_output=True, text=True)
    assert done.stderr == ""
    names = {e["name"] for e in json.loads(file.read_text(encoding="utf-8"))["traceEvents"]}
    assert {"reduce_add", "reduce_maximum", "reduce_minimum"} <= names


# -- the pages
@pytest.mark.parametrize("page", sorted(p.name for p in (ROOT / "docs").glob("trail_*.md")))
def test_the_kept_trails_are_of_the_program_as_it_is(page: str) -> None:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert (ROOT / "examples/matmul_trail.py").read_text(encoding="utf-8").strip() in text
    for layer in ("library call", "parse and infer", "submit (driver call)", "-- completion"):
        assert layer in text
