"""A lead that has an owner and was left to a wave: whichever router comes, it is routed anew or Queued no longer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.core.model import ALL_LIVE, Switch
from lead_router.salesforce.configuration import Intake as IntakeSettings
from lead_router.salesforce.names import Channels
from org_simulator.switches import Switches
from support.both_routers import Both
from support.hearing import intake

pytestmark = pytest.mark.apex

INSIDE = "In_CRM"
NEW = "Open - Not Contacted"


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def both(request, tmp_path):
    """Ann and Bob for all leads, in a group that re-routes; Cem for hot ones. The intake has a status, too."""
    made = Both(tmp_path, INSIDE, switches=request.param, intake=IntakeSettings(statuses=(NEW,)))
    made.say(Guard__c=True, Max_Leads__c=4, Intake_Statuses__c=NEW)
    org = made.rest_org
    org.update(org.refs["emea"], Reroute__c="Reroute")
    hot = org.insert("Round_Robin_Group__c", Name="Hot", Key__c="hot", Mode__c="Live")
    user = org.insert("User", LastName="Cem", Username="cem@sim.example")
    org.insert("Round_Robin_Member__c", Group__c=hot, User__c=user)
    rule = {"Name": "Hot", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Rating = 'Hot'"}
    org.insert("Routing_Rule__c", **rule, Target_Group__c=hot)
    yield made
    made.rig.close()


def left_to_a_wave(both: Both) -> list[str]:
    """Five leads of Ann's and Bob's, changed in one save of too many: the first is hot, the second's status is new."""
    plain = {"Status": "Working - Contacted"}
    leads = both.post(*({"Email": f"b{place}@buyer.example"} | plain for place in range(4)))
    leads += both.post({"Email": "b4@buyer.example"} | plain)
    both.work()
    both.rig.clock.advance(60)
    changes = ({"Rating": "Hot"}, {"Status": NEW}, {"Title": "A"}, {"Title": "B"}, {"Title": "C"})
    both.patch_all(*({"id": lead} | change for lead, change in zip(leads, changes, strict=True)))
    assert [told(both, lead) for lead in leads] == [
        ("Ann", "Queued", None),
        ("Bob", "Queued", "its status was set back"),
        ("Ann", "Queued", None),
        ("Bob", "Queued", None),
        ("Ann", "Queued", None),
    ]
    return leads


def told(both: Both, lead_id: str) -> tuple[str, str | None, str | None]:
    row = both.rig.lead(lead_id)
    return both.rig.owner(lead_id), row["Routing_Status__c"], row["Routing_Error__c"]


def settled(both: Both, leads: list[str]) -> bool:
    """The hot one is Cem's, the one set back the other rep's, and each of the rest where it was; all once."""
    owners = ("Cem", "Ann", "Ann", "Bob", "Ann")
    assert [told(both, lead) for lead in leads] == [(owner, "Assigned", None) for owner in owners]
    rounds = [(row["Lead__c"], int(row["Round__c"])) for row in both.ledger()]
    first = [(lead, 1) for lead in leads]
    return sorted(rounds) == sorted([*first, (leads[0], 2), (leads[1], 2)])


def test_the_wave_inside_routes_anew_what_wants_it_and_clears_the_rest(both: Both):
    """By the job that the save itself started; a sweep, and the router outside that hears of it all, add nothing."""
    leads = left_to_a_wave(both)
    listening = intake(both.rig)
    both.work()
    assert settled(both, leads)
    both.sweep()
    while listening.step():
        both.rig.drain(both.rig.worker())
    assert settled(both, leads)
    listening.close()


def test_where_that_job_is_lost_the_scheduled_sweep_finds_them(both: Both):
    """What waits stands on the leads."""
    leads = left_to_a_wave(both)
    both.say(Mode__c="Off")
    both.work()
    assert told(both, leads[0]) == ("Ann", "Queued", None)
    both.say(Mode__c=INSIDE)
    both.sweep()
    assert settled(both, leads)


def test_the_router_outside_that_hears_of_the_changes_does_the_same(both: Both):
    """Its own reading of the changes routes two; what it was not told of, its sweep clears."""
    listening = intake(both.rig)
    leads = left_to_a_wave(both)
    both.say(Mode__c="Off")
    while listening.step():
        both.rig.drain(both.rig.worker())
    assert (told(both, leads[0])[0], told(both, leads[1])[0]) == ("Cem", "Ann")
    both.rig.upkeep().step()
    both.rig.drain(both.rig.worker())
    assert settled(both, leads)
    listening.close()


