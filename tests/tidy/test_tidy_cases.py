"""CASES.md says what the tests say."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
TEXT = (TESTS / "CASES.md").read_text(encoding="utf-8")
COVERED = {
    name: set(re.findall(r"`tests/([\w/.]+)`", rest))
    for name, rest in re.findall(r"^\| ([DEP]\d+) \|(.*\.py.*)$", TEXT, re.MULTILINE)
}
NOT_COVERED = set(re.findall(r"^\| ([DEP]\d+) \|", TEXT.partition("## Not covered")[2], re.MULTILINE))


def bearers() -> dict[str, set[str]]:
    """Test files by each id that they bear."""
    found: dict[str, set[str]] = {}
    for path in TESTS.glob("*/test_*.py"):
        if path.parent.name != "tidy":
            for name in re.findall(r"\b[DEP]\d{1,2}\b", path.read_text(encoding="utf-8")):
                found.setdefault(name, set()).add(str(path.relative_to(TESTS)))
    return found


def test_every_case_is_borne_by_the_tests_that_are_listed():
    """Whoever looks for a case finds it in the files that are named beside it."""
    borne = bearers()
    assert len(COVERED) > 60
    assert {
        name: files - borne.get(name, set()) for name, files in COVERED.items() if files - borne.get(name, set())
    } == {}


def test_every_id_that_a_test_bears_is_a_case():
    """A mistyped id is found, and no case is listed as covered and as not."""
    assert bearers().keys() - COVERED.keys() - NOT_COVERED == set()
    assert NOT_COVERED & COVERED.keys() == set()
