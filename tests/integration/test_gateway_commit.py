"""The one write, against a whole org that keeps its own rules: who wins a race, and that a loser leaves no trace."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from lead_router.core.decide import batches
from lead_router.core.model import Follow, Hold, Skip
from lead_router.errors import RowLocked
from lead_router.ports import AlreadyRouted, Committed, Gone, LeadMoved, Refused, RepGone, SiblingRouted, TurnTaken
from org_simulator.wire.faults import LOCK_TIMEOUT
from support.rest_org import RestOrg, best, worst


@pytest.fixture(params=[best, worst])
def org(request: pytest.FixtureRequest) -> Iterator[RestOrg]:
    return RestOrg(request.param())


def untouched(org: RestOrg, lead_ids: list[str]) -> bool:
    """Whether nothing of a refused commit is to be seen anywhere."""
    group, members = org.row(org.refs["emea"]), org.rows("Round_Robin_Member__c")
    return (
        org.rows("Lead_Assignment__c") == []
        and not group["Turn__c"]
        and all(member["Next_Turn__c"] is None for member in members)
        and all(org.row(lead_id)["Routing_Idem_Key__c"] is None for lead_id in lead_ids)
    )


def test_owner_stamp_ledger_and_rotation_move_together(org) -> None:
    """P49: the org's own assignment rule, on by default, changes no owner that the router wrote."""
    ids = [org.lead(f"p{number}@example.org") for number in range(4)]
    assert org.client.commit(org.batch(ids)) == Committed()
    ann, bob = org.refs["ann"], org.refs["bob"]
    leads = [org.row(lead_id) for lead_id in ids]
    assert [lead["OwnerId"] for lead in leads] == [ann, bob, ann, bob]
    assert [lead["Routing_Idem_Key__c"] for lead in leads] == [org.ask(lead_id).idempotency_key for lead_id in ids]
    assert {(lead["Routing_Round__c"], lead["Routing_Status__c"], lead["Routing_Group__c"]) for lead in leads} == {
        (1, "Assigned", "emea")
    }
    ledger = org.rows("Lead_Assignment__c")
    assert [row["Turn_Key__c"] for row in ledger] == [f"emea.1.{turn}" for turn in (1, 2, 3, 4)]
    assert [row["Assigned_To__c"] for row in ledger] == [ann, bob, ann, bob]
    assert org.row(org.refs["emea"])["Turn__c"] == 4
    assert [row["Leads_Received__c"] for row in org.rows("Round_Robin_Member__c")] == [2, 2]


def test_the_second_of_two_routers_finds_the_turn_taken(org) -> None:
    """P25: two routers decided on the same sight; one commits, the other leaves no trace and decides again.

    Both write the same turn and clock, so the group's rule sees no change: the ledger's unique key refuses.
    """
    first, second = org.lead("a@example.org"), org.lead("b@example.org")
    late = org.batch([second])
    assert org.client.commit(org.batch([first])) == Committed()
    refused = org.client.commit(late)
    assert refused in {Refused((TurnTaken(),)), Refused((LeadMoved(second),))}
    assert org.row(second)["OwnerId"] == org.queue("Lead_Intake")
    assert org.client.commit(org.batch([second])) == Committed()
    assert [row["Turn__c"] for row in org.rows("Lead_Assignment__c")] == [1, 2]


def test_routers_at_the_same_instant_get_one_turn_each(org) -> None:
    """P25: six routers commit turn 1 in six threads; exactly one holds it, whatever the platform reads when."""
    ids = [org.lead(f"p{number}@example.org") for number in range(6)]
    routers = [org.connect()[2] for _ in ids]
    batches_of = [org.batch([lead_id], router) for lead_id, router in zip(ids, routers, strict=True)]
    barrier = threading.Barrier(len(ids))

    def commit(place: int) -> object:
        barrier.wait()
        return routers[place].commit(batches_of[place])

    with ThreadPoolExecutor(len(ids)) as pool:
        receipts = list(pool.map(commit, range(len(ids))))
    assert receipts.count(Committed()) == 1
    assert [row["Turn__c"] for row in org.rows("Lead_Assignment__c")] == [1]
    assert sum(org.row(lead_id)["Routing_Round__c"] == 1 for lead_id in ids) == 1


