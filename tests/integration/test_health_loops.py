"""The loops of one process, run as in production, and the health that they tell while something is broken."""

from __future__ import annotations

import sqlite3
import threading

import pytest

from lead_router.jobs import sqlite
from lead_router.loops import routing
from lead_router.loops import runner as runners
from lead_router.loops.listening import KEEP_EVERY_S
from lead_router.loops.worker import IN_VAIN_MAX
from support.life import SETTLE_S, Life
from support.listeners import Process
from support.worker_rig import Rig

WITHIN_S = 5.0


@pytest.fixture
def life(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "BUSY_WAIT_S", 0.02)
    monkeypatch.setattr(routing, "FRESH_S", 0.0)  # each commit asks for its lease, however early
    rig = Rig(tmp_path)
    made = Life(rig)
    yield made
    made.stop()
    rig.close()


def _raises(*_, **__):
    raise RuntimeError("a fault that nobody foresaw")


def _receiver(life):
    life.process.streams[-1].poll = _raises


def _recorder(life):
    life.listening._intake._store.record = _raises
    life.rig.rest_org.lead()


def _lease(life):
    life.listening._store.keep = _raises
    life.rig.clock.advance(KEEP_EVERY_S)


def _claimer(life):
    life.worker._store.claim = _raises


def _renewal(life):
    life.worker._store.renew = _raises
    life.leads(3)


def _sweep(life):
    life.rig.client.unassigned = _raises
    life.write(lambda: life.rig.store.request_sweep("test"))


def _reload(life):
    life.rig.client.configuration = _raises
    life.upkeep._current.outdate("test")
    life.rig.clock.advance(3)


