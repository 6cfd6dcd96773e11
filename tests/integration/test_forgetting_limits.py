"""Forgetting is done in portions: no call takes more rows than it was asked to, whatever plan the database makes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from lead_router.jobs import SqlJobStore, open_store
from lead_router.ports import Done, Observation, Touched, TouchMark, Unreadable, Wanted
from lead_router.ports.notices import NewNotice, NoticeKind
from support.databases import CHANNEL, ORG, Database, lead_id, new_job

ROWS, LIMIT = 12, 3
AT = datetime(2026, 11, 29, 20, 0, tzinfo=UTC)
NO_HELP = "%20".join(f"-c%20enable_{what}%3Doff" for what in ("hashagg", "hashjoin", "mergejoin", "sort", "material"))
"""Of the ways to ask for a list once, none is left: what stands within a condition is asked for by each row."""

FORGETS: dict[str, Callable[[SqlJobStore], int]] = {
    "routing_job": lambda store: store.forget(older_than_s=60, limit=LIMIT),
    "observation": lambda store: store.forget_observations(older_than_s=60, limit=LIMIT),
    "quarantine": lambda store: store.forget_unreadable(older_than_s=60, keep=100, limit=LIMIT),
    "enrichment": lambda store: store.forget_enrichments(older_than_s=60, limit=LIMIT),
    "notice": lambda store: store.forget_notices(older_than_s=60, limit=LIMIT),
    "touch_mark": lambda store: store.forget_touches(older_than_s=60, limit=LIMIT),
}


def _filled(database: Database) -> None:
    """Rows of every kind, all over and old."""
    store = database.open(channels=lambda _notice: ("team",))
    numbers = range(ROWS)
    store.record(
        [new_job(number) for number in numbers],
        wanted=Wanted("asked", delay_s=5.0),
        unreadable=[Unreadable(CHANNEL, str(number).encode(), "no kind") for number in numbers],
    )
    database.wait(6)
    jobs = store.claim("w", limit=ROWS, lease_s=60)
    store.observe([Observation(job.idempotency_key, job.lead_id, "g1", "emea", None, "nobody", AT) for job in jobs], {})
    store.end([(job, Done("assigned")) for job in jobs])
    store.notify([NewNotice(f"key.{one}", NoticeKind.ASSIGNED, lead_id(one), f"u{one}", 1, "r") for one in numbers])
    store.mark_touches([TouchMark(lead_id(one), 1, Touched.REMINDED, "g1", "u1", AT) for one in numbers])
    database.wait(1_000)


@pytest.mark.parametrize("table", FORGETS)
def test_no_more_is_forgotten_at_once_than_was_asked(database: Database, table: str):
    """F10: those who wait to write wait for so many rows and no more, also where a plan asks anew for each row."""
    _filled(database)
    url = database.url
    if not database.embedded:
        url += ("&" if "?" in url else "?") + f"options={NO_HELP}"
    store = open_store(url, org_id=ORG, clock=lambda: database.now)

    assert FORGETS[table](store) == LIMIT
    assert database.execute(f"SELECT count(*) FROM {table}") == [(ROWS - LIMIT,)]
    store.close()
