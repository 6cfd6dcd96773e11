"""A held or failed lead that a person takes by hand says so no more; what others wrote since is left alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from lead_router.ports import Committed, LeadMoved, Mark, NewJob, Refusal
from org_simulator.switches import Switches
from support.hearing import Life
from support.worker_rig import Rig

BLANK = (None, None)


@pytest.fixture(params=[Switches(), Switches.pessimistic()], ids=["documented", "pessimistic"])
def rig(request, tmp_path):
    """A router and its org, under the documented and under the worst reading of Salesforce."""
    made = Rig(tmp_path, switches=request.param)
    yield made
    made.close()


def takes(rig: Rig, lead: str, rep: str = "bob") -> None:
    """A second later, so that the lead bears another time than before."""
    rig.clock.advance(1)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs[rep])


def held(rig: Rig) -> str:
    """A lead of a group that is Off, whose job rests."""
    rig.rest_org.update(rig.rest_org.refs["emea"], Mode__c="Off")
    (lead,) = rig.leads(1)
    rig.drain()
    assert rig.shown(lead) == ("Held", "group 'emea' is off")
    return lead


def asked(rig: Rig) -> None:
    """The held job is due."""
    rig.store.ask_held()
    rig.drain()


@pytest.mark.parametrize("why", ["group off", "no rule", "nobody on duty"])
def test_it_is_cleared_at_once_and_by_nothing_else(rig: Rig, why: str):
    """P62: by the event of the change, whatever the lead waited for; only status and text; our echo asks nobody."""
    rest = rig.rest_org
    match why:
        case "group off":
            rest.update(rest.refs["emea"], Mode__c="Off")
        case "no rule":
            (rule,) = rest.rows("Routing_Rule__c")
            rest.update(rule["Id"], Active__c=False)
        case "nobody on duty":
            for member in rest.rows("Round_Robin_Member__c"):
                rest.update(member["Id"], Active__c=False)
    life = Life(rig)
    lead = rest.lead()
    life.intake.step()
    rig.drain(life.router)
    assert rig.shown(lead)[0] == "Held"
    takes(rig, lead)
    taken = dict(rig.lead(lead))
    life.intake.step()
    rig.drain(life.router)

    after = dict(rig.lead(lead))
    marks = ("SystemModstamp", "LastModifiedDate", "LastModifiedById", "Routing_Status__c", "Routing_Error__c")
    assert rig.shown(lead) == BLANK
    assert {name: value for name, value in taken.items() if name not in marks}.items() <= after.items()
    assert rig.outcomes() == ["skipped: already owned"]
    used = rig.calls()
    life.goes_on()
    assert (life.heard(), rig.calls(), rig.ledger()) == (1, used, [])


def test_it_is_cleared_when_its_job_is_due_where_no_event_told_of_the_change(rig: Rig):
    """An event may be lost; the held job comes up by itself."""
    lead = held(rig)
    takes(rig, lead)
    rig.clock.advance(60)
    rig.drain()

    assert (rig.shown(lead), rig.outcomes()) == (BLANK, ["skipped: already owned"])


def test_an_edit_between_read_and_write_is_seen_and_the_lead_is_read_again(rig: Rig):
    """The write rests on the lead as it was read: refused once, done on the next look, and the edit stays."""
    lead = held(rig)
    takes(rig, lead)

    def edit() -> None:
        rig.clock.advance(1)
        rig.rest_org.update(lead, Company="Edited")

    rig.client.after_read.append(edit)
    with capture_logs() as logs:
        asked(rig)

    told = [line["event"] for line in logs if line["event"] in {"lead_not_cleared", "lead_cleared"}]
    assert (told, rig.shown(lead), rig.lead(lead)["Company"]) == (
        ["lead_not_cleared", "lead_cleared"],
        BLANK,
        "Edited",
    )


def test_what_another_router_wrote_meanwhile_stays(rig: Rig):
    """Given back and routed by another router between read and write: its Assigned is not taken off."""
    lead = held(rig)
    takes(rig, lead)

    def elsewhere() -> None:
        rest = rig.rest_org
        rig.clock.advance(1)
        rest.update(rest.refs["emea"], Mode__c="Live")
        rest.update(lead, OwnerId=rest.queue("Lead_Intake"))
        _, _, client = rest.connect()
        assert client.commit(rest.batch([lead], client)) == Committed()

    rig.client.after_read.append(elsewhere)
    asked(rig)

    assert (rig.shown(lead), rig.owner(lead)) == (("Assigned", None), "Ann")
    assert rig.outcomes() == ["skipped: already routed"]


def test_a_lead_given_back_meanwhile_is_held_again(rig: Rig):
    """The rotation goes on from what is so now."""
    lead = held(rig)
    takes(rig, lead)

    def back() -> None:
        rig.clock.advance(1)
        rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))

    rig.client.after_read.append(back)
    asked(rig)

    assert (rig.shown(lead), rig.outcomes()) == (("Held", "group 'emea' is off"), ["queued"])


def test_a_lead_that_is_changed_again_and_again_ends_all_the_same(rig: Rig):
    """Three looks at most; the others of its batch are not held up longer, and no job goes round for ever."""
    lead = held(rig)
    takes(rig, lead)

    def edit() -> None:
        rig.clock.advance(1)
        rig.rest_org.update(lead, Company=f"Edited {rig.clock.now()}")

    rig.client.after_read += [edit] * 9
    asked(rig)

    assert (len(rig.client.after_read), rig.shown(lead)[0]) == (6, "Held")
    assert rig.outcomes() == ["skipped: already owned"]


@pytest.mark.parametrize("fault", ["drop_before", "drop_after"])
def test_a_lost_answer_is_asked_again(rig: Rig, fault: str):
    """To blank twice is to blank once."""
    lead = held(rig)
    takes(rig, lead)
    rig.rest_org.fault(fault, path="/composite", body="If-Unmodified-Since")
    asked(rig)
    rig.clock.advance(120)
    rig.drain()

    assert (rig.shown(lead), rig.outcomes()) == (BLANK, ["skipped: already owned"])


def test_a_lead_that_refuses_is_named_in_the_log_and_left(rig: Rig):
    """P32: a rule of the org's own refuses every save: the job ends, the lead is its owner's."""
    lead = held(rig)
    takes(rig, lead)
    rig.forbid('Company = "Acme"', "Nobody saves this")
    with capture_logs() as logs:
        asked(rig)

    (line,) = [line for line in logs if line["event"] == "lead_not_cleared"]
    assert (line["lead"], line["log_level"], rig.shown(lead)[0]) == (lead, "warning", "Held")
    assert "Nobody saves this" in line["error"]
    assert rig.outcomes() == ["skipped: already owned"]


def test_leads_that_show_nothing_or_something_else_are_not_written_to(rig: Rig):
    """A lead made in a rep's own name, and one that was routed: nothing is written to either."""
    rest = rig.rest_org
    routed = rest.lead()
    rig.told(routed)
    rig.drain()
    own = rest.lead(OwnerId=rest.refs["bob"])
    rig.told(own)
    rig.store.record([NewJob("again", routed, routed, {})])
    before = dict(rig.lead(routed)), dict(rig.lead(own))
    rig.drain()

    assert (dict(rig.lead(routed)), dict(rig.lead(own))) == before


