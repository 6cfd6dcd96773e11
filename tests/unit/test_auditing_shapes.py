"""Orgs of other shapes, in which nothing is wrong but what is told: none of them has doubles, lost turns or pollers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

from lead_router.audit import Assumed, judge
from lead_router.audit.judging.opening import guess
from lead_router.audit.past import Past, Step, Story
from lead_router.ports.history import Person
from org_simulator.ids import make_id

QUEUE = make_id("00G", 9)
ROUTER, WEB, MIA = (make_id("005", number) for number in (91, 92, 93))
REPS = tuple(make_id("005", number) for number in range(1, 9))
START = datetime(2026, 6, 1, 9, tzinfo=UTC).timestamp()
LEADS = 1_200

Shape = Callable[[random.Random], Iterator[tuple[str, list[tuple[float, str, str]]]]]
"""Of each lead its first owner, and its changes: seconds after creation, who wrote, whom it came to."""


def dispatched(dice: random.Random):
    """A person looks into the queue and gives leads out, after twenty minutes on average."""
    while True:
        yield QUEUE, [(float(int(dice.expovariate(1 / 1_200))), MIA, dice.choice(REPS))]


def taken(dice: random.Random):
    """Reps take leads from the queue, and now and then from each other within minutes."""
    while True:
        one, other = dice.sample(REPS, 2)
        wait = float(int(dice.expovariate(1 / 900)))
        again = [(wait + 120.0, other, other)] if dice.random() < 0.1 else []
        yield QUEUE, [(wait, one, one), *again]


def flowed(dice: random.Random):
    """An API user creates leads and owns them, until a flow in its name gives them to anybody in the same second."""
    while True:
        yield WEB, [(0.0, WEB, dice.choice(REPS))]


def triggered(dice: random.Random):
    """A trigger sets the owner before the lead is saved: there is no change to be seen."""
    while True:
        yield dice.choice(REPS), []


def weighted(dice: random.Random):
    """A rotation by weights."""
    weights = [dice.choice((1, 2, 3)) for _ in REPS]
    owed = [0] * len(REPS)
    while True:
        owed = [one + weight for one, weight in zip(owed, weights, strict=True)]
        best = max(range(len(REPS)), key=lambda rep: (owed[rep], -rep))
        owed[best] -= sum(weights)
        yield QUEUE, [(float(dice.randrange(1, 6)), ROUTER, REPS[best])]


def grouped(dice: random.Random):
    """Three groups with rotations of their own, which nothing tells apart."""
    groups = [REPS[:4], REPS[4:6], REPS[6:]]
    turns = [0, 0, 0]
    while True:
        (group,) = dice.choices((0, 1, 2), (5, 3, 2))
        turns[group] += 1
        members = groups[group]
        yield QUEUE, [(float(dice.randrange(1, 6)), ROUTER, members[turns[group] % len(members)])]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("shape", "told"),
    [
        (dispatched, {"waited"}),
        (taken, {"waited"}),
        (flowed, set()),
        (triggered, set()),
        (weighted, {"skew"}),
        (grouped, {"skew"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_usual_elsewhere_is_no_finding(shape: Shape, told: set[str], seed: int):
    """Slow hands are told, and shares that are not even, as weights and groups make them: no more."""
    dice = random.Random(seed)
    days = [START + 86_400 * day for day in range(60) if day % 7 < 5]
    times = sorted(float(int(dice.choice(days) + dice.uniform(0, 7 * 3_600))) for _ in range(LEADS))
    stories = []
    for number, (at, (first, changes)) in enumerate(zip(times, shape(dice), strict=False), 1):
        steps: list[Step] = []
        for after_s, by, new in changes:
            steps.append(Step(at + after_s, steps[-1].new if steps else first, new, by))
        owner = steps[-1].new if steps else first
        lead = make_id("00Q", number)
        stories.append(Story(lead, at, first, WEB, "Web", (0, 0), converted=False, owner=owner, steps=tuple(steps)))
    people = {QUEUE: Person(QUEUE, "Queue", queue=True)}

    audit = judge(Past(tuple(stories), people, START, times[-1], guess("UTC"), history=True, told=()), Assumed())

    assert {one.kind for one in audit.findings} <= told
    assert {one.kind for one in audit.findings} >= told - {"skew"}
