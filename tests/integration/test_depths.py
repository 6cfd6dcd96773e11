"""What monitoring asks of the job store, on both engines."""

from __future__ import annotations

import pytest

from lead_router.ports import Bury, Position, Release
from lead_router.ports.depths import Depths, Heard
from support.databases import CHANNEL, new_job


@pytest.fixture
def store(database):
    return database.open()


def test_an_empty_queue_has_no_depth(store):
    """Nothing is of any age where there is nothing."""
    assert store.depths() == Depths(0, 0, 0, 0, 0, None, None, 0, None, (), ())


def test_what_is_open_is_told_by_status_and_age(store, database):
    """Held leads have an age of their own: a night that they wait is no alarm. What is due and held counts as both."""
    store.record([new_job(0)])
    database.wait(100)
    store.record([new_job(number) for number in range(1, 4)])
    held, dead, *_ = store.claim("one", limit=4, lease_s=60)
    store.end([(held, Release(600, "held: nobody on duty", group_id="g")), (dead, Bury("refused"))])
    database.wait(50)
    store.record([new_job(9)])
    found = store.depths()
    for job in store.claim("one", limit=1, lease_s=60):
        store.end([(job, Bury("refused"))])

    assert (found.queued, found.due, found.held, found.working, found.dead) == (2, 1, 1, 2, 1)
    assert (found.oldest_held_s, found.oldest_s) == (pytest.approx(150, abs=5), pytest.approx(50, abs=5))
    assert store.depths().dead == 2


def test_a_stream_tells_who_hears_it_and_for_how_long_nothing_came(store, database):
    """Quiet begins with the last event, or with the acknowledgement after it; nobody is subscribed who gave up."""
    hold = store.hold(CHANNEL, "host/1/listener", lease_s=60)
    store.record([], position=Position(CHANNEL, b"7"), hold=hold)
    before = store.depths().heard
    store.keep(hold, subscribed=True)
    database.wait(10)
    store.keep(hold, subscribed=True, heard=True)
    database.wait(5)
    during = store.depths()
    store.give_up(hold)
    database.wait(1)
    after = store.depths().heard

    assert before == (Heard(CHANNEL, listens=True, subscribed=False, silent=False, quiet_s=None),)
    assert during.heard[0].quiet_s == pytest.approx(5, abs=3)
    assert (during.heard[0].listens, during.heard[0].subscribed) == (True, True)
    assert during.positions[0][0] == CHANNEL
    assert during.positions[0][1] == pytest.approx(15, abs=3)
    assert (after[0].listens, after[0].subscribed) == (False, False)
