"""What the router inside leaves to the one outside: leads of matching records, heard of by either stream or found."""

from __future__ import annotations

from typing import Any

import pytest

from lead_router.salesforce.names import Channels
from org_simulator.switches import Switches
from support.both_routers import Both
from support.hearing import CHANNEL, intake

pytestmark = pytest.mark.apex

INSIDE = "In_CRM"


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def both(request, tmp_path):
    """Bob owns a contact, and the first rule gives leads to the owners of contacts."""
    made = Both(tmp_path, INSIDE, switches=request.param)
    made.say(Guard__c=True)
    made.rest_org.assign("Lead_Router_Matching")
    rule = {"Name": "Known", "Precedence__c": 1, "Active__c": True, "Target_Match__c": "Contact"}
    made.rest_org.insert("Routing_Rule__c", **rule, Match_On__c="Email")
    made.rest_org.insert("Contact", LastName="Known", Email="known@acme.example", OwnerId=made.rest_org.refs["bob"])
    yield made
    made.rig.close()


def shown(both: Both, lead_id: str) -> tuple[str, str | None]:
    return both.rig.owner(lead_id), both.rig.lead(lead_id)["Routing_Status__c"]


def outcomes(both: Both) -> list[tuple[str, str]]:
    return [(both.rig.owner(row["Lead__c"]), row["Outcome__c"]) for row in both.ledger()]


@pytest.mark.parametrize("channel", [CHANNEL, Channels.REQUESTS], ids=["change events", "requests"])
def test_a_lead_that_is_handed_over_is_routed_as_soon_as_either_stream_tells(both: Both, channel: str):
    """The router inside shows Queued and asks by an event; outside, that event or the change itself is enough."""
    listening = intake(both.rig, channel)
    [lead] = both.post({"Email": "known@acme.example"})
    assert (shown(both, lead), both.ledger()) == (("Lead_Intake", "Queued"), [])
    asked = both.rig.clock.now()
    assert listening.step()
    both.rig.drain(both.rig.worker())
    assert shown(both, lead) == ("Bob", "Assigned")
    assert outcomes(both) == [("Bob", "Matched")]
    assert (both.rig.clock.now() - asked).total_seconds() < 5
    both.work()
    assert outcomes(both) == [("Bob", "Matched")]
    listening.close()


def test_a_lead_that_no_stream_told_of_is_found_by_the_sweep(both: Both):
    """Queued stands on the lead, which is still the intake's."""
    [lead] = both.post({"Email": "known@acme.example"})
    upkeep = both.rig.upkeep(sweep_every_s=300.0)
    upkeep.step()
    both.rig.drain(both.rig.worker())
    assert shown(both, lead) == ("Bob", "Assigned")
    assert outcomes(both) == [("Bob", "Matched")]


def test_where_nothing_matches_the_lead_goes_on_outside_to_the_rule_below(both: Both):
    """The rule's own word for who is not known; the rotation moves once, and the leads of both routers share it."""
    listening = intake(both.rig)
    [lead] = both.post({"Email": "stranger@buyer.example"})
    listening.step()
    both.rig.drain(both.rig.worker())
    assert shown(both, lead) == ("Ann", "Assigned")
    assert [int(row["Turn__c"]) for row in both.ledger()] == [1]
    listening.close()


def test_the_sweep_inside_hands_it_over_again_and_gives_it_to_nobody(both: Both):
    """As often as it looks: another request, and no turn."""
    [lead] = both.post({"Email": "known@acme.example"})
    for _ in range(2):
        both.sweep()
    assert (shown(both, lead), both.ledger()) == (("Lead_Intake", "Queued"), [])


def watched(both: Both) -> dict[str, Any]:
    """Everything that a router may write, and everything that waits."""
    kinds = ("Lead_Assignment__c", "Round_Robin_Group__c", "Round_Robin_Member__c")
    requests = [one for one in both.org.events.since(0) if one.channel == Channels.REQUESTS]
    return {kind: [dict(row) for row in both.rest_org.rows(kind)] for kind in kinds} | {
        "requests": len(requests),
        "jobs": both.org.automation.waiting,
    }


@pytest.mark.parametrize("switches", [Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def test_a_group_that_observes_writes_nothing_inside_nor_outside(tmp_path, switches: Switches):
    """In the transaction, by the sweep inside, and by the router outside that hears of the same leads: the org is as it
    was, and what would have been done stands in the store outside alone.
    """
    both = Both(tmp_path, INSIDE, switches=switches)
    both.rest_org.update(both.rest_org.refs["emea"], Mode__c="Observe")
    listening = intake(both.rig)
    before = watched(both)
    leads = both.post(*({"Email": f"b{place}@buyer.example"} for place in range(3)))
    posted = [dict(both.rig.lead(lead)) for lead in leads]
    assert {(row["OwnerId"], row["Routing_Status__c"]) for row in posted} == {
        (both.rest_org.queue("Lead_Intake"), None)
    }
    both.sweep()
    listening.step()
    both.rig.drain(both.rig.worker())
    both.rig.clock.advance(901)
    both.rig.drain(both.rig.worker())
    assert watched(both) == before
    assert [dict(both.rig.lead(lead)) for lead in leads] == posted
    thought = {one.what.lead_id: one.what.owner_id for one in both.rig.store.observations(limit=10)}
    ann, bob = (both.rest_org.refs[name] for name in ("ann", "bob"))
    assert thought == dict(zip(leads, (ann, bob, ann), strict=True))
    listening.close()
    both.rig.close()


def test_a_group_that_observes_stands_between_no_other_group_and_its_leads(tmp_path):
    """In one save: the lead of the live group is routed inside, that of the observing one is left alone."""
    both = Both(tmp_path, INSIDE)
    org = both.rest_org
    org.update(org.refs["emea"], Mode__c="Observe")
    hot = org.insert("Round_Robin_Group__c", Name="Hot", Key__c="hot", Mode__c="Live")
    org.insert("Round_Robin_Member__c", Group__c=hot, User__c=org.refs["bob"])
    rule = {"Name": "Hot", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Rating = 'Hot'"}
    org.insert("Routing_Rule__c", **rule, Target_Group__c=hot)
    cold, warm = both.post({"Email": "a@buyer.example"}, {"Email": "b@buyer.example", "Rating": "Hot"})
    assert [shown(both, lead) for lead in (cold, warm)] == [("Lead_Intake", None), ("Bob", "Assigned")]
    assert [row["Lead__c"] for row in both.ledger()] == [warm]
    both.rig.close()
