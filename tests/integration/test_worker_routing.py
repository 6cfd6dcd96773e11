"""A worker's step, from claim to the job's end, with everything that may come between (DESIGN section 4)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from lead_router.loops.breaker import Breaker
from org_simulator import ownership
from org_simulator.failures import Failure
from org_simulator.switches import Switches
from support.worker_rig import LEASE_S, Rig


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """A router and its org, under the documented and under the worst reading of Salesforce."""
    made = Rig(tmp_path, switches=replace(request.param))
    yield made
    made.close()


def test_leads_get_owners_in_turn_with_stamp_and_ledger(rig: Rig):
    """The main path: owner, stamp, round, ledger and rotation move together."""
    leads = rig.leads(5)
    rig.drain()

    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob", "Ann", "Bob", "Ann"]
    assert {rig.lead(lead)["Routing_Idem_Key__c"] for lead in leads} == {job.idempotency_key for job in rig.jobs()}
    assert {rig.lead(lead)["Routing_Status__c"] for lead in leads} == {"Assigned"}
    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3, 4, 5], ["assigned"] * 5)


def test_a_batch_of_200_leads_costs_two_calls(rig: Rig):
    """Speed is a feature: one read, one write, however many leads wait."""
    rig.leads(200)
    before = rig.rest_org.calls()
    rig.router.step()

    assert (rig.rest_org.calls() - before, rig.turns()) == (2, list(range(1, 201)))


def test_the_loser_of_a_turn_reads_and_decides_again(rig: Rig):
    """D1, P25: two routers at once; turns 1..n each once, nobody twice."""
    first, second = rig.leads(3), [rig.rest_org.lead() for _ in range(3)]
    rival = rig.worker(rig.connect(), name="rival")

    def overtake() -> None:
        rig.told(*second)
        rig.drain(rival)

    rig.client.before_write.append(overtake)
    rig.drain()

    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3, 4, 5, 6], ["assigned"] * 6)
    assert [rig.owner(lead) for lead in second + first] == ["Ann", "Bob"] * 3


def test_a_person_who_took_the_lead_meanwhile_keeps_it(rig: Rig):
    """P62, B16: the claim of a person between read and write wins, in the same second too; no attempt is used by it."""
    leads = rig.leads(3)
    bob = rig.rest_org.refs["bob"]
    rig.client.before_write.append(lambda: rig.rest_org.update(leads[1], OwnerId=bob))
    rig.drain()

    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob", "Bob"]
    assert rig.outcomes() == ["assigned", "skipped: already owned", "assigned"]
    assert (rig.turns(), [job.attempts for job in rig.jobs()]) == ([1, 2], [1, 1, 1])


def test_a_lead_that_others_changed_is_decided_on_what_it_became(rig: Rig):
    """B16: by the change of another field between read and write nothing is lost, neither theirs nor the turn."""
    leads = rig.leads(2)
    rig.client.before_write.append(lambda: rig.rest_org.update(leads[0], Phone="+32 2 555 01 02"))
    rig.drain()

    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob"]
    assert (rig.lead(leads[0])["Phone"], rig.turns()) == ("+32 2 555 01 02", [1, 2])


def test_a_rep_who_is_deactivated_meanwhile_costs_no_turn(rig: Rig):
    """P50: the next member is picked, no turn is charged."""
    leads = rig.leads(2)
    rig.client.before_write.append(lambda: rig.rest_org.update(rig.rest_org.refs["ann"], IsActive=False))
    rig.drain()

    assert [rig.owner(lead) for lead in leads] == ["Bob", "Bob"]
    assert rig.turns() == [1, 2]


@pytest.mark.parametrize("verb", ["delete", "convert"])
def test_a_lead_that_is_gone_meanwhile_ends_alone(rig: Rig, verb: str):
    """E1, P58, D25: deleted or converted after the decision: that job ends, its turn goes to the next lead."""
    leads = rig.leads(3)
    gone = (lambda: rig.rest_org.delete(leads[0])) if verb == "delete" else (lambda: rig.org.convert_lead(leads[0]))
    rig.client.before_write.append(gone)
    rig.drain()

    assert [rig.owner(lead) for lead in leads[1:]] == ["Ann", "Bob"]
    assert rig.turns() == [1, 2]
    assert rig.outcomes() == [f"skipped: {'deleted' if verb == 'delete' else 'converted'}", "assigned", "assigned"]
    assert [job.attempts for job in rig.jobs()] == [1, 1, 1]


def test_a_lost_answer_routes_nobody_twice(rig: Rig):
    """B13: the commit went through, the answer was lost: the ledger tells."""
    rig.leads(3)
    rig.rest_org.fault("drop_after", path="/composite", body="Turn_Key__c")
    rig.drain()

    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3], ["assigned"] * 3)


def test_a_lost_request_is_sent_again(rig: Rig):
    """The connection was cut before the org saw the commit: the identical request goes again."""
    rig.leads(3)
    rig.rest_org.fault("drop_before", path="/composite", body="Turn_Key__c")
    rig.drain()

    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3], ["assigned"] * 3)


def test_a_locked_row_is_tried_again_at_once(rig: Rig):
    """UNABLE_TO_LOCK_ROW is nobody's fault: no attempt is used up."""
    rig.leads(2)
    rig.rest_org.fault("lock_timeout", path="/composite", body="Turn_Key__c")
    rig.drain()

    assert (rig.turns(), [job.attempts for job in rig.jobs()]) == ([1, 2], [1, 1])


