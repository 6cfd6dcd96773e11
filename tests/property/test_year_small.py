"""A few weeks of a small company, by seed, with every check of `benchmarks/year.py`; and that its checks see faults."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from benchmarks.year import PROMISES
from benchmarks.year_play import play
from benchmarks.year_world import world
from lead_router.core.decide import decide
from lead_router.core.model import Assign, Hold

SMALL = {"reps": 10, "days": 21, "leads": 600}


@pytest.mark.parametrize("seed", range(1, 4))
def test_a_few_weeks_break_no_promise(seed):
    """D11, D16, D19, P1, P11, P19, P23, P31, P67, P68: shifts, holidays, absences, caps, joiners and leavers.

    Nobody off duty gets a lead, no two on duty together drift apart, caps are exact, the oldest lead is first.
    """
    played = play(world(seed, **SMALL), seed)
    assert dict(played.checks.broken) == {}
    assert played.checks.counts["held leads given"] > 0
    assert played.checks.counts["days at the cap"] > 0
    assert played.checks.counts["pairs judged"] > 0


def test_held_leads_may_be_asked_as_often_as_the_worker_asks():
    """P68: asking early and often changes nothing of what was promised."""
    played = play(world(7, reps=10, days=2, leads=60), 7, patient=False)
    assert dict(played.checks.broken) == {}


def test_the_same_seed_is_the_same_company():
    """P16: equal worlds, equal histories."""
    first, second = (play(world(3, reps=8, days=5, leads=200), 3).checks for _ in range(2))
    assert first.counts == second.counts
    assert first.received == second.received


def without_absences(configuration, snapshot, asks):
    return decide(replace(configuration, absences={}), snapshot, asks)


def without_a_count(configuration, snapshot, asks):
    """What members had today before this round is forgotten."""
    return decide(configuration, changed(snapshot, day=None, day_count=0), asks)


def without_a_line(configuration, snapshot, asks):
    """Each lead is decided as if no other waited, the newest first."""
    newest = [replace(ask, event_at=max(one.event_at for one in asks), job_id=-ask.job_id) for ask in asks]
    made = decide(configuration, replace(snapshot, waiting=()), newest)
    return [replace(one, ask=ask) for one, ask in zip(made, asks, strict=True)]


def with_one_favoured(configuration, snapshot, asks):
    """Each group's first member stands where a newcomer stands."""
    return decide(configuration, changed(snapshot, first=1, next_turn=None), asks)


def with_one_left_out(configuration, snapshot, asks):
    """The first member of each group is passed over."""
    first = frozenset(group.members[0].user_id for group in snapshot.groups.values())
    return decide(configuration, replace(snapshot, unfit=first), asks)


def with_idle_holds(configuration, snapshot, asks):
    """A lead that came just now is held although somebody is there."""
    made = decide(configuration, snapshot, asks)
    return [
        Hold(one.ask, one.lead, "later", 900.0, group_id=one.group_id)
        if isinstance(one, Assign) and snapshot.taken_at - one.ask.event_at < timedelta(minutes=1)
        else one
        for one in made
    ]


def changed(snapshot, first=None, **changes):
    """The snapshot with members of each group, all or the first ones, changed."""
    groups = {
        key: replace(group, members=(*(replace(one, **changes) for one in group.members[:first]), *rest(group, first)))
        for key, group in snapshot.groups.items()
    }
    return replace(snapshot, groups=groups)


def rest(group, first):
    return () if first is None else group.members[first:]


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (without_absences, "nobody off duty gets a lead"),
        (without_a_count, "caps are exact"),
        (without_a_line, "the oldest is routed first"),
        (with_one_favoured, "every turn is charged once"),
        (with_one_left_out, "nobody gets ahead of the bound"),
        (with_idle_holds, "nobody waits in vain"),
    ],
)
def test_a_router_that_breaks_a_promise_is_seen(broken, promise):
    """The checks are worth something: each of these faults is found, under its own name."""
    assert promise in PROMISES
    assert promise in play(world(2, reps=10, days=12, leads=300), 2, decide=broken).checks.broken