def test_a_person_who_took_the_lead_keeps_it(org) -> None:
    """P62: the owner changed between reading and writing; nothing is written, not even for the other lead."""
    taken, other = org.lead("a@example.org"), org.lead("b@example.org")
    batch = org.batch([taken, other])
    org.update(taken, OwnerId=org.org.admin_user_id)
    assert org.client.commit(batch) == Refused((LeadMoved(taken),))
    assert untouched(org, [taken, other])
    assert org.row(taken)["OwnerId"] == org.org.admin_user_id
    assert [type(decision) for decision in org.decided([taken])] == [Skip]


def _commit_while_a_person_saves(org: RestOrg, *, lock_touch: bool) -> tuple[object, str]:
    """The receipt, and whose lead it is, where a person's change is saved while the commit waits for its lock."""
    lead = org.lead("a@example.org")
    router = org.connect(lock_touch=lock_touch)[2]
    batch = org.batch([lead], router)
    with ThreadPoolExecutor(1) as pool:
        with org.org.transaction(org.org.admin_user_id, auto_assign=False) as person:
            person.update("Lead", lead, {"OwnerId": org.org.admin_user_id})
            committing = pool.submit(router.commit, batch)
            while not org.clock.waiting:
                assert not committing.done()
        return committing.result(timeout=20), org.row(lead)["OwnerId"]


def test_a_person_who_saves_while_the_commit_waits_keeps_the_lead(org) -> None:
    """P62, B16: also where the platform reads a record before it waits for its lock."""
    receipt, owner = _commit_while_a_person_saves(org, lock_touch=True)
    assert isinstance(receipt, Refused)
    assert all(isinstance(fault, LeadMoved) for fault in receipt.faults)
    assert owner == org.org.admin_user_id


def test_without_the_lock_touch_a_stale_platform_would_overwrite_the_person() -> None:
    """Why LOCK_TOUCH is on by default: this is what it prevents, should the platform load before it locks."""
    org = RestOrg(worst(lookup_insert_locks_parent=False))
    assert _commit_while_a_person_saves(org, lock_touch=False) == (Committed(), org.refs["ann"])


def test_a_job_done_twice_is_told_so(org) -> None:
    """The same job is decided on an old sight after it was committed; the ledger's own key refuses it."""
    lead = org.lead("a@example.org")
    org.update(org.refs["all"], Target_Group__c=None, Target_User__c=org.refs["bob"])
    batch = org.batch([lead])
    assert org.client.commit(batch) == Committed()
    answer = org.client.commit(batch)
    assert isinstance(answer, Refused)
    assert answer.faults[0] in {AlreadyRouted(lead), LeadMoved(lead)}
    (decision,) = org.decided([lead])
    assert isinstance(decision, Skip)
    assert len(org.rows("Lead_Assignment__c")) == 1


def test_a_second_lead_of_a_submission_follows_the_first(org) -> None:
    """Two records of one form fill, read before either was written: the second is refused and then follows."""
    first, second = org.lead("a@example.org"), org.lead("A@Example.org")
    org.update(org.refs["all"], Target_Group__c=None, Target_User__c=org.refs["bob"])
    late = org.batch([second])
    assert org.client.commit(org.batch([first])) == Committed()
    answer = org.client.commit(late)
    assert isinstance(answer, Refused)
    assert answer.faults[0] in {SiblingRouted(second), LeadMoved(second)}
    (decision,) = org.decided([second])
    assert isinstance(decision, Follow)
    assert org.client.commit(batches([decision])[0]) == Committed()
    row = org.row(second)
    assert (row["OwnerId"], row["Routing_Status__c"]) == (org.refs["bob"], "Duplicate")
    assert row["Routing_Duplicate_Of__c"] == first
    assert [row["Outcome__c"] for row in org.rows("Lead_Assignment__c")] == ["Assigned", "Duplicate"]


def test_two_leads_of_a_submission_in_one_batch_use_one_turn(org) -> None:
    first, second = org.lead("a@example.org"), org.lead("a@example.org")
    assert org.client.commit(org.batch([first, second])) == Committed()
    assert org.row(first)["OwnerId"] == org.row(second)["OwnerId"]
    assert [row["Turn__c"] for row in org.rows("Lead_Assignment__c")] == [1, None]


def test_a_rep_who_left_gets_nothing_and_costs_no_turn(org) -> None:
    """P50: deactivated between choice and write."""
    lead = org.lead("a@example.org")
    batch = org.batch([lead])
    org.update(org.refs["ann"], IsActive=False)
    assert org.client.commit(batch) == Refused((RepGone(org.refs["ann"]),))
    assert untouched(org, [lead])
    assert org.client.commit(org.batch([lead])) == Committed()
    assert org.row(lead)["OwnerId"] == org.refs["bob"]


