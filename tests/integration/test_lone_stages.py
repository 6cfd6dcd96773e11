"""The stages of a lone lead: where its milliseconds went, told by the router that routed it."""

from __future__ import annotations

import pytest

from benchmarks.burst import lone
from benchmarks.lone_stages import AFTER, READ, STAGES, WRITE, stage_table, staged

BARE_MS = 4.0, 2.0
WORDS = ("recording", "recorded", "claiming", "claimed", "reading", "read", "writing")


def noted(at: float) -> list[tuple[str, float]]:
    """A lead's marks, a tenth of the lead's own milliseconds apart."""
    return [("heard", at + 10), *((word, at + 20 + 10 * place) for place, word in enumerate(WORDS)), ("ended", at + 99)]


def test_the_stages_of_a_lead_follow_each_other_to_its_owner():
    """A bare trip's time is taken from the read and the write; what is heard of the router's own write is no lead's."""
    marks = [*noted(1_000), ("heard", 2_002), *noted(2_000)]
    told = staged({"a": 1_000, "b": 2_000}, {"a": 1_090, "b": 2_090}, marks, BARE_MS)
    usual = {name: (10.0, 10.0) for _, name in STAGES}

    assert told == {**usual, READ: (6.0, 6.0), WRITE: (8.0, 8.0), AFTER: (9.0, 9.0)}


def test_leads_that_the_router_routes_are_told_by_the_same_stages():
    """They make up the whole wait of each lead, and stand in the table."""
    one = lone(2, 0)
    less = one.bare_ms  # the medians of the parts of so few may differ from the median of the whole
    sums = [sum(values) for values in zip(*(one.stages[name] for _, name in STAGES), strict=True)]

    assert sums == pytest.approx([wait - less for wait in one.waits_ms], abs=5.0)
    assert stage_table([one]).count("\n") == len(STAGES) + 2
