"""The promises as far as text can show them: an op touches at most 3 files, a dtype 1 file, a backend 1 folder."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tree import Tree, blank, matches

_DTYPE = re.compile(r"bool_?|u?int\d+|b?float\d+|complex\d+")


def dtypes_are_listed_once(tree: Tree) -> list[str]:
    """Only dtype.def lists the dtypes. A file that names most of them by hand is a second list."""
    table = [p for p in tree.sources if p.endswith("base/dtype.def")]
    if not table:
        return []
    names = re.findall(r"^EPI_DTYPE\(\s*(\w+)", tree.text(table[0]), re.M)
    if not names:
        return [f"{table[0]}: no EPI_DTYPE rows"]
    limit = len(names) // 2
    allowed: dict[str, str] = tree.layers["dtype_names_allowed"]
    out: list[str] = []
    over: set[str] = set()
    for path in tree.sources:
        if tree.floor(path) in tree.layers["dtype_switch_allowed"] and path != table[0]:
            continue
        used = set(re.findall(r"\bDType::k(\w+)", blank(tree.text(path))))
        if len(used) > limit:
            over.add(path)
        if len(used) > limit and path not in allowed and path != table[0]:
            out.append(f"{path}: names {len(used)} of the {len(names)} dtypes; loop over the table instead")
    for path in tree.files("python/epitaxy", suffixes={".py"}):
        longest = max((len(found) for found in _literals(tree.text(path))), default=0)
        if longest > limit:
            over.add(path)
        if longest > limit and path not in allowed:
            out.append(f"{path}: lists {longest} dtypes; ask the engine's table instead")
    return out + [f"layers.json: dtype_names_allowed names {p}, which needs it no more" for p in set(allowed) - over]


def _literals(text: str) -> Iterator[set[str]]:
    """The dtype names in each list, tuple, set or dict of a Python file."""
    for node in ast.walk(ast.parse(text)):
        items = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
        yield {str(i.value) for i in items if isinstance(i, ast.Constant) and _DTYPE.fullmatch(str(i.value))}


def an_op_touches_three_files(tree: Tree) -> list[str]:
    """Beside kinds.def at most 2 files list the kinds of a group: what each computes, and how it is lowered.

    A file that spells some (the divisions' zero checks, the folder of integers) is about those; one that spells three
    quarters is a list that every new op must find.
    """
    table = "src/epi/ir/kinds.def"
    if table not in tree.sources:
        return []
    rows = re.findall(r"^EPI_(\w+)\((\w+)", tree.text(table), re.M)
    out = []
    for group in ("UNARY", "BINARY"):
        names = {name for g, name in rows if g == group}
        lists = []
        for path in tree.sources:
            spelled = set(re.findall(r"::k_(\w+)", blank(tree.text(path))))
            if names and len(spelled & names) >= len(names) * 3 / 4:
                lists.append(path)
        if len(lists) > 2:
            out.append(f"{table}: the {group} kinds are listed again in {', '.join(lists)}")
    return out


def a_backend_is_one_folder(tree: Tree) -> list[str]:
    """Backends are named outside their folder only in the tables of layers.json, one line each."""
    tables: dict[str, str] = tree.layers["backend_tables"]
    wings = sorted({p.split("/")[3] for p in tree.files("src/epi/backend") if p.count("/") > 3})
    out = []
    for path in tree.sources:
        short = path.removeprefix("src/epi/")
        if short.startswith("backend/") and short.count("/") > 1:
            continue
        for wing in wings:
            lines = re.findall(
                rf"^.*(?<![A-Za-z]){wing}_?(?:driver|target|provider|backend).*$", tree.text(path), re.M | re.I
            )
            lines += re.findall(rf"^.*backend/{wing}/.*$", tree.text(path), re.M)
            if lines and not matches(short, list(tables)):
                out.append(f"{path}: names the backend {wing}: {lines[0].strip()}")
            elif len(lines) > 2:
                out.append(f"{path}: {len(lines)} lines for the backend {wing}; a table has one")
    return out
