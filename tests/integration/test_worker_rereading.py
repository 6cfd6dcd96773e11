"""An event is a pointer: what is routed is the lead as it stands when its job runs, once it can be seen."""

from __future__ import annotations

from typing import Any

import pytest

from lead_router.core.ids import to18
from lead_router.core.keys import create_key
from lead_router.ports import NewJob
from support.hearing import Life
from support.worker_rig import Rig


@pytest.fixture
def rig(tmp_path):
    """Leads of France are Bob's, leads without a country Cem's, all others the group's."""
    made = Rig(tmp_path)
    org = made.rest_org
    org.refs["cem"] = org.insert("User", Username="cem@sim.example", LastName="Cem")
    for place, (criteria, user) in enumerate((("Country = 'France'", "bob"), ("Country = NULL", "cem")), start=1):
        rule: dict[str, Any] = {"Name": user, "Precedence__c": place, "Active__c": True, "Criteria__c": criteria}
        org.insert("Routing_Rule__c", Target_User__c=org.refs[user], **rule)
    made.router = made.worker(name="after the change")
    yield made
    made.close()


def told_of(rig: Rig, lead: str) -> None:
    """The event of a creation, of a lead that cannot be read."""
    payload = {"event_at": rig.clock.now().isoformat()}
    rig.store.record([NewJob(create_key(rig.org.org_id, lead), lead, lead, payload)])


def test_the_second_of_two_quick_changes_is_seen_by_the_first_one_s_job(rig):
    """C25: both come within seconds, the second sets the country; one job routes the lead by what it is by then."""
    life = Life(rig)
    lead = rig.rest_org.lead(Country="Chile")
    life.intake.step()
    rig.rest_org.update(lead, Phone="+33 1 55 01 02 03")
    life.intake.step()
    rig.rest_org.update(lead, Country="France")
    while life.intake.step():
        pass
    rig.drain(life.router)

    assert rig.owner(lead) == "Bob"
    assert [row["Rule__c"] for row in rig.ledger()] == ["bob"]


@pytest.mark.parametrize(("cleared", "owner"), [(False, "Ann"), (True, "Cem")])
def test_what_an_event_leaves_out_has_not_become_empty(rig, cleared, owner):
    """A14: an update of the phone says nothing of the country, and one that clears it does."""
    life = Life(rig)
    lead = rig.rest_org.lead(Country="Germany", OwnerId=rig.rest_org.refs["bob"])
    life.goes_on()
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    rig.rest_org.update(lead, Phone="+49 30 55 01 02")
    if cleared:
        rig.rest_org.update(lead, Country=None)
    life.goes_on()

    assert rig.owner(lead) == owner


def test_a_lead_that_cannot_be_seen_yet_is_routed_when_it_can(rig):
    """E17: told of while its transaction is open: no attempt is used, nothing is given up, and then it is routed."""
    with rig.org.transaction(rig.org.admin_user_id, auto_assign=False) as slow:
        queue = rig.rest_org.queue("Lead_Intake")
        lead = slow.insert("Lead", {"LastName": "Late", "Company": "Acme", "Country": "France", "OwnerId": queue})
        told_of(rig, lead)
        rig.drain()
        early = rig.outcomes()
        rig.clock.advance(2)
    rig.clock.advance(10)
    rig.drain()

    assert (early, rig.outcomes(), rig.owner(lead)) == (["queued"], ["assigned"], "Bob")
    assert [job.attempts for job in rig.jobs()] == [1]


def test_a_lead_that_never_comes_into_sight_is_gone_after_a_minute(rig):
    """E17: bounded: asked again a few times, then its job ends without a dead letter."""
    lost = to18(f"{rig.rest_org.lead()[:12]}999")
    told_of(rig, lost)
    rig.drain()
    early = rig.outcomes()
    before = rig.calls()
    for _ in range(12):
        rig.clock.advance(10)
        rig.drain()

    assert (early, rig.outcomes()) == (["queued"], ["skipped: gone"])
    assert rig.calls() - before < 30
