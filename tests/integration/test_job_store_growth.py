"""The job database stays as large as what it is asked to remember, however much goes through it."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import psycopg
import pytest

from lead_router.jobs import SqlJobStore
from lead_router.jobs.sqlite import LOG_BYTES_MAX
from lead_router.ports import Done, Unreadable
from support.databases import CHANNEL, Database, new_job

ROUND = 200
ROUNDS = 5
KEPT_S = 50.0
MIB = 1024 * 1024


def unreadable(number: int, size: int = 100) -> Unreadable:
    return Unreadable(CHANNEL, f"{number}".encode().ljust(size), "no kind")


def kept(database: Database) -> list[int]:
    """The numbers of the unreadable events that are there still, in order of arrival."""
    return [int(bytes(body)) for (body,) in database.execute("SELECT body FROM quarantine ORDER BY id")]


def pass_through(database: Database, store: SqlJobStore, number: int) -> None:
    """A round of jobs comes, is done, grows old and is forgotten."""
    store.record([new_job(number * ROUND + one) for one in range(ROUND)])
    store.end([(job, Done("assigned")) for job in store.claim("w", limit=ROUND, lease_s=60)])
    database.wait(KEPT_S + 1)
    assert store.forget(older_than_s=KEPT_S, limit=1_000) == ROUND


def test_unreadable_events_are_forgotten_by_age(database: Database):
    """F10: the oldest first, up to the limit; one that is delivered again and again is kept."""
    store = database.open()
    for number in range(4):
        store.record([], unreadable=[unreadable(number)])
    database.wait(100)
    store.record([], unreadable=[unreadable(1), unreadable(4)])

    assert store.forget_unreadable(older_than_s=KEPT_S, keep=10, limit=2) == 2
    assert kept(database) == [1, 3, 4]
    assert store.forget_unreadable(older_than_s=KEPT_S, keep=10, limit=2) == 1
    assert kept(database) == [1, 4]


def test_of_many_unreadable_events_the_newest_are_kept(database: Database):
    """F10: an org whose every event is unreadable does not fill the disk. Another org's are left alone."""
    store, other = database.open(), database.open(org_id="00D000000000002AAA")
    other.record([], unreadable=[unreadable(100)])
    store.record([], unreadable=[unreadable(number) for number in range(20)])
    other.record([], unreadable=[unreadable(number) for number in range(101, 105)])

    assert store.forget_unreadable(older_than_s=KEPT_S, keep=3, limit=100) == 17
    assert store.forget_unreadable(older_than_s=KEPT_S, keep=3, limit=100) == 0
    assert kept(database) == [100, 17, 18, 19, 101, 102, 103, 104]


def test_a_file_uses_the_room_of_forgotten_jobs_again(embedded: Database):
    """F10: it grows for what is there at a time, not for all that ever was."""
    store, sizes = embedded.open(), []
    for number in range(ROUNDS):
        pass_through(embedded, store, number)
        ((pages,),) = embedded.execute("PRAGMA page_count")
        sizes.append(pages)

    assert max(sizes[2:]) <= sizes[1] * 1.1


@pytest.mark.postgres
def test_nothing_keeps_a_table_from_being_vacuumed(shared: Database):
    """F10: no transaction stays open behind any verb, so that the room of forgotten jobs is used again."""
    store, sizes = shared.open(), []
    for number in range(ROUNDS):
        pass_through(shared, store, number)
        with psycopg.connect(shared.url, autocommit=True) as session:
            session.execute("VACUUM routing_job")
        ((size,),) = shared.execute("SELECT pg_total_relation_size('routing_job')")
        sizes.append(size)
    open_ones = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL"

    assert max(sizes[2:]) <= sizes[1] * 1.1
    assert shared.execute(f"{open_ones} AND pid <> pg_backend_pid()") == [(0,)]


def test_a_log_that_a_long_reader_made_grow_is_cut_down(embedded: Database):
    """F10: while somebody reads in one long transaction, the log cannot be taken up; afterwards it is, and cut."""
    store = embedded.open()
    store.record([new_job(1)])
    log = embedded.path.with_name(f"{embedded.path.name}-wal")
    with closing(sqlite3.connect(embedded.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM routing_job").fetchone()
        for number in range(24):
            store.record([], unreadable=[unreadable(number, MIB)])
        grown = log.stat().st_size
    for number in range(24, 27):
        store.record([], unreadable=[unreadable(number, MIB)])

    assert grown > LOG_BYTES_MAX
    assert log.stat().st_size <= LOG_BYTES_MAX
    assert store.queue().quarantined == 27
