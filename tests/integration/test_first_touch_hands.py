"""The first-touch clock and people's hands: by whom a lead was given to whom, as events and sweeps tell it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lead_router.core.model import ALL_LIVE
from lead_router.salesforce.configuration import Intake
from org_simulator.switches import Switches
from support.hearing import intake
from support.office import Office


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def office(request, tmp_path):
    made = Office(tmp_path, switches=replace(request.param))
    yield made
    made.close()


def known(office: Office) -> None:
    """Whoever runs has read the configuration as it is now."""
    for one in (office.loop, office.router):
        one._current.replace(office.client.configuration())


def on_duty(office: Office, *, active: bool) -> None:
    for name in ("ann", "bob", "cid", "dan"):
        office.rest_org.update(office.rest_org.refs[f"{name}_emea"], Active__c=active)
    known(office)


def test_who_gave_a_lead_on_and_has_it_again_is_not_reminded(office: Office):
    """P62: no clock runs for a lead that a person gave to its owner."""
    ear, lead = intake(office), office.given()
    for name in ("bob", "ann"):
        office.clock.advance(60)
        office.rest_org.update(lead, OwnerId=office.rest_org.refs[name])
    ear.step()
    office.drain()
    office.passes(30)

    assert (office.owner(lead), office.marks()) == ("Ann", [])


def test_who_takes_a_lead_that_a_sweep_found_returned_has_no_clock(office: Office):
    """P62, E4: it was returned while nobody listened, and held; it shows nothing any more, and is that person's."""
    org = office.rest_org
    org.update(office.group, Manager__c=None)
    lead = office.given()
    on_duty(office, active=False)
    office.clock.advance(60)
    org.update(lead, OwnerId=org.queue("Lead_Intake"))
    office.clock.advance(60)
    upkeep = office.upkeep()
    while upkeep.step():
        pass
    office.drain()
    held = office.shown(lead)[0]
    office.clock.advance(60)
    org.update(lead, OwnerId=org.refs["ann"])
    office.clock.advance(60)
    office.store.ask_held()
    office.drain()
    taken = office.shown(lead)
    on_duty(office, active=True)
    office.passes(40)

    assert (held, taken) == ("Held", (None, None))
    assert office.owner(lead) == "Ann"


def test_a_lead_moved_between_intakes_in_the_second_of_its_routing_is_given_by_nobody(tmp_path):
    """P62: a flow's move came before the routing, though rows tell their time to the second: its clock runs."""
    queues = ("Lead_Intake", "Default_Assigned")
    office = Office(tmp_path, switches=Switches.pessimistic(), intake=Intake(rollout=ALL_LIVE, queues=queues))
    org, ear = office.rest_org, intake(office)
    lead = org.lead()
    office.clock.advance(0.2)
    org.update(lead, OwnerId=org.queue("Default_Assigned"))
    office.clock.advance(0.2)
    while ear.step():
        office.drain()
    first = office.owner(lead)
    for _ in range(20):
        office.passes(1)
        ear.step()
        office.drain()

    assert (first, office.owner(lead)) == ("Ann", "Bob")
    office.close()


def test_a_term_that_is_shortened_counts_for_leads_that_were_looked_at(office: Office):
    """Its rep was reminded, and the old term has hours to go: the new one is over."""
    office.rest_org.update(office.group, Accept_Within__c=600)
    known(office)
    lead = office.given()
    office.passes(305)
    reminded = office.marks()
    office.rest_org.update(office.group, Accept_Within__c=320)
    known(office)
    office.passes(60)

    assert reminded
    assert office.owner(lead) == "Bob"


def test_a_dead_clock_job_that_is_retried_once_the_lead_was_touched_leaves_it_assigned(office: Office):
    """C4: nothing is wanted any more, and it failed for nothing."""
    lead = office.given()
    office.forbid("ISCHANGED(OwnerId)", "no more")
    office.passes(20)
    office.allow()
    failed, (dead,) = office.shown(lead)[0], [job.id for job in office.jobs() if job.status == "dead"]
    office.rest_org.update(lead, Status="Working - Contacted")
    office.store.revive(dead)
    office.drain()

    assert failed == "Failed"
    assert (office.owner(lead), office.shown(lead)) == ("Ann", ("Assigned", None))
