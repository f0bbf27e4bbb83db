"""What the layout rules look at: a folder of sources and its layers.json. A rule maps a Tree to complaints."""

from __future__ import annotations

import fnmatch
import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

CODE = {".h", ".cpp", ".td", ".def"}
_SKIP = {".git", ".venv", "build", "dist", "__pycache__", "results"}
_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\((?:.*?)\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S
)
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


@dataclass(frozen=True)
class Include:
    """One #include line: who, on which line, what."""

    source: str
    line: int
    target: str


def blank(text: str, *, strings: bool = True) -> str:
    """C++ text with comments (and strings) replaced by spaces; line numbers stay."""

    def replace(match: re.Match[str]) -> str:
        found = match.group(0)
        if found.startswith("/") or strings:
            return re.sub(r"[^\n]", " ", found)
        return found

    return _TOKEN.sub(replace, text)


class Tree:
    """A checkout (or a made-up one): files by repository path, text read once."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.layers: dict[str, Any] = json.loads((root / "layers.json").read_text())
        self._text: dict[str, str] = {}

    def files(self, *folders: str, suffixes: set[str] = CODE) -> list[str]:
        """Repository paths under `folders` with one of `suffixes`, sorted."""
        found = []
        for folder in folders:
            for path in sorted((self.root / folder).rglob("*")):
                parts = path.relative_to(self.root).parts
                skipped = any(p in _SKIP or p.startswith(("build-", ".venv")) for p in parts)
                if path.suffix in suffixes and path.is_file() and not skipped:
                    found.append(path.relative_to(self.root).as_posix())
        return found

    def text(self, path: str) -> str:
        """The file's text."""
        if path not in self._text:
            self._text[path] = (self.root / path).read_text(encoding="utf-8")
        return self._text[path]

    @cached_property
    def sources(self) -> list[str]:
        """Every C++ source of the house and the binding."""
        return self.files("src/epi", "python/bind")

    @cached_property
    def includes(self) -> dict[str, list[Include]]:
        """The #include lines of every source."""
        out: dict[str, list[Include]] = {}
        for path in self.sources:
            text = blank(self.text(path), strings=False)
            out[path] = [
                Include(path, text.count("\n", 0, m.start(2)) + 1, m.group(2)) for m in _INCLUDE.finditer(text)
            ]
        return out

    def floor(self, path: str) -> str | None:
        """The floor of a repository path or of a path below src/epi: `backend/*/driver` for backend/x/driver/y.h."""
        if path.startswith("python/bind/"):
            return "bind"
        parts = path.removeprefix("src/epi/").removeprefix("epi/").split("/")
        if len(parts) == 1:
            return "door"
        if parts[0] != "backend":
            return parts[0]
        if len(parts) == 2:
            return "backends"
        return f"backend/*/{parts[2]}" if len(parts) > 3 else "backend/*/driver"

    def uses(self, floor: str) -> list[str]:
        """What `floor` may include. The door (src/epi/*) may include every floor."""
        floors = self.layers["floors"]
        if floor in ("door", "backends"):
            return [name for name in floors if name != "bind"]
        return list(floors[floor]["uses"]) if floor in floors else []

    def resolve(self, source: str, target: str) -> str | None:
        """The repository path an include means, or None where it is not ours."""
        if target.startswith("epi/"):
            return f"src/{target}"
        beside = (Path(source).parent / target).as_posix()
        return beside if (self.root / beside).is_file() else None

    def reach(self, source: str) -> dict[str, list[str]]:
        """Every include target reachable from `source`, each with the chain of files that leads to it."""
        chains: dict[str, list[str]] = {}
        todo = [(source, [source])]
        while todo:
            path, chain = todo.pop()
            for include in self.includes.get(path, []):
                name = self.resolve(path, include.target) or include.target
                if name not in chains:
                    chains[name] = [*chain, name]
                    todo.append((name, chains[name]))
        return chains


def matches(path: str, patterns: list[str]) -> bool:
    """Whether a path below src/epi fits one of the patterns."""
    short = path.removeprefix("src/epi/")
    return any(fnmatch.fnmatch(short, p) for p in patterns)
