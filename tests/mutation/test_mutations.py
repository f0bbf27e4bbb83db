"""The list of faults stays true: each still has a place to be put, and `make mutation` can tell it from the others."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _mutations() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutations", ROOT / "tests/mutation/mutations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutations"] = module
    spec.loader.exec_module(module)
    return module


MUTATIONS = _mutations().MUTATIONS


@pytest.mark.parametrize("m", MUTATIONS, ids=lambda m: m.name)
def test_the_text_to_change_occurs_once(m) -> None:  # type: ignore[no-untyped-def]
    assert (ROOT / m.file).read_text(encoding="utf-8").count(m.old) == 1
    assert m.new != m.old
    assert not m.unit or (ROOT / m.unit).exists()


def test_there_are_twenty_and_their_names_differ() -> None:
    assert len({m.name for m in MUTATIONS}) == len(MUTATIONS) >= 20


@pytest.mark.parametrize("m", [m for m in MUTATIONS if m.by_pytest], ids=lambda m: m.name)
def test_the_tests_that_run_first_are_there(m) -> None:  # type: ignore[no-untyped-def]
    assert all((ROOT / path).exists() for path in m.tests.split())
