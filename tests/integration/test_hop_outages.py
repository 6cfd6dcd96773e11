"""The short form of `benchmarks.hops`: a provider's outage changes nothing that a lead waits for its owner."""

from __future__ import annotations

from benchmarks.hops import RATIO_MAX, WELL, Way, played

LEADS = 40
SHORT = {"leads": LEADS, "seed": 3, "hour_s": 400.0, "around_s": 30.0, "settled_s": 300.0, "step_s": 0.1}


def test_while_a_provider_hangs_leads_wait_no_longer_none_is_lost_and_all_are_enriched_afterwards():
    """Nearly all have their owner at once, those of its first seconds no later than their deadline."""
    well, away = (played(way, **SHORT) for way in (WELL, Way("hangs", "hang")))
    assert away.p95_s <= RATIO_MAX * well.p95_s
    assert away.waits_s[-1] <= 2.2
    assert (away.lost, away.afterwards, len(away.waits_s)) == (0, LEADS, LEADS)
    assert well.before > LEADS * 0.8
    assert away.before == 0
