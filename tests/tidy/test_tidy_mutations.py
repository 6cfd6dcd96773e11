"""The lines that the plays are tried without are there."""

from __future__ import annotations

import pytest

from simulation.mutations import MUTATIONS, ROOT, Mutation, source


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: one.name)
def test_a_line_that_is_broken_on_purpose_is_there_once(mutation: Mutation):
    """Whoever changes it changes the table of what the plays notice, too."""
    assert source(mutation, ROOT).read_text(encoding="utf-8").count(mutation.old) == 1
