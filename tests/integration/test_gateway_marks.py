"""The condition on which a lead shows something: that nobody changed it since it was read."""

from __future__ import annotations

import pytest

from lead_router.core.model import Status
from lead_router.ports import LeadMoved, Mark, Overridden, Refusal
from org_simulator.switches import Switches
from support.rest_org import START, RestOrg


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def org(request):
    return RestOrg(request.param)


def test_a_lead_that_was_changed_keeps_what_it_shows_and_the_others_are_marked(org):
    """B16: by whomever, a second or more after it bears its time; each is written by itself, and who is not is told."""
    ids = [org.lead(f"{name}@example.org") for name in ("still", "moved", "deleted", "still_too")]
    leads = org.client.leads(org.client.configuration(), ids)
    org.clock.advance(1)
    org.update(ids[1], Routing_Status__c="Assigned")
    org.delete(ids[2])
    faults = org.client.mark([Mark(leads[one], Status.HELD, "nobody") for one in ids])

    assert faults.keys() == {ids[1], ids[2]}
    assert faults[ids[1]] == LeadMoved(ids[1])
    assert isinstance(faults[ids[2]], Refusal)
    assert [org.row(one)["Routing_Status__c"] for one in (ids[0], ids[1], ids[3])] == ["Held", "Assigned", "Held"]


def test_so_it_is_with_who_overrode_an_owner(org):
    lead = org.lead()
    seen = org.client.leads(org.client.configuration(), [lead])[lead]
    org.clock.advance(1)
    org.update(lead, Company="Edited")
    fact = Overridden(seen, org.org.admin_user_id, START)

    assert org.client.mark([fact]) == {lead: LeadMoved(lead)}
    assert org.row(lead)["Routing_Overridden_By__c"] is None


def test_two_changes_within_one_second_are_one_to_salesforce(org):
    """What the condition does not tell apart; who relies on it reads a second later, or looks again."""
    lead = org.lead()
    seen = org.client.leads(org.client.configuration(), [lead])[lead]
    org.update(lead, Routing_Status__c="Assigned")

    assert org.client.mark([Mark(seen, Status.HELD, "nobody")]) == {}
    assert org.row(lead)["Routing_Status__c"] == "Held"


def test_what_only_the_platform_touched_costs_a_second_look_at_most(org):
    """By which of two times Salesforce compares is open: the mark is written, or refused as if somebody changed it."""
    lead = org.lead()
    configuration = org.client.configuration()
    seen = org.client.leads(configuration, [lead])[lead]
    org.clock.advance(1)
    org.org.touch(lead)
    first = org.client.mark([Mark(seen, Status.HELD, "nobody")])
    again = org.client.leads(configuration, [lead])[lead]

    refused = org.switches.unmodified_since_compares_system_modstamp
    assert first == ({lead: LeadMoved(lead)} if refused else {})
    assert org.client.mark([Mark(again, Status.HELD, "nobody")]) == {}
    assert org.row(lead)["Routing_Status__c"] == "Held"


def test_a_change_after_the_platforms_own_touch_is_seen(org):
    """What is sent is the SystemModstamp that was read: it is not before what a person changed, nor after the read."""
    lead = org.lead()
    org.clock.advance(60)
    org.org.touch(lead)
    seen = org.client.leads(org.client.configuration(), [lead])[lead]
    org.clock.advance(1)
    org.update(lead, Routing_Status__c="Assigned")

    assert org.client.mark([Mark(seen, Status.HELD, "nobody")]) == {lead: LeadMoved(lead)}
    assert org.row(lead)["Routing_Status__c"] == "Assigned"


def test_leads_are_read_in_one_call_and_marked_in_one_for_each_twenty_five(org):
    ids = [org.lead(f"buyer{number}@example.org") for number in range(76)]
    configuration = org.client.configuration()
    before = org.calls()
    leads = org.client.leads(configuration, ids)
    read = org.calls() - before
    faults = org.client.mark([Mark(leads[one], Status.HELD, "nobody") for one in ids])

    assert (read, org.calls() - before - read, faults) == (1, 4, {})
    assert (org.client.leads(configuration, []), org.client.mark([])) == ({}, {})
