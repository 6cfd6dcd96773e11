"""What stops one group, or is refused of one owner or lead, stops nobody else, in either router."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lead_router.loops.routing import STUCK_RETRY_S
from org_simulator import ownership
from org_simulator.failures import Failure
from support.both_play import INSIDE, OUTSIDE, Play, both_ways
from support.both_routers import Both, shipped_apex
from support.inside_plays import beside

pytestmark = pytest.mark.apex

PASSABLE = 4
BEYOND_A_SAVE = 9
"""Users that Salesforce refuses, all before Ann: so many are met within one save, and more than that."""


def _austria(play: Play, member: str = "Cid", precedence: int = 2, **fields: str) -> str:
    """The id of a group for Austrian leads, of one member."""
    user = play.org.insert("User", LastName=member, Username=f"{member}@sim.example")
    group = play.org.insert("Round_Robin_Group__c", Name="Austria", Key__c="austria", Mode__c="Live", **fields)
    play.org.insert("Round_Robin_Member__c", Group__c=group, User__c=user, Sort_Order__c=7)
    rule = {"Name": "Austria", "Precedence__c": precedence, "Active__c": True, "Criteria__c": "Country = 'AT'"}
    play.org.insert("Routing_Rule__c", **rule, Target_Group__c=group)
    return group


def _arrive(play: Play, *countries: str) -> None:
    """Leads of these countries in one save."""
    first = len(play.leads)
    leads = [{"Email": f"b{first + place}@buyer.example", "Country": each} for place, each in enumerate(countries)]
    made = play.both.post(*leads)
    play.leads += made
    play.route(*made)


def its_turn_is_refused(play: Play) -> None:
    _austria(play)
    play.both.rig.forbid("Key__c = 'austria' && ISCHANGED(Turn__c)", "ask ops before", "Round_Robin_Group__c")
    _arrive(play, "AT", "DE", "AT", "DE")


def its_member_is_refused(play: Play) -> None:
    _austria(play)
    play.both.rig.forbid("ISCHANGED(Last_Turn__c) && Sort_Order__c = 7", "ask ops before", "Round_Robin_Member__c")
    _arrive(play, "AT", "DE", "AT", "DE")


def its_key_was_used_before(play: Play) -> None:
    group = _austria(play, "Cid")
    _arrive(play, "AT", "AT")
    play.org.update(group, Key__c="retired")
    _austria(play, "Dan", precedence=1)
    _arrive(play, "AT", "DE", "AT", "DE")


STUCK: dict[Callable[[Play], None], str] = {
    its_turn_is_refused: "the group's turn cannot be written: FIELD_CUSTOM_VALIDATION_EXCEPTION: ask ops before; see ",
    its_member_is_refused: "the next turn of member ",
    its_key_was_used_before: "turn 1 of epoch 0 of group 'austria' is taken in the ledger already: raise the ",
}


@pytest.mark.parametrize("story", STUCK, ids=lambda story: story.__name__)
def test_a_group_that_cannot_go_on_holds_its_own_leads_alone(tmp_path, story: Callable[[Play], None]):
    """Its leads are Held, with the remedy in the same words; those of another group of the same save go out."""
    inside, outside, hard = both_ways(tmp_path, story)
    assert inside == outside == hard
    *_, first, second, third, fourth = inside["leads"]
    for lead in (first, third):
        assert (lead[0], lead[1]) == ("Lead Intake", "Held")
        assert lead[-1].startswith(STUCK[story])
    assert [(lead[0], lead[1]) for lead in (second, fourth)] == [("Ann", "Assigned"), ("Bob", "Assigned")]


def stands_before_its_fallback(play: Play) -> None:
    """A lead of a group that cannot go on, one of its fallback group in the same save, one later; then all is well."""
    _austria(play, Fallback_Group__c=play.member("emea"))
    play.both.rig.forbid("Key__c = 'austria' && ISCHANGED(Turn__c)", "ask ops before", "Round_Robin_Group__c")
    _arrive(play, "AT", "DE")
    play.both.rig.clock.advance(5)
    _arrive(play, "DE")
    play.both.rig.allow("Round_Robin_Group__c")
    play.both.rig.clock.advance(STUCK_RETRY_S)
    play.look()


def test_newer_leads_of_a_fallback_group_go_past_those_of_a_group_that_cannot_go_on(tmp_path):
    """P68: no turn that they left would help the older lead, which has one of its own group once that goes on."""
    inside, outside, hard = both_ways(tmp_path, stands_before_its_fallback)
    assert inside == outside == hard
    assert [(lead[0], lead[1]) for lead in inside["leads"]] == [(name, "Assigned") for name in ("Cid", "Ann", "Bob")]


def waits_for_members_after_all(play: Play) -> None:
    """The group that could not go on can again, while nobody is there; then one is, and a newer lead comes."""
    group = _austria(play)
    play.both.rig.forbid("Key__c = 'austria' && ISCHANGED(Turn__c)", "ask ops before", "Round_Robin_Group__c")
    _arrive(play, "AT")
    play.both.rig.allow("Round_Robin_Group__c")
    [member] = [row["Id"] for row in play.org.rows("Round_Robin_Member__c") if row["Group__c"] == group]
    play.org.update(member, Active__c=False)
    play.both.rig.clock.advance(STUCK_RETRY_S)
    play.look()
    play.org.update(member, Active__c=True)
    _arrive(play, "AT")


def test_a_lead_of_a_group_that_can_go_on_again_is_overtaken_no_more(tmp_path):
    """P68: it tells for what it waits now, and has its turn before the newer one."""
    inside, outside, hard = both_ways(tmp_path, waits_for_members_after_all)
    assert inside == outside == hard
    assert [row["turn"] for row in inside["ledger"]] == ["austria.0.1", "austria.0.2"]


def test_a_member_that_is_gone_between_decision_and_write_stops_nobody(tmp_path, monkeypatch):
    """Inside, the group is read again, and the lead has its owner within its own save. The deletion is undone with the
    attempt: whoever deletes a member from outside waits for the group's lock.
    """
    both = Both(tmp_path, INSIDE)
    [decide] = both.org.automation.program.classes["routingdecider"].methods["decide"]
    plain, gone = decide.run, [both.rest_org.refs["ann_emea"]]

    def run(frame):
        found = plain(frame)
        if gone:
            frame[0].tx.delete("Round_Robin_Member__c", gone.pop())
        return found

    monkeypatch.setattr(decide, "run", run)
    [lead] = both.post({"Email": "b@buyer.example"})
    assert (both.rig.owner(lead), both.rest_org.row(lead)["Routing_Status__c"]) == ("Ann", "Assigned")
    assert gone == []
    assert [row["Turn__c"] for row in both.ledger()] == [1]
    both.rig.close()


@pytest.fixture
def refusing(monkeypatch):
    """Salesforce refuses users whose name begins with New as owners of leads."""
    plain = ownership.problems

    def problems(tx, sobject, row, before):
        owner = tx.row("User", row.get("OwnerId") or "") or {}
        refusal = Failure("TRANSFER_REQUIRES_READ", "The new owner must have read permission", fields=("OwnerId",))
        refused = sobject.name == "Lead" and str(owner.get("LastName")).startswith("New")
        return [*plain(tx, sobject, row, before), *([refusal] if refused else [])]

    monkeypatch.setattr(ownership, "problems", problems)


def _newcomers(both: Both, count: int) -> None:
    org = both.rest_org
    for place in range(count):
        user = org.insert("User", Username=f"new{place}@sim.example", LastName=f"New{place}")
        org.insert("Round_Robin_Member__c", Group__c=org.refs["emea"], User__c=user, Sort_Order__c=place - count)


def meets_newcomers(play: Play) -> None:
    _newcomers(play.both, PASSABLE)
    play.arrive(1)
    play.arrive(2)


@pytest.mark.usefixtures("refusing")
def test_owners_refused_in_a_row_are_passed_over_at_once(tmp_path):
    """P52: a lone lead is given to the first member whom Salesforce takes, however the refused ones stand before."""
    told = both_ways(tmp_path, meets_newcomers)
    assert [[(lead[0], lead[1]) for lead in one["leads"]] for one in told] == 3 * [
        [(name, "Assigned") for name in ("Ann", "Bob", "Ann")]
    ]
    assert told[0]["members"] == told[1]["members"] == told[2]["members"]


@pytest.mark.usefixtures("refusing")
def test_more_refused_owners_than_one_save_has_room_for(tmp_path):
    """P52: the lead is saved, shows Queued and why, and a wave, whose limits are wider, gives it to Ann."""
    both = Both(tmp_path, INSIDE)
    _newcomers(both, BEYOND_A_SAVE)
    [lead] = both.post({"Email": "b@buyer.example"})
    shown = both.rest_org.row(lead)
    assert shown["Routing_Status__c"] == "Queued"
    assert shown["Routing_Error__c"].startswith("the limits of the transaction were reached; Salesforce refused ")
    both.work()
    both.sweep()
    assert both.rig.owner(lead) == "Ann"
    assert both.rest_org.row(lead)["Routing_Error__c"] is None
    both.rig.close()


@pytest.mark.parametrize("mode", [INSIDE, OUTSIDE])
def test_code_that_throws_for_one_lead_stops_no_other(tmp_path, mode: str):
    """P52: the platform refuses all leads of such a save and names none of them; all others have their owners, in turn,
    whichever stands in the way, and the one that throws shows Failed and what was thrown.
    """
    thrown = "if (lead.OwnerId != before.OwnerId && lead.Title == 'Old') { String none; none.length(); }"
    both = Both(tmp_path, mode, beside(shipped_apex(), thrown))
    play = Play(both, mode)
    play.arrive(3)
    play.leads += both.post({"Title": "Old"}, {}, {})
    play.route(*play.leads[3:])
    told = [(both.rig.owner(lead), both.rig.lead(lead)["Routing_Status__c"]) for lead in play.leads]
    names = ("Ann", "Bob", "Ann", "Lead_Intake", "Bob", "Ann")
    assert told == [(name, "Failed" if name == "Lead_Intake" else "Assigned") for name in names]
    assert "NullPointerException" in both.rig.lead(play.leads[3])["Routing_Error__c"]
    assert sorted(row["Turn__c"] for row in both.ledger()) == [1, 2, 3, 4, 5]
    both.rig.close()


def test_code_that_throws_for_one_lead_costs_the_others_no_reason(tmp_path):
    """Where it throws at each save of it, the lead shows nothing, and those that are held with it show why."""
    both = Both(tmp_path, INSIDE, beside(shipped_apex(), "if (lead.Title == 'Old') { String none; none.length(); }"))
    for name in ("ann_emea", "bob_emea"):
        both.rest_org.update(both.rest_org.refs[name], Active__c=False)
    leads = both.post({"Title": "Old"}, *({"Email": f"b{place}@buyer.example"} for place in range(4)))
    assert [both.rest_org.row(lead)["Routing_Status__c"] for lead in leads] == [None, *4 * ["Held"]]
    both.rig.close()
