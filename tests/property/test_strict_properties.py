"""Rule files at random: whatever a file holds, it is read or refused by name; what is written is read again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lead_router.errors import Misconfigured
from lead_router.rulefiles import FileRule, Where, WhereKind, read_folder, rules_text, strict

_signs = st.sampled_from(
    [*"-:#&*!|>'\"%@`{}[],?~=<\n \t\\", "rules", "name", "NO", "010", "1", "true", "null", "\u00e9", "- ", ": "]
)
_texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30)
_names = _texts.filter(lambda name: name == name.strip())


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(_signs, max_size=40).map("".join), st.text(max_size=60)))
def test_any_text_is_read_or_refused_by_name(text):
    """F13: no other exception, and the refusal names the file."""
    assert _refusal(text).startswith("x.yaml:")


def _refusal(text: str) -> str:
    try:
        strict.read(text, "x.yaml")
    except Misconfigured as fault:
        return str(fault)
    return "x.yaml: none"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(_names, _texts, _names, st.booleans()), max_size=4, unique_by=lambda one: one[0]))
def test_rules_are_read_again_as_they_were_written(several):
    """E16: whatever names, criteria and targets look like, they are the same texts after a pull."""
    rules = tuple(
        FileRule(name, number, criteria.strip(), Where(WhereKind.QUEUE, queue), active)
        for number, (name, criteria, queue, active) in enumerate(several)
    )
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rules.yaml").write_text(rules_text(rules), encoding="utf-8")
        assert read_folder(Path(folder)).rules == rules
