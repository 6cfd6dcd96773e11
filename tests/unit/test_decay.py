"""A day's requests by architecture: the curve, the models and the router's own day at a small size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchmarks.decay_models import Touched, chain, poller
from benchmarks.decay_report import Day, day_of, table
from benchmarks.decay_router import subscriber
from benchmarks.decay_trace import ANSWER_LOST, CALL_S, Trace, attempts, records, trace
from lead_router.core.decay import chance, lost, odds, qualified

FINE = Trace(1, (100.0, 200.0, 1_000.0), {"crm": (), "enrichment": (), "own": ()})


def told(day: Trace, request: int, attempt: int = 0) -> bool:
    """Whether the caller hears of the attempt."""
    return day.chance("answer", request, attempt) >= ANSWER_LOST


def unheard() -> Trace:
    """A day of one request whose first answer is lost, and the second is not."""
    days = (replace(FINE, seed=seed, arrivals=(100.0,)) for seed in range(10_000))
    return next(day for day in days if not told(day, 0) and told(day, 0, 1) and max(_enriched(day)) < 5)


def _enriched(day: Trace) -> list[float]:
    return [day.enrich_s(0, attempt) for attempt in (0, 1)]


@pytest.mark.parametrize(("minutes", "expected"), [(0, 1.0), (5, 1.0), (10, 1 / 4), (30, 1 / 21), (600, 1 / 21)])
def test_the_curve_passes_through_what_was_published(minutes, expected):
    """And is flat where nothing was."""
    assert odds(minutes) == pytest.approx(expected)


def test_later_is_never_better():
    """Between the published points too; ten per cent at once are eight for ten minutes' odds of a quarter by chance."""
    curve = [odds(minutes / 10) for minutes in range(400)]

    assert curve == sorted(curve, reverse=True)
    assert chance(0) == pytest.approx(0.10)
    assert chance(10) == pytest.approx((0.1 / 0.9 / 4) / (1 + 0.1 / 0.9 / 4))
    assert qualified([0, 0, 0]) == pytest.approx(0.30)
    assert lost([0, 4, 10]) == pytest.approx(0.10 - chance(10))


def test_a_day_is_the_same_for_everybody():
    """By its seed alone; outages lie within the day."""
    assert trace(3, 50) == trace(3, 50) != trace(4, 50)
    assert trace(3, 50).arrivals == tuple(sorted(trace(3, 50).arrivals))
    assert all(0 <= start < end <= 86_400 for windows in trace(3).outages.values() for start, end in windows)


def test_on_a_fine_day_all_are_touched_once():
    """The chain within its calls, the poller at its next round."""
    days = {"chain": chain(FINE), "poller": poller(FINE, 300.0)}

    assert {name: (len(one.waits), one.doubles) for name, one in days.items()} == dict.fromkeys(days, (3, 0))
    assert days["poller"].waits[0] == pytest.approx(200 + 2 * CALL_S)
    assert max(days["chain"].waits.values()) < 60


def test_a_lost_answer_makes_a_double_where_nobody_looks():
    """The caller tries again, and each record goes to the next rep; the router lets the second follow the first."""
    day = unheard()

    assert len(records(day)) == 2
    assert [one.doubles for one in (chain(day), poller(day, 60.0), subscriber(day))] == [1, 1, 0]


@pytest.mark.parametrize("part", ["crm", "enrichment", "own"])
def test_a_chain_loses_what_its_caller_gave_up(part):
    """Whatever part is away as long as the caller tries; a poller loses only what has no record."""
    last = max(attempts(100.0))
    day = replace(FINE, arrivals=(100.0,), outages={**FINE.outages, part: ((0.0, last + 60),)})

    assert chain(day).waits == {}
    assert len(poller(day, 60.0).waits) == (part != "crm")


def test_the_router_gives_every_record_an_owner():
    """A small day with all its outages: within seconds, but for those that came while something was away."""
    day = trace(7, 25)

    found = subscriber(day)

    assert (found.waits.keys(), found.doubles) == ({request for _, request in records(day)}, 0)
    assert sorted(found.waits.values())[12] < 10


def test_the_table_tells_late_and_lost_ones():
    """A rep's own minutes come on top."""
    day = day_of(Touched({0: 0.0, 1: 600.0}, 1), FINE, 1.0)

    assert day == Day(3, (1.0, 11.0), 1)
    assert [cell.strip() for cell in table({"one": day}).splitlines()[2].split("|")[1:-1]] == [
        *("one", "2", "1", "1", "1.0", "11.0", "11.0", "1"),
        f"{chance(1) + chance(11):.1f}",
        f"{100 * (chance(1) + chance(11)) / 0.3:.1f} %",
    ]
