"""A machine that loses its power: what was not synced is gone, and nothing is promised by it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from lead_router.jobs.sqlite import SqliteEngine
from lead_router.ports import Bury, Done, Position, Release, Retry
from lead_router.ports.notices import NewNotice, NoticeKind, Sent
from support.databases import CHANNEL, new_job
from support.worker_rig import Rig


def test_routing_that_the_job_database_forgot(tmp_path):
    """Claims and receipts are gone, the leads routed: they keep owner, turn and ledger row (C1)."""
    rig = Rig(tmp_path)
    leads = rig.leads(3)
    with closing(sqlite3.connect(tmp_path / "jobs.db")) as here, closing(sqlite3.connect(tmp_path / "left.db")) as left:
        here.backup(left)
    rig.drain()
    before = [(rig.owner(lead), lead) for lead in leads], rig.turns(), len(rig.ledger())
    after = rig.open("left.db")
    forgotten = after.queue().queued
    rig.drain(rig.worker(store=after))

    assert (forgotten, after.queue().done, {job.outcome for job in after.jobs()}) == (3, 3, {"skipped: already routed"})
    assert ([(rig.owner(lead), lead) for lead in leads], rig.turns(), len(rig.ledger())) == before
    rig.close()


class Noting:
    """An engine, with how each transaction that writes was asked for."""

    def __init__(self, inner):
        self.inner, self.dialect, self.read, self.synced = inner, inner.dialect, inner.read, []
        self.tidied = []

    def write(self, steps, *, synced=True, tidies=False):
        self.synced.append(synced)
        self.tidied.append(tidies)
        return self.inner.write(steps, synced=synced, tidies=tidies)

    def close(self):
        self.inner.close()


@pytest.mark.parametrize(
    ("ending", "synced"),
    [(Done("assigned"), False), (Release(1.0, "held"), True), (Retry(1.0, "locked"), True), (Bury("refused"), True)],
    ids=lambda value: type(value).__name__,
)
def test_what_no_other_record_tells_is_synced(database, ending, synced):
    """Events with their position, and all endings but those that the ledger tells too; a claim is not (C14)."""
    store = database.open()
    store._engine = noting = Noting(store._engine)
    store.record([new_job(1), new_job(2)], position=Position(CHANNEL, b"1"))
    jobs = store.claim("one", limit=2, lease_s=60)
    store.end([(jobs[0], ending), (jobs[1], Done("assigned"))])

    assert noting.synced == [True, False, synced]


def test_that_a_notice_is_being_sent_is_synced(database):
    """Else a lost machine would send it twice. Of a claim and of what came of it no more than that may be lost."""
    store = database.open(channels=lambda _notice: ("team",))
    store.notify([NewNotice("key", NoticeKind.ASSIGNED, "00Q000000000001AAA", "005000000000001AAA", 1, "Rule 'All'.")])
    store._engine = noting = Noting(store._engine)
    taken = store.take_notice("team", lease_s=60.0, pace_s=0.0)
    store.sending(taken, lease_s=60.0)
    store.end_notice(taken, Sent())

    assert noting.synced == [False, True, False]


def test_a_lease_on_the_stream_is_not(database):
    """It is kept every other second, and events would wait for the disk; who lost it finds the fence shut."""
    store = database.open()
    hold = store.hold(CHANNEL, "one", lease_s=60)
    store._engine = noting = Noting(store._engine)
    store.keep(hold, subscribed=True)

    assert noting.synced == [False]


def test_the_log_is_put_into_the_file_by_a_transaction_that_no_lead_waits_for(tmp_path):
    """By the others only where it grew to what is kept of it, in pages."""
    engine = SqliteEngine(tmp_path / "jobs.db")
    ask = [("PRAGMA wal_autocheckpoint", {})]
    told = [engine.write(ask, tidies=tidies)[0][0].popitem()[1] for tidies in (False, True, False)]
    engine.close()

    assert told == [4096, 1000, 4096]


def test_the_end_of_a_job_is_such_a_one(database):
    """It comes after the lead has its owner; event and claim come before."""
    store = database.open()
    store._engine = noting = Noting(store._engine)
    store.record([new_job(1)])
    store.end([(job, Done("assigned")) for job in store.claim("one", limit=1, lease_s=60)])

    assert noting.tidied == [False, False, True]


SETTINGS = {
    "SQLITE": ("PRAGMA synchronous", 2, 1),
    "POSTGRES": ("SELECT current_setting('synchronous_commit')", "on", "off"),
}


def test_the_database_is_told(database):
    """Both engines hand it on, transaction by transaction, whatever the one before was."""
    engine = database.open()._engine
    ask, full, fast = SETTINGS["SQLITE" if "sqlite" in database.url else "POSTGRES"]
    told = [engine.write([(ask, {})], synced=synced)[0][0].popitem()[1] for synced in (True, False, True)]

    assert told == [full, fast, full]
