"""Verifying beside the routers: drift is told once, in few calls, and no fault of it reaches anybody."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from lead_router.app.looking import drifted
from lead_router.app.metrics import Metrics
from lead_router.loops.verifying import FIRST_S, Verifying
from lead_router.salesforce.books import SalesforceBooks
from support.tampering import erase, tamper
from support.worker_rig import Rig

EVERY_S = 3600.0


@pytest.fixture
def rig(tmp_path):
    made = Rig(tmp_path)
    yield made
    made.close()


def _verifying(rig, **more):
    return Verifying(
        SalesforceBooks(rig.rest_org.rest),
        rig.open(),
        now=rig.clock.now,
        monotonic=rig.clock.monotonic,
        every_s=EVERY_S,
        breaker=rig.breaker,
        **more,
    )


@pytest.fixture
def loop(rig):
    """Its first look is made, at ten leads."""
    rig.leads(10)
    rig.drain()
    made = _verifying(rig)
    assert not made.step()
    rig.clock.advance(FIRST_S)
    assert made.step()
    return made


def later(rig, loop):
    """What the next look tells."""
    assert not loop.step()
    rig.clock.advance(EVERY_S)
    with capture_logs() as lines:
        assert loop.step()
    return [(one["event"], one.get("kind"), one["group"], one.get("turn")) for one in lines]


def member_of(rig, turn):
    return next(row["Member__c"] for row in rig.ledger() if row["Turn__c"] == turn)


def test_what_routers_do_between_two_looks_is_no_drift(rig, loop):
    """New turns, a reset, a weight, a lead given back."""
    leads = rig.leads(7)
    rig.drain()
    assert later(rig, loop) == []
    rig.rest_org.update(rig.rest_org.refs["emea"], Epoch__c=2, Turn__c=0)
    rig.rest_org.update(rig.rest_org.refs["ann_emea"], Weight__c=9)
    rig.rest_org.update(leads[0], OwnerId=rig.rest_org.queue("Lead_Intake"))
    rig.upkeep().step()
    rig.leads(7)
    rig.drain()
    assert later(rig, loop) == []
    assert later(rig, loop) == []


def test_a_place_that_was_moved_by_a_single_unit_is_told_once(rig, loop):
    """No rule forbids it, and no row tells of it: the look before does. Put back, nothing is left to tell."""
    member = member_of(rig, 9)
    place = rig.rest_org.row(member)["Next_Turn__c"]
    rig.rest_org.update(member, Next_Turn__c=place - 1)
    assert later(rig, loop) == [("rotation_drifted", "next turn", "emea", 9)]
    assert later(rig, loop) == []
    rig.rest_org.update(member, Next_Turn__c=place)
    assert later(rig, loop) == [("rotation_put_right", None, "emea", None)]
    assert later(rig, loop) == []
    rig.rest_org.update(member, Next_Turn__c=place + 1)
    assert later(rig, loop) == [("rotation_drifted", "next turn", "emea", 9)]


def test_a_row_that_was_deleted_is_told_with_its_turn(rig, loop):
    """The sums show that one lacks, the rows which; the job that wrote it is known to have ended before."""
    erase(rig.org, next(row["Id"] for row in rig.ledger() if row["Turn__c"] == 4))
    assert later(rig, loop) == [("rotation_drifted", "rows missing", "emea", 4)]
    assert drifted(SalesforceBooks(rig.rest_org.rest), None) == (
        "group 'emea' is not as its ledger has it: `lead-router verify --group emea`",
    )


def test_status_stands_where_the_rows_cannot_be_counted(rig, loop):
    """A ledger of many millions may take longer than anybody waits for."""
    rig.rest_org.fault("drop_before")
    (told,) = drifted(SalesforceBooks(rig.rest_org.rest), None)
    assert told.startswith("rotations were not held against the ledger: ")


def test_a_lead_and_a_job_that_lost_their_row_are_told(rig, loop):
    """Of what was done since the look before: its end and its row are held against each other."""
    lead, other = rig.leads(2)
    rig.drain()
    erase(rig.org, next(row["Id"] for row in rig.ledger() if row["Lead__c"] == lead))
    tamper(rig.org, other, Routing_Group__c="apac")
    told = later(rig, loop)

    assert [one[1] for one in told] == ["rows missing", "job", "lead's group"]


def test_a_quiet_hour_costs_two_calls(rig, loop):
    """Groups, members and sums in one; rows made since in the other; whatever the size of the ledger."""
    assert drifted(SalesforceBooks(rig.rest_org.rest), None) == ()
    assert later(rig, loop) == []
    before = rig.rest_org.rest.usage().calls
    assert later(rig, loop) == []
    assert rig.rest_org.rest.usage().calls - before == 2


@pytest.mark.parametrize("fault", ["drop_before", "html_200"])
def test_an_org_that_does_not_answer_is_told_once_and_asked_again_with_growing_pauses(rig, loop, fault):
    """Nothing is raised, so no loop fails and nobody thinks the router ill."""
    rig.clock.advance(EVERY_S)
    with capture_logs() as lines:
        for pause_s in (FIRST_S, 2 * FIRST_S, 4 * FIRST_S):
            rig.rest_org.fault(fault)
            assert not loop.step()
            rig.clock.advance(pause_s)
    assert [line["event"] for line in lines if line["log_level"] == "warning"] == ["rotations_not_verified"]
    assert loop.step()


def test_while_the_breaker_is_open_nothing_is_asked(rig, loop):
    """An allowance that is used up is the leads'."""
    rig.clock.advance(EVERY_S)
    rig.breaker.trip(100.0, why="the day's calls are used up")
    before = rig.rest_org.rest.usage().calls
    assert not loop.step()
    assert rig.rest_org.rest.usage().calls == before


def test_monitoring_is_told_how_many_groups_have_drifted_until_they_are_put_right(rig):
    """An alarm that ended by itself while a rotation is still wrong would be forgotten."""
    rig.leads(10)
    rig.drain()
    metrics = Metrics()
    loop = _verifying(rig, meter=metrics)

    def drifted_groups():
        rig.clock.advance(EVERY_S)
        assert loop.step()
        return metrics.registry.get_sample_value("lead_router_drifted_groups")

    member = member_of(rig, 9)
    place = rig.rest_org.row(member)["Next_Turn__c"]
    before = (metrics.registry.get_sample_value("lead_router_drifted_groups"), drifted_groups())
    rig.rest_org.update(member, Next_Turn__c=place + 7_000_000)
    wrong = (drifted_groups(), drifted_groups())
    rig.rest_org.update(member, Next_Turn__c=place)
    right = drifted_groups()
    rig.rest_org.update(member, Next_Turn__c=place + 7_000_000)
    again = drifted_groups()
    loop.close()

    assert (before, wrong, right, again) == ((0, 0), (1, 1), 0, 1)


def test_a_look_without_sums_puts_nothing_right(rig, loop, monkeypatch):
    """What could not be judged stands as it was told."""
    member = member_of(rig, 9)
    rig.rest_org.update(member, Next_Turn__c=rig.rest_org.row(member)["Next_Turn__c"] - 1)
    assert later(rig, loop) == [("rotation_drifted", "next turn", "emea", 9)]
    seen = SalesforceBooks.look
    monkeypatch.setattr(SalesforceBooks, "look", lambda self, *, sums=False: replace(seen(self, sums=sums), sums=None))
    rig.clock.advance(EVERY_S)
    with capture_logs() as lines:
        assert loop.step()
    assert [one["event"] for one in lines] == ["rotations_not_summed"]
    monkeypatch.undo()
    assert later(rig, loop) == []
