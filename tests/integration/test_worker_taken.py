"""Leads that a member takes by hand, in a group that counts them: one turn, once, and nothing given on the lead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from lead_router.app.explaining import explained_in
from lead_router.app.planning import plan_in
from lead_router.app.wiring import Wired
from lead_router.cli.explaining import _account
from lead_router.cli.preview import _table
from lead_router.core.decide import batches
from lead_router.core.model import Count
from lead_router.loops.asks import ask_of
from lead_router.loops.observing import decided
from lead_router.loops.reading import read
from lead_router.ports import Committed
from org_simulator.switches import Switches
from support.hearing import Life, intake
from support.rest_org import START
from support.worker_rig import LEASE_S, Rig


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """Two reps of a group that counts leads taken by hand."""
    made = Rig(tmp_path, switches=replace(request.param))
    made.rest_org.update(made.rest_org.refs["emea"], Count_Manual__c=True)
    yield made
    made.close()


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What somebody wrote, beside the marks that every save leaves."""
    marks = {"LastModifiedDate", "LastModifiedById", "SystemModstamp"}
    return {name: value for name, value in after.items() if name not in marks and value != before.get(name)}


def on_duty(rig: Rig, *, are: bool) -> None:
    for rep in ("ann", "bob"):
        rig.rest_org.update(rig.rest_org.refs[f"{rep}_emea"], Accepts__c=None if are else "LastName = 'Nobody'")


def takes(rig: Rig, rep: str, lead: str) -> None:
    """The rep makes the lead their own, in the CRM."""
    user = rig.rest_org.refs[rep]
    with rig.org.transaction(rig.org.admin_user_id, auto_assign=False) as opened:
        opened.update("Lead", lead, {"OwnerId": user})


def waiting(rig: Rig, life: Life) -> str:
    """A lead that nobody accepts, as the router has held it."""
    on_duty(rig, are=False)
    lead = rig.rest_org.lead("buyer@example.org")
    life.goes_on()
    assert rig.lead(lead)["Routing_Status__c"] == "Held"
    return lead


def test_a_held_lead_taken_by_hand_is_a_turn_and_says_no_more_that_it_is_held(rig: Rig):
    """P62: at once, whenever the held job was due; the next lead is the other rep's, who would have come second."""
    life = Life(rig)
    lead = waiting(rig, life)
    takes(rig, "ann", lead)
    as_taken = dict(rig.lead(lead))
    life.goes_on()
    on_duty(rig, are=True)
    rig.leads(1)
    rig.drain()

    first, second = rig.ledger()
    assert changed(as_taken, rig.lead(lead)) == {"Routing_Status__c": None, "Routing_Error__c": None}
    assert (first["Outcome__c"], first["Turn_Key__c"], first["Lead_Key__c"]) == ("Manual", "emea.1.1", f"{lead}.1")
    assert first["Assigned_To__c"] == rig.rest_org.refs["ann"]
    assert first["Assigned_From__c"] == rig.rest_org.queue("Lead_Intake")
    assert first["Explanation__c"].startswith("Taken by hand by Ann; counted as turn 1 of group 'emea'")
    assert (second["Assigned_To__c"], rig.turns()) == (rig.rest_org.refs["bob"], [1, 2])
    assert rig.outcomes()[0] == "counted: taken by hand"
    members = rig.rest_org.rows("Round_Robin_Member__c")
    assert [(row["Leads_Received__c"], row["Cap_Count__c"]) for row in members] == [(1, 1), (1, 1)]


def test_a_held_job_is_asked_as_soon_as_its_lead_is_taken(rig: Rig):
    """The rotation knows within a moment, not when the held job's quarter of an hour is over."""
    for rep in ("ann", "bob"):
        until = (START + timedelta(days=3)).isoformat()
        rig.rest_org.insert(
            "Member_Absence__c", User__c=rig.rest_org.refs[rep], Start__c=START.isoformat(), End__c=until
        )
    life = Life(rig)
    lead = rig.rest_org.lead()
    life.goes_on()
    takes(rig, "bob", lead)
    life.goes_on()

    assert (rig.outcomes(), rig.turns()) == (["counted: taken by hand"], [1])


