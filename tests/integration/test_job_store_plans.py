"""What a claim reads: the jobs that it takes, however many are done, wait, or share a key."""

from __future__ import annotations

import json

import pytest

from lead_router.jobs import statements as sql
from support.databases import ORG, Database

PER_KEY, KEYS, DONE = 20, 500, 10_000
LIMIT = 50
PAGES_PER_JOB_MAX = 60  # some 30 are read and written for each job that is taken
CLAIM = {"org_id": ORG, "worker": "w", "lease_ms": 60_000, "limit": LIMIT, "token": "t"}


def fill(database: Database) -> None:
    """Many done jobs, and keys with several jobs each."""
    first = "INSERT INTO routing_job (org_id, idempotency_key, lead_id, ordering_key, payload, status, attempts,"
    first += " max_attempts, next_run_at, created_at, completed_at)"
    for status, start, count, keys, over in (
        ("done", 0, DONE, DONE, "1"),
        ("queued", DONE, PER_KEY * KEYS, KEYS, "NULL"),
    ):
        rows = (
            f"SELECT '{ORG}', CAST(n AS TEXT), CAST(n % {keys} AS TEXT), CAST(n % {keys} AS TEXT), '{{}}', '{status}'"
        )
        numbers = (
            f"WITH RECURSIVE s(n) AS (SELECT {start} UNION ALL SELECT n + 1 FROM s WHERE n < {start + count - 1})"
            if database.embedded
            else f"WITH s AS (SELECT generate_series({start}, {start + count - 1}) AS n)"
        )
        database.execute(f"{first} {numbers} {rows}, 0, 9, 1, 1, {over} FROM s")


def plan(database: Database) -> list[str]:
    """The embedded database's way to claim, step by step."""
    engine = database.engine()
    rows = engine.write([(f"EXPLAIN QUERY PLAN {sql.CLAIM}", CLAIM)])[0]
    engine.close()
    return [str(row["detail"]) for row in rows]


def pages(database: Database) -> float:
    """Pages that the server touches for each job of a claim."""
    engine = database.engine()
    (row,) = engine.write([(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql.CLAIM}", CLAIM)])[0]
    engine.close()
    found = row["QUERY PLAN"]
    (told,) = json.loads(found) if isinstance(found, str) else found
    assert told["Plan"]["Actual Rows"] == LIMIT
    return (told["Plan"]["Shared Hit Blocks"] + told["Plan"]["Shared Read Blocks"]) / LIMIT


@pytest.mark.parametrize("index", [None, "routing_job_due", "routing_job_head"])
def test_an_embedded_claim_goes_by_its_two_indexes(embedded: Database, index):
    """Due order by one, the head of each key by the other, sorting nothing; without either it shows."""
    embedded.open()
    fill(embedded)
    if index:
        embedded.execute(f"DROP INDEX {index}")
    steps = plan(embedded)
    due = [
        step for step in steps if step.startswith("SEARCH j USING INDEX routing_job_due (org_id=? AND next_run_at<?)")
    ]
    head = [
        step for step in steps if step.startswith("SEARCH o USING INDEX routing_job_head (org_id=? AND ordering_key=?)")
    ]
    odd = [step for step in steps if step.startswith(("SCAN routing_job", "SCAN j", "SCAN o", "USE TEMP"))]

    assert ((len(due), len(head), odd) == (1, 1, [])) is (index is None)


@pytest.mark.postgres
@pytest.mark.parametrize("analysed", [False, True], ids=["without statistics", "with statistics"])
@pytest.mark.parametrize("index", [None, "routing_job_due", "routing_job_head"])
def test_a_shared_claim_reads_what_it_takes(shared: Database, index, analysed):
    """Whatever the server knows of the table; without one of the two indexes a claim reads thousands of pages."""
    shared.open()
    shared.execute("ALTER TABLE routing_job SET (autovacuum_enabled = off)")
    fill(shared)
    if index:
        shared.execute(f"DROP INDEX {index}")
    if analysed:
        shared.execute("ANALYZE routing_job")

    assert (pages(shared) <= PAGES_PER_JOB_MAX) is (index is None)


@pytest.mark.parametrize("analysed", [False, True], ids=["without statistics", "with statistics"])
def test_who_gave_a_lead_is_read_by_its_own_index(database: Database, *, analysed: bool):
    """Leads that others change by the thousand are asked about, and thousands of jobs are done."""
    database.open()
    fill(database)
    if analysed:
        database.execute("ANALYZE routing_job")
    explain = "EXPLAIN QUERY PLAN" if database.embedded else "EXPLAIN"
    engine = database.engine()
    rows = engine.write([(f"{explain} {sql.BY_HAND}", {"org_id": ORG, "rows": '[{"lead_id": "1"}]'})])[0]
    engine.close()

    assert "routing_job_by_hand" in str([dict(row) for row in rows])