def test_refused_leads_die_alone_and_are_flagged(rig: Rig):
    """P32, E13, B10: 198 good and two bad: these are dead after one attempt, with the text; the rest is routed."""
    leads = rig.leads(200)
    bad = (2, 149)
    for place in bad:
        rig.rest_org.update(leads[place], Company=f"Bad {place}")
    rig.forbid('AND(BEGINS(Company, "Bad"), ISCHANGED(OwnerId))', "Bad companies are not routed")
    rig.drain()

    assert rig.outcomes() == ["dead" if place in bad else "assigned" for place in range(200)]
    assert [job.attempts for job in rig.jobs()] == [1] * 200
    assert rig.turns() == list(range(1, 199))
    for place in bad:
        assert "Bad companies are not routed" in (rig.jobs()[place].last_error or "")
        shown = rig.lead(leads[place])
        assert (shown["Company"], shown["Routing_Status__c"]) == (f"Bad {place}", "Failed")
        assert "Bad companies" in shown["Routing_Error__c"]


def test_a_duplicate_rule_of_the_org_ends_its_lead_with_the_remedy(rig: Rig, monkeypatch):
    """B17: a plain owner update meets it: dead after one attempt, never retried, and the text says what to change."""
    leads = rig.leads(3)
    plain = ownership.problems

    def problems(tx, sobject, row, before):
        again = sobject.name == "Lead" and row["Id"] == leads[1] and row.get("OwnerId") != (before or {}).get("OwnerId")
        refusal = Failure("DUPLICATES_DETECTED", "Use one of these records?")
        return [*plain(tx, sobject, row, before), *([refusal] if again else [])]

    monkeypatch.setattr(ownership, "problems", problems)
    rig.drain()
    rig.clock.advance(900)
    rig.drain()

    assert rig.outcomes() == ["assigned", "dead", "assigned"]
    assert [job.attempts for job in rig.jobs()] == [1, 1, 1]
    for text in (rig.jobs()[1].last_error, rig.lead(leads[1])["Routing_Error__c"]):
        assert "DUPLICATES_DETECTED" in text
        assert "let the duplicate rule allow the integration user" in text


