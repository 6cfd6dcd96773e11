"""What every event source promises, whichever protocol it speaks, against the simulated org's stream."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

import pytest

from lead_router.ports import Delivery, EventSource
from lead_router.salesforce.cometd import CometdSource
from lead_router.salesforce.pubsub import PubSubSource
from lead_router.salesforce.pubsub_call import PubSubLimits
from org_simulator.clock import SystemClock
from support.cometd_rig import CHANNEL, QUICK
from support.lead_events import lead_id
from support.pubsub_served import pubsub_served
from support.served import served
from support.shelf import Shelf, fill, fill_for
from support.stream_org import INTEGRATION, ORG_ID, StreamOrg


@pytest.fixture
def org():
    return StreamOrg(clock=SystemClock())


@pytest.fixture
def shelf():
    return Shelf()


@dataclass
class Line:
    """One protocol's way to the org: how to open a source on it, and the sources that were opened."""

    name: str
    open: Callable[[], EventSource]
    sources: list[EventSource] = field(default_factory=list)

    def source(self):
        """A source as a process would make it."""
        self.sources.append(self.open())
        return self.sources[-1]


@pytest.fixture(params=["cometd", "pubsub"])
def line(request, org, shelf):
    given = [org.sessions.issue(INTEGRATION)]

    def token(refused):
        if refused == given[-1]:
            given.append(org.sessions.issue(INTEGRATION))
        return SimpleNamespace(access_token=given[-1], instance_url=url[0])

    url = ["http://localhost"]
    usual = {"token": token, "load_position": shelf.load, "limits": QUICK}
    with ExitStack() as stack:
        if request.param == "cometd":
            url[0] = stack.enter_context(served(org))
            line = Line("cometd", lambda: CometdSource(channel=CHANNEL, dice=random.Random(1), **usual))
        else:
            address = f"http://{stack.enter_context(pubsub_served(org)).address}"
            call = PubSubLimits(request_s=2, idle_s=2, acknowledged_s=0.05)
            fixed = {"topic": CHANNEL, "tenant": ORG_ID, "endpoint": address, "call_limits": call}
            line = Line("pubsub", lambda: PubSubSource(dice=random.Random(1), **fixed, **usual))
        yield line
        for source in line.sources:
            source.close()


@pytest.fixture
def source(line):
    return line.source()


def create(org, count):
    """Commit the next leads, each in a transaction of its own; answers the ids of all so far."""
    for number in range(org.commits + 1, org.commits + count + 1):
        org.commit(org.change(lead_id(number), LastName=f"Doe {number}"))
    return {lead_id(number) for number in range(1, org.commits + 1)}


def has(shelf, ids):
    return leads(shelf) == ids


def leads(shelf):
    return {change.record_id for change in shelf.kept.values()}


def test_leads_created_before_and_after_the_subscription(org, shelf, source):
    """Every committed lead is one change, its names flat, its origin as committed."""
    ids = create(org, 20)
    fill(shelf, source, lambda: leads(shelf) == ids)
    ids = create(org, 20)
    fill(shelf, source, lambda: leads(shelf) == ids)
    change = next(iter(shelf.kept.values()))
    assert (change.change_type, change.fields["LastName"]) == ("CREATE", "Doe 1")
    assert change.origin == "com/salesforce/api/rest/68.0"
    assert len(shelf.brought) == 40


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ("cut", ""),
        ("http", "503"),
        ("http", "401"),
        ("busy", ""),
        ("drop_session", ""),
        ("disconnect", ""),
        ("lose_answer", ""),
        ("duplicate", ""),
        ("rewind", "3"),
        ("refuse_handshake", "401::Authentication invalid"),
    ],
)
def test_no_fault_of_the_stream_loses_or_doubles_a_lead(fault, text, org, shelf, source):
    """Each lead is kept once, whatever happens on the way (A1, A7, A19)."""
    for _ in range(3):
        ids = create(org, 5)
        fill(shelf, source, partial(has, shelf, ids))
        org.log.faults.arm(fault, text=text)
        if fault in {"refuse_handshake", "rewind"}:
            org.log.drop_sessions()
    assert len(shelf.kept) == 15


def test_a_revoked_token_and_an_expired_position(org, shelf, source):
    """A2, A5: new token, and everything retained after a gap."""
    ids = create(org, 3)
    fill(shelf, source, lambda: shelf.position is not None and leads(shelf) == ids)
    org.sessions.revoke_all()
    ids = create(org, 3)
    fill(shelf, source, lambda: leads(shelf) == ids)
    org.log.renumber()
    ids = create(org, 3)
    fill(shelf, source, lambda: leads(shelf) == ids)


def test_gap_and_overflow_events(org, shelf, source):
    """A25: a gap event names its lead, an overflow asks for a sweep."""
    ids = create(org, 2)
    fill(shelf, source, lambda: leads(shelf) == ids)
    org.log.gap("Lead", sorted(ids))
    org.log.overflow("Lead")
    fill(shelf, source, lambda: bool(shelf.gaps))
    kinds = [change.change_type for delivery in shelf.deliveries for change in delivery.changes]
    assert kinds == ["CREATE", "CREATE", "GAP_UPDATE", "GAP_UPDATE"]


def test_nothing_overtakes_a_delivery_that_is_not_stored(org, line, shelf):
    """A28: what the store does not take comes again, and to the next process too."""
    ids = create(org, 3)
    source = line.source()
    first = next(brought for brought in iter(lambda: source.poll(1), None) if brought != Delivery())
    ids = create(org, 3)
    assert source.poll(0.05) is first
    source.close()
    again = line.source()
    fill(shelf, again, lambda: leads(shelf) == ids)
    assert shelf.brought == shelf.identities


def test_a_restart_resumes_behind_what_is_stored(org, line, shelf):
    """A28: each lead once, over five processes."""
    for _ in range(5):
        source = line.source()
        ids = create(org, 4)
        fill(shelf, source, partial(has, shelf, ids))
        fill_for(shelf, source, 0.2)
        source.close()
    assert len(set(shelf.brought)) == 20


def test_an_update_says_what_changed_and_what_was_cleared(org, shelf, source):
    """A14: untouched fields are absent, cleared ones are null, parts of compounds stand flat."""
    before = {"LastName": "Doe", "FirstName": "Jo", "Phone": "1", "Country": "DE"}
    org.commit(org.change(lead_id(1), **before))
    org.commit(org.change(lead_id(1), "UPDATE", before=before, after={**before, "FirstName": "Joe", "Country": None}))
    fill(shelf, source, lambda: len(shelf.kept) == 2)
    update = list(shelf.kept.values())[1]
    assert update.fields == {"FirstName": "Joe", "Country": None}
    assert {"FirstName", "Country"} <= update.changed_fields


def test_many_events_come_in_order_and_are_never_asked_for_beyond_the_limit(org, line, shelf):
    """Three hundred in one go, each once, in the order of their commits."""
    create(org, 300)
    fill(shelf, line.source(), lambda: len(shelf.kept) == 300)
    assert [change.record_id for change in shelf.kept.values()] == [lead_id(number) for number in range(1, 301)]
    assert len(shelf.brought) == 300
