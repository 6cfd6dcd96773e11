"""The ways that race, at a small size: which of them keep the order, and the router among them."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.race_judge import judged
from benchmarks.race_queued import InProcess, by_fifo, by_protocol
from benchmarks.race_router import course
from benchmarks.race_ways import by_marker, by_skipping, by_version, lockless, raced

pytestmark = pytest.mark.postgres

LEADS, REPS, SEED = 40, 4, 7
WITHIN_S = 60.0
NAMES = [str(number) for number in range(1, REPS + 1)]


@pytest.mark.parametrize(
    "way",
    [
        partial(raced, give=by_marker),
        partial(raced, give=by_version),
        partial(by_fifo, line=InProcess(), batch=1),
        partial(by_fifo, line=InProcess(), batch=200),
        by_protocol,
    ],
    ids=["marker", "version", "fifo", "fifo in batches", "protocol"],
)
def test_ways_with_one_line_keep_the_rotation(postgres_url, way):
    """Some leads are delivered twice; each has one owner, each rep its share, in turn."""
    seen = way(postgres_url, leads=LEADS, reps=REPS, seed=SEED, within_s=WITHIN_S)

    found = judged(seen.given, NAMES, LEADS, seen.tries)
    assert (found.even, found.out_of_turn) == (True, 0)


def test_skipping_gives_each_lead_once(postgres_url):
    """Order is another thing."""
    seen = raced(postgres_url, by_skipping, LEADS, REPS, SEED, WITHIN_S)

    found = judged(seen.given, NAMES, LEADS)
    assert (found.given, found.twice) == (LEADS, 0)


def test_the_lockless_way_gives_every_lead_at_least_once(postgres_url):
    """And is judged like the others, however it came out."""
    seen = raced(postgres_url, lockless, LEADS, REPS, SEED, WITHIN_S)

    assert judged(seen.given, NAMES, LEADS).given == LEADS


def test_leads_that_come_at_once_are_given_evenly(postgres_url):
    """100 leads, told of by many and some of them twice, four workers in small batches: 10 reps get 10 each, twice."""
    with course(postgres_url, 10, recorders=10) as on:
        for seed in (1, 2):
            on.race(100, seed, batch_max=25)
        found = [judged(given, on.reps, leads) for given, leads in zip(on.given(), on.sizes(), strict=True)]

    assert [(one.even, one.least, one.most, one.out_of_turn) for one in found] == [(True, 10, 10, 0)] * 2