def test_a_lead_that_was_deleted_or_converted_is_gone(org) -> None:
    """P58: the other leads of the batch lose nothing by it."""
    for way, reason in ((org.delete, "deleted"), (org.org.convert_lead, "converted")):
        gone, other = org.lead(), org.lead()
        batch = org.batch([gone, other])
        way(gone)
        assert org.client.commit(batch) == Refused((Gone(gone, reason),))
        assert untouched(org, [other])


def test_a_locked_row_is_a_reason_to_wait(org) -> None:
    lead = org.lead()
    batch = org.batch([lead])
    org.fault(LOCK_TIMEOUT, path="composite")
    with pytest.raises(RowLocked):
        org.client.commit(batch)
    assert org.client.commit(batch) == Committed()


def test_a_reset_of_the_rotation_is_seen(org) -> None:
    """An admin raises the epoch between reading and writing: turn 1 of the old epoch must not come back."""
    lead = org.lead()
    batch = org.batch([lead])
    org.update(org.refs["emea"], Epoch__c=2, Turn__c=0)
    assert org.client.commit(batch) == Refused((TurnTaken(),))
    assert org.client.commit(org.batch([lead])) == Committed()
    assert [row["Turn_Key__c"] for row in org.rows("Lead_Assignment__c")] == ["emea.2.1"]


def test_a_reset_is_seen_where_another_router_has_come_as_far(org) -> None:
    """Turn 1 of the new epoch is given already: the same turn and clock, yet expected of an epoch that is over."""
    late, first = org.lead("a@example.org"), org.lead("b@example.org")
    batch = org.batch([late])
    org.update(org.refs["emea"], Epoch__c=2, Turn__c=0)
    assert org.client.commit(org.batch([first])) == Committed()
    assert org.client.commit(batch) == Refused((TurnTaken(),))
    assert org.client.commit(org.batch([late])) == Committed()
    assert [row["Turn_Key__c"] for row in org.rows("Lead_Assignment__c")] == ["emea.2.1", "emea.2.2"]
    assert [row["Leads_Received__c"] for row in org.rows("Round_Robin_Member__c")] == [1, 1]


def test_an_error_of_an_earlier_attempt_is_cleared(org) -> None:
    lead = org.lead(Routing_Error__c="nobody on duty", Routing_Status__c="Held")
    assert org.client.commit(org.batch([lead])) == Committed()
    row = org.row(lead)
    assert (row["Routing_Error__c"], row["Routing_Status__c"]) == (None, "Assigned")


def test_a_fallback_uses_no_turn(org) -> None:
    for name in ("ann_emea", "bob_emea"):
        org.update(org.refs[name], Active__c=False)
    lead = org.lead()
    assert isinstance(org.decided([lead])[0], Hold)
    org.update(org.refs["emea"], Fallback_Queue__c="Default_Assigned")
    assert org.client.commit(org.batch([lead])) == Committed()
    assert org.row(lead)["OwnerId"] == org.queue("Default_Assigned")
    (row,) = org.rows("Lead_Assignment__c")
    assert (row["Outcome__c"], row["Turn__c"], row["Group__c"]) == ("Fallback", None, org.refs["emea"])


def test_another_router_s_round_is_not_taken_for_ones_own(org) -> None:
    """After a lost answer the ledger is compared by idempotency key, not by lead alone."""
    first, second = org.lead(), org.lead()
    batch = org.batch([first, second])
    row = {"Lead_Key__c": f"{first}.1", "Lead__c": first, "Round__c": 1, "Outcome__c": "Assigned"}
    org.insert("Lead_Assignment__c", **row, Idempotency_Key__c=f"{org.org.org_id}.{first}.sweep.1")
    assert not org.client.committed(batch)
    answer = org.client.commit(batch)
    assert answer == Refused((LeadMoved(first),))


def test_two_hundred_leads_take_one_call(org) -> None:
    """P26, P32: a full batch is one request, and the shares are within one."""
    ids = [org.lead(f"p{number}@example.org") for number in range(200)]
    batch = org.batch(ids)
    before = org.calls()
    assert org.client.commit(batch) == Committed()
    assert org.calls() - before == 1
    assert [row["Leads_Received__c"] for row in org.rows("Round_Robin_Member__c")] == [100, 100]