def test_a_dead_job_that_a_person_retries_is_routed(rig: Rig):
    """Dead jobs wait for a person and lose nothing."""
    (lead,) = rig.leads(1)
    rig.forbid("ISCHANGED(OwnerId)", "Nobody moves")
    rig.drain()
    (dead,) = rig.jobs()
    rig.allow()

    assert (dead.status, rig.store.revive(dead.id)) == ("dead", True)
    rig.drain()
    assert (rig.owner(lead), rig.outcomes()) == ("Ann", ["assigned"])


def test_a_lead_that_nobody_may_have_is_held_and_asked_again(rig: Rig):
    """D4, D16: nobody on duty: held, shown on the lead, routed when someone is back; no attempt is used."""
    for name in ("ann", "bob"):
        rig.rest_org.update(rig.rest_org.refs[f"{name}_emea"], Active__c=False)
    (lead,) = rig.leads(1)
    for _ in range(3):
        rig.drain()
        rig.clock.advance(61)
    held = rig.lead(lead)["Routing_Status__c"]
    rig.rest_org.update(rig.rest_org.refs["bob_emea"], Active__c=True)
    rig.drain()

    assert (held, rig.owner(lead), rig.lead(lead)["Routing_Status__c"]) == ("Held", "Bob", "Assigned")
    assert [job.attempts for job in rig.jobs()] == [1]


def test_a_held_lead_says_why_it_waits_now(rig: Rig):
    """The reason on the lead is the present one, written when it changes and not at each look; long ones are cut."""
    ann, bob = rig.rest_org.refs["ann_emea"], rig.rest_org.refs["bob_emea"]
    for member in (ann, bob):
        rig.rest_org.update(member, Active__c=False)
    (lead,) = rig.leads(1)
    rig.drain()
    first = rig.lead(lead)["Routing_Error__c"]
    rig.rest_org.update(ann, Active__c=True, Weight__c=0)
    rig.clock.advance(61)
    rig.drain()
    second, saved = rig.lead(lead)["Routing_Error__c"], rig.lead(lead)["SystemModstamp"]
    rig.clock.advance(200)
    rig.drain()

    assert ("member inactive" in first, "Ann: paused" in first) == (True, False)
    assert "Ann: paused" in second
    assert rig.lead(lead)["SystemModstamp"] == saved


def test_nobody_on_duty_goes_to_the_fallback_queue_without_a_turn(rig: Rig):
    """The group's fallback queue takes the lead; the rotation does not move."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Fallback_Queue__c="Default_Assigned")
    for name in ("ann", "bob"):
        rig.rest_org.update(rig.rest_org.refs[f"{name}_emea"], Active__c=False)
    worker = rig.worker(name="after the change")
    (lead,) = rig.leads(1)
    rig.drain(worker)

    assert (rig.owner(lead), rig.turns(), rig.outcomes()) == ("Default_Assigned", [], ["fallback"])


def test_a_worker_that_lost_its_lease_writes_nothing(rig: Rig):
    """C7: a stalled worker's leads were taken over; it looks before it writes."""
    leads = rig.leads(2)
    rival = rig.worker(rig.connect(), name="rival")

    def stall() -> None:
        rig.clock.advance(LEASE_S + 1)
        rig.drain(rival)

    rig.client.after_read.append(stall)
    rig.drain()

    assert (rig.client.batches, rig.turns()) == ([], [1, 2])
    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob"]


def test_a_crash_between_commit_and_the_job_s_end_routes_once(rig: Rig):
    """C2, B13: the job is claimed anew after its lease, and the ledger says that it was routed."""
    (lead,) = rig.leads(1)
    (job,) = rig.store.claim("crashed", limit=10, lease_s=LEASE_S)
    assert job.lead_id == lead
    rig.client.commit(rig.rest_org.batch([lead]))
    rig.clock.advance(LEASE_S + 1)
    rig.drain()

    assert (rig.turns(), rig.outcomes()) == ([1], ["skipped: already routed"])


