"""The line before the router inside: who holds it, who does not, and that the jobs it starts come to an end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from org_simulator.apex import automation
from org_simulator.apex.session import Session
from support.both_routers import Both

pytestmark = pytest.mark.apex

JOBS_MAX = 12
"""More than any chain of these stories needs."""


class Alerted(Both):
    """Knows the subjects of the mails that jobs sent."""

    def __init__(self, path: Path, mode: str) -> None:
        super().__init__(path, mode)
        self.alerts: list[str] = []


@pytest.fixture
def both(tmp_path, monkeypatch):
    """Ann and Bob for all leads; a job too many is refused, as a chain without end would run for ever."""
    made = Alerted(tmp_path, "In_CRM")
    count = 0
    perform = automation.jobs.perform

    def counted(job, begin) -> None:
        nonlocal count
        count += 1
        assert count <= JOBS_MAX, "the jobs do not end"

        def watched(piece):
            sessions: list[Session] = []
            found = begin(lambda session: sessions.append(session) or piece(session))
            made.alerts += [mail["Subject"] for session in sessions for mail in session.mails]
            return found

        perform(job, watched)

    monkeypatch.setattr(automation.jobs, "perform", counted)
    yield made
    made.rig.close()


def told(both: Both, *lead_ids: str) -> list[tuple[str, str | None]]:
    return [(both.rig.owner(lead), both.rig.lead(lead)["Routing_Status__c"]) for lead in lead_ids]


def off_group(both: Both, **fields: str) -> str:
    """Leads of Austria come to a group that is off."""
    org = both.rest_org
    group = org.insert("Round_Robin_Group__c", Name="Alps", Key__c="alps", Mode__c="Off", **fields)
    rule = {"Name": "Alps", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Country = 'AT'"}
    org.insert("Routing_Rule__c", **rule, Target_Group__c=group)
    return group


def of_a_group_that_is_off(both: Both) -> str:
    off_group(both, Fallback_Group__c=both.rest_org.refs["emea"])
    [lead] = both.post({"Country": "AT"})
    return lead


def routed_too_often(both: Both) -> str:
    [lead] = both.post({"Email": "often@buyer.example"})
    for _ in range(4):
        both.rig.clock.advance(60)
        both.patch(lead, OwnerId=both.rest_org.queue("Lead_Intake"))
    user = both.rest_org.insert("User", LastName="Cem", Username="cem@sim.example")
    both.rest_org.insert("Round_Robin_Member__c", Group__c=both.rest_org.refs["emea"], User__c=user, Sort_Order__c=0)
    return lead


def second_of_a_submission(both: Both) -> str:
    rule = {"Name": "Queue", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Country = 'CH'"}
    both.rest_org.insert("Routing_Rule__c", **rule, Target_Queue__c="Default_Assigned")
    both.post({"Email": "twice@buyer.example", "Country": "CH"})
    [lead] = both.post({"Email": "twice@buyer.example"})
    return lead


@pytest.mark.parametrize("scene", [of_a_group_that_is_off, routed_too_often, second_of_a_submission])
def test_a_held_lead_that_waits_for_no_member_holds_nobody_up(both: Both, scene: Callable[[Both], str]):
    """A newer lead has its owner within its own save, though each wave is of one lead, and starts no job."""
    both.say(Wave_Size__c=1)
    older = scene(both)
    assert told(both, older) == [("Lead_Intake", "Held")]
    both.rig.clock.advance(60)
    [newer] = both.post({"Email": "newer@buyer.example"})
    assert told(both, newer)[0][1] == "Assigned"
    both.work()
    assert told(both, older) == [("Lead_Intake", "Held")]


def test_leads_held_for_a_group_that_is_off_hide_none_that_waits_for_members(both: Both):
    """Sixty older ones leave the one that matters seen: it has its owner before a newer one, by one chain of jobs."""
    off_group(both)
    members = [both.rest_org.refs[name] for name in ("ann_emea", "bob_emea")]
    for member in members:
        both.rest_org.update(member, Active__c=False)
    both.post(*({"Country": "AT", "Email": f"at{place}@buyer.example"} for place in range(60)))
    both.rig.clock.advance(5)
    [older] = both.post({"Email": "older@buyer.example"})
    for member in members:
        both.rest_org.update(member, Active__c=True)
    both.rig.clock.advance(60)
    [newer] = both.post({"Email": "newer@buyer.example"})
    assert told(both, older, newer) == [("Lead_Intake", "Held")] * 2
    both.work()
    assert told(both, older, newer) == [("Ann", "Assigned"), ("Bob", "Assigned")]


@pytest.mark.parametrize("size", [1, 2])
def test_held_leads_that_were_saved_at_once_do_not_wait_for_each_other(both: Both, size: int):
    """P68: though each wave asks some of them and sees the others held, all have their owners by one sweep, in turn."""
    both.say(Wave_Size__c=size)
    members = [both.rest_org.refs[name] for name in ("ann_emea", "bob_emea")]
    for member in members:
        both.rest_org.update(member, Active__c=False)
    leads = both.post(*({"Email": f"b{place}@buyer.example"} for place in range(5)))
    for member in members:
        both.rest_org.update(member, Active__c=True)
    both.sweep()
    assert told(both, *leads) == [(name, "Assigned") for name in ("Ann", "Bob", "Ann", "Bob", "Ann")]


@pytest.mark.parametrize("size", [1, 200])
def test_a_held_lead_that_refuses_every_save_holds_up_nobody_whose_chain_asked_it(both: Alerted, size: int):
    """P68: a newer lead waits behind it until jobs of its own save have asked the older one, in the same wave
    or in one before; the sweep's chain tells an admin of it, once, and gives it to the next in turn when it may be.
    """
    both.say(Wave_Size__c=size, Alert_Address__c="admin@lead-router.example")
    for member in ("ann_emea", "bob_emea"):
        both.rest_org.update(both.rest_org.refs[member], Active__c=False)
    [older] = both.post({"Email": "older@buyer.example", "Title": "Old"})
    for member in ("ann_emea", "bob_emea"):
        both.rest_org.update(both.rest_org.refs[member], Active__c=True)
    both.rig.forbid('Title = "Old"', "Local: not now")
    both.rig.clock.advance(60)
    [newer] = both.post({"Email": "newer@buyer.example"})
    assert told(both, older, newer) == [("Lead_Intake", "Held")] * 2
    both.work()
    assert told(both, older, newer) == [("Lead_Intake", "Held"), ("Ann", "Assigned")]
    assert both.rest_org.row(older)["Routing_Error__c"].startswith("group 'emea': nobody can take it")
    assert both.alerts == []
    both.sweep()
    assert both.alerts == ["Lead routing: leads refuse every save"]
    both.rig.allow()
    both.sweep()
    assert told(both, older, newer) == [("Bob", "Assigned"), ("Ann", "Assigned")]


def test_a_held_lead_that_cannot_be_given_out_but_marked_holds_nobody_up(both: Both):
    """It shows Failed and why; a newer lead of the same wave has its owner by that very wave."""
    for member in ("ann_emea", "bob_emea"):
        both.rest_org.update(both.rest_org.refs[member], Active__c=False)
    older, newer = both.post({"Email": "older@buyer.example", "Title": "Old"}, {"Email": "newer@buyer.example"})
    for member in ("ann_emea", "bob_emea"):
        both.rest_org.update(both.rest_org.refs[member], Active__c=True)
    both.rig.forbid('Title = "Old" && ISPICKVAL(Routing_Status__c, "Assigned")', "Local: not now")
    both.sweep()
    assert told(both, older, newer) == [("Lead_Intake", "Failed"), ("Ann", "Assigned")]
