"""Leads that the router's user cannot see for a while, as a share or a right of theirs was taken, are not forgotten."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from lead_router.ports import Done
from support.databases import new_job
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


@contextmanager
def hidden(rig, *leads):
    """No query shows these leads to anybody; nothing of them changes by that."""
    table = rig.org.store.tables["lead"]
    rows = {lead: table.rows[lead] for lead in leads}
    for lead in rows:
        table.put(lead, None)
    yield
    for lead, row in rows.items():
        table.put(lead, row)


def test_leads_out_of_sight_while_their_jobs_wait_are_routed_when_they_are_seen_again(rig: Rig):
    """A sweep found them, a share was taken away until their jobs had given up, and given back: each once, in turn."""
    leads = [rig.rest_org.lead() for _ in range(5)]
    upkeep = rig.upkeep()
    upkeep.step()
    rig.clock.advance(120)
    with hidden(rig, *leads):
        rig.drain()
        ended = set(rig.outcomes())
    for _ in range(3):
        rig.clock.advance(301)
        upkeep.step()
        rig.drain()

    assert ended == {"skipped: gone"}
    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob", "Ann", "Bob", "Ann"]
    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3, 4, 5], ["assigned"] * 5)


def test_only_what_was_out_of_sight_is_asked_anew(database):
    """A job that ended otherwise stays ended, one that is open keeps its place, and no other key is touched."""
    store = database.open()
    jobs = [new_job(number) for number in range(1, 7)]
    store.record(jobs)
    ends = ["skipped: gone", "assigned", "skipped: deleted", "skipped: already owned", "skipped: gone"]
    store.end([(job, Done(end)) for job, end in zip(store.claim("w", limit=5, lease_s=60), ends, strict=True)])

    assert store.reopen([job.idempotency_key for job in jobs[:4]]) == 2
    assert store.reopen([job.idempotency_key for job in jobs[:4]]) == store.reopen([]) == 0
    told = [job.outcome or job.status for job in reversed(store.jobs())]
    assert told == ["queued", "assigned", "queued", "skipped: already owned", "skipped: gone", "queued"]
    assert [job.attempts for job in store.claim("w", limit=5, lease_s=60)] == [1, 1, 1]