@pytest.mark.parametrize(
    ("fault", "value"),
    [("request_limit", "daily"), ("request_limit", "concurrent"), ("status", 503), ("html_200", None), ("401", None)],
)
def test_faults_of_the_service_use_up_no_attempt(rig: Rig, fault: str, value: object):
    """C28, B8, P37: the claims are released, claiming pauses, and all is routed when the service is back."""
    leads = rig.leads(3)
    rig.rest_org.fault(fault, path="/composite", count=4, value=value)
    for _ in range(12):
        rig.router.step()
        rig.clock.advance(901)

    assert (rig.turns(), rig.outcomes()) == ([1, 2, 3], ["assigned"] * 3)
    assert [rig.owner(lead) for lead in leads] == ["Ann", "Bob", "Ann"]  # in the order in which they came
    assert {job.attempts for job in rig.jobs()} == {1}


def test_routers_that_meet_the_burst_limit_together_come_back_apart(rig: Rig):
    """B7: too many requests at once: each waits some seconds of its own, not a day's pause, and no attempt is used."""
    waits = []
    for seed in (5, 6):
        rig.leads(1)
        rig.breaker = Breaker(rig.clock.monotonic)
        router = rig.worker(rig.connect(), name=f"router {seed}")
        router._dice = random.Random(seed)
        rig.rest_org.fault("request_limit", path="/composite", value="concurrent")
        router.step()
        waits.append(rig.breaker.open_s())

    assert all(10 <= wait <= 15 for wait in waits)
    assert len(set(waits)) == 2
    assert [job.attempts for job in rig.jobs()] == [0, 0]


def test_an_expired_session_is_renewed_in_passing(rig: Rig):
    """B2: the token died; one login, and the step goes on."""
    rig.leads(2)
    rig.rest_org.fault("expire_session", path="/composite")
    rig.router.step()

    assert (rig.turns(), rig.outcomes()) == ([1, 2], ["assigned", "assigned"])


def test_the_breaker_keeps_the_worker_from_claiming(rig: Rig):
    """C28: while the service is at fault nobody claims; afterwards all goes on."""
    rig.leads(1)
    rig.breaker.trip(at_least_s=30)
    idle = rig.router.step()
    rig.clock.advance(31)

    assert (idle, rig.router.step(), rig.turns()) == (False, True, [1])


def test_a_job_that_breaks_the_code_does_not_hold_up_the_others(rig: Rig):
    """C20, P32: found by halves; it alone uses up its attempts and is dead, flagged on the lead."""
    leads = rig.leads(4)
    poison = leads[1]
    plain = type(rig.client).snapshot

    def snapshot(configuration, lead_ids, keys):
        if poison in lead_ids:
            raise KeyError("a shape that nobody thought of")
        return plain(rig.client, configuration, lead_ids, keys)

    rig.client.snapshot = snapshot
    for _ in range(8):
        rig.router.step()
        rig.clock.advance(30)

    assert rig.outcomes() == ["assigned", "dead", "assigned", "assigned"]
    assert rig.lead(poison)["Routing_Status__c"] == "Failed"
    assert [job.attempts for job in rig.jobs()] == [1, 3, 1, 1]


def test_a_group_made_anew_under_an_old_key_waits_for_a_person(rig: Rig):
    """A group deleted and made again stands before turns that its ledger has: one clear text, and no hot loop."""
    rig.leads(2)
    rig.drain()
    rig.rest_org.update(rig.rest_org.refs["emea"], Epoch__c=2, Turn__c=0)
    old = {"Idempotency_Key__c": "old", "Lead_Key__c": "old.1", "Turn_Key__c": "emea.2.1", "Outcome__c": "Assigned"}
    rig.rest_org.insert("Lead_Assignment__c", **old)
    (lead,) = rig.leads(1)
    before = rig.rest_org.calls()
    rig.drain()

    assert rig.rest_org.calls() - before < 12
    shown = rig.lead(lead)
    assert shown["Routing_Status__c"] == "Held"
    assert shown["Routing_Error__c"].startswith("turn 1 of epoch 2 of group 'emea' is taken in the ledger already")
    rig.rest_org.update(rig.rest_org.refs["emea"], Epoch__c=3, Turn__c=0)
    rig.clock.advance(61)
    rig.drain()
    assert rig.owner(lead) in {"Ann", "Bob"}


