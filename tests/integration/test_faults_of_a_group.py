"""What stops one group, or is refused of one owner, stops nobody else, in either router."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from org_simulator import ownership
from org_simulator.failures import Failure
from support.both_play import INSIDE, Play, both_ways
from support.both_routers import Both

pytestmark = pytest.mark.apex

PASSABLE = 4
BEYOND_A_SAVE = 9
"""Users that Salesforce refuses, all before Ann: so many are met within one save, and more than that."""


def _austria(play: Play, member: str = "Cid", precedence: int = 2) -> str:
    """The id of a group for Austrian leads, of one member."""
    user = play.org.insert("User", LastName=member, Username=f"{member}@sim.example")
    group = play.org.insert("Round_Robin_Group__c", Name="Austria", Key__c="austria", Mode__c="Live")
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
