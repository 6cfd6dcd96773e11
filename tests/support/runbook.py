"""The runbook's own commands, for tests that do what an operator is told to do."""

from __future__ import annotations

import re
from pathlib import Path

RUNBOOK = Path(__file__).parents[2] / "deploy/RUNBOOK.md"


def commands(before: str) -> list[str]:
    """The lines of the code block that follows the paragraph with these words; AssertionError where it is not one."""
    text = RUNBOOK.read_text(encoding="utf-8")
    assert text.count(before) == 1, f"the runbook has {text.count(before)} times: {before}"
    found = re.match(r"[^\n]*(?:\n[^\n]+)*\n\n((?:    [^\n]+\n)+)", text[text.index(before) :])
    assert found is not None, f"no commands follow: {before}"
    return [line.strip() for line in found.group(1).splitlines()]