def test_a_member_deleted_meanwhile_refuses_no_lead(rig: Rig):
    """D8, P7: the roster is read anew, the lead goes to whoever is left."""
    leads = rig.leads(3)
    rig.client.before_write.append(lambda: rig.rest_org.delete(rig.rest_org.refs["ann_emea"]))
    rig.drain()

    assert [rig.owner(lead) for lead in leads] == ["Bob"] * 3
    assert rig.outcomes() == ["assigned"] * 3


def test_a_fallback_queue_deleted_meanwhile_holds_the_lead(rig: Rig):
    """The lead is not at fault when its new owner is gone: it waits and is shown as held."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Fallback_Queue__c="Default_Assigned")
    for name in ("ann", "bob"):
        rig.rest_org.update(rig.rest_org.refs[f"{name}_emea"], Active__c=False)
    worker = rig.worker(name="after the change")
    (lead,) = rig.leads(1)
    rig.client.before_write.append(lambda: rig.rest_org.delete(rig.rest_org.queue("Default_Assigned")))
    rig.drain(worker)

    assert (rig.owner(lead), rig.lead(lead)["Routing_Status__c"]) == ("Lead_Intake", "Held")
    assert [job.status for job in rig.jobs()] == ["queued"]


def test_owners_that_salesforce_refuses_are_passed_over_however_many(rig: Rig, monkeypatch):
    """P52: seven members cannot own leads though their rows say nothing of it; the eighth gets the lead, at once."""
    for number in range(7):
        user = rig.rest_org.insert("User", Username=f"new{number}@sim.example", LastName=f"New{number}")
        rig.rest_org.insert("Round_Robin_Member__c", Group__c=rig.rest_org.refs["emea"], User__c=user)
    plain = ownership.problems

    def problems(tx, sobject, row, before):
        owner = tx.row("User", row.get("OwnerId") or "") or {}
        new = sobject.name == "Lead" and str(owner.get("LastName")).startswith("New")
        refusal = Failure("TRANSFER_REQUIRES_READ", "The new owner must have read permission", fields=("OwnerId",))
        return [*plain(tx, sobject, row, before), *([refusal] if new else [])]

    monkeypatch.setattr(ownership, "problems", problems)
    leads = rig.leads(4)
    rig.drain()

    assert {rig.owner(lead) for lead in leads} == {"Ann", "Bob"}
    assert rig.turns() == [1, 2, 3, 4]


def test_a_group_that_cannot_be_written_does_not_stop_the_others(rig: Rig):
    """A rule of the org's own refuses one group's turn: its leads wait, shown as held; the other group goes on."""
    other = rig.rest_org.insert("Round_Robin_Group__c", Name="Other", Key__c="other", Mode__c="Live")
    rig.rest_org.insert("Round_Robin_Member__c", Group__c=other, User__c=rig.rest_org.refs["bob"])
    rig.rest_org.insert(
        "Routing_Rule__c",
        Name="Others",
        Precedence__c=5,
        Active__c=True,
        Criteria__c="Country = 'Japan'",
        Target_Group__c=other,
    )
    rig.forbid('Key__c = "emea"', "Give the group a manager", "Round_Robin_Group__c")
    worker = rig.worker(name="after the change")
    (stuck,) = rig.leads(1)
    (going,) = rig.leads(1, Country="Japan")
    rig.drain(worker)

    assert (rig.owner(stuck), rig.owner(going)) == ("Lead_Intake", "Bob")
    assert "Give the group a manager" in rig.lead(stuck)["Routing_Error__c"]
    assert rig.breaker.open_s() == 0
