"""The audit on thin data: each inference has its minimum, below which it says how much is there and what it takes."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.audit import Assumed, Audit, judge, page, summary
from lead_router.audit.judging.evidence import said
from lead_router.audit.judging.opening import guess
from lead_router.audit.judging.pools import pools
from lead_router.audit.judging.resets import resets
from lead_router.audit.judging.roles import Given
from lead_router.audit.judging.shares import shares
from lead_router.audit.past import Past, Step, Story
from lead_router.core.counted import counted
from lead_router.ports.history import Person
from org_simulator.ids import make_id

QUEUE, ROUTER = make_id("00G", 9), make_id("005", 91)
REPS = tuple(make_id("005", number) for number in range(1, 7))
NINE = datetime(2026, 9, 21, 9, tzinfo=UTC).timestamp()  # a Monday
DAY = 86_400.0
PEOPLE = {ROUTER: Person(ROUTER, "Router", robot=True), QUEUE: Person(QUEUE, "Queue", queue=True)}


def lead(number: int, at: float, *, wait: float = 3.0, to: str = "") -> Story:
    owner = to or REPS[number % len(REPS)]
    step = Step(at + wait, QUEUE, owner, ROUTER)
    return Story(make_id("00Q", number + 1), at, QUEUE, "", "Web", (0, 0), converted=False, owner=owner, steps=(step,))


def audited(stories: list[Story], *, days: float, placed: bool = True) -> Audit:
    end = NINE + days * DAY
    return judge(Past(tuple(stories), PEOPLE, NINE, end, guess("UTC"), history=True, told=(), placed=placed), Assumed())


def polled(rounds: int, days: int) -> list[Story]:
    """Leads that a five-minute poller finds, one a round, as many on each day."""
    dice = random.Random(4)
    found = []
    for number in range(rounds):
        if number % (rounds // days) == 0:
            wakes = NINE + number // (rounds // days) * DAY
        wakes += 300.0 * dice.choice((1, 2, 3))
        wait = float(dice.randrange(1, 300))
        found.append(lead(number, wakes - wait, wait=wait))
    return found


def kinds(audit: Audit) -> set[str]:
    return {one.kind for one in audit.findings}


def thin(audit: Audit) -> list[str]:
    return [said(one) for one in audit.thin]


def test_a_handful_of_leads_makes_no_poller():
    """18 rounds of one day fall on multiples of 300 s, as 18 of chance do on some; 90 of a working week are told."""
    few, week = audited(polled(18, 1), days=1), audited(polled(90, 5), days=5)

    assert "poll" not in kinds(few)
    assert "pollers: too little to say (18 of 60 rounds of one writer and source needed)" in thin(few)
    assert "poll" in kinds(week)
    assert not any(one.startswith("pollers") for one in thin(week))


def test_rounds_of_one_day_are_no_week():
    """Sixty rounds of a Monday are one stretch of hours, in which chance has more room."""
    found = audited(polled(70, 1), days=1)

    assert "poll" not in kinds(found)
    assert "pollers: too little to say (1 of 5 days of such rounds needed)" in thin(found)


def test_no_year_is_made_of_a_day():
    """Thirty leads that waited cost what they cost; a year takes four weeks, and ten leads."""
    slow = [lead(number, NINE + number * 60, wait=1_800.0) for number in range(30)]

    day, month = audited(slow, days=1), audited(slow, days=28)
    few = replace(month, findings=tuple(replace(one, leads=one.leads[:9]) for one in month.findings))

    assert "qualified leads lost" in page(day)
    assert " a year at this rate" not in page(day) + summary(day) + page(few)
    assert " a year at this rate" in page(month)
    assert "costs by the year: too little to say (1 of 28 days needed)" in summary(day)


def test_percentiles_take_twenty_leads():
    """Of fewer, the slowest twentieth is no lead: cards, table and summary say so."""
    few, enough = (audited([lead(at, NINE + at * 60) for at in range(many)], days=1) for many in (19, 20))

    assert "95 of 100 within" not in page(few).replace('<th scope="col">95 of 100 within</th>', "")
    assert "how long leads wait: too little to say (19 of 20 leads with a rep needed)" in page(few)
    assert "wait for the first rep" not in summary(few)
    assert "wait for the first rep: half within 3 s" in summary(enough)


def given(owners: list[str]) -> list[Given]:
    leads = [lead(number, NINE + number * 600, to=owner) for number, owner in enumerate(owners)]
    return [Given(one, one.created + 3, one.owner, ROUTER, first=True, made=False, since=one.created) for one in leads]


@pytest.mark.parametrize(("behind", "told"), [(3, 0), (11, 0), (12, 1)])
def test_a_reset_is_judged_on_a_dozen_leads_on_each_side(behind, told):
    """Of three reps, three leads keep one phase every ninth time by chance."""
    three = REPS[:3]
    owners = [three[at % 3] for at in range(67)] + [three[(at + 2) % 3] for at in range(67, 67 + behind)]

    assert len(resets(pools(given(owners))[0])) == told


def test_reps_of_one_lead_make_no_skew():
    """An expected number below five is no measure of chance, by Cochran's rule; a real skew is told all the same."""
    dice = random.Random(2)
    reps = [make_id("005", number) for number in range(1, 18)]
    body = [reps[at % 10] for at in range(585)] + [reps[0]] * 16
    dice.shuffle(body)
    for at, rare in enumerate(reps[10:16]):
        body.insert(150 + 60 * at, rare)
    many = [REPS[0]] * 300 + [REPS[1]] * 100
    dice.shuffle(many)

    (few,) = pools(given(body))
    (real,) = pools(given([*many[:200], REPS[5], *many[200:]]))

    assert max(one.got - one.even for one in shares(few).reps) > 12
    assert not shares(few).skewed
    assert shares(real).skewed


def test_hours_in_no_known_zone_are_not_judged():
    """Thirty leads at 23 o'clock UTC may be at noon where people work."""
    late = [lead(number, NINE + 14 * 3_600 + number) for number in range(30)]

    assert "off" in kinds(audited(late, days=1))
    unknown = audited(late, days=1, placed=False)
    assert "off" not in kinds(unknown)
    assert "leads given out off hours: too little to say, as nobody told in which time zone" in page(unknown)


def test_nothing_at_all_is_said_of_nothing():
    """An org without leads in the span."""
    none = audited([], days=30)

    assert "There were no leads to measure." in summary(none)
    assert "change nothing" not in page(none)


def test_numbers_and_their_words_agree():
    """One is one, zero is several; thousands are set apart."""
    assert [counted(many, "lead") for many in (0, 1, 2, 1_200)] == ["0 leads", "1 lead", "2 leads", "1,200 leads"]
    assert counted(2, "person", "people") == "2 people"