def test_by_default_work_by_hand_moves_nothing(rig: Rig):
    """P13: the same day in a group that does not count it."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Count_Manual__c=False)
    life = Life(rig)
    lead = waiting(rig, life)
    takes(rig, "ann", lead)
    life.goes_on()
    rig.clock.advance(900)
    rig.drain(life.router)

    assert (rig.ledger(), rig.outcomes()) == ([], ["skipped: already owned"])
    assert not rig.rest_org.row(rig.rest_org.refs["emea"])["Turn__c"]


def test_a_lead_taken_while_no_router_ran_counts_once_however_often_it_is_told(rig: Rig):
    """The stream told of it as it came; a replay, a second router and a later change find the ledger's row."""
    life, second = Life(rig), intake(rig)
    lead = rig.rest_org.lead()
    takes(rig, "bob", lead)
    life.goes_on()
    while second.step():
        rig.drain(rig.worker(name="second"))
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["ann"])
    life.goes_on()

    assert [row["Outcome__c"] for row in rig.ledger()] == ["Manual"]
    assert (rig.turns(), rig.owner(lead)) == ([1], "Ann")
    assert rig.lead(lead)["Routing_Overridden_By__c"] is None


def test_a_lead_of_a_rep_s_own_and_one_given_on_after_routing_do_not_count(rig: Rig):
    """The first was never anybody else's, the second had its turn."""
    life = Life(rig)
    own = rig.rest_org.lead(OwnerId=rig.rest_org.refs["bob"])
    rig.told(own)
    routed = rig.rest_org.lead()
    life.goes_on()
    takes(rig, "bob", routed)
    life.goes_on()

    assert [(row["Lead__c"], row["Outcome__c"]) for row in rig.ledger()] == [(routed, "Assigned")]
    assert rig.outcomes() == ["skipped: already owned", "assigned", "overridden"]


def test_who_takes_it_between_read_and_write_keeps_it_and_has_had_the_turn(rig: Rig):
    """P62: the assignment is refused whole; decided anew, the lead is the person's, and is counted."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    rig.client.before_write.append(lambda: takes(rig, "bob", lead))
    life.goes_on()

    assert (rig.owner(lead), [row["Outcome__c"] for row in rig.ledger()], rig.turns()) == ("Bob", ["Manual"], [1])


def test_what_is_given_back_before_the_write_has_been_taken_all_the_same(rig: Rig):
    """D7: the turn is the taker's; the lead is routed in its second round, to somebody else."""
    life = Life(rig)
    lead = rig.rest_org.lead()
    takes(rig, "ann", lead)
    queue = rig.rest_org.queue("Lead_Intake")
    rig.client.before_write.append(lambda: rig.rest_org.update(lead, OwnerId=queue))
    life.goes_on()
    life.goes_on()

    rounds = [(row["Round__c"], row["Outcome__c"], row["Assigned_To__c"]) for row in rig.ledger()]
    refs = rig.rest_org.refs
    assert rounds == [(1, "Manual", refs["ann"]), (2, "Assigned", refs["bob"])]
    assert (rig.owner(lead), rig.lead(lead)["Routing_Round__c"]) == ("Bob", 2)


@pytest.mark.parametrize("fault", ["drop_after", "drop_before", "lock_timeout"])
def test_a_lost_answer_or_a_lock_counts_once(rig: Rig, fault: str):
    """B13: the ledger tells whether the commit went through."""
    life = Life(rig)
    for rep in ("ann", "bob", "bob"):
        takes(rig, rep, rig.rest_org.lead())
    rig.rest_org.fault(fault, path="/composite", body="Turn_Key__c")
    life.goes_on()

    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3], ["counted: taken by hand"] * 3)


