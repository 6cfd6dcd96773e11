"""From a simulated org's stream, over a real socket, into a real job database."""

from __future__ import annotations

import random
import sqlite3
from datetime import UTC, datetime
from functools import partial

import pytest

from lead_router.errors import StoreUnavailable
from lead_router.jobs import open_store
from lead_router.loops.current import Current
from lead_router.loops.intake import Intake
from lead_router.salesforce.auth import Login, TokenHolder
from lead_router.salesforce.changes import own_change
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.configuration import Intake as IntakeSettings
from lead_router.salesforce.gateway import SalesforceOrg
from lead_router.salesforce.rest import Rest
from lead_router.salesforce.wire import open_session
from support.simulator import lead, simulator

CHANNEL = "/data/LeadChangeEvent"
STEPS_MAX = 40


class Listening:
    """An intake on a simulated org in a process of its own; `step` goes on until `enough` holds."""

    def __init__(self, org, path):
        self.org = org
        self.path = path
        session = open_session(org.url)
        login = Login(org.url, org.ready["client_id"], "simulator")
        now = partial(datetime.now, UTC)
        tokens = TokenHolder(login, session, now=now, sleep=lambda _: None, dice=random.Random(1))
        client = SalesforceOrg(Rest(tokens, session), IntakeSettings(), now=now)
        self.store = open_store(f"sqlite:///{path}", org_id=org.ready["org_id"])
        self.woken = []
        self.source = CometdSource(
            channel=CHANNEL,
            token=tokens.token,
            load_position=lambda: self.store.position(CHANNEL),
            dice=random.Random(1),
        )
        self.intake = Intake(
            self.source,
            self.store,
            Current(client.configuration()),
            channel=CHANNEL,
            org_id=org.ready["org_id"],
            own=partial(own_change, user_id=tokens.token().user_id),
            wait_s=0.25,
            wake=lambda: self.woken.append("workers"),
            wake_upkeep=lambda: self.woken.append("upkeep"),
        )

    def until(self, enough):
        for _ in range(STEPS_MAX):
            self.intake.step()
            if enough():
                return
        raise AssertionError(f"after {STEPS_MAX} steps: {self.store.queue()}")

    def subscribed(self):
        self.until(lambda: self.source.state() == "subscribed")


@pytest.fixture
def listening(tmp_path):
    """An org, and an intake that is subscribed to it."""
    with simulator() as org:
        made = Listening(org, tmp_path / "jobs.db")
        made.subscribed()
        yield made
        made.intake.close()


def _create(org, **fields):
    queue = org.client().query("SELECT Id FROM Group WHERE Type = 'Queue' AND DeveloperName = 'Lead_Intake'")[0]["Id"]
    session = org.client()
    session.session.headers["Sforce-Auto-Assign"] = "FALSE"
    return session.create("Lead", **lead(OwnerId=queue, **fields))


def test_a_created_lead_becomes_one_job_with_the_position_beside_it(listening):
    """A28: the job and the replay position are in the database together."""
    made = _create(listening.org)
    listening.until(lambda: listening.store.queue().queued == 1)
    (job,) = listening.store.jobs()

    assert (job.lead_id, job.idempotency_key) == (made, f"{listening.org.ready['org_id']}.{made}.create")
    assert listening.store.position(CHANNEL) is not None


def test_a_database_that_refuses_loses_no_event(listening):
    """A28: what could not be stored comes again, once, when the database is back."""
    database = sqlite3.connect(listening.path, isolation_level=None)
    database.execute("CREATE TRIGGER full BEFORE INSERT ON routing_job BEGIN SELECT RAISE(ABORT, 'disk full'); END")
    _create(listening.org)
    with pytest.raises(StoreUnavailable):
        listening.until(lambda: False)
    position = listening.store.position(CHANNEL)
    database.execute("DROP TRIGGER full")
    database.close()
    listening.until(lambda: listening.store.queue().queued == 1)

    assert len(listening.store.jobs()) == 1
    assert listening.store.position(CHANNEL) != position


def test_an_overflow_asks_for_a_sweep_and_makes_no_job(listening):
    """A25, P43: an event without ids is a gap; the sweep fills it."""
    assert listening.store.take_sweep(every_s=3600) is not None
    listening.org.control("stream", {"do": "overflow", "sobject": "Lead"})
    listening.until(lambda: listening.store.queue().sweep_requested is not None)

    assert listening.store.jobs() == []
    assert listening.woken == ["upkeep"]


def test_a_job_wakes_those_who_route(listening):
    """And nobody else: what else is to be done can wait for its own time."""
    _create(listening.org)
    listening.until(lambda: listening.store.queue().queued == 1)

    assert listening.woken == ["workers"]
