"""Two processes' listening loops on one job database: one hears, the other takes over; nothing is lost or doubled."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from structlog.testing import capture_logs

from lead_router.errors import StoreUnavailable, Unreachable
from lead_router.jobs.sqlite import SqliteEngine
from lead_router.loops.listening import KEEP_EVERY_S, LEASE_S, LOOK_EVERY_S, RELOAD_TOLD
from lead_router.loops.predecessors import listener_name, succeed
from support.hearing import CHANNEL
from support.listeners import Process
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


@pytest.fixture
def pair(rig):
    """The first listens, the second waits."""
    one, two = Process(rig, "host/1/listener"), Process(rig, "host/2/listener")
    assert one.steps() == [True] * 3
    assert two.steps() == [False] * 3
    assert (one.listens, two.listens) == (True, False)
    return one, two


def _copied(source, target):
    """Page by page into a file that keeps its name and number, as the address of a server does."""
    with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
        one.backup(other)


def _unanswered(write):
    """The transaction is kept and its answer lost."""

    def lost(engine, steps, **options):
        write(engine, steps, **options)
        raise StoreUnavailable("the server is gone")

    return lost


def leads_of(rig):
    return [job.lead_id for job in rig.jobs()]


def test_one_listens_and_the_other_takes_over_where_it_stopped(rig, pair):
    """The first is killed between two leads: the second goes on behind the last that was stored, each lead once."""
    one, two = pair
    first = rig.rest_org.lead()
    one.steps()
    second = rig.rest_org.lead()  # the first process is dead from here on
    rig.clock.advance(LEASE_S - 1)
    two.steps()
    early = two.listens
    rig.clock.advance(1 + LOOK_EVERY_S)
    two.steps()

    assert (early, two.listens) == (False, True)
    assert leads_of(rig) == [first, second]


def test_an_overtaken_process_records_nothing_and_waits(rig, pair):
    """It was stopped for longer than its lease with events in hand: the fence refuses them, the other has them."""
    one, two = pair
    lead = rig.rest_org.lead()
    rig.clock.advance(LEASE_S + 1)
    two.steps()
    stored = rig.store.position(CHANNEL)
    one.loop._keep_at = float("inf")  # it had looked just before it was stopped
    with capture_logs() as logs:
        one.steps(1)
        rig.clock.advance(LOOK_EVERY_S)
        one.steps()

    assert leads_of(rig) == [lead]
    assert (one.listens, two.listens, rig.store.position(CHANNEL)) == (False, True, stored)
    assert [(line["event"], line.get("holder")) for line in logs] == [
        ("listener_lost", None),
        ("listener_waits", "host/2/listener"),
    ]


def test_a_process_that_was_overtaken_sees_it_at_its_next_look(rig, pair):
    """Without events it would never meet the fence: it asks in any case, three times in a lease."""
    one, two = pair
    rig.clock.advance(LEASE_S + 1)
    two.steps()
    one.steps(1)

    assert (one.listens, two.listens) == (False, True)
    assert KEEP_EVERY_S * 3 <= LEASE_S


@pytest.mark.parametrize("lagged", [True, False])
def test_what_a_copy_of_the_database_lacks_is_heard_again(rig, pair, monkeypatch, lagged):
    """A failover to a server that lagged behind: its jobs come again by the same listener, before any sweep.

    Where nothing is lacking, the subscription stands; what was recorded without an answer is no lack.
    """
    one, _ = pair
    first = rig.rest_org.lead()
    one.steps()
    _copied(rig.path / "jobs.db", rig.path / "lagging.db")
    second = rig.rest_org.lead()
    one.steps()
    third = rig.rest_org.lead()
    with monkeypatch.context() as away:
        away.setattr(SqliteEngine, "write", _unanswered(SqliteEngine.write))
        with pytest.raises(StoreUnavailable):
            one.steps(1)
    if lagged:
        _copied(rig.path / "lagging.db", rig.path / "jobs.db")
    with capture_logs() as logs:
        one.steps()

    assert sorted(leads_of(rig)) == sorted([first, second, third])
    assert [line["event"] for line in logs if line["event"] == "job_database_older"] == ["job_database_older"] * lagged
    assert [one.listens, len(one.streams)] == [True, 1 + lagged]


def test_a_process_that_ends_is_followed_at_once(rig, pair):
    """SIGTERM: no lease is waited for, and the next look takes the channel."""
    one, two = pair
    lead = rig.rest_org.lead()
    one.loop.close()
    rig.clock.advance(LOOK_EVERY_S)
    two.steps()

    assert (one.streams[0].left, two.listens, leads_of(rig)) == (True, True, [lead])


def test_a_quiet_holder_keeps_the_channel(rig, pair):
    """No event for an hour is no reason to change."""
    one, two = pair
    for _ in range(60):
        rig.clock.advance(KEEP_EVERY_S)
        one.steps(1)
        two.steps(1)

    assert (len(one.streams), two.streams) == (1, [])


@pytest.mark.parametrize("fault", [Unreachable("no login today"), KeyError("what nobody foresaw")], ids=repr)
def test_a_process_that_cannot_subscribe_leaves_it_to_another(rig, fault):
    """Its login is refused on this host alone, or its code fails: the channel is free at once, not after a lease."""
    one, two = Process(rig, "host/1/listener"), Process(rig, "host/2/listener")
    one.fault = fault
    with pytest.raises(type(fault)):
        one.loop.step()
    two.steps()

    assert two.listens
    one.loop.close()
    assert two.steps() == [True] * 3


def test_a_process_whose_code_failed_as_it_subscribed_does_not_wait_for_itself(rig):
    """The next look subscribes, a second later; so it does where the fault came as it subscribed anew."""
    one = Process(rig, "host/1/listener")
    for _ in range(2):
        one.fault = KeyError("what nobody foresaw")
        with pytest.raises(KeyError):
            one.loop.step()
        one.fault = None
        rig.clock.advance(LOOK_EVERY_S)
        one.steps(1)
        assert one.listens
        one.loop._keep_at, one.loop._reconnects = 0.0, -1  # a sweep found it silent


def test_a_changed_rule_is_told_to_those_who_wait(rig, pair):
    """One hears the notice; every process loads the configuration anew."""
    one, two = pair
    one.streams[0].notice = "/data/Routing_Rule__ChangeEvent"
    one.steps(1)
    rig.clock.advance(LOOK_EVERY_S)
    two.steps(1)

    assert (one.current.outdated(), two.current.outdated()) == ("/data/Routing_Rule__ChangeEvent", RELOAD_TOLD)


def test_a_dead_process_of_this_host_is_followed_without_waiting(rig):
    """C22: started again after a kill -9, a router on SQLite listens at once; a living neighbour keeps the channel."""
    Process(rig, listener_name("host", 1)).steps(1)
    second = Process(rig, listener_name("host", 2))
    succeed(rig.store, host="host", process_id=2, lives=lambda number: number == 1)
    second.steps(1)
    neighbour_lived = second.listens
    succeed(rig.store, host="host", process_id=2, lives=lambda _: False)
    rig.clock.advance(LOOK_EVERY_S)
    second.steps(1)

    assert (neighbour_lived, second.listens) == (False, True)