@pytest.mark.parametrize(
    ("plant", "loop"),
    [
        (_receiver, "intake"),
        (_recorder, "intake"),
        (_lease, "intake"),
        (_claimer, "worker-1"),
        (_renewal, "worker-1"),
        (_sweep, "upkeep"),
        (_reload, "upkeep"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_a_loop_that_keeps_failing_is_red_within_seconds(life, plant, loop):
    """F8: receiver, recorder, listener's lease, claimer, claims' lease, sweep, reload: the loop is named, never green.

    The pauses are production's own. Red again is what the next look says, too, until the process ends.
    """
    life.start()
    plant(life)
    life.until(lambda: not life.vitals.health().live, WITHIN_S)
    (fault,) = life.vitals.health().dying
    looks = []

    def red_again():
        """A database that is locked for a moment is an outage between two faults of the loop."""
        looks.append(life.vitals.health())
        return life.vitals.pulse(loop).last.faults >= 2 and looks[-1].dying

    life.until(red_again)
    health = looks[-1]

    assert (fault.part, "RuntimeError" in fault.reason) == (loop, True)
    assert (health.live, health.ready, health.dying[0].part) == (False, False, loop)


def test_a_job_database_that_was_moved_is_told_with_the_remedy(life):
    """F8, F11: health itself says what is wrong and what to do, as the log does."""
    life.start()
    (life.rig.path / "jobs.db").rename(life.rig.path / "aside.db")
    life.until(lambda: not life.vitals.health().live)
    reason = life.vitals.health().dying[0].reason

    assert "Misconfigured: The job database" in reason
    assert "(LEAD_ROUTER_DATABASE) was moved, deleted or replaced while it was in use: bring it back" in reason


def test_a_loop_that_dies_ends_the_process_and_is_never_green(life, monkeypatch):
    """F8: ten faults in a row end it with 1; from the first one on no look says that it lives."""
    monkeypatch.setattr(runners, "PAUSE_CAP_S", 0.001)
    life.start()
    _claimer(life)
    life.until(lambda: not life.vitals.health().live)
    greens = []
    while life.thread.is_alive():
        greens.append(life.vitals.health().live)
        life.thread.join(0.001)

    assert (life.codes, any(greens), life.vitals.health().live) == ([1], False, False)


def test_a_database_that_is_away_for_minutes(life, monkeypatch):
    """F7, C28: live stays green for five minutes, ready is red and says why; no attempt is used up by it.

    It goes away in the middle of a commit, with one claim held; back again, that claim is given back and all is routed.
    """
    monkeypatch.setattr(runners, "PAUSE_CAP_S", 0.001)
    rig, parts = life.rig, {"intake", "worker-1", "upkeep"}
    other = sqlite3.connect(rig.path / "jobs.db", isolation_level=None, check_same_thread=False)
    life.start()
    told, gone = threading.Event(), threading.Event()

    def leaves():
        assert told.wait(SETTLE_S)  # a sweep may find the leads before their events are recorded
        other.execute("BEGIN IMMEDIATE")
        rig.clock.advance(KEEP_EVERY_S)
        gone.set()

    rig.client.before_write.append(leaves)
    leads = life.leads(2)
    told.set()
    assert gone.wait(SETTLE_S)
    # Upkeep looks before it writes, and a look is answered also while somebody else writes.
    life.until(lambda: {fault.part for fault in life.vitals.health().waiting} >= parts - {"upkeep"})
    for _ in range(10):
        rig.clock.advance(30)
        now = rig.clock.monotonic()
        life.until(lambda now=now: all(life.vitals.pulse(part).last.due_at >= now for part in parts))
        assert (life.vitals.health().live, life.vitals.health().ready) == (True, False)
    (kind,) = {fault.reason.partition(":")[0] for fault in life.vitals.health().waiting}
    other.close()
    life.until(lambda: life.vitals.health().ready and all(job.status == "done" for job in rig.jobs()))

    assert kind == "StoreUnavailable"
    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob"]
    assert ({job.attempts for job in rig.jobs()}, len(rig.ledger())) == ({1}, 2)


def test_a_commit_that_never_gets_its_rows_is_told(tmp_path):
    """F7: somebody's long transaction holds a group and no lead flows: told from the third claim on, until one flows.

    Once or twice is a busy moment; another process may well have the lead by then, and nobody here would take it back.
    """
    rig = Rig(tmp_path)
    leads = rig.leads(2)
    rig.rest_org.fault("lock_timeout", path="/composite", body="Turn_Key__c", count=None)
    told = []
    for _ in range(IN_VAIN_MAX):
        rig.router.step()
        told.append(rig.breaker.why())
        rig.clock.advance(5)
    rig.rest_org.world.faults.clear()
    rig.drain()
    rig.close()

    assert (told[:-1], "UNABLE_TO_LOCK_ROW" in (told[-1] or "")) == ([None] * (IN_VAIN_MAX - 1), True)
    assert ([rig.owner(lead) for lead in leads], rig.breaker.why()) == (["Ann", "Bob"], None)


def test_a_group_that_no_turn_can_be_written_to_is_told(tmp_path):
    """F7: a rule of the org's refuses its rows; told from the third try on, also between tries, until a lead flows."""
    rig = Rig(tmp_path)
    leads = rig.leads(2)
    rig.forbid("true", "groups are frozen", "Round_Robin_Group__c")
    told = []
    for _ in range(IN_VAIN_MAX + 1):
        rig.router.step()
        told.append(rig.breaker.why())
        rig.clock.advance(routing.STUCK_RETRY_S)
    between = rig.breaker.why()
    rig.allow("Round_Robin_Group__c")
    rig.drain()
    rig.close()

    assert told[: IN_VAIN_MAX - 1] == [None] * (IN_VAIN_MAX - 1)
    assert all("groups are frozen" in (one or "") for one in (*told[IN_VAIN_MAX - 1 :], between))
    assert (sorted(rig.owner(lead) for lead in leads), rig.breaker.why()) == (["Ann", "Bob"], None)


def test_who_listens_and_who_waits_are_told_apart(life):
    """One hears the stream, the other is ready as a standby and names who listens; taken over, it is no standby."""
    life.start()
    standby = Process(life.rig, "host/2/listener")
    before = standby.loop.hearing()
    standby.steps()
    waiting = standby.loop.hearing()
    life.stop()
    life.rig.clock.advance(1)
    standby.steps()

    assert before.fault is not None
    assert (waiting.told, waiting.fault) == ("standby: host/1/listener listens", None)
    assert (standby.loop.hearing().told, standby.loop.hearing().fault) == ("subscribed", None)


@pytest.mark.parametrize(
    ("word", "logged"),
    [("connecting", ""), ("backing-off", "see stream_lost"), ("refused", "see stream_refused"), ("overdue", "")],
)
def test_a_stream_that_is_not_heard_is_not_ready(life, word, logged):
    """A1: connected, or subscribed once, is not enough; the process lives, and says what the stream is at.

    Where a line of the log says why, the reason names it.
    """
    life.start()
    life.process.streams[-1].word = word
    health = life.vitals.health()

    assert (health.live, health.ready, health.stream) == (True, False, word)
    fault = life.listening.hearing().fault or ""
    assert logged in fault
    assert ("see stream_" in fault) == bool(logged)


def test_a_stream_that_is_silent_while_leads_come_is_not_ready(life):
    """P47: subscribed, every connect answered, and the sweep finds what it did not bring; the first event ends it."""
    rig = life.rig
    sweeper = rig.upkeep(configuration_every_s=1e9, silent_after_s=60.0)
    life.process.loop.step()
    life.process.loop.step()
    rig.clock.advance(KEEP_EVERY_S)
    life.process.steps(2)
    life.process.streams[-1].deaf = life.process.deaf = True
    rig.clock.advance(10)
    rig.rest_org.lead()
    rig.clock.advance(301)
    life.process.steps(1)
    sweeper.step()
    rig.clock.advance(KEEP_EVERY_S)
    life.process.steps(2)
    silent = life.listening.hearing()
    life.process.streams[-1].deaf = life.process.deaf = False
    rig.rest_org.lead()
    life.process.steps(2)
    rig.clock.advance(KEEP_EVERY_S)
    life.process.steps(1)

    assert (silent.told, silent.fault is not None) == ("silent", True)
    assert life.listening.hearing().fault is None
