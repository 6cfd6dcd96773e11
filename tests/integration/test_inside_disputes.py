"""What no public page settles about Apex: the router inside holds under each answer, alone and all at their worst."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest

from org_simulator.apex.invoking import construct, dispatch
from org_simulator.switches import Switches
from support.both_routers import Both, shipped_apex
from support.sim_engine import Thread, until, until_waiting

pytestmark = pytest.mark.apex

INSIDE = "In_CRM"
OTHERWISE: dict[str, Switches] = {
    name: replace(Switches(), **{name: not getattr(Switches(), name)})
    for name in (
        "after_triggers_run_before_undo",
        "apex_insert_fills_defaults",
        "apex_sorts_texts_by_code_point",
        "apex_update_writes_queried_fields",
        "composite_shares_limits",
        "composite_shares_statics",
        "for_update_locks_by_id",
    )
}
SETTINGS = {"documented": Switches(), "pessimistic": Switches.pessimistic(), **OTHERWISE}


@pytest.fixture(params=SETTINGS.values(), ids=SETTINGS)
def both(request, tmp_path):
    """Two reps in a live group, routed from inside the transaction that saves."""
    made = Both(tmp_path, INSIDE, switches=request.param)
    yield made
    made.rig.close()


def lead(both: Both, place: int, **fields: Any) -> dict[str, Any]:
    queue = both.rest_org.queue("Lead_Intake")
    return {"LastName": "Doe", "Company": "Acme", "OwnerId": queue, "Email": f"b{place}@buyer.example"} | fields


def composite(both: Both, *leads: dict[str, Any]) -> list[int]:
    """Each lead in a subrequest of its own, all or none; their HTTP statuses."""
    url = "/services/data/v68.0/sobjects/Lead"
    plain = {"method": "POST", "url": url, "httpHeaders": {"Sforce-Auto-Assign": "FALSE"}}
    parts = [plain | {"referenceId": f"r{place}", "body": each} for place, each in enumerate(leads)]
    content = {"allOrNone": True, "collateSubrequests": False, "compositeRequest": parts}
    told = both.call("/services/data/v68.0/composite", content).json()
    return [part["httpStatusCode"] for part in told["compositeResponse"]]


def turns(both: Both) -> list[int]:
    return sorted(int(row["Turn__c"]) for row in both.ledger())


def test_leads_of_a_composite_take_turns_and_one_that_fails_takes_none(both: Both):
    """A refused lead undoes the turns of all; sent again without it, they stand where they would have stood."""
    leads = [lead(both, place) for place in range(4)]
    assert set(composite(both, *leads, {"LastName": "no company"})) == {400}
    assert (both.ledger(), both.rest_org.rows("Lead")) == ([], [])
    assert composite(both, *leads) == [201] * 4
    assert turns(both) == [1, 2, 3, 4]
    owners = [row["OwnerId"] for row in both.rest_org.rows("Lead")]
    assert owners == [both.rest_org.refs[name] for name in ("ann", "bob", "ann", "bob")]


def test_a_collection_with_a_bad_lead_gives_nothing_or_the_good_ones(both: Both):
    """All or none: nothing, not even a turn. In part: the good ones, in turn."""
    records = [{"attributes": {"type": "Lead"}} | lead(both, place) for place in range(3)]
    del records[1]["Company"]
    for all_or_none, routed in ((True, []), (False, [1, 2])):
        content = {"allOrNone": all_or_none, "records": records}
        both.call("/services/data/v68.0/composite/sobjects", content)
        both.work()
        assert (turns(both), len(both.rest_org.rows("Lead"))) == (routed, len(routed))


def test_a_person_who_takes_a_lead_keeps_it_and_what_is_returned_goes_to_the_other(both: Both):
    """A change through the guard, and a second round."""
    both.say(Guard__c=True)
    [first] = both.post({"Email": "b0@buyer.example"})
    both.patch(first, OwnerId=both.rest_org.refs["bob"])
    assert both.rig.owner(first) == "Bob"
    both.rig.clock.advance(5)
    both.patch(first, OwnerId=both.rest_org.queue("Lead_Intake"))
    assert [(row["Round__c"], row["Assigned_To__c"]) for row in both.ledger()] == [
        (1, both.rest_org.refs["ann"]),
        (2, both.rest_org.refs["bob"]),
    ]


def test_leads_saved_one_by_one_never_run_out_of_the_limits_of_their_transaction(both: Both):
    """Whatever cannot be routed within the limits that are left is Queued, and routed by a job behind the commit."""
    assert composite(both, *(lead(both, place) for place in range(25))) == [201] * 25
    both.work()
    assert turns(both) == list(range(1, 26))
    assert {row["Routing_Status__c"] for row in both.rest_org.rows("Lead")} == {"Assigned"}


class Crossing(random.Random):
    """Dice by which every second shuffle is the other way round."""

    turned = False

    def shuffle(self, x: Any) -> None:
        self.turned = not self.turned
        x.sort(reverse=self.turned)


@pytest.mark.parametrize("at_once", [False, True], ids=["by the time limit", "detected"])
def test_saves_that_lock_groups_crosswise_are_kept_and_left_to_the_sweep(tmp_path, at_once: bool):
    """Each has the group that the other wants: both leads are saved, one at least as Queued; each is routed once."""
    switches = replace(Switches.pessimistic(), deadlock_detected_at_once=at_once)
    both = Both(tmp_path, INSIDE, switches=switches)
    org = both.rest_org
    spare = org.insert("Round_Robin_Group__c", Name="Spare", Key__c="spare", Mode__c="Live")
    org.update(org.refs["emea"], Fallback_Group__c=spare)
    both.org.dice = Crossing(1)
    with both.org.transaction(both.org.admin_user_id) as holder:
        for group in (org.refs["emea"], spare):
            holder.update("Round_Robin_Group__c", group, {"Name": "held"})
        saves = []
        for place in range(2):
            saves.append(Thread(lambda place=place: both.post({"Email": f"b{place}@buyer.example"})))
            until_waiting(both.org, place + 1)

    def ended() -> bool:
        both.rig.clock.advance(0 if at_once else 1.0)
        return not any(save.working for save in saves)

    until(ended)
    assert [save.code for save in saves] == ["done", "done"]
    told = [(row["Routing_Status__c"], row["Routing_Error__c"]) for row in org.rows("Lead")]
    assert ("Queued", "a record stayed locked") in told
    assert {status for status, _ in told} <= {"Queued", "Assigned"}
    both.sweep()
    assert turns(both) == [1, 2]


@pytest.mark.parametrize("code", [None, "NO_MASS_MAIL_PERMISSION", "SINGLE_EMAIL_LIMIT_EXCEEDED"])
def test_the_sweep_routes_what_waits_whether_or_not_its_alert_can_be_mailed(tmp_path, code: str | None):
    """Leads waited for longer than the alert allows, in an org that sends no mail for Apex: they are routed as where
    it does. The sweep's own save, with its job, stands.
    """
    both = Both(tmp_path, INSIDE, switches=replace(Switches(), apex_mail_refusal=code))
    org = both.rest_org
    both.say(Alert_Address__c="admin@lead-router.example", Alert_After__c=30)
    org.update(org.refs["emea"], Mode__c="Off")
    both.post({"Email": "b0@buyer.example"}, {"Email": "b1@buyer.example"})
    org.update(org.refs["emea"], Mode__c="Live")
    both.rig.clock.advance(3600)
    both.sweep()
    assert turns(both) == [1, 2]
    both.rig.close()


@pytest.mark.parametrize(("minutes", "told"), [(29, []), (31, ["Lead routing: leads wait"])])
def test_a_queued_lead_that_has_an_owner_and_waits_too_long_is_told_of(tmp_path, minutes: int, told: list[str]):
    """Whatever keeps its waves from running: it counts from its last change, not from its creation long ago."""
    both = Both(tmp_path, INSIDE)
    both.say(Alert_Address__c="admin@lead-router.example", Alert_After__c=30)
    [lead] = both.post({"Email": "b0@buyer.example"})
    both.rig.clock.advance(86_400)
    both.rest_org.update(lead, Routing_Status__c="Queued")
    both.rig.clock.advance(minutes * 60)
    mails: list[dict[str, Any]] = []
    sweep = shipped_apex().classes["routingsweep"]
    [execute] = sweep.methods["execute"]

    def look(session: Any) -> None:
        dispatch(session, execute, construct(session, sweep, ()), [None])
        mails.extend(session.mails)

    both.org.automation.call(both.org.admin_user_id, look)
    assert [mail["Subject"] for mail in mails] == told
    both.rig.close()


@pytest.mark.parametrize("fallback", [None, "bob@sim.example"])
def test_the_action_tells_why_a_lead_that_refuses_every_save_is_not_routed(tmp_path, fallback: str | None):
    """A field became required, so that not even the mark is saved: the lead shows nothing, the answer tells why."""
    both = Both(tmp_path, INSIDE)
    both.say(Fallback_Owner__c=fallback)
    both.rig.forbid("NOT(ISNEW()) && ISBLANK(Industry)", "Industry required")
    [lead] = both.post({"Email": "b0@buyer.example"})
    assert both.rest_org.row(lead)["Routing_Status__c"] is None
    content = {"inputs": [{"leadId": lead}]}
    [told] = both.call("/services/data/v68.0/actions/custom/apex/RouteLeadAction", content).json()
    assert told["outputValues"]["routed"] is False
    assert told["outputValues"]["reason"] == "FIELD_CUSTOM_VALIDATION_EXCEPTION: Industry required"
    both.rig.close()


def test_a_lead_that_failed_and_that_somebody_gives_to_a_rep_shows_it_no_more(both: Both):
    """With the guard, and whatever rule made it fail is still there: status and text go within the save."""
    both.say(Guard__c=True)
    both.rig.forbid("ISPICKVAL(Routing_Status__c, 'Assigned')", "not now")
    [lead] = both.post({"Email": "b0@buyer.example"})
    assert both.rest_org.row(lead)["Routing_Status__c"] == "Failed"
    both.patch(lead, OwnerId=both.rest_org.refs["ann"])
    row = both.rest_org.row(lead)
    assert (row["Routing_Status__c"], row["Routing_Error__c"]) == (None, None)
    assert both.rig.owner(lead) == "Ann"
