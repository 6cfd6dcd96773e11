"""The chronicle of jobs, on either engine: each job once, page by page, in the order asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from lead_router.ports import Done
from support.databases import Database, new_job


@pytest.fixture
def store(database: Database):
    return database.open()


def pages(read, first):
    """Numbers, page by page; `read` takes the last job of the page before."""
    found = []
    page = read(first)
    while page:
        found.append([job.id for job in page])
        page = read(page[-1])
    return found


def test_jobs_are_read_in_the_order_of_their_numbers(store):
    """Whatever their status; other orgs' are not seen."""
    store.record([new_job(number) for number in range(5)])
    store.end([(job, Done("assigned")) for job in store.claim("w", limit=2, lease_s=60)])
    numbers = [job.id for job in store.jobs_after(0, limit=10)]

    assert numbers == sorted(numbers)
    assert pages(lambda last: store.jobs_after(last.id if last else 0, limit=2), None) == [
        numbers[:2],
        numbers[2:4],
        numbers[4:],
    ]


def test_done_jobs_are_read_in_the_order_of_their_ends(store, database):
    """Two that ended at the same time are told apart by their numbers, and none is told twice."""
    store.record([new_job(number) for number in range(4)])
    first, *rest = store.claim("w", limit=4, lease_s=60)
    store.end([(job, Done("assigned")) for job in rest[:2]])
    database.wait(5)
    store.end([(first, Done("assigned"))])
    begun = datetime.fromtimestamp(0, UTC)

    def read(last):
        at, number = (begun, 0) if last is None else (last.completed_at, last.id)
        return store.done_after(at, number, limit=1)

    assert pages(read, None) == [[rest[0].id], [rest[1].id], [first.id]]
    last = read(None)[0].completed_at
    assert store.done_after(last + timedelta(hours=1), 0, limit=5) == []
