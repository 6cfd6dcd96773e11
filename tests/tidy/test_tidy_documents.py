"""What the documents name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    "README.md",
    "tests/README.md",
    "deploy/RUNBOOK.md",
    "salesforce_metadata/CONTRACT.md",
    "src/lead_router/ARCHITECTURE.md",
    "src/org_simulator/README.md",
]
NAMED = re.compile(r"`((?:src|tests|deploy|salesforce_metadata)/[\w./-]+)`")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_that_a_document_names_exists(document: str):
    """A reader who follows a path finds what was promised."""
    text = (ROOT / document).read_text(encoding="utf-8")

    assert [name for name in NAMED.findall(text) if not (ROOT / name).exists()] == []


def test_every_make_target_that_the_readme_names_exists():
    """The README's commands are the Makefile's."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))

    assert set(re.findall(r"\bmake (\w+)", text)) <= targets
