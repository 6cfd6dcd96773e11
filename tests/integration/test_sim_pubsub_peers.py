"""A Pub/Sub API client that is not ours, unmodified, against the simulated org: it must find what it knows."""

from __future__ import annotations

import json
import subprocess

import pytest

from org_simulator.clock import SystemClock
from org_simulator.schema import default_metadata, load
from org_simulator.wire import tls
from support.lead_events import lead_id
from support.peers import PEERS, node
from support.pubsub_served import pubsub_served
from support.stream_org import INTEGRATION, LEAD, ORG_ID, REQUESTED, StreamOrg

pytestmark = pytest.mark.peer

PATIENCE_S = 30.0


@pytest.fixture
def org():
    return StreamOrg(clock=SystemClock(), schema=load(default_metadata()))


@pytest.fixture
def endpoint(org, tmp_path):
    with pubsub_served(org, tls=tls.ensure(tmp_path / "tls", "localhost")) as made:
        yield made


def facts(org, endpoint, topic, replay, count, *more):
    """What the client printed until it had heard `count` events."""
    told = [endpoint.address, org.sessions.issue(INTEGRATION), ORG_ID, topic, str(replay), str(count), *more]
    ran = subprocess.run(
        [node(), str(PEERS / "listen_pubsub.js"), *told],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_it_decodes_leads_and_their_bitmaps(org, endpoint):
    """A13: it names what changed and was cleared, of the lead and of its compounds, and resumes from an id."""
    before = {"LastName": "Doe", "FirstName": "Jo", "Company": "Acme", "Phone": "1", "City": "Rome", "Country": "IT"}
    after = {**before, "FirstName": "Joe", "Phone": None, "Country": None, "NumberOfEmployees": 12}
    org.commit(org.change(lead_id(1), **before))
    org.commit(org.change(lead_id(1), "UPDATE", before=before, after=after))
    created, updated = [fact["event"] for fact in facts(org, endpoint, LEAD, "earliest", 2)]
    assert created["payload"]["ChangeEventHeader"]["recordIds"] == [lead_id(1)]
    assert (created["payload"]["Name"]["LastName"], created["payload"]["Company"]) == ("Doe", "Acme")
    head = updated["payload"]["ChangeEventHeader"]
    assert (head["changeType"], head["entityName"]) == ("UPDATE", "Lead")
    changed = {"Name.FirstName", "Phone", "Address.Country", "NumberOfEmployees", "LastModifiedDate"}
    assert set(head["changedFields"]) == changed
    assert set(head["nulledFields"]) == {"Phone", "Address.Country"}
    assert (updated["payload"]["NumberOfEmployees"], updated["payload"]["Phone"]) == (12, None)
    (again,) = facts(org, endpoint, LEAD, created["replayId"], 1)
    assert again["event"] == updated


def test_it_publishes_a_request_and_hears_it(org, endpoint):
    """A platform event of its own comes back as it was sent."""
    sent = {"CreatedDate": 1_700_000_000_000, "CreatedById": INTEGRATION, "Lead_Id__c": {"string": lead_id(7)}}
    told = facts(org, endpoint, f"/event/{REQUESTED}", "earliest", 1, json.dumps(sent))
    (event,) = [fact["event"] for fact in told if "event" in fact]
    assert event["payload"]["Lead_Id__c"] == lead_id(7)
    assert event["id"]
