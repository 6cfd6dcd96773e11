"""The audit of a half-year's past: all that was planted is found, by its very leads, and nothing is invented."""

from __future__ import annotations

import pytest

from lead_router.audit import Assumed, Audit, gather, judge
from support.org_past import CLEAN, FIRST_DAY, FULL, POLL_S, OrgPast, Plant

SEEDS = range(20)
SMALL = 2_500


def audited(past: OrgPast) -> Audit:
    return judge(gather(past, FIRST_DAY, past.end, hours=None, zone=""), Assumed())


def place(past: OrgPast, lead: str) -> int:
    return next(at for at, one in enumerate(past.all) if one.id == lead)


@pytest.mark.parametrize("seed", SEEDS)
def test_of_a_clean_org_nothing_is_told(seed):
    """Takes, hand-overs, a manager's moves, a holiday, a newcomer, a leaver and nights are no findings."""
    assert audited(OrgPast(seed, 1_500, CLEAN)).findings == ()


@pytest.mark.parametrize("seed", SEEDS)
def test_all_that_was_planted_is_found_and_nothing_else(seed):
    """40 doubles, a poller, a reset, a rep who is gone and buyers with two records: by the ids of their leads."""
    past = OrgPast(seed, SMALL, FULL)

    audit = audited(past)

    assert {one.kind for one in audit.findings} == {"doubles", "poll", "reset", "left", "twins"}
    assert len(audit.doubles) == 40
    assert {one.lead for one in audit.doubles} == past.doubled
    assert {(one.lead, one.twin) for one in audit.twins} == past.twinned
    (poll,) = audit.polls
    assert poll.period_s == pytest.approx(POLL_S, abs=3)
    assert set(poll.leads) == past.polled
    (reset,) = audit.resets
    assert past.reset_at is not None
    assert abs(place(past, reset.lead) - place(past, past.reset_at)) <= 3
    assert reset.rep == past.ids["Ana"]
    assert {lead for one in audit.left for lead in one.leads} == past.left


def test_half_a_year_of_five_thousand_leads():
    """The same at the size of an org, with who did it: each double by the router and the sync, in this order."""
    past = OrgPast(7, 5_000, FULL)

    audit = audited(past)

    assert {one.lead for one in audit.doubles} == past.doubled
    router, sync = past.ids["Router API"], past.ids["Marketing Sync"]
    assert {(one.one_by, one.other_by) for one in audit.doubles} == {(router, sync)}
    assert {one.writer for one in audit.writers if one.machine} == {router, sync, past.ids["Event Poller"]}
    assert audit.resets[0].lead == past.reset_at
    assert audit.polls[0].writer == past.ids["Event Poller"]
    assert audit.owned == len(past.all)


@pytest.mark.parametrize(
    ("plant", "kinds"),
    [
        (Plant(doubles=3), {"doubles"}),
        (Plant(poller=True), {"poll"}),
        (Plant(reset=True), {"reset"}),
        (Plant(inactive=True), {"left"}),
        (Plant(twins=1), {"twins"}),
    ],
    ids=lambda value: "" if isinstance(value, set) else None,
)
def test_each_by_itself_is_told_by_itself(plant, kinds):
    """One plant brings one finding, even where it is small; fewer writes than make a machine count as a person's."""
    found = {one.kind for one in audited(OrgPast(3, SMALL, plant)).findings}

    assert found == (kinds if plant.doubles != 3 else set())


def test_costs_and_changes_are_told_and_the_dearest_comes_first():
    """Each finding names the smallest change; those whose change wins the most back stand first."""
    audit = audited(OrgPast(5, SMALL, FULL))

    gains = [one.gain for one in audit.findings]
    assert gains == sorted(gains, reverse=True)
    assert all(one.change.endswith(".") for one in audit.findings)
    poll = next(one for one in audit.findings if one.kind == "poll")
    assert poll.lost is not None
    assert poll.lost > 0
    assert 0 < poll.gain <= poll.lost
