"""What a stream does not bring any more, and what it brings twice or late: every lead has its one job all the same."""

from __future__ import annotations

import contextlib
import sqlite3
import threading

import pytest
from structlog.testing import capture_logs

from lead_router.errors import StoreUnavailable
from support.cometd_rig import CHANNEL, Tokens
from support.fault_cometd import CONNECT, HANDSHAKE, FaultServer
from support.lead_events import created
from support.served import served
from support.streaming import Hearer
from support.worker_rig import Rig

DAY_S = 86_400.0


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("start", [-2, -1])
def test_leads_of_an_outage_longer_than_the_retention_are_swept_for(rig, start):
    """A2, A4: the position expired while the router was away: whatever is retained comes, the rest is found by a sweep.

    So it is where a channel without a position would start with new events only.
    """
    with served(rig.org) as url:
        first = Hearer(rig, url, default_start=start)
        first.subscribed()
        first.store.take_sweep(every_s=1e9)
        rig.rest_org.lead()
        first.heard(1)
        first.close()
        missed = [rig.rest_org.lead() for _ in range(3)]
        rig.clock.advance(3.5 * DAY_S)
        retained = rig.rest_org.lead()
        with capture_logs() as logs:
            again = Hearer(rig, url, default_start=start)
            again.heard(2)
        reason = again.store.queue().sweep_requested
        again.close()
    rig.upkeep(sweep_every_s=1e9).step()
    rig.drain()

    events = [line["event"] for line in logs]
    assert (events.count("stream_position_expired"), "stream_lost" in events) == (1, False)
    assert reason is not None
    assert reason.startswith("replay id")
    assert [job.lead_id for job in rig.jobs()][1:] == [retained, *missed]
    assert (rig.turns(), rig.store.queue().sweep_requested) == ([1, 2, 3, 4, 5], None)


def test_an_event_of_three_leads_is_three_jobs_or_none(rig):
    """A26: the database refuses the third job and the router dies; the next one hears the event again, whole."""
    with served(rig.org) as url:
        first = Hearer(rig, url)
        first.subscribed()
        leads = [rig.rest_org.lead(OwnerId=rig.rest_org.refs["ann"]) for _ in range(3)]
        first.until(first.settled)
        before = first.store.position(CHANNEL)
        database = sqlite3.connect(rig.path / "jobs.db", isolation_level=None)
        database.execute(
            "CREATE TRIGGER full BEFORE INSERT ON routing_job WHEN (SELECT count(*) FROM routing_job) = 2"
            " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        queue = rig.rest_org.queue("Lead_Intake")
        with rig.org.transaction(rig.org.admin_user_id, auto_assign=False) as opened:
            for lead in leads:
                opened.update("Lead", lead, {"OwnerId": queue})
        with pytest.raises(StoreUnavailable, match="disk full"):
            first.until(lambda: False)
        refused = (rig.jobs(), first.store.position(CHANNEL))
        first.close()
        database.execute("DROP TRIGGER full")
        database.close()
        again = Hearer(rig, url)
        again.heard(3)
        again.close()
    (event,) = rig.org.events.since(rig.org.events.position(int(before.replay_id)))

    assert event.payload["ChangeEventHeader"]["recordIds"] == leads
    assert refused == ([], before)
    assert [job.lead_id for job in rig.jobs()] == leads
    assert len({job.idempotency_key for job in rig.jobs()}) == 3
    assert all(job.lead_id in job.idempotency_key for job in rig.jobs())


def test_an_overflow_is_one_sweep_that_finds_all(rig):
    """A25: no job for the zero id; the sweep is asked for once, and an event behind it is heard as ever."""
    with served(rig.org) as url:
        hearer = Hearer(rig, url)
        hearer.subscribed()
        hearer.store.take_sweep(every_s=1e9)
        queue = rig.rest_org.queue("Lead_Intake")
        rig.org.events.faults.arm("overflow")
        with rig.org.transaction(rig.org.admin_user_id, auto_assign=False) as opened:
            many = [opened.insert("Lead", {"LastName": "Many", "Company": "Acme", "OwnerId": queue}) for _ in range(5)]
        one = rig.rest_org.lead()
        hearer.heard(1)
        asked = hearer.store.queue().sweep_requested
        hearer.close()
    upkeep = rig.upkeep(sweep_every_s=1e9)
    swept = [upkeep.step(), upkeep.step()]

    assert (asked is not None, swept) == (True, [True, False])
    assert [job.lead_id for job in rig.jobs()] == [one, *many]


def test_work_that_hangs_delays_no_connect(rig):
    """A20: a hundred events in one answer, and the worker hangs in the first: the stream is asked on, and stored on."""
    hung, done = threading.Event(), threading.Event()

    def hang() -> None:
        hung.set()
        assert done.wait(30)

    leads = [rig.rest_org.lead() for _ in range(101)]
    told = [
        created(n, recordIds=[lead]) | {"OwnerId": rig.rest_org.queue("Lead_Intake")} for n, lead in enumerate(leads)
    ]
    server = FaultServer()
    with contextlib.closing(server):
        hearer = Hearer(rig, server.url, Tokens(server.url))
        hearer.subscribed()
        with server.changed:
            for event in told[:100]:
                server.publish(event)
        hearer.until(lambda: len(rig.jobs()) == 100)
        rig.client.after_read.append(hang)
        working = threading.Thread(target=rig.router.step)
        working.start()
        assert hung.wait(30)
        connects = server.count(CONNECT)
        hearer.until(lambda: server.count(CONNECT) >= connects + 3)
        server.publish(told[100])
        hearer.until(lambda: len(rig.jobs()) == 101)
        at_work = (working.is_alive(), rig.store.queue().done)
        done.set()
        working.join(30)
        hearer.close()
    rig.drain()

    assert at_work == (True, 0)
    assert (server.count(HANDSHAKE), len(server.starts())) == (1, 1)
    assert rig.turns() == list(range(1, 102))
