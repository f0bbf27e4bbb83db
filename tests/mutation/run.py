"""The oracle's teeth: applies each fault of mutations.py to a copy and sees whether the suite catches it.

usage: run.py [WORD ...] [--jobs N] [--no-build]     WORD: only faults whose name holds one of them

Nothing in the tree is changed. A C++ fault is one unit compiled from a changed copy and linked in front of copies of
build/'s libraries; a Python fault is a copy of the package. The fault's own part of the suite runs first and, where
that passes, all tests of the compiler or of Python. Tests that fail without any fault are left out. Exit status 0: all
were caught.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from mutations import MUTATIONS, Mutation

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
NINJA = ROOT / ".venv/bin/ninja"
LIMIT_S = 900
TARGETS = ("test_compiler", "_engine")
FROM_OUTSIDE = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT)
ALL_PYTHON = "tests/python/tile tests/python/numpy"


class Unusable(Exception):
    """A fault that does not compile, or whose tests somebody ended, shows nothing."""


class Snapshot:
    """Sources and what the targets are linked from, as they were at one moment; builds changed targets beside them.

    The lock that tools/nj takes (one build at a time on a machine) is held while copying and not later.
    """

    def __init__(self, folder: Path, locked: bool) -> None:
        self.src, self.build = folder / "src", folder / "build"
        with open(Path(tempfile.gettempdir()) / "epitaxy-build.lock", "w", encoding="utf-8") as lock:
            if locked:
                fcntl.flock(lock, fcntl.LOCK_EX)
            shutil.copytree(ROOT / "src", self.src)
            shutil.copytree(ROOT / "python/epitaxy", folder / "epitaxy", ignore=shutil.ignore_patterns("__pycache__"))
            entries = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
            self.units = {e["file"]: shlex.split(e["command"]) for e in entries}
            self.links = {target: self._link_command(target) for target in TARGETS}
            generated = {a[2:] for c in self.units.values() for a in c if a.startswith(f"-I{BUILD}/")}
            precompiled = {a for c in self.units.values() for a in c if a.endswith("cmake_pch.hxx")}
            linked = {
                str(BUILD / a) for c in self.links.values() for a in c if a.endswith((".a", ".o")) and a[0] != "/"
            }
            for path in {*generated, *precompiled, *(p + ".gch" for p in precompiled), *linked}:
                self._copy(Path(path))
        self.package = folder / "epitaxy"

    def _copy(self, path: Path) -> None:
        target = self.build / path.relative_to(BUILD)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            shutil.copytree(path, target, dirs_exist_ok=True)
        elif path.exists():
            shutil.copy2(path, target)

    @staticmethod
    def _link_command(target: str) -> list[str]:
        listed = subprocess.run(
            [NINJA, "-C", BUILD, "-t", "commands", target], check=True, text=True, capture_output=True
        )
        steps = shlex.split(listed.stdout.strip().splitlines()[-1].removeprefix(": && "))
        return steps[: steps.index("&&")]

    def _execute(self, command: list[str]) -> None:
        """A build step; its complaints are the error."""
        here = [
            a.replace(f"{BUILD}/src/", f"{self.build}/src/").replace(f"-I{ROOT}/src", f"-I{self.src}") for a in command
        ]
        done = subprocess.run(["nice", *here], cwd=self.build, check=False, text=True, capture_output=True)
        if done.returncode:
            raise Unusable((done.stdout + done.stderr)[-2000:])

    def changed(self, m: Mutation) -> str:
        """The file's text with the fault in it."""
        file = self.package / Path(m.file).relative_to("python/epitaxy") if m.is_python else self.src.parent / m.file
        text = file.read_text(encoding="utf-8")
        if text.count(m.old) != 1:
            raise Unusable(f"the text to change occurs {text.count(m.old)} times in {m.file}")
        return text.replace(m.old, m.new)

    def compile_unit(self, m: Mutation, work: Path) -> Path:
        """The object of the changed unit. A changed header shadows the tree's for this unit alone."""
        unit = m.unit or m.file
        copy = work / m.file
        copy.parent.mkdir(parents=True)
        copy.write_text(self.changed(m), encoding="utf-8")
        command = list(self.units[str(ROOT / unit)])
        command[command.index("-c") + 1] = str(self.src.parent / unit if m.unit else copy)
        out = work / "fault.o"
        command[command.index("-o") + 1] = str(out)
        if m.unit:
            command.insert(command.index(f"-I{ROOT}/src"), f"-I{work}/src")
        self._execute(command)
        return out

    def link_unchanged(self, out: Path) -> None:
        """The test program without a fault."""
        command = list(self.links["test_compiler"])
        command[command.index("-o") + 1] = str(out)
        self._execute(command)

    def link(self, target: str, fault: Path, out: Path) -> None:
        """The target's own link command, with the object in front: what it defines is not taken from a library."""
        command = list(self.links[target])
        at = command.index("-o")
        command[at : at + 2] = [str(fault), "-o", str(out)]
        self._execute(command)

    def package_with(self, m: Mutation, work: Path) -> Path:
        """A folder for PYTHONPATH that has the package with the fault."""
        package = work / "python/epitaxy"
        shutil.copytree(self.package, package)
        if m.is_python:
            (work / m.file).write_text(self.changed(m), encoding="utf-8")
        else:
            engine = next(package.glob("_engine*.so"))
            engine.unlink()
            self.link("_engine", self.compile_unit(m, work), engine)
        return package.parent


