"""The CometD source against the simulated org's stream, on which every test of the whole router stands."""

from __future__ import annotations

import random
from functools import partial
from types import SimpleNamespace

import pytest

from lead_router.salesforce.cometd import CometdSource
from org_simulator.clock import SystemClock
from support.cometd_rig import CHANNEL, QUICK
from support.lead_events import lead_id
from support.served import served
from support.shelf import Shelf, fill
from support.stream_org import INTEGRATION, StreamOrg


@pytest.fixture
def org():
    return StreamOrg(clock=SystemClock())


@pytest.fixture
def shelf():
    return Shelf()


@pytest.fixture
def source(org, shelf):
    given = [org.sessions.issue(INTEGRATION)]

    def token(refused):
        if refused == given[-1]:
            given.append(org.sessions.issue(INTEGRATION))
        return SimpleNamespace(access_token=given[-1], instance_url=url)

    with served(org) as url:
        source = CometdSource(
            channel=CHANNEL, token=token, load_position=shelf.load, dice=random.Random(1), limits=QUICK
        )
        yield source
        source.close()


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
