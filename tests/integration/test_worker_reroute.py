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


def off_duty(rig: Rig) -> None:
    """Nobody of Asia takes leads."""
    org = rig.rest_org
    (asia,) = (one["Id"] for one in org.rows("Round_Robin_Group__c") if one["Key__c"] == "asia")
    for row in org.rows("Round_Robin_Member__c"):
        if row["Group__c"] == asia:
            org.update(row["Id"], Active__c=False)


def shown(rig: Rig, lead: str) -> tuple[str, str | None, str | None]:
    return (rig.owner(lead), *rig.shown(lead))


def test_a_lead_that_is_to_go_elsewhere_no_more_shows_again_what_it_showed(rig: Rig):
    """P62: its country was wrong for a while in which nobody could take it: it is held, and then assigned as before."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Reroute__c="Reroute")
    off_duty(rig)
    life = Life(rig)
    lead = rig.rest_org.lead(Country="Belgium")
    life.goes_on()
    rig.rest_org.update(lead, Country="Japan")
    life.goes_on()
    meanwhile = shown(rig, lead)
    rig.rest_org.update(lead, Country="Belgium")
    life.goes_on()
    life.goes_on()

    assert meanwhile[:2] == ("Ann", "Held")
    assert shown(rig, lead) == ("Ann", "Assigned", None)


@pytest.mark.parametrize("held", [False, True], ids=["at once", "held meanwhile"])
def test_who_gave_a_lead_back_and_took_it_again_keeps_it_whatever_changes(rig: Rig, *, held: bool):
    """P62: a person's claim is kept, though the owner is the one that the last routing chose."""
    org, ann = rig.rest_org, rig.rest_org.refs["ann"]
    org.update(org.refs["emea"], Reroute__c="Reroute")
    life = Life(rig)
    lead = org.lead(Country="Belgium", Status="Working - Contacted")
    life.goes_on()
    for name in ("ann", "bob"):
        org.update(org.refs[f"{name}_emea"], Active__c=False)
    org.update(lead, OwnerId=org.queue("Lead_Intake"))
    if held:
        life.goes_on()
    org.update(lead, OwnerId=ann)
    life.goes_on()
    org.update(lead, Country="Japan")
    life.goes_on()
    life.goes_on()

    assert (rig.owner(lead), rig.turns()) == ("Ann", [1])
    assert rig.shown(lead)[0] == (None if held else "Assigned")


@pytest.mark.parametrize("reroute", ["Reroute", "Keep"])
def test_who_was_given_a_lead_back_by_a_colleague_keeps_it_for_ever(rig: Rig, reroute: str):
    """P62: hours after its routing, from hand to hand."""
    org = rig.rest_org
    org.update(org.refs["emea"], Reroute__c=reroute)
    life = Life(rig)
    lead = org.lead(Country="Belgium", Status="Working - Contacted")
    life.goes_on()
    for name in ("bob", "ann"):
        rig.clock.advance(3600)
        org.update(lead, OwnerId=org.refs[name])
        life.goes_on()
    org.update(lead, Country="Japan")
    life.goes_on()
    life.goes_on()

    assert (rig.owner(lead), rig.turns()) == ("Ann", [1])
    assert len(rig.jobs()) == (4 if reroute == "Reroute" else 3)


def test_an_owned_lead_left_queued_is_routed_anew_once_somebody_can_take_it(rig: Rig):
    """The router inside left it so, and no event will tell that it waits: it goes on showing Queued until then."""
    org = rig.rest_org
    org.update(org.refs["emea"], Reroute__c="Reroute")
    off_duty(rig)
    life = Life(rig)
    lead = org.lead(Country="Belgium", Status="Working - Contacted")
    life.goes_on()
    org.update(lead, Country="Japan", Routing_Status__c="Queued", Routing_Error__c="a record stayed locked")
    rig.upkeep(sweep_every_s=1.0).step()
    rig.drain(life.router)
    meanwhile = shown(rig, lead)
    for row in org.rows("Round_Robin_Member__c"):
        org.update(row["Id"], Active__c=True)
    rig.open().ask_held()
    rig.drain(life.router)

    assert meanwhile == ("Ann", "Queued", "a record stayed locked")
    assert shown(rig, lead) == ("Yui", "Assigned", None)


QUEUED = {
    "other group": {"Country": "Japan", "Routing_Error__c": "a record stayed locked"},
    "set back": {
        "Status": "Open - Not Contacted",
        "Routing_Error__c": "its status was set back: a record stayed locked",
    },
}


def died(rig: Rig, life: Life, why: str) -> str:
    """A lead of Ann's that the router inside left Queued, and that refused to be given to anybody else."""
    org = rig.rest_org
    lead = org.lead(Country="Belgium", Status="Working - Contacted")
    life.goes_on()
    org.update(lead, Routing_Status__c="Queued", **QUEUED[why])
    rig.forbid("ISCHANGED(OwnerId)", "no more")
    rig.upkeep(sweep_every_s=1.0).step()
    rig.drain(life.router)
    rig.allow()
    return lead


@pytest.mark.parametrize("why", sorted(QUEUED))
def test_the_dead_job_of_an_owned_lead_left_queued_is_retried_for_what_it_was(rig: Rig, why: str):
    """C4: Failed took the place of Queued, and with it went that the lead is to leave its owner; a retry knows it."""
    org = rig.rest_org
    org.update(org.refs["emea"], Reroute__c="Reroute")
    life = Life(rig)
    lead = died(rig, life, why)
    meanwhile, (dead,) = shown(rig, lead), [job.id for job in rig.jobs() if job.status == "dead"]
    everybody = [row["Id"] for row in org.rows("Round_Robin_Member__c")]
    for one in everybody:
        org.update(one, Active__c=False)
    rig.store.revive(dead)
    rig.drain(life.router)
    nobody = shown(rig, lead)
    for one in everybody:
        org.update(one, Active__c=True)
    rig.store.ask_held()
    rig.drain(life.router)

    assert meanwhile[:2] == nobody[:2] == ("Ann", "Failed")
    assert shown(rig, lead) == ("Yui" if why == "other group" else "Bob", "Assigned", None)


def test_a_retry_that_is_wanted_no_more_ends_with_what_the_last_routing_showed(rig: Rig):
    """C4: its country is right again: nothing is to be done, and it is no dead letter any more."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Reroute__c="Reroute")
    life = Life(rig)
    lead = died(rig, life, "other group")
    rig.rest_org.update(lead, Country="Belgium")
    (dead,) = [job.id for job in rig.jobs() if job.status == "dead"]
    rig.store.revive(dead)
    rig.drain(life.router)

    assert shown(rig, lead) == ("Ann", "Assigned", None)
    assert rig.outcomes()[-1] == "skipped: already owned"
