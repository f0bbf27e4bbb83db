"""The tree keeps its own rules (layers.json, CHARTER.md). Each rule is shown to bite in test_rules.py."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import rules_cpp
import rules_docs
import rules_promises
import rules_python
import rules_size
from tree import Tree

RULES: list[Callable[[Tree], list[str]]] = [
    rules_cpp.includes_point_down,
    rules_cpp.no_mutual_includes,
    rules_cpp.mlir_stays_in_its_rooms,
    rules_cpp.python_stays_in_the_binding,
    rules_cpp.apart,
    rules_cpp.vendor_words_stay_in_their_wing,
    rules_cpp.dtypes_are_switched_in_few_places,
    rules_cpp.no_if_on_a_backend,
    rules_size.over_fail,
    rules_promises.dtypes_are_listed_once,
    rules_promises.an_op_touches_three_files,
    rules_promises.a_backend_is_one_folder,
    rules_python.python_folders_point_one_way,
    rules_docs.named_paths_exist,
]


@pytest.fixture(scope="module")
def tree() -> Tree:
    return Tree(Path(__file__).parents[2])


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.__name__)
def test_the_tree_keeps(rule: Callable[[Tree], list[str]], tree: Tree) -> None:
    complaints = rule(tree)
    assert not complaints, f"{rule.__doc__}\n" + "\n".join(complaints)


def test_sizes_near_their_budget_are_shown(tree: Tree) -> None:
    for line in rules_size.over(tree, "warn"):
        warnings.warn(line, stacklevel=1)
    assert tree.sources, "no sources were found: the rules above looked at nothing"


def test_floors_are_listed_bottom_up(tree: Tree) -> None:
    seen: set[str] = set()
    for floor, facts in tree.layers["floors"].items():
        above = [u for u in facts["uses"] if u.split("/")[0] not in {s.split("/")[0] for s in seen}]
        assert not above, f"{floor} uses {above}, which layers.json lists later"
        seen.add(floor)


def test_the_public_headers_of_mlir_floors_exist_or_are_not_named(tree: Tree) -> None:
    missing = [h for h in tree.layers["mlir_free_headers"] if not (tree.root / "src/epi" / h).exists()]
    assert not missing