def test_many_are_cleared_by_twenty_five_a_call_each_by_itself(rig: Rig):
    """Salesforce takes the condition for single rows alone, of which one request carries twenty-five."""
    rest = rig.rest_org
    ids = [rest.lead(Routing_Status__c="Held", OwnerId=rest.refs["ann"]) for _ in range(28)]
    rig.clock.advance(5)
    found = rig.client.snapshot(rig.client.configuration(), ids, ())
    rest.update(ids[3], Company="Edited")
    rest.delete(ids[27])
    used = rig.calls()
    faults = rig.client.mark([Mark(found.leads[one], None) for one in ids])

    assert faults.keys() == {ids[3], ids[27]}
    assert faults[ids[3]] == LeadMoved(ids[3])
    assert isinstance(faults[ids[27]], Refusal)
    assert [one for one in ids[:27] if rig.lead(one)["Routing_Status__c"]] == [ids[3]]
    assert rig.calls() - used == 2


# ---- a lead whose job died ------------------------------------------------------------------------------------------


def dead(rig: Rig, life: Life) -> str:
    """A lead that the org refused for good, of which every event so far is heard."""
    rig.forbid('AND(NOT(ISNEW()), ISCHANGED(OwnerId), Company = "Acme")', "Not this company")
    lead = rig.rest_org.lead()
    life.goes_on()
    rig.allow()
    assert (rig.shown(lead)[0], rig.store.queue().dead) == ("Failed", 1)
    return lead


