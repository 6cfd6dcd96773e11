"""What a job costs in a database that keeps so many finished ones, and how large its tables and indexes are."""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg

from benchmarks.queues_ways import ORG, new_job, works
from lead_router.jobs import CLAIM_MAX, SqlJobStore, open_store
from lead_router.ports import Done
from support.postgres import serving

LEASE_S = 60.0
_COLUMNS = (
    "org_id, idempotency_key, submission_key, submission_odd, lead_id, ordering_key, payload, status, attempts,"
    " max_attempts, next_run_at, created_at, completed_at, outcome"
)
_PAYLOAD = (
    '{"change_type": "CREATE", "identity": "0003f2c8-0000-4d5e-9a7b-000000000000.1",'
    ' "event_at": "2026-03-04T12:00:00.123000+00:00", "cause": "created", "unassigned_under": "00G000000000001AAA"}'
)
_ROWS = """
    SELECT '{org}', '{org}.' || lead || '.create', digest || '0', digest || '1', lead, lead, '{payload}', 'done', 1,
           12, 1700000000000 + n, 1700000000000 + n, 1700000000500 + n, 'assigned'
    FROM numbered
"""
_NUMBERED = {
    "SQLite": """
        WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count}), numbered AS (
            SELECT n, printf('00X%012dAAA', n) AS lead, printf('%063x', n * 2654435761) AS digest FROM numbers
        )
    """,
    "PostgreSQL": """
        WITH numbered AS (
            SELECT n, '00X' || lpad(n::text, 12, '0') || 'AAA' AS lead, md5(n::text) || md5('b' || n) AS digest
            FROM generate_series(1, {count}::bigint) AS n
        )
    """,
}
_SETTLED = {"SQLite": ("ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"), "PostgreSQL": ("VACUUM ANALYZE",)}
ENGINES = tuple(_NUMBERED)


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds for each job, medians over the turns; bytes of the table, and of each of its indexes."""

    engine: str
    rows: int
    record: float
    claim: float
    end: float
    table: int
    indexes: dict[str, int]


def costs(engine: str, stocks: Sequence[int], turns: int) -> list[Cost]:
    """The stocks take turns, so that who else uses the machine hinders them alike."""
    with ExitStack() as opened:
        urls = opened.enter_context(_databases(engine))
        stores = {rows: opened.enter_context(_filled(engine, next(urls), rows)) for rows in stocks}
        took: dict[tuple[int, str], list[float]] = defaultdict(list)
        jobs = [new_job(job) for job in works(CLAIM_MAX * (turns + 1), CLAIM_MAX * (turns + 1))]
        for turn in range(turns + 1):  # the first one warms up
            for rows, (_, store) in stores.items():
                seen = _turn(store, jobs[turn * CLAIM_MAX : (turn + 1) * CLAIM_MAX])
                for verb, seconds in seen.items() if turn else ():
                    took[rows, verb].append(seconds * 1e6 / CLAIM_MAX)
        found = []
        for rows, (url, _) in stores.items():
            table, indexes = _sizes(url)
            verbs = (statistics.median(took[rows, verb]) for verb in ("record", "claim", "end"))
            found.append(Cost(engine, rows, *verbs, table, indexes))
        return found


def _turn(store: SqlJobStore, jobs: Sequence) -> dict[str, float]:
    clock = time.perf_counter
    start = clock()
    store.record(jobs)
    recorded = clock()
    claimed = store.claim("worker", limit=CLAIM_MAX, lease_s=LEASE_S)
    taken = clock()
    ended = store.end([(job, Done("assigned")) for job in claimed])
    if len(ended) != len(jobs):
        raise RuntimeError(f"{len(jobs)} jobs were handed in, {len(ended)} ended")
    return {"record": recorded - start, "claim": taken - recorded, "end": clock() - taken}


@contextmanager
def _databases(engine: str) -> Iterator[Iterator[str]]:
    """Addresses of empty databases, as many as are asked for."""
    if engine == "PostgreSQL":
        with serving() as server:
            yield iter(server.new_database, "")
    else:
        with TemporaryDirectory(prefix="lead-router-stock-") as folder:
            yield (f"sqlite:///{folder}/{number}.db" for number in range(99))


@contextmanager
def _filled(engine: str, url: str, rows: int) -> Iterator[tuple[str, SqlJobStore]]:
    with closing(open_store(url, org_id=ORG)) as store:
        if rows:
            source = _NUMBERED[engine].format(count=rows) + _ROWS.format(org=ORG, payload=_PAYLOAD)
            with _session(url) as execute:
                execute(f"INSERT INTO routing_job ({_COLUMNS}) {source}")
                for text in _SETTLED[engine]:
                    execute(text)
        yield url, store


def _sizes(url: str) -> tuple[int, dict[str, int]]:
    """Bytes of the table and of its indexes; none of the indexes where SQLite was built without `dbstat`."""
    with _session(url) as execute:
        if url.startswith("sqlite"):
            with suppress(sqlite3.OperationalError):
                found = dict(
                    execute("SELECT name, sum(pgsize) FROM dbstat WHERE name LIKE 'routing_job%' GROUP BY name")
                )
                return found.pop("routing_job"), found
            return Path(url.removeprefix("sqlite:///")).stat().st_size, {}
        ((table,),) = execute("SELECT pg_relation_size('routing_job')")
        names = "SELECT indexrelid::regclass::text, pg_relation_size(indexrelid) FROM pg_index"
        return table, dict(execute(f"{names} WHERE indrelid = 'routing_job'::regclass"))


@contextmanager
def _session(url: str) -> Iterator[Callable[[str], list]]:
    """A look past the store."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as file:
            yield lambda sql: file.execute(sql).fetchall()
    else:
        with psycopg.connect(url, autocommit=True) as session:

            def execute(sql: str) -> list:
                cursor = session.execute(sql)
                return cursor.fetchall() if cursor.description else []

            yield execute
