"""Findings one by one: which leads they are about, what they cost, and when they are none."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.audit import Assumed, Audit, judge
from lead_router.audit.judging.answers import Finding
from lead_router.audit.judging.opening import guess
from lead_router.audit.past import Past, Step, Story
from lead_router.core import decay
from lead_router.ports.history import Person
from org_simulator.ids import make_id

QUEUE = make_id("00G", 9)
ROUTER, SYNC, GONE = make_id("005", 91), make_id("005", 92), make_id("005", 93)
REPS = tuple(make_id("005", number) for number in range(1, 6))
NINE = datetime(2026, 9, 21, 9, tzinfo=UTC).timestamp()  # a Monday
HOUR, DAY = 3_600.0, 86_400.0
PEOPLE = (
    Person(ROUTER, "Router", robot=True),
    Person(SYNC, "Sync", robot=True),
    Person(QUEUE, "Queue", queue=True),
    Person(GONE, "Gone", active=False, seen_at=NINE + DAY),
)


def lead(
    number: int, *, at: float, wait: float | None = 3.0, by: str = ROUTER, to: str = "", source: str = "Web", **more
):
    """A lead that the queue had first, and after `wait` seconds a rep; None: the queue has it still."""
    owner = to or REPS[number % len(REPS)]
    steps = () if wait is None else (Step(at + wait, QUEUE, owner, by),)
    told = {"converted": False, **more}
    has = QUEUE if wait is None else owner
    return Story(make_id("00Q", number), at, QUEUE, SYNC, source, (0, 0), owner=has, steps=steps, **told)


def audited(stories: list[Story], *, days: float = 5.0) -> Audit:
    people = {one.id: one for one in PEOPLE}
    return judge(Past(tuple(stories), people, NINE, NINE + days * DAY, guess("UTC"), history=True, told=()), Assumed())


def finding(audit: Audit, kind: str) -> Finding | None:
    return next((one for one in audit.findings if one.kind == kind), None)


def test_leads_that_waited_are_told_with_their_source_and_cost():
    """Working time counts: from six o'clock to nine nobody could call; a few late ones are none."""
    fast = [lead(number, at=NINE + number * 60) for number in range(100)]
    slow = [lead(200 + number, at=NINE + 7 * HOUR, wait=1_200.0, source="Phone") for number in range(30)]
    night = [lead(300 + number, at=NINE + 9 * HOUR, wait=15 * HOUR, source="Zoo") for number in range(30)]

    found = finding(audited([*fast, *slow, *night]), "waited")

    assert found is not None
    assert set(found.leads) == {one.id for one in slow}
    assert "Most of them came from Phone" in found.told
    assert found.lost == pytest.approx(decay.lost([21.0] * 30))
    assert finding(audited([*fast, *slow[:5]]), "waited") is None


def test_leads_that_nobody_had_are_told_after_a_day():
    """Converted and young ones are none, nor are a few."""
    owned = [lead(number, at=NINE) for number in range(100)]
    never = [lead(200 + number, at=NINE, wait=None) for number in range(6)]
    others = [
        lead(300, at=NINE, wait=None, converted=True),
        *(lead(310 + number, at=NINE + 4.5 * DAY, wait=None) for number in range(9)),
    ]

    found = finding(audited([*owned, *never, *others]), "never")

    assert found is not None
    assert set(found.leads) == {one.id for one in never}
    assert found.gain == found.lost == pytest.approx(6 * (0.1 - decay.chance(31)))
    assert finding(audited([*owned, *never[:4]]), "never") is None


def test_leads_given_out_off_hours_wait_for_the_morning():
    """By a machine; a rep who takes a lead at night is awake."""
    day = [lead(number, at=NINE) for number in range(100)]
    night = [lead(200 + number, at=NINE + 14 * HOUR) for number in range(30)]
    taken = [lead(300 + number, at=NINE + 14 * HOUR, by=REPS[0], to=REPS[0]) for number in range(30)]

    audit = audited([*day, *night, *taken])
    found = finding(audit, "off")

    assert found is not None
    assert set(found.leads) == {one.id for one in night}
    assert found.lost == pytest.approx(decay.lost([10 * 60 + 1.0] * 30))
    assert audit.off.by_hour[23] == 30
    assert finding(audited([*day, *night[:5]]), "off") is None


def test_two_machines_for_one_source_are_told():
    """Sources that each has for itself are none."""
    mixed = [lead(number, at=NINE + number * 60, by=(ROUTER, SYNC)[number % 3 == 0]) for number in range(120)]
    apart = [
        lead(number, at=NINE + number * 60, by=(ROUTER, SYNC)[number % 2], source=("Web", "Fair")[number % 2])
        for number in range(120)
    ]

    found = finding(audited(mixed), "rivals")

    assert found is not None
    assert found.told.startswith("Leads of Web are given out by Router (80) and by Sync (40).")
    assert finding(audited(apart), "rivals") is None


def test_open_leads_of_who_is_gone_are_told():
    """Those that came behind the last log-in are lost for sure; converted ones are not."""
    seen = [lead(number, at=NINE, to=GONE) for number in range(1, 4)]
    unseen = [lead(10, at=NINE + 2 * DAY, to=GONE)]
    sold = [lead(11, at=NINE, to=GONE, converted=True)]

    audit = audited([*seen, *unseen, *sold])
    found = finding(audit, "left")

    assert found is not None
    assert set(found.leads) == {one.id for one in (*seen, *unseen)}
    assert (audit.left[0].unseen, found.lost) == (1, pytest.approx(0.1 - decay.chance(31)))
    assert finding(audited(seen[:2]), "left") is None


def test_a_double_costs_what_the_second_owner_came_later():
    """From 3 seconds to ten minutes behind them: the difference on the curve."""
    stories = [lead(number, at=NINE + number * 60) for number in range(20)]
    one = stories[0]
    other = Step(one.created + 603.0, one.owner, REPS[3], SYNC)
    twice = replace(one, owner=REPS[3], steps=(*one.steps, other))

    found = finding(audited([twice, *stories[1:]]), "doubles")

    assert found is not None
    assert found.leads == (one.id,)
    assert found.lost == pytest.approx(decay.chance(1.05) - decay.chance(603 / 60 + 1))
    assert "Router wrote first and Sync wrote over it" in found.told