@pytest.mark.parametrize("found_by", ["sweep", "request"])
def test_the_router_outside_that_heard_of_nothing_does_the_same(both: Both, found_by: str):
    """Its sweep finds them, or the waves ask for them: the lead itself says why it was left."""
    leads = left_to_a_wave(both)
    listening = intake(both.rig, Channels.REQUESTS)
    if found_by == "sweep":
        both.say(Mode__c="Off")
        both.rig.upkeep().step()
    else:
        both.say(Mode__c="Event")
        both.work()
        listening.step()
    both.rig.drain(both.rig.worker())
    assert settled(both, leads)
    jobs = len(both.rig.jobs())
    both.rig.clock.advance(301)
    both.rig.upkeep().step()
    assert (jobs, len(both.rig.jobs())) == (5, 5)
    listening.close()


def test_a_lead_that_refuses_to_be_cleared_is_asked_again(both: Both):
    """An admin's rule stands in the way for a minute: the job waits as long."""
    leads = left_to_a_wave(both)
    both.say(Mode__c="Off")
    both.rig.upkeep().step()
    both.rig.forbid('Title = "A"', "Local: not now")
    both.rig.drain(both.rig.worker())
    assert [told(both, lead)[1] for lead in leads] == ["Assigned", "Assigned", "Queued", "Assigned", "Assigned"]
    both.rig.allow()
    both.rig.clock.advance(61)
    both.rig.drain(both.rig.worker())
    assert settled(both, leads)


def test_while_re_routing_is_switched_off_outside_what_wants_it_keeps_its_job(both: Both):
    """Nothing is written to the two that want another owner; once re-routing is live, they get one."""
    leads = left_to_a_wave(both)
    both.say(Mode__c="Off")
    both.rig.upkeep().step()
    live = both.rig.intake
    both.rig.intake = replace(live, rollout=replace(ALL_LIVE, reroutes=Switch.OFF))
    both.rig.drain(both.rig.worker(both.rig.connect()))
    assert [told(both, lead)[1] for lead in leads] == ["Queued", "Queued", "Assigned", "Assigned", "Assigned"]
    both.rig.clock.advance(901)
    both.rig.drain(both.rig.worker())
    assert settled(both, leads)


@pytest.mark.parametrize("clause", ["Title = 'A' OR", "No_Such_Field__c = 1"])
def test_a_definition_of_unassigned_that_cannot_be_used_is_told_on_the_leads(both: Both, clause: str):
    """Nobody is given out by half a definition. Once it is mended, a sweep gives out the lead that meets it, and the
    one that it leaves out shows nothing.
    """
    both.say(Unassigned_Clause__c=clause)
    meets, left_out = both.post({"Title": "A"}, {"Title": "B"})
    for lead in (meets, left_out):
        owner, status, text = told(both, lead)
        assert (owner, status) == ("Lead_Intake", "Queued")
        assert text is not None
        assert text.startswith("the Unassigned Clause of the settings: ")
    both.say(Unassigned_Clause__c="Title = 'A'")
    both.sweep()
    assert told(both, meets) == ("Ann", "Assigned", None)
    assert told(both, left_out) == ("Lead_Intake", None, None)


def test_a_fault_takes_no_lead_from_its_owner(both: Both):
    """Ann's lead comes to match another group and cannot be given on: it shows Failed, and is still Ann's. One that has
    no owner is for the fallback owner.
    """
    both.say(Fallback_Owner__c="Default_Assigned")
    [lead] = both.post({"Email": "b@buyer.example", "Status": "Working - Contacted"})
    both.rig.forbid("ISCHANGED(Routing_Round__c)", "Local: not now")
    both.rig.clock.advance(60)
    both.patch(lead, Rating="Hot")
    text = "FIELD_CUSTOM_VALIDATION_EXCEPTION: Local: not now"
    assert told(both, lead) == ("Ann", "Failed", text)
    [other] = both.post({"Email": "other@buyer.example"})
    assert told(both, other) == ("Default_Assigned", "Failed", text)