def discards(rig: Rig) -> None:
    assert rig.store.discard(rig.jobs()[0].id, "spam")


@pytest.mark.parametrize("before", [lambda rig: None, discards], ids=["dead", "discarded"])
def test_a_failed_lead_that_a_person_takes_is_cleared_by_that_event(rig: Rig, before: Callable[[Rig], None]):
    """P62: status and text alone; the dead job stays, for whoever is to look at it; our echo asks nobody."""
    life = Life(rig)
    lead = dead(rig, life)
    before(rig)
    takes(rig, lead)
    life.goes_on()
    used = rig.calls()
    life.goes_on()

    assert (rig.shown(lead), rig.owner(lead), rig.ledger()) == (BLANK, "Bob", [])
    assert (rig.outcomes()[1:], life.heard(), rig.calls()) == (["skipped: already owned"], 2, used)


def test_a_failed_lead_that_is_edited_or_given_to_another_queue_stays_failed(rig: Rig):
    """Who is to see it still has to; an edit of a lead that is in the intake is no taking, and asks nobody."""
    life = Life(rig)
    lead = dead(rig, life)
    rig.clock.advance(1)
    rig.rest_org.update(lead, Title="Edited")
    life.goes_on()
    heard = life.heard()
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Default_Assigned"))
    life.goes_on()

    assert (heard, rig.shown(lead)[0]) == (1, "Failed")


def test_a_failed_lead_that_is_given_back_to_the_intake_is_routed(rig: Rig):
    """Its cause is mended: the same event asks as for any other lead."""
    life = Life(rig)
    lead = dead(rig, life)
    takes(rig, lead)
    rig.clock.advance(1)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.queue("Lead_Intake"))
    life.goes_on()

    assert (rig.shown(lead), rig.owner(lead)) == (("Assigned", None), "Ann")


@pytest.mark.parametrize("rep", ["ann", "bob"])
def test_an_event_that_tells_no_fields_clears_what_has_another_owner(rig: Rig, rep: str):
    """A lead of Ann's that failed on its way to Bob's group: behind a gap it is Bob's, or hers and not to leave her."""
    rest = rig.rest_org
    rest.update(rest.refs["emea"], Reroute__c="Reroute")
    hot = rest.insert("Round_Robin_Group__c", Name="Hot", Key__c="hot", Mode__c="Live")
    rest.insert("Round_Robin_Member__c", Group__c=hot, User__c=rest.refs["bob"])
    rule = {"Name": "Hot", "Precedence__c": 1, "Active__c": True, "Criteria__c": "Rating = 'Hot'"}
    rest.insert("Routing_Rule__c", **rule, Target_Group__c=hot)
    life = Life(rig)
    lead = rest.lead()
    life.goes_on()
    rig.forbid("ISCHANGED(OwnerId)", "Nobody else")
    rest.update(lead, Rating="Hot")
    life.goes_on()
    rig.allow()
    assert (rig.shown(lead)[0], rig.owner(lead)) == ("Failed", "Ann")
    rig.org.events.faults.arm("gap_event")
    rest.update(lead, OwnerId=rest.refs[rep], Rating="Cold")
    life.goes_on()

    assert (rig.shown(lead)[0], rig.owner(lead)) == (("Assigned", "Ann") if rep == "ann" else (None, "Bob"))
    assert life.heard() == 3


def test_the_router_inside_that_gives_a_failed_lead_to_its_fallback_owner_is_left_alone(rig: Rig):
    """It writes the status in the save that gives the lead: who has it is to see that it failed."""
    life = Life(rig)
    lead = dead(rig, life)
    rig.clock.advance(1)
    rig.rest_org.update(lead, OwnerId=rig.rest_org.refs["bob"], Routing_Status__c="Failed", Routing_Error__c="again")
    life.goes_on()

    assert (rig.shown(lead), life.heard()) == (("Failed", "again"), 1)
