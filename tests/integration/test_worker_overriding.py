"""What others do with a lead just given: shown, told in the log, and never fought."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from org_simulator.switches import Switches
from support.hearing import Life
from support.worker_rig import Rig


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """Two reps, and an administrator who changes owners."""
    made = Rig(tmp_path, switches=replace(request.param))
    yield made
    made.close()


def given_away(rig: Rig, life: Life, *, after_s: float) -> tuple[str, list[str]]:
    """A lead of Ann's that the administrator gives to Bob after so long; and the users told of in the log."""
    lead = rig.rest_org.lead()
    life.goes_on()
    rig.clock.advance(after_s - 60)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"])
    with capture_logs() as lines:
        life.goes_on()
        life.goes_on()
    told = [line["user"] for line in lines if line["event"] == "owner_overridden" and line["lead"] == lead]
    return lead, told


def test_an_owner_changed_by_others_is_shown_and_stays(rig: Rig):
    """B23, P61, P62: by which user and when, once; the router does not write the owner a second time."""
    life = Life(rig)
    lead, told = given_away(rig, life, after_s=300)
    seen = rig.lead(lead)

    assert (rig.owner(lead), rig.turns()) == ("Bob", [1])
    assert (seen["Routing_Overridden_By__c"], told) == (rig.org.admin_user_id, [rig.org.admin_user_id])
    assert seen["Routing_Overridden_At__c"] is not None
    assert rig.outcomes() == ["assigned", "overridden"]


def told_of(lines: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """What the log says of changed owners: event, level, user."""
    words = {"owner_overridden", "lead_returned"}
    return [(line["event"], line["log_level"], line["user"]) for line in lines if line["event"] in words]


def test_a_lead_that_others_put_back_is_told_of_and_decided_anew(rig: Rig):
    """B23, P61: another user sets the owner back to the queue: a new round by the rules, and no alarm in the log."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    with capture_logs() as lines:
        life.goes_on()

    assert told_of(lines) == [("lead_returned", "info", rig.org.admin_user_id)]
    assert (rig.owner(lead), rig.turns()) == ("Bob", [1, 2])
    assert rig.lead(lead)["Routing_Overridden_By__c"] is None


def test_a_lead_that_is_looked_at_again_and_again_is_told_of_once(rig: Rig):
    """It was put back and nobody may have it: each look is a read, and no further write or line."""
    rig.rest_org.update(rig.rest_org.refs["bob_emea"], Active__c=False)
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Off")
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    with capture_logs() as lines:
        life.goes_on()
        before = rig.lead(lead)["SystemModstamp"]
        for _ in range(3):
            life.goes_on()
            rig.drain(life.router)

    assert told_of(lines) == [("lead_returned", "info", rig.org.admin_user_id)]
    assert rig.lead(lead)["SystemModstamp"] == before


@pytest.mark.parametrize("to", ["bob", "Lead_Intake"])
def test_a_rep_who_hands_on_the_lead_overrides_nobody(rig: Rig, to: str):
    """D7: it is the rep's own to give away, or to give back."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    owner = rig.rest_org.refs.get(to) or rig.rest_org.queue(to)
    with capture_logs() as lines:
        with rig.org.transaction(rig.rest_org.refs["ann"], auto_assign=False) as opened:
            opened.update("Lead", lead, {"OwnerId": owner})
        life.goes_on()

    assert [event for event, _, _ in told_of(lines)] == (["lead_returned"] if to == "Lead_Intake" else [])
    assert (rig.owner(lead), rig.lead(lead)["Routing_Overridden_By__c"]) == ("Bob", None)


def test_a_later_change_of_owner_is_everyday_work(rig: Rig):
    """After ten minutes a lead that changes hands is nobody's override."""
    lead, told = given_away(rig, Life(rig), after_s=660)

    assert (rig.owner(lead), rig.lead(lead)["Routing_Overridden_By__c"], told) == ("Bob", None, [])


def test_a_lead_that_was_never_routed_makes_no_job(rig: Rig):
    """What people give to each other is none of the router's."""
    life = Life(rig)
    lead = rig.rest_org.lead(OwnerId=rig.rest_org.refs["ann"])
    life.goes_on()
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"])
    life.goes_on()

    assert rig.jobs() == []


def test_an_owner_given_back_by_others_is_no_override_any_more(rig: Rig):
    """Before the router looked, the lead was with its rep again."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    for owner in ("bob", "ann"):
        rig.rest_org.update(lead, OwnerId=rig.rest_org.refs[owner])
    life.goes_on()

    assert (rig.owner(lead), rig.lead(lead)["Routing_Overridden_By__c"]) == ("Ann", None)


def test_an_override_that_could_not_be_shown_is_shown_later(rig: Rig):
    """Salesforce was away: the job waits, and tells it then."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"])
    rig.rest_org.fault("unreachable", path="/composite", body="If-Unmodified-Since")
    life.goes_on()
    before = rig.lead(lead)["Routing_Overridden_By__c"]
    rig.clock.advance(600)
    rig.drain(life.router)

    assert (before, rig.lead(lead)["Routing_Overridden_By__c"]) == (None, rig.org.admin_user_id)
