"""Re-routing from the event to the new owner: what people change asks again, what the router changes never does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.salesforce.configuration import Intake as IntakeSettings
from org_simulator.switches import Switches
from support.hearing import Life
from support.worker_rig import Rig


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """Two reps for all leads, two more for Japan; the status of new leads asks for an owner."""
    made = Rig(tmp_path, switches=replace(request.param), intake=IntakeSettings(statuses=("Open - Not Contacted",)))
    org = made.rest_org
    asia = org.insert("Round_Robin_Group__c", Name="Asia", Key__c="asia", Mode__c="Live", Epoch__c=1)
    for number, name in enumerate(("Yui", "Ken"), start=1):
        user = org.insert("User", Username=f"{name.lower()}@sim.example", LastName=name)
        org.insert("Round_Robin_Member__c", Group__c=asia, User__c=user, Sort_Order__c=number)
    org.insert(
        "Routing_Rule__c",
        Name="Japan",
        Precedence__c=1,
        Active__c=True,
        Criteria__c="Country = 'Japan'",
        Target_Group__c=asia,
    )
    yield made
    made.close()


def test_our_own_writes_ask_nothing(rig: Rig):
    """P46: a routed lead makes one job in its life: the echo of the owner, the stamp and the mark makes none."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Reroute__c="Reroute")
    life = Life(rig)
    rig.rest_org.lead()
    life.goes_on()
    life.goes_on()

    assert (life.heard(), rig.outcomes()) == (1, ["assigned"])


def test_a_mark_of_our_own_asks_nothing_though_rules_read_it(rig: Rig):
    """P46: a lead that waits is marked as held; by anyone else that change of what a rule reads would ask again."""
    org = rig.rest_org
    (japan,) = (row["Id"] for row in org.rows("Routing_Rule__c") if row["Name"] == "Japan")
    org.update(japan, Criteria__c="Country = 'Japan' AND Routing_Status__c != 'Failed'")
    org.update(org.refs["emea"], Reroute__c="Reroute")
    for name in ("ann", "bob"):
        org.update(org.refs[f"{name}_emea"], Active__c=False)
    life = Life(rig)
    lead = org.lead()
    life.goes_on()
    ours = life.heard()
    org.update(lead, Routing_Status__c=None)
    life.goes_on()

    assert (rig.lead(lead)["Routing_Status__c"], ours, life.heard()) == ("Held", 1, 2)


def test_a_lead_given_back_to_intake_goes_to_the_next_rep(rig: Rig):
    """D7, P55: a new round, another rep, both turns on record."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    first = rig.owner(lead)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    life.goes_on()

    assert (first, rig.owner(lead), rig.turns()) == ("Ann", "Bob", [1, 2])


def test_a_status_set_back_routes_anew_and_a_status_that_stays_does_not(rig: Rig):
    """P55: whoever recycles a lead wants it routed; its next edit in that status is no wish."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    for status in ("Working - Contacted", "Open - Not Contacted"):
        rig.rest_org.update(lead, Status=status)
    life.goes_on()
    second = rig.owner(lead)
    rig.rest_org.update(lead, Phone="+32 2 555 01 02")
    life.goes_on()

    assert (second, rig.owner(lead), rig.turns()) == ("Bob", "Bob", [1, 2])
    assert rig.jobs()[1].payload["cause"] == "status"


@pytest.mark.parametrize(("switch", "owner"), [("Reroute", "Yui"), ("Keep", "Ann")])
def test_changed_fields_send_a_lead_elsewhere_where_its_group_says_so(rig: Rig, switch: str, owner: str):
    """The country is mended; the group that has the lead lets it go, or keeps it."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Reroute__c=switch)
    life = Life(rig)
    lead = rig.rest_org.lead(Country="Belgium")
    life.goes_on()
    rig.rest_org.update(lead, Country="Japan")
    life.goes_on()
    life.goes_on()

    assert rig.owner(lead) == owner
    assert life.heard() == (2 if switch == "Reroute" else 1)


def test_a_lead_that_was_never_routed_is_nobody_s_to_take(rig: Rig):
    """P62: a rep's own lead stays a rep's own, whatever of it changes."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Reroute__c="Reroute")
    life = Life(rig)
    lead = rig.rest_org.lead(OwnerId=rig.rest_org.refs["bob"], Status="Working - Contacted")
    life.goes_on()
    rig.rest_org.update(lead, Country="Japan")
    life.goes_on()

    assert (rig.owner(lead), rig.turns()) == ("Bob", [])
    assert rig.outcomes() == ["skipped: already owned"]


def test_a_lead_that_is_returned_over_and_over_is_held(rig: Rig):
    """D7: three new rounds within an hour, whoever returns it; then it waits for a person, and takes no turn."""
    life = Life(rig)
    lead = rig.rest_org.lead(Status="Working - Contacted")
    life.goes_on()
    for _ in range(4):
        rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
        life.goes_on()
    seen = rig.lead(lead)
    turns = rig.turns()
    other = rig.rest_org.lead()
    life.goes_on()
    rig.clock.advance(3600)
    rig.drain(life.router)

    assert (seen["OwnerId"], seen["Routing_Status__c"]) == (rig.rest_org.queue("Lead_Intake"), "Held")
    assert seen["Routing_Error__c"] == "was routed anew 3 times within an hour: see who or what returns it"
    assert (turns, rig.owner(other) in ("Ann", "Bob")) == ([1, 2, 3, 4], True)
    assert rig.owner(lead) in ("Ann", "Bob")
