"""Random programs of nested ifs, loops and exits: what the kernel computes is what Python computes."""

from __future__ import annotations

import importlib.util
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import epitaxy.tile as ct

NAMES = ["a", "b", "c", "d"]


class Writer:
    """Writes random functions g(i, n) and f(i, n), which calls g. Every name has a value before it is read."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.lines: list[str] = []
        self.counter = 0
        self.helper = ""

    def expression(self) -> str:
        if self.helper and self.r.random() < 0.1:
            return f"{self.helper}({self.r.choice(NAMES)}, {self.r.choice(['n', '3', 'i % 5'])}) % 53"
        x, y = self.r.choice([*NAMES, "i", "n"]), self.r.choice([*NAMES, str(self.r.randint(0, 9))])
        op = self.r.choice(["+", "-", "*", "//", "%", "^", "&", "|"])
        divisor = f"({y} % 7 + 8)" if op in ("//", "%") else y
        return f"({x} {op} {divisor}) % {self.r.choice([31, 97, 101])}"

    def condition(self) -> str:
        one = (
            f"{self.r.choice(NAMES)} {self.r.choice(['<', '<=', '==', '!=', '>'])} {self.r.choice([*NAMES, '3', '20'])}"
        )
        if self.r.random() < 0.3:
            return f"{one} {self.r.choice(['and', 'or'])} {self.r.choice(['', 'not '])}({self.condition()})"
        return one

    def block(self, depth: int, indent: int, in_loop: bool) -> None:
        for _ in range(self.r.randint(1, 4)):
            self.statement(depth, indent, in_loop)

    def put(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def statement(self, depth: int, indent: int, in_loop: bool) -> None:
        kind = self.r.random()
        if depth == 0 or kind < 0.4:
            self.assignment(indent)
        elif kind < 0.65:
            self.put(indent, f"if {self.condition()}:")
            self.block(depth - 1, indent + 1, in_loop)
            if self.r.random() < 0.5:
                self.put(indent, "else:")
                self.block(depth - 1, indent + 1, in_loop)
        elif kind < 0.75:
            self.loop(depth, indent)
        elif kind < 0.82:
            self.while_loop(depth, indent)
        elif kind < 0.94 and in_loop:
            self.put(indent, f"if {self.condition()}:")
            self.put(
                indent + 1, self.r.choice(["break", "continue", "break", "continue", f"return {self.expression()}"])
            )
        else:
            self.put(indent, f"if {self.condition()}:")
            self.put(indent + 1, f"return {self.expression()}")

    def assignment(self, indent: int) -> None:
        name = self.r.choice(NAMES)
        form = self.r.random()
        if form < 0.6:
            self.put(indent, f"{name} = {self.expression()}")
        elif form < 0.8:
            self.put(indent, f"{name}, {self.r.choice([n for n in NAMES if n != name])} = {self.expression()}, {name}")
        else:
            self.put(indent, f"{name} = {self.expression()} if {self.condition()} else {self.expression()}")

    def loop(self, depth: int, indent: int) -> None:
        self.counter += 1
        k = f"k{self.counter}"
        bounds = self.r.choice(["5", "n", "i % 6", "6, 0, -2", "a % 5, 8, 2", "(1, 4, 2)"])
        self.put(indent, f"for {k} in {bounds if bounds.startswith('(1') else f'range({bounds})'}:")
        self.put(indent + 1, f"{self.r.choice(NAMES)} = {self.expression()} + {k}")
        self.block(depth - 1, indent + 1, True)

    def while_loop(self, depth: int, indent: int) -> None:
        self.counter += 1
        w = f"w{self.counter}"
        self.put(indent, f"{w} = {self.r.randint(1, 6)}")
        self.put(indent, f"while {self.r.choice([f'{w} > 0', f'{w} > 0 and a < 90', 'True'])}:")
        self.put(indent + 1, f"{w} -= 1")
        self.put(indent + 1, f"if {w} < 0:")
        self.put(indent + 2, "break")
        self.block(depth - 1, indent + 1, True)

    def function(self, name: str, depth: int) -> None:
        self.lines += [f"def {name}(i, n):", "    a, b, c, d = i, n, 1, i + n"]
        self.block(depth, 1, False)
        self.put(1, "return (a + b * 2 + c * 3 + d * 5) % 1009")

    def text(self) -> str:
        self.function("g", 2)
        self.helper = "g"
        self.function("f", 3)
        return "\n".join(self.lines) + "\n"


@pytest.mark.parametrize("seed", range(120))
def test_random_program_is_pythons(run: Any, tmp_path: Path, seed: int) -> None:
    path = tmp_path / f"random_{seed}.py"
    path.write_text(Writer(seed).text())
    spec = importlib.util.spec_from_file_location(f"random_{seed}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    f = module.f

    @ct.kernel
    def kernel(out: Any, n: int) -> None:
        ct.store(out, (ct.bid(0),), f(ct.bid(0), n))

    out = np.zeros(12, np.int32)
    run(kernel, (12,), out, 4)
    assert out.tolist() == [f(i, 4) for i in range(12)], path.read_text()
