"""Leads that nobody may have now: held, asked again when somebody may, oldest first, and never overtaken."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from org_simulator.switches import Switches
from support.rest_org import START
from support.worker_rig import Rig

REPS = ("ann", "bob")


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """Two reps, one rule for all leads."""
    made = Rig(tmp_path, switches=replace(request.param))
    yield made
    made.close()


def away(rig: Rig, until, *names: str) -> None:
    """The reps take no leads until then; the routers know it from their next look at the configuration."""
    for name in names:
        user = rig.rest_org.refs[name]
        rig.rest_org.insert("Member_Absence__c", User__c=user, Start__c=told(START), End__c=told(until))


def told(at) -> str:
    """An instant as the API takes it."""
    return str(at.isoformat())


def rest_s(rig: Rig, number: int) -> float:
    """In how many seconds that job is due."""
    return (rig.jobs()[number].next_run_at - rig.clock.now()).total_seconds()


def test_a_held_lead_is_asked_again_when_the_absence_ends(rig: Rig):
    """D4: the job is due at that instant, not a minute before or after."""
    away(rig, START + timedelta(minutes=7), *REPS)
    (lead,) = rig.leads(1)
    router = rig.worker()
    rig.drain(router)
    due = rest_s(rig, 0)
    rig.clock.advance(420)
    rig.drain(router)

    assert 419 < due <= 420
    assert rig.owner(lead) == "Ann"


def test_a_long_absence_is_looked_at_every_quarter_of_an_hour(rig: Rig):
    """Somebody may have ended it meanwhile."""
    away(rig, START + timedelta(days=3), *REPS)
    rig.leads(1)
    rig.drain(rig.worker())

    assert rest_s(rig, 0) == 900


def test_a_newer_lead_does_not_overtake_an_older_one_that_waits(rig: Rig):
    """The newer one is due first, and the rep is back: the older one is asked at once and goes first."""
    refs = rig.rest_org.refs
    rig.rest_org.update(refs["ann_emea"], Accepts__c="Country = 'Belgium'")
    rig.rest_org.update(refs["bob_emea"], Active__c=False)
    first = rig.rest_org.lead(Country="France")
    rig.told(first)
    rig.drain(rig.worker())
    held = rig.lead(first)["Routing_Status__c"]
    rig.clock.advance(5)
    second = rig.rest_org.lead(Country="France")
    rig.told(second)
    rig.rest_org.update(refs["ann_emea"], Accepts__c=None)
    rig.clock.advance(5)
    router = rig.worker()
    router.step()
    between = rig.lead(second)["Routing_Status__c"]
    rig.drain(router)
    rig.clock.advance(5)
    rig.drain(router)

    assert (held, between) == ("Held", "Held")
    assert [int(row["Turn__c"]) for row in rig.ledger() if row["Lead__c"] == first] == [1]
    assert [int(row["Turn__c"]) for row in rig.ledger() if row["Lead__c"] == second] == [2]


def test_held_leads_of_many_claims_go_out_oldest_first(rig: Rig):
    """The absence ends for all of them at once; turns follow the order in which the leads came."""
    away(rig, START + timedelta(minutes=7), *REPS)
    router = rig.worker()
    leads = []
    for _ in range(6):
        leads += rig.leads(3)
        rig.drain(router)
        rig.clock.advance(10)
    rig.clock.advance(420)
    router._batch_max = 4
    for _ in range(10):
        rig.drain(router)
        rig.clock.advance(5)
    turns = {row["Lead__c"]: int(row["Turn__c"]) for row in rig.ledger()}

    assert [turns[lead] for lead in leads] == list(range(1, 19))


def test_a_full_claim_sees_the_waiting_too(rig: Rig):
    """200 newer leads and one that waits are more than one read takes: nobody overtakes all the same."""
    refs = rig.rest_org.refs
    for rep in REPS:
        rig.rest_org.update(refs[f"{rep}_emea"], Active__c=False)
    (older,) = rig.leads(1)
    rig.drain()
    for rep in REPS:
        rig.rest_org.update(refs[f"{rep}_emea"], Active__c=True)
    rig.clock.advance(5)
    rig.leads(200)
    rig.router.step()
    nobody = rig.turns()
    for _ in range(5):
        rig.drain()
        rig.clock.advance(5)

    assert (nobody, rig.turns()) == ([], list(range(1, 202)))
    assert [int(row["Turn__c"]) for row in rig.ledger() if row["Lead__c"] == older] == [1]


def test_a_lead_keeps_its_place_through_a_fault_of_the_service(rig: Rig):
    """It was just being asked again when Salesforce went away; a newer one that is due before it waits."""
    refs = rig.rest_org.refs
    for rep in REPS:
        rig.rest_org.update(refs[f"{rep}_emea"], Active__c=False)
    (older,) = rig.leads(1)
    rig.drain()
    for rep in REPS:
        rig.rest_org.update(refs[f"{rep}_emea"], Active__c=True)
    rig.clock.advance(900)
    rig.rest_org.fault("unreachable", path="/composite", count=1)
    rig.router._batch_max = 1
    rig.router.step()
    rig.leads(1)
    rig.clock.advance(rig.breaker.open_s())
    for _ in range(5):
        rig.drain()
        rig.clock.advance(5)

    assert rig.turns() == [1, 2]
    assert [int(row["Turn__c"]) for row in rig.ledger() if row["Lead__c"] == older] == [1]


def joins(rig: Rig) -> None:
    org = rig.rest_org
    user = org.insert("User", Username="cat@sim.example", LastName="Cat")
    org.insert("Round_Robin_Member__c", Group__c=org.refs["emea"], User__c=user, Sort_Order__c=3)


def comes_back(rig: Rig) -> None:
    rig.rest_org.delete(rig.rest_org.rows("Member_Absence__c")[0]["Id"])


def has_a_fallback(rig: Rig) -> None:
    rig.rest_org.update(rig.rest_org.refs["emea"], Manager__c=rig.org.admin_user_id)


@pytest.mark.parametrize("change", [joins, comes_back, has_a_fallback])
def test_a_change_of_the_roster_asks_what_is_held_at_once(rig: Rig, change):
    """Within one look at the configuration, 30 seconds, whatever the held job's rest was."""
    away(rig, START + timedelta(days=3), *REPS)
    rig.leads(1)
    upkeep = rig.upkeep()
    upkeep.step()
    rig.drain(rig.worker())
    rig.clock.advance(31)
    upkeep.step()
    before = rig.store.queue().due
    change(rig)
    rig.clock.advance(31)
    upkeep.step()
    due = rig.store.queue().due
    rig.drain(rig.worker())

    assert (before, due) == (0, 1)
    assert rig.jobs()[0].status == "done"


def test_turns_are_no_change_of_the_roster(rig: Rig):
    """Counts move with every lead: a reload that took them for a change would sweep the org every 30 seconds."""
    upkeep = rig.upkeep()
    upkeep.step()
    rig.leads(3)
    rig.drain()
    rig.clock.advance(31)
    upkeep.step()

    assert rig.store.queue().sweep_requested is None
