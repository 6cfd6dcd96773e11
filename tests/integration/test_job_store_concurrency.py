"""Many workers on one queue: threads, processes, killed processes, lost connections, and the database's plans."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from lead_router.errors import Misconfigured, StoreUnavailable
from lead_router.jobs import SqlJobStore
from lead_router.jobs import statements as sql
from lead_router.jobs.postgres import PostgresEngine
from lead_router.ports import Bury, Done, Position, Recorded, Retry
from support.databases import CHANNEL, ORG, lead_id, new_job
from support.freezer import line
from support.store_workers import claim_and_hang, record_for_ever, started, work_off

postgres = pytest.mark.postgres


def engine_of(store):
    return store._engine


class TestThreads:
    def test_each_job_is_worked_once_and_in_order(self, database):
        """Six workers on eighty leads: no job twice, no two of a lead at a time, none out of order (C5, C8, D1)."""
        database.open().record([new_job(number, lead=number % 80) for number in range(480)])
        running, story, guard = Counter(), defaultdict(list), threading.Lock()

        def work(name):
            store = database.open()
            while jobs := store.claim(name, limit=9, lease_s=600):
                with guard:
                    running.update(job.lead_id for job in jobs)
                    assert max(running.values()) == 1
                    for job in jobs:
                        story[job.lead_id].append(job.id)
                        running[job.lead_id] -= 1
                endings = [(job, Done(name)) for job in jobs]
                assert len(store.end(endings)) == len(jobs)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, [f"w{number}" for number in range(6)]))
        # A worker stops when nothing is due for it, so the last jobs of a lead may be left to one that went on.
        work("last")
        assert sorted(job for jobs in story.values() for job in jobs) == list(range(1, 481))
        assert all(jobs == sorted(jobs) for jobs in story.values())

    def test_one_event_from_ten_threads_is_one_job(self, database):
        """One creates it, nine know it, none fails, and the position moves (C10)."""
        stores = [database.open() for _ in range(10)]
        together = threading.Barrier(10)

        def record(store):
            together.wait()
            return store.record([new_job(1)], position=Position(CHANNEL, b"9"))

        with ThreadPoolExecutor(10) as pool:
            answers = Counter(pool.map(record, stores))
        assert answers == {Recorded(created=1, known=0): 1, Recorded(created=0, known=1): 9}
        assert stores[0].position(CHANNEL) == Position(CHANNEL, b"9")

    def test_recorders_that_meet_crosswise_do_not_fail(self, database):
        """Two sweeps with the same leads in opposite order: every job once, no deadlock told to anyone."""
        batches = [[new_job(number) for number in range(300)]]
        batches.append(batches[0][::-1])
        stores = [database.open() for _ in range(6)]
        together = threading.Barrier(6)

        def record(number):
            together.wait()
            return stores[number].record(batches[number % 2])

        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(record, range(6)))
        assert sum(answer.created for answer in answers) == 300
        assert sum(answer.known for answer in answers) == 5 * 300

    def test_one_sweep_is_taken_by_one_router(self, database):
        """Of eight that ask at once, one gets it."""
        stores = [database.open() for _ in range(8)]
        together = threading.Barrier(8)

        def take(store):
            together.wait()
            return store.take_sweep(every_s=600)

        with ThreadPoolExecutor(8) as pool:
            answers = Counter(pool.map(take, stores))
        assert answers == {"first start": 1, None: 7}


class TestProcesses:
    def test_claims_beside_a_writer(self, database):
        """Four processes claim from one database while another writes: no lock error, each job once (C13)."""
        names = [(f"w{number}",) for number in range(4)]
        writer = database.open()
        with started(work_off, database.url, *names) as workers:
            for _, pipe in workers:
                assert pipe.recv() == "ready"
            for batch in range(60):
                writer.record([new_job(batch * 10 + number) for number in range(10)])
            for _, pipe in workers:
                pipe.send("stop")
            worked = [number for _, pipe in workers for number in pipe.recv()]
        assert sorted(worked) == list(range(1, 601))
        assert writer.queue().done == 600

    def test_a_killed_worker_loses_nothing(self, database):
        """After SIGKILL its claims end with their leases, and later events of the leads are kept (C2, C11, C22)."""
        store = database.open()
        store.record([new_job(number) for number in range(3)])
        with started(claim_and_hang, database.url, ()) as [(child, pipe)]:
            claimed = pipe.recv()
            os.kill(child.pid, signal.SIGKILL)
            child.join()
        assert store.record([new_job(9, lead=0)]) == Recorded(created=1, known=0)
        assert store.claim("heir", limit=10, lease_s=60) == []
        database.wait(120)
        assert [job.id for job in store.claim("heir", limit=10, lease_s=60)] == claimed

    def test_a_killed_recorder_leaves_position_and_jobs_in_step(self, database):
        """Whenever it dies, the stored position is that of the last job, and what was told is stored (A26, A28)."""
        store = database.open()
        for _ in range(3):
            with started(record_for_ever, database.url, ()) as [(child, pipe)]:
                told = 0
                while told < 25:
                    told = pipe.recv()
                os.kill(child.pid, signal.SIGKILL)
                child.join()
            jobs = store.queue().queued
            assert jobs >= told
            ((newest,),) = database.execute("SELECT replay_id FROM stream_position")
            assert int(bytes(newest)) <= jobs
        assert sorted(view.lead_id for view in store.jobs(limit=10_000)) == [lead_id(n + 1) for n in range(jobs)]


class TestEmbedded:
    def test_every_new_connection_has_its_settings(self, embedded):
        """WAL, full sync, waiting and foreign keys hold after a reconnect too (C14)."""
        engine = engine_of(embedded.open())
        for _ in range(2):
            pragmas = {
                name: engine.read([(f"PRAGMA {name}", {})])[0][0].popitem()[1]
                for name in ("journal_mode", "synchronous", "busy_timeout", "foreign_keys")
            }
            assert pragmas == {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 30_000, "foreign_keys": 1}
            engine.close()

    def test_a_full_disk_loses_nothing(self, embedded):
        """The recording fails whole, position included, and works again once there is room (A28)."""
        store = embedded.open()
        store.record([], position=Position(CHANNEL, b"7"))
        engine = engine_of(store)
        engine.read([("PRAGMA max_page_count = 1", {})])
        with pytest.raises(StoreUnavailable, match=r"LEAD_ROUTER_DATABASE.*full"):
            store.record([new_job(number, text="x" * 9000) for number in range(50)], position=Position(CHANNEL, b"8"))
        assert (store.position(CHANNEL), store.queue().queued) == (Position(CHANNEL, b"7"), 0)
        assert store.record([new_job(1, text="x" * 9000)]).created == 1

    def test_a_file_that_vanished_does_not_come_back_empty(self, embedded):
        """A queue that forgot everything would look healthy."""
        store = embedded.open()
        store.close()
        embedded.path.unlink()
        with pytest.raises(Misconfigured, match="moved, deleted or replaced"):
            store.queue()
        assert not embedded.path.exists()

    @pytest.mark.parametrize("other", ["none", "copy"])
    def test_a_file_that_lost_its_name_takes_no_more_jobs(self, embedded, other):
        """SQLite would go on in it, unseen by `status`, beside whoever opens the other; put back, all is well (F7)."""
        store = embedded.open()
        store.record([new_job(1)])
        aside = embedded.path.rename(embedded.path.with_name("aside.db"))
        if other == "copy":
            embedded.path.write_bytes(aside.read_bytes())
        for use in (store.queue, lambda: store.record([new_job(2)]), lambda: store.claim("w", limit=1, lease_s=60)):
            with pytest.raises(Misconfigured, match=r"LEAD_ROUTER_DATABASE.*moved, deleted or replaced"):
                use()
        aside.replace(embedded.path)
        assert [job.lead_id for job in store.claim("w", limit=9, lease_s=60)] == [new_job(1).lead_id]

    def test_a_writer_in_mid_transaction_is_waited_for(self, embedded):
        """A claim waits for the lock instead of failing at once, and its lease begins when it has it (C13)."""
        store = embedded.open()
        store.record([new_job(1)])
        other = sqlite3.connect(embedded.path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")

        def commit_later():
            embedded.wait(5)
            other.execute("COMMIT")

        began = embedded.now
        release = threading.Timer(0.3, commit_later)
        release.start()
        (job,) = store.claim("w", limit=1, lease_s=60)
        assert store.job(job.id).lease_until.timestamp() == pytest.approx(began + 65, abs=0.01)
        release.join()
        other.close()

    def test_the_file_is_its_owners_alone(self, embedded):
        """Jobs speak of people: nobody else on the machine may read them."""
        embedded.open().record([new_job(1)])
        modes = {path.name: path.stat().st_mode & 0o777 for path in embedded.path.parent.glob("jobs.db*")}
        assert set(modes.values()) == {0o600}
        assert len(modes) == 3

    def test_the_claim_path_reads_indexes(self, embedded):
        """No statement of a worker, an intake, or a sweep about discarded leads, scans the table."""
        store = embedded.open()
        store.record([new_job(number) for number in range(100)])
        for statement in INDEXED:
            plan = engine_of(store).write([(f"EXPLAIN QUERY PLAN {statement}", PARAMETERS)])[0]
            assert [row["detail"] for row in plan if row["detail"].startswith("SCAN routing_job")] == []
            assert any("SEARCH" in row["detail"] for row in plan)


@postgres
class TestShared:
    def test_a_lost_connection_fails_one_verb(self, shared):
        """The next one works again, on a new connection (C26, F7)."""
        store = shared.open()
        store.record([new_job(1)])
        shared.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name = 'lead-router' AND datname = current_database()"
        )
        with pytest.raises(StoreUnavailable, match=r"LEAD_ROUTER_DATABASE.*did not answer"):
            store.claim("w", limit=1, lease_s=60)
        assert [job.attempts for job in store.claim("w", limit=1, lease_s=60)] == [1]

    def test_a_server_that_holds_the_line_and_says_nothing_is_given_up(self, shared):
        """C26: a pool that hangs, a network that drops all: one verb fails in time, the next connects anew."""
        address = conninfo_to_dict(shared.url)
        shared.open().record([new_job(1)])
        with line(address["host"], int(address["port"])) as between:
            url = shared.url.replace(f":{address['port']}/", f":{between.port}/")
            store = SqlJobStore(PostgresEngine(url, answer_s=0.3), org_id=ORG)
            assert store.queue().queued == 1
            between.freeze()
            with pytest.raises(StoreUnavailable, match=r"LEAD_ROUTER_DATABASE.*did not answer.*no answer for 0.3 s"):
                store.claim("w", limit=1, lease_s=60)
            assert [job.attempts for job in store.claim("w", limit=1, lease_s=60)] == [1]
            store.close()
            assert between.connections == 2

    def test_a_database_that_is_down_is_asked_again(self, shared, postgres_server):
        """Every verb fails with one kind of error while it is down; what was recorded, and all before, is kept (F7)."""
        store = shared.open()
        store.record([new_job(1)])
        (job,) = store.claim("w", limit=1, lease_s=60)
        store.record([], position=Position(CHANNEL, b"1"))
        postgres_server.halt()
        try:
            for verb in (store.queue, lambda: store.end([(job, Done("x"))]), lambda: store.position(CHANNEL)):
                with pytest.raises(StoreUnavailable, match="check that it runs"):
                    verb()
        finally:
            postgres_server.start()
        assert store.end([(job, Done("assigned"))]) == {job.id}
        assert store.position(CHANNEL) == Position(CHANNEL, b"1")

    def test_claims_pass_over_rows_that_another_one_is_claiming(self, shared):
        """SKIP LOCKED: a slow claimer holds up nobody (C16)."""
        store = shared.open()
        store.record([new_job(1), new_job(2)])
        with psycopg.connect(shared.url) as slow:
            slow.execute("SELECT id FROM routing_job WHERE id = 1 FOR UPDATE")
            assert [job.id for job in store.claim("w", limit=10, lease_s=60)] == [2]

    def test_the_index_settles_a_claim_that_looked_too_early(self, shared):
        """A revived job and the one just being claimed: one works, the other waits, other leads go on (C4, C5)."""
        store = shared.open()
        store.record([new_job(1, lead=1)])
        store.end([(job, Bury("x")) for job in store.claim("w", limit=1, lease_s=60)])
        store.record([new_job(2, lead=1), new_job(3, lead=3)])
        with psycopg.connect(shared.url) as early, ThreadPoolExecutor(1) as pool:
            early.execute(
                "UPDATE routing_job SET status = 'working', attempts = 1, claim_token = 't', lease_until = 9e15"
                " WHERE id = 2"
            )
            store.revive(1)
            late = pool.submit(store.claim, "late", limit=10, lease_s=60)
            while not shared.execute("SELECT 1 FROM pg_locks WHERE NOT granted"):
                assert not late.done()
            early.commit()
            assert [job.id for job in late.result()] == [3]

    def test_a_foreign_lock_is_waited_for_in_bounds(self, shared):
        """A verb never hangs: after a while it is told to be unavailable, and nothing of it is kept."""
        shared.open()
        store = SqlJobStore(PostgresEngine(shared.url, lock_wait_s=0.2), org_id=ORG)
        store.record([new_job(1)])
        (job,) = store.claim("w", limit=1, lease_s=60)
        with psycopg.connect(shared.url) as other:
            other.execute("LOCK TABLE routing_job IN EXCLUSIVE MODE")
            with pytest.raises(StoreUnavailable, match="did not answer"):
                store.end([(job, Retry(0, "x"))])
        assert store.end([(job, Retry(0, "x"))]) == {job.id}
        store.close()

    def test_nothing_is_kept_in_the_session(self, shared):
        """A pool may give each transaction another connection: between two verbs the session may lose all (C16)."""
        store = shared.open()
        for number in range(12):
            store.record([new_job(number)])
            engine_of(store)._connection.execute("DISCARD ALL")
            (job,) = store.claim("w", limit=1, lease_s=60)
            engine_of(store)._connection.execute("DISCARD ALL")
            assert store.end([(job, Done("assigned"))]) == {job.id}

    def test_a_change_waits_for_a_job_that_is_being_put_back(self, shared):
        """Passed over, the lead would rest by what was read before the change."""
        store = shared.open()
        store.record([new_job(1)])
        store.claim("w", limit=1, lease_s=60)
        with psycopg.connect(shared.url) as back, ThreadPoolExecutor(1) as pool:
            back.execute(
                "UPDATE routing_job SET status = 'queued', attempts = 0, claim_token = NULL, lease_until = NULL,"
                " last_error = 'held: away', next_run_at = 9e15"
            )
            change = pool.submit(store.record, [], changed=[lead_id(1)])
            while not shared.execute("SELECT 1 FROM pg_locks WHERE NOT granted"):
                assert not change.done()
            back.commit()
            assert change.result(10).asked == 1
        assert len(store.claim("w", limit=1, lease_s=60)) == 1

    @pytest.mark.parametrize("analysed", [False, True])
    def test_the_claim_path_reads_indexes(self, shared, analysed):
        """Neither worker, intake nor sweep scans the table, with statistics or not, behind thousands of done jobs."""
        store = shared.open()
        shared.execute("ALTER TABLE routing_job SET (autovacuum_enabled = off)")
        for status, first, last in (("done", 1, 20_000), ("queued", 20_001, 23_000)):
            over = "1" if status == "done" else "NULL"
            shared.execute(
                "INSERT INTO routing_job (org_id, idempotency_key, lead_id, ordering_key, payload, status, attempts,"
                " max_attempts, next_run_at, created_at, completed_at, submission_key, submission_odd)"
                f" SELECT '{ORG}', n, n, n, '{{}}', '{status}', 0, 9, 1, 1, {over},"
                " 'e' || n, 'o' || n"
                f" FROM generate_series({first}, {last}) AS n"
            )
        store.claim("other", limit=200, lease_s=600)
        if analysed:
            shared.execute("ANALYZE routing_job")
        for statement in INDEXED:
            plan = "\n".join(
                row["QUERY PLAN"] for row in engine_of(store).write([(f"EXPLAIN {statement}", PARAMETERS)])[0]
            )
            assert "Seq Scan" not in plan, plan
            assert "Index" in plan


INDEXED = (sql.BURY_CRASHED, sql.CLAIM, sql.RENEW, sql.END, sql.SIBLINGS, sql.DISCARDS, sql.ASK_CHANGED)
PARAMETERS = {
    "org_id": ORG,
    "worker": "w",
    "lease_ms": 60_000,
    "limit": 200,
    "token": "t",
    "rows": '[{"id": 1, "token": "t", "verb": "done", "outcome": "assigned", "key": "e1", "lead_id": "1"}]',
    "fence": None,
    "fence_channel": None,
    "fence_holder": None,
}