# -- the suite -------------------------------------------------------------------------------------------------------
def gtest(program: Path, tests: str, report: Path, known: set[str] | None) -> set[str]:
    """The tests that failed; one that ends the process counts as failed. With `known`, the first that is not in it."""
    report.unlink(missing_ok=True)
    command = [str(program), f"--gtest_filter={tests}", "--gtest_brief=1", f"--gtest_output=json:{report}"]
    if known is not None:
        command[1] += "-" + ":".join(known) if known else ""
        command.append("--gtest_fail_fast")
    try:
        done = subprocess.run(command, check=False, capture_output=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return {"it did not end"}
    if -done.returncode in FROM_OUTSIDE:
        raise Unusable("the tests were ended from outside")
    if not report.exists():
        return {"it ended the process"}
    suites = json.loads(report.read_text(encoding="utf-8"))["testsuites"]
    return {f"{s['name']}.{t['name']}" for s in suites for t in s["testsuite"] if t.get("failures")}


def pytest(path: Path, tests: str, known: set[str] | None) -> set[str]:
    """The tests that failed, kernels compiled anew. With `known`, the first that is not in it."""
    environment = {**os.environ, "PYTHONPATH": str(path), "EPITAXY_CACHE_DIR": ""}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rfE", "--tb=no", *tests.split()]
    if known is not None:
        command += ["-x", *(f"--deselect={name}" for name in known)]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=False, capture_output=True, text=True, timeout=LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return {"it did not end"}
    if -done.returncode in FROM_OUTSIDE:
        raise Unusable("the tests were ended from outside")
    if done.returncode not in (0, 1):
        return {"it ended the process: " + (done.stdout + done.stderr).strip()[-300:]}
    lines = [line.split(" - ")[0].split(maxsplit=1) for line in done.stdout.splitlines()]
    return {words[1] for words in lines if len(words) > 1 and words[0] in ("FAILED", "ERROR")}


class Suite:
    """Runs parts of the suite; knows what fails without a fault."""

    def __init__(self, work: Path, test_compiler: Path, python: Path) -> None:
        self.work = work
        self.test_compiler = test_compiler
        self.python = python
        self.known: dict[str, set[str]] = {}
        self.lock = threading.Lock()

    def fails_anyway(self, m: Mutation, tests: str) -> set[str]:
        """What fails in `tests` without a fault; asked once."""
        with self.lock:
            if tests not in self.known:
                self.known[tests] = self.run(m, None, tests, None)
                for name in sorted(self.known[tests]):
                    print(f"fails without any fault, left out: {name}", flush=True)
            return self.known[tests]

    def run(self, m: Mutation, thing: Path | None, tests: str, known: set[str] | None) -> set[str]:
        """The failures of `tests` on a test program or package path; None is the one without a fault."""
        if m.by_pytest:
            return pytest(thing or self.python, tests, known)
        report = self.work / f"{MUTATIONS.index(m)}{'' if thing else '-unchanged'}.json"
        return gtest(thing or self.test_compiler, tests, report, known)

    def catches(self, m: Mutation, thing: Path) -> set[str]:
        """Tests that fail because of the fault: its own part of the suite, else all of it."""
        for tests in (m.tests, ALL_PYTHON if m.by_pytest else "*"):
            if found := self.run(m, thing, tests, self.fails_anyway(m, tests)):
                return found
        return set()


def judge(m: Mutation, snapshot: Snapshot, suite: Suite) -> tuple[str, str]:
    """(caught, missed or broken; what is to be said of it)"""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="epitaxy-mutation-") as folder:
        work = Path(folder)
        try:
            if m.by_pytest:
                thing = snapshot.package_with(m, work)
            else:
                thing = work / "test_compiler"
                snapshot.link("test_compiler", snapshot.compile_unit(m, work), thing)
            by = suite.catches(m, thing)
        except Unusable as e:
            return "broken", str(e)
    seconds = f"{time.monotonic() - start:.0f} s"
    if not by:
        return "missed", seconds
    return "caught", f"by {min(by)}, {seconds}"


def main() -> int:
    """Judge all; 0 if every fault was caught."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", default=[""])
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--no-build", action="store_true", help="take build/ as it is, whoever builds there")
    args = parser.parse_args()
    chosen = [m for m in MUTATIONS if any(word in m.name for word in args.words or [""])]
    build = [str(ROOT / "tools/nj"), *TARGETS]
    if not args.no_build and subprocess.run(build, check=False, stdout=subprocess.DEVNULL).returncode:
        print("the tree does not build")
        return 1
    caught = 0
    with tempfile.TemporaryDirectory(prefix="epitaxy-mutation-") as folder:
        snapshot = Snapshot(Path(folder), not args.no_build)
        snapshot.link_unchanged(Path(folder) / "test_compiler")
        suite = Suite(Path(folder), Path(folder) / "test_compiler", Path(folder))
        with ThreadPoolExecutor(args.jobs) as pool:
            running = {pool.submit(judge, m, snapshot, suite): m for m in chosen}
            for done in as_completed(running):
                verdict, why = done.result()
                caught += verdict == "caught"
                print(f"{verdict:6} {running[done].name}: {why}", flush=True)
    print(f"{caught} of {len(chosen)} caught")
    return int(caught != len(chosen))


if __name__ == "__main__":
    sys.exit(main())