def test_a_crash_between_the_commit_and_the_job_s_end_counts_once(rig: Rig):
    """C2: the job is claimed anew after its lease, and the ledger holds its key."""
    hearing = intake(rig)
    takes(rig, "ann", rig.rest_org.lead())
    while hearing.step():
        pass
    jobs = rig.store.claim("crashed", limit=10, lease_s=LEASE_S)
    configuration = rig.client.configuration()
    found = read(rig.client, rig.store, configuration, jobs)
    (decision,) = decided(rig.store, configuration, found, [ask_of(job) for job in jobs], reroutes_max=3)
    assert isinstance(decision, Count)
    (batch,) = batches([decision])
    assert rig.client.commit(batch) == Committed()
    assert rig.client.commit(batch) != Committed()
    rig.clock.advance(LEASE_S + 1)
    rig.drain()

    assert (rig.turns(), rig.outcomes()) == ([1], ["skipped: already routed"])


def test_of_two_routers_one_counts_it(rig: Rig):
    """P25: another router's turn comes between sight and write: nothing is written, and it is decided anew."""
    life = Life(rig)
    lead, other = rig.rest_org.lead(), rig.rest_org.lead()
    takes(rig, "ann", lead)
    ours = rig.client.batches
    rig.client.before_write.append(lambda: other_router(rig, other))
    life.goes_on()

    assert sorted(row["Outcome__c"] for row in rig.ledger()) == ["Assigned", "Manual"]
    assert (rig.turns(), rig.owner(lead), rig.owner(other)) == ([1, 2], "Ann", "Ann")
    assert len(ours) == 2


def other_router(rig: Rig, lead: str) -> None:
    """A router of another database gives that lead its turn."""
    _, _, client = rig.rest_org.connect()
    assert client.commit(rig.rest_org.batch([lead], client)) == Committed()


def test_a_lead_deleted_before_the_write_costs_no_turn(rig: Rig):
    """D25: nothing is written of it, and the others of its batch are decided anew."""
    life = Life(rig)
    gone, other = rig.rest_org.lead(), rig.rest_org.lead()
    for lead in (gone, other):
        takes(rig, "ann", lead)
    rig.client.before_write.append(lambda: rig.rest_org.delete(gone))
    life.goes_on()

    assert [(row["Lead__c"], row["Turn__c"]) for row in rig.ledger()] == [(other, 1)]


def test_a_lead_of_which_the_event_told_nothing_counts_if_it_was_held(rig: Rig):
    """A gap event and a request bear no owner: that the router held the lead is what shows that it waited."""
    on_duty(rig, are=False)
    held, unseen = rig.leads(1)[0], rig.rest_org.lead()
    rig.drain()
    rig.told(unseen)
    for lead in (held, unseen):
        takes(rig, "bob", lead)
    rig.clock.advance(901)
    rig.drain()

    assert [(row["Lead__c"], row["Assigned_From__c"]) for row in rig.ledger()] == [(held, None)]


def test_a_swept_lead_counts_too(rig: Rig):
    """The sweep saw it in the queue."""
    lead = rig.rest_org.lead()
    rig.store.request_sweep("test")
    rig.upkeep().step()
    takes(rig, "bob", lead)
    rig.drain()

    assert [row["Outcome__c"] for row in rig.ledger()] == ["Manual"]


def test_plan_and_explain_tell_of_the_turn_that_would_be_counted(rig: Rig):
    """The lead still shows Held, and has a member as its owner; once counted, its history says so."""
    life = Life(rig)
    lead = waiting(rig, life)
    takes(rig, "bob", lead)
    wired = Wired(rig.rest_org.holder, rig.rest_org.rest, rig.client)
    made = plan_in(wired, csv=None, soql="Company = 'Acme'", at=None)
    told = explained_in(wired, lead, at=None)
    life.goes_on()
    after = explained_in(wired, lead, at=None)

    (planned,) = made.leads
    assert (planned.decision, planned.owner, planned.group, planned.turn) == ("count", "Bob", "emea", 1)
    assert (made.shares, dict(made.counts)) == ((), {"count": 1})
    assert "1 count; nothing was written" in _table(made)
    assert f"decision: count for Bob ({rig.rest_org.refs['bob']}). Taken by hand by Bob" in _account(told)
    assert "nothing would be done" not in _account(told)
    assert [(row.number, row.outcome, row.turn) for row in after.history] == [(1, "Manual", 1)]
    assert after.account.settled == "already owned"
    assert made.at > START
