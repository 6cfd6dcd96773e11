"""Statuses that were set back, and what people did to their leads before the router looked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.core.model import Switch
from lead_router.salesforce.configuration import Intake as IntakeSettings
from org_simulator.switches import Switches
from support.hearing import Life
from support.worker_rig import Rig


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """Two reps for all leads; the status of new leads asks for an owner."""
    made = Rig(tmp_path, switches=replace(request.param), intake=IntakeSettings(statuses=("Open - Not Contacted",)))
    yield made
    made.close()


def shown(rig: Rig, lead: str) -> tuple[str, str | None, str | None]:
    return (rig.owner(lead), *rig.shown(lead))


def on_duty(rig: Rig, *, active: bool) -> None:
    for name in ("ann", "bob"):
        rig.rest_org.update(rig.rest_org.refs[f"{name}_emea"], Active__c=active)


def test_where_nothing_takes_leads_back_no_job_is_made_for_who_is_given_one(rig: Rig):
    """Twenty minutes after its routing a change of owner is nobody's business."""
    org = rig.rest_org
    rig.intake = replace(rig.intake, rollout=replace(rig.intake.rollout, reroutes=Switch.OFF))
    rig.client = rig.connect()
    life = Life(rig)
    lead = org.lead(Status="Working - Contacted")
    life.goes_on()
    rig.clock.advance(3600)
    org.update(lead, OwnerId=org.refs["bob"])
    life.goes_on()

    assert len(rig.jobs()) == 1


def set_back(rig: Rig, lead: str) -> None:
    for status in ("Working - Contacted", "Open - Not Contacted"):
        rig.clock.advance(2)
        rig.rest_org.update(lead, Status=status)


@pytest.mark.parametrize("heard", ["together", "an hour later, while its job waits"])
def test_who_is_given_a_lead_after_its_status_was_set_back_keeps_it(rig: Rig, heard: str):
    """P62: whoever set it back wished another owner for it, and a person gave it one."""
    org = rig.rest_org
    life = Life(rig)
    lead = org.lead()
    life.goes_on()
    on_duty(rig, active=heard == "together")
    set_back(rig, lead)
    if heard != "together":
        life.goes_on()
        rig.clock.advance(3600)
    rig.clock.advance(2)
    org.update(lead, OwnerId=org.refs["bob"])
    life.goes_on()
    on_duty(rig, active=True)
    rig.open().ask_held()
    rig.drain(life.router)

    assert (rig.owner(lead), rig.turns()) == ("Bob", [1])
    assert {job.status for job in rig.jobs()} == {"done"}


@pytest.mark.parametrize("then", ["given to Bob", "set forward again"])
def test_a_dead_job_of_a_status_set_back_that_is_retried_asks_what_became_of_its_lead(rig: Rig, then: str):
    """C4, P62: a person gave the lead to somebody; or nothing is wanted any more, and it failed for nothing."""
    org = rig.rest_org
    life = Life(rig)
    lead = org.lead()
    life.goes_on()
    set_back(rig, lead)
    rig.forbid("ISCHANGED(OwnerId)", "no more")
    life.goes_on()
    rig.allow()
    meanwhile, (dead,) = shown(rig, lead), [job.id for job in rig.jobs() if job.status == "dead"]
    if then == "given to Bob":
        org.update(lead, OwnerId=org.refs["bob"])
    else:
        org.update(lead, Status="Working - Contacted")
    life.goes_on()
    rig.store.revive(dead)
    rig.drain(life.router)

    assert meanwhile[:2] == ("Ann", "Failed")
    assert shown(rig, lead) == (("Bob", None, None) if then == "given to Bob" else ("Ann", "Assigned", None))
    assert rig.turns() == [1]


@pytest.mark.parametrize("routed_after_s", [0.2, 1.2], ids=["in the same second", "in the next one"])
def test_a_status_that_a_flow_sets_before_a_lead_is_routed_is_no_wish_for_another_owner(
    rig: Rig, routed_after_s: float
):
    """D7: rows tell their time to the second, events to the millisecond: one round, however it looks."""
    life = Life(rig)
    lead = rig.rest_org.lead(Status="Working - Contacted")
    rig.clock.advance(0.2)
    rig.rest_org.update(lead, Status="Open - Not Contacted")
    rig.clock.advance(routed_after_s)
    while life.intake.step():
        rig.drain(life.router)

    assert rig.turns() == [1]


def test_who_was_given_a_lead_keeps_it_though_it_was_deleted_and_undeleted_since(rig: Rig):
    """P59, P62: where its row in the ledger has lost the lookup, it tells by its key all the same whose it is."""
    org, life = rig.rest_org, Life(rig)
    lead = org.lead(Email="ada@lovelace.example")
    life.goes_on()
    set_back(rig, lead)
    rig.clock.advance(2)
    org.update(lead, OwnerId=org.refs["bob"])
    with org.org.transaction(org.org.admin_user_id, auto_assign=False) as opened:
        opened.delete("Lead", lead)
    with org.org.transaction(org.org.admin_user_id, auto_assign=False) as opened:
        opened.undelete("Lead", lead)
    life.goes_on()

    assert (rig.owner(lead), rig.turns()) == ("Bob", [1])
