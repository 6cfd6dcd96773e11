"""The budget of API calls: a burst costs calls per batch, not per lead."""

from __future__ import annotations

import pytest

from support.worker_rig import Rig

LEADS = 1_000
CALLS_MAX = 15


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("told", [True, False], ids=["told of", "swept"])
def test_a_thousand_leads_at_once_cost_at_most_fifteen_calls(rig: Rig, told: bool):
    """1,000 leads of as many buyers wait in one group, told of by the stream or found by a sweep: all get owners."""
    leads = [rig.rest_org.lead(f"buyer{number}@buyer.example") for number in range(LEADS)]
    upkeep = rig.upkeep()
    before = rig.rest_org.calls()
    if told:
        rig.told(*leads)
    else:
        upkeep.step()
    rig.drain()

    assert rig.rest_org.calls() - before <= CALLS_MAX
    assert (rig.turns(), rig.outcomes()) == (list(range(1, LEADS + 1)), ["assigned"] * LEADS)
