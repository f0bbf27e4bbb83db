"""Budgets: a file under 600 lines (1000 fails), a function under 60 (100 fails)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree import Tree, blank

FOLDERS = ("src", "python", "tools", "examples", "benchmarks", "tests")
_SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")
_CONTROL = re.compile(r"^\s*(if|for|while|switch|do|else|try|catch|return)\b")


@dataclass(frozen=True)
class Function:
    """A function definition and how long it is."""

    line: int
    lines: int
    name: str


def cpp_functions(text: str) -> Iterator[Function]:
    """Function bodies at namespace or class level, found by matching braces; lambdas count with their function."""
    code = re.sub(
        r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), blank(text), flags=re.M
    )
    stack: list[str] = []  # of: scope, function, other
    head_start = 0
    opened: list[tuple[int, str]] = []
    for match in re.finditer(r"[{};]", code):
        here = match.start()
        if match.group(0) == ";":
            head_start = head_start if "function" in stack else match.end()
            continue
        in_function = "function" in stack
        if match.group(0) == "{":
            head = code[head_start:here]
            kind = "other" if in_function else _kind(head)
            if kind == "function":
                first = head_start + len(head) - len(head.lstrip())
                opened.append((first, " ".join(head.split())))
            stack.append(kind)
        elif stack and stack.pop() == "function":
            first, head = opened.pop()
            line = code.count("\n", 0, first) + 1
            yield Function(line, code.count("\n", first, here) + 1, _name(head))
        if "function" not in stack:
            head_start = match.end()


def _kind(head: str) -> str:
    if _SCOPE.search(head) and "(" not in re.sub(r"\b(alignas|__attribute__|requires)\s*\(.*?\)+", "", head):
        return "scope"
    if ")" in head and not _CONTROL.match(head) and not re.search(r"[=,]\s*$|\bconcept\b", head):
        return "function"
    return "other"


def _name(head: str) -> str:
    found = re.search(r"([~\w:]+|operator\S+)\s*\(", head)
    return found.group(1) if found else head[:40]


def py_functions(text: str) -> Iterator[Function]:
    """Every function of a Python file; inner ones count with their function and by themselves."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield Function(node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1, node.name)


def _sized(tree: Tree) -> Iterator[tuple[str, int, str]]:
    for path in tree.files(*FOLDERS, suffixes={".h", ".cpp", ".td", ".def", ".py"}):
        text = tree.text(path)
        yield path, len(text.splitlines()), "file"
        functions = py_functions(text) if path.endswith(".py") else cpp_functions(text) if path[-1] in "hp" else ()
        for f in functions:
            yield f"{path}:{f.line}: {f.name}", f.lines, "function"


def over(tree: Tree, limit: str) -> list[str]:
    """Files and functions past the `warn` or the `fail` budget."""
    budgets = tree.layers["budgets"]
    return [
        f"{what}: {lines} lines, the budget of a {kind} is {budgets[f'{kind}_{limit}']}"
        for what, lines, kind in _sized(tree)
        if lines >= budgets[f"{kind}_{limit}"]
    ]


def over_fail(tree: Tree) -> list[str]:
    """Files and functions past the budget that fails."""
    return over(tree, "fail")
