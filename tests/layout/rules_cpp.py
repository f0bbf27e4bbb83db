"""The rules of the house for C++: who includes whom, where MLIR, vendors, Python and dtypes may be seen."""

from __future__ import annotations

import re

from tree import Tree, blank, matches

_MLIR = re.compile(r"^(mlir|mlir-c|llvm|llvm-c|lld)/|^src/epi/ir/\w+\.(h|cpp)\.inc$")
_PYTHON = re.compile(r"^(Python\.h|pybind11/|nanobind/|structmember\.h)")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def includes_point_down(tree: Tree) -> list[str]:
    """A floor includes itself and what layers.json lets it use; nothing above."""
    out = []
    for path, includes in tree.includes.items():
        floor = tree.floor(path)
        if floor not in tree.layers["floors"] and floor not in ("door", "backends"):
            out.append(f"{path}: no floor of layers.json is called {floor}")
            continue
        for include in includes:
            target = tree.resolve(path, include.target)
            if target is None or target.endswith(".inc"):
                continue
            if not _may_include(tree, path, target):
                out.append(f"{path}:{include.line}: {floor} may not include {target} (layers.json)")
    return out


def _may_include(tree: Tree, source: str, target: str) -> bool:
    here, there = tree.floor(source), tree.floor(target)
    short = target.removeprefix("src/epi/")
    wing = source.split("/")[3] if source.startswith("src/epi/backend/") else None
    if short.startswith("backend/") and here not in ("door", "backends"):
        other = short.split("/")[1]
        if source.removeprefix("src/epi/") in tree.layers["backend_tables"]:
            return True
        if wing != other:
            return False
        return here == there or f"backend/=/{short.split('/')[2]}" in tree.uses(here or "")
    return here == there or here is None or there in tree.uses(here) or short in tree.uses(here)


def no_mutual_includes(tree: Tree) -> list[str]:
    """No two folders include each other, the parts of one wing included."""
    edges: dict[tuple[str, str], str] = {}
    for path, includes in tree.includes.items():
        here = path.rsplit("/", 1)[0]
        for include in includes:
            target = tree.resolve(path, include.target)
            there = target.rsplit("/", 1)[0] if target else here
            if there != here:
                edges.setdefault((here, there), f"{path}:{include.line}")
    return [
        f"{edges[a, b]}: {a} includes {b}, and {edges[b, a]} includes {a} back"
        for a, b in sorted(edges)
        if a < b and (b, a) in edges
    ]


def mlir_stays_in_its_rooms(tree: Tree) -> list[str]:
    """Only floors marked `mlir` reach an MLIR or LLVM header, be it through other headers."""
    out = []
    free = [f"src/epi/{h}" for h in tree.layers["mlir_free_headers"]]
    for path in tree.sources:
        floor = tree.floor(path) or ""
        if tree.layers["floors"].get(floor, {}).get("mlir") and path not in free:
            continue
        for name, chain in tree.reach(path).items():
            if _MLIR.match(name):
                out.append(f"{path}: sees an MLIR header: {' -> '.join(chain[1:])}")
                break
    return out


def python_stays_in_the_binding(tree: Tree) -> list[str]:
    """Python.h and nanobind only in python/bind."""
    return [
        f"{path}:{i.line}: {i.target} outside python/bind"
        for path, includes in tree.includes.items()
        if not path.startswith("python/bind/")
        for i in includes
        if _PYTHON.match(i.target)
    ]


def apart(tree: Tree) -> list[str]:
    """Pairs of rooms that must not see each other at all, directly or through headers (the oracle and the compiler)."""
    out = []
    for pair in tree.layers["apart"]:
        for path in tree.sources:
            if not path.startswith("src/epi/") or not matches(path, pair["these"]):
                continue
            for name, chain in tree.reach(path).items():
                if name.startswith("src/epi/") and matches(name, pair["never_reach"]):
                    out.append(f"{path}: reaches {' -> '.join(chain[1:])}: {pair['why']}")
    return out


def vendor_words_stay_in_their_wing(tree: Tree) -> list[str]:
    """No vendor's word outside backend/<name>/, comments included, but for the reasoned list."""
    words = set(tree.layers["vendor_words"])
    pattern = re.compile("|".join(f"(?<![A-Za-z0-9]){p}(?![A-Za-z0-9])" for p in tree.layers["vendor_patterns"]))
    allowed: dict[str, str] = tree.layers["vendor_allowed"]
    used: set[str] = set()
    out = []
    for path in tree.files("src/epi"):
        if path.startswith("src/epi/backend/") and path.count("/") > 3:
            continue
        for number, text in enumerate(tree.text(path).splitlines(), 1):
            found = [w for w in _WORD.findall(text) if w.lower() in words]
            found += [m.group(0) for m in pattern.finditer(text)]
            if found and path in allowed:
                used.add(path)
            elif found:
                out.append(f"{path}:{number}: the vendor's word {found[0]} outside its wing")
    out += [f"layers.json: vendor_allowed names {p}, which needs it no more" for p in sorted(set(allowed) - used)]
    return out


def dtypes_are_switched_in_few_places(tree: Tree) -> list[str]:
    """No `case DType::kX` by hand outside base/ and the targets: a new dtype would have to find it."""
    out = []
    for path in tree.sources:
        if tree.floor(path) in tree.layers["dtype_switch_allowed"]:
            continue
        text = blank(tree.text(path))
        for match in re.finditer(r"\bcase\s+(?:\w+::)*DType::k[A-Za-z]\w*\s*:", text):
            out.append(f"{path}:{_line(text, match.start())}: a switch on dtype; ask dtype.h for the property you need")
    return out


def no_if_on_a_backend(tree: Tree) -> list[str]:
    """No preprocessor condition on which backends exist: an absent backend is an absent row of a table."""
    names = {p.split("/")[3] for p in tree.files("src/epi/backend") if p.count("/") > 3} | {"cuda", "hip"}
    words = names | set(tree.layers["vendor_words"])
    out = []
    for path in tree.sources:
        text = blank(tree.text(path))
        for match in re.finditer(r"^[ \t]*#[ \t]*(?:el)?if(?:n?def)?\b(.*)$", text, re.M):
            if any(w.lower() in words for w in _WORD.findall(match.group(1))):
                out.append(f"{path}:{_line(text, match.start())}: #if on a backend: {match.group(0).strip()}")
    return out
