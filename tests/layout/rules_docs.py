"""Documents tell the truth about the tree: each path they name in backticks, and each link, leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

from tree import Tree

_PATH = re.compile(r"`([\w.*<>{},=-]+(?:/[\w.*<>{},=-]+)+/?|[\w-]+\.(?:md|json|toml|txt))(?::\d+)?`")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_ROOTS = ("", "src/epi/", "python/epitaxy/", "docs/")


def _documents(tree: Tree) -> list[str]:
    top = [p.name for p in sorted(tree.root.glob("*.md"))]
    return top + tree.files("docs", "benchmarks", suffixes={".md"})


def _is_path(tree: Tree, name: str) -> bool:
    """Whether a backticked word means a place in the tree: its first part is one, at the top or on a floor."""
    first = name.split("/")[0]
    return "/" not in name or any((tree.root / root / first).exists() for root in _ROOTS)


def _exists(tree: Tree, document: str, name: str) -> bool:
    if re.search(r"[<>]|=", name):
        name = re.sub(r"<[^>]*>|=", "*", name)
    for option in _braces(name):
        wanted = option.rstrip("/")
        folders = [tree.root / root for root in _ROOTS] + [(tree.root / document).parent]
        if not any(_holds_a_file(p) for f in folders if f.is_dir() for p in f.glob(wanted)):
            return False
    return True


def _holds_a_file(path: Path) -> bool:
    """An empty folder is in no clone."""
    return path.is_file() or any(p.is_file() for p in path.rglob("*"))


def _braces(name: str) -> list[str]:
    found = re.search(r"\{([^}]*)\}", name)
    if not found:
        return [name]
    return [
        o for part in found.group(1).split(",") for o in _braces(name[: found.start()] + part + name[found.end() :])
    ]


def named_paths_exist(tree: Tree) -> list[str]:
    """Paths in backticks and relative links of every document."""
    out = []
    for document in _documents(tree):
        fenced = False
        for number, text in enumerate(tree.text(document).splitlines(), 1):
            fenced ^= text.startswith("```")
            if fenced:
                continue
            for name in _PATH.findall(text):
                if (
                    _is_path(tree, name)
                    and not name.startswith(("build/", "dist/"))
                    and not _exists(tree, document, name)
                ):
                    out.append(f"{document}:{number}: `{name}` is not in the tree")
            for link in _LINK.findall(text):
                if "://" not in link and not (tree.root / Path(document).parent / link).exists():
                    out.append(f"{document}:{number}: the link {link} leads nowhere")
    return out
