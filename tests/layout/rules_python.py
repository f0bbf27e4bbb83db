"""The rules of the house for the Python package: its folders are floors too."""

from __future__ import annotations

import ast

from tree import Tree

ROOT = "python/epitaxy"


def _imports(tree: Tree, path: str) -> list[tuple[int, str]]:
    """Line and folder (below epitaxy; "" for the package's own modules) of each import made when `path` is imported."""
    here = path.removeprefix(ROOT + "/").split("/")[:-1]
    out = []
    for node in ast.parse(tree.text(path)).body:
        if isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            module = [*base, *(node.module or "").split(".")]
            if not node.level:
                if module[0] != "epitaxy":
                    continue
                module = module[1:]
            names = [[*module, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [a.name.split(".")[1:] for a in node.names if a.name.split(".")[0] == "epitaxy"]
        else:
            continue
        out += [(node.lineno, _folder(tree, [part for part in name if part])) for name in names]
    return out


def _folder(tree: Tree, module: list[str]) -> str:
    first = module[0] if module else ""
    return first if (tree.root / ROOT / first).is_dir() else ""


def python_folders_point_one_way(tree: Tree) -> list[str]:
    """No two folders of the package import each other; its doors (__init__, __main__) may import all."""
    edges: dict[tuple[str, str], str] = {}
    for path in tree.files(ROOT, suffixes={".py"}):
        short = path.removeprefix(ROOT + "/")
        if short in ("__init__.py", "__main__.py"):
            continue
        here = short.split("/")[0] if "/" in short else ""
        for line, there in _imports(tree, path):
            if there != here:
                edges.setdefault((here, there), f"{path}:{line}")
    return [
        f"{where}: {a or 'the package'} imports {b or 'the package'}, and {edges[b, a]} the other way"
        for (a, b), where in sorted(edges.items())
        if a < b and (b, a) in edges
    ]
