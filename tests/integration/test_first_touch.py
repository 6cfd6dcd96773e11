"""The first-touch clock end to end: a lead that its owner lets lie moves on, one that was touched never does."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from structlog.testing import capture_logs

from lead_router.ports import Touched
from org_simulator.switches import Switches
from support.office import Office

WORKING = "Working - Contacted"


@pytest.fixture
def office(tmp_path):
    made = Office(tmp_path, switches=Switches.pessimistic())
    yield made
    made.close()


def test_a_rep_is_reminded_once_and_at_half_the_time(office: Office):
    """One reminder an assignment, whatever the number of looks and of routers."""
    lead = office.given()
    office.passes(7)
    before = office.marks()
    office.passes(1)
    office.looks().step()
    office.passes(5)

    assert (before, office.marks()) == ([], [(lead, 1, Touched.REMINDED)])
    assert office.owner(lead) == "Ann"


def test_a_lead_that_lies_goes_to_the_next_member_in_a_new_round(office: Office):
    """The turn is real, the ledger tells whom it was taken from and why, and no rep has it twice."""
    lead = office.given()
    office.passes(14)
    before = office.owner(lead)
    office.passes(2)
    row = max(office.ledger(), key=lambda one: one["Round__c"])

    assert (before, office.owner(lead), office.turns()) == ("Ann", "Bob", [1, 2])
    assert row["Explanation__c"].startswith(
        "Routed anew: not touched within 15 minutes by Ann. Turn 2 of group 'emea' went to Bob. Passed over: Ann: had"
    )
    assert (row["Assigned_From__c"], row["Idempotency_Key__c"].rpartition(lead)[2]) == (
        office.rest_org.refs["ann"],
        ".untouched.1",
    )
    assert office.shown(lead) == ("Assigned", None)


def test_a_chain_of_two_ends_with_the_manager(office: Office):
    """Two re-routes by default, then the manager has it, for whom no clock runs."""
    lead = office.given()
    office.passes(120)

    assert office.rounds() == [("Ann", "Assigned"), ("Bob", "Assigned"), ("Cid", "Assigned"), ("Mia", "Fallback")]
    assert office.owner(lead) == "Mia"
    assert max(office.ledger(), key=lambda one: one["Round__c"])["Explanation__c"] == (
        "Not touched within 15 minutes by Cid; it was routed anew 2 times. The manager of group 'emea' has the lead."
    )
    assert [(one, mark) for _, one, mark in office.marks()] == [(1, "reminded"), (2, "reminded"), (3, "reminded")]


@pytest.mark.parametrize(("most", "owners"), [(0, ["Ann", "Mia"]), (1, ["Ann", "Bob", "Mia"])])
def test_a_group_has_a_limit_of_its_own(office: Office, most: int, owners: list[str]):
    """What the group says goes before what the setting says."""
    office.rest_org.update(office.group, Accept_Chain_Max__c=most)
    office.anew()
    office.given()
    office.passes(90)

    assert [name for name, _ in office.rounds()] == owners


def test_nobody_else_on_duty_means_the_manager(office: Office):
    """Who is not there cannot touch it either; the ledger names why each was passed over."""
    lead = office.given()
    for name in ("bob", "cid", "dan"):
        office.rest_org.update(office.rest_org.refs[f"{name}_emea"], Active__c=False)
    office.passes(16)
    row = max(office.ledger(), key=lambda one: one["Round__c"])

    assert office.owner(lead) == "Mia"
    assert row["Explanation__c"].startswith(
        "Not touched within 15 minutes by Ann; nobody can take it: Bob: member inactive; Cid: member inactive"
    )
    assert row["Passed_Over__c"] == "Inactive; Had it before"


def test_without_a_manager_the_last_one_keeps_it(office: Office):
    """There is nobody to give it to: it is not taken away, and asked about once."""
    office.rest_org.update(office.group, Manager__c=None)
    office.anew()
    lead = office.given()
    office.passes(180)

    assert [name for name, _ in office.rounds()] == ["Ann", "Bob", "Cid"]
    assert office.owner(lead) == "Cid"
    assert office.outcomes()[-1] == (
        "skipped: it stays with its owner: not touched within 15 minutes by Cid; it was routed anew 2 times; "
        "as manager group 'emea' has none"
    )


def _works(office: Office, lead: str) -> None:
    office.rest_org.update(lead, Status=WORKING)


def _edits(office: Office, lead: str) -> None:
    with office.org.transaction(office.rest_org.refs["ann"], auto_assign=False) as opened:
        opened.update("Lead", lead, {"Phone": "+32 2 555 01 02"})


def _takes_back(office: Office, lead: str) -> None:
    office.rest_org.update(lead, OwnerId=office.rest_org.refs["dan"])
    with office.org.transaction(office.rest_org.refs["ann"], auto_assign=False) as opened:
        opened.update("Lead", lead, {"OwnerId": office.rest_org.refs["ann"]})


def _calls(office: Office, lead: str) -> None:
    office.logs_call(lead)


def _finishes(office: Office, lead: str) -> None:
    planned = office.logs_call(lead, Status="Not Started")
    office.clock.advance(1)
    office.rest_org.update(planned, Status="Completed")


def _meets(office: Office, lead: str) -> None:
    office.rest_org.insert("Event", WhoId=lead, Subject="Demo", StartDateTime="2026-12-03T10:00:00.000Z")


def _gives_on(office: Office, lead: str) -> None:
    office.rest_org.update(lead, OwnerId=office.rest_org.refs["dan"])


def _deletes(office: Office, lead: str) -> None:
    office.rest_org.delete(lead)


TOUCHES = [_works, _edits, _takes_back, _calls, _finishes, _meets, _gives_on, _deletes]


@pytest.mark.parametrize("touch", TOUCHES)
def test_nothing_fires_for_a_lead_that_was_touched_taken_or_deleted(office: Office, touch):
    """Its owner is not even reminded."""
    lead = office.given()
    office.clock.advance(60)
    touch(office, lead)
    office.passes(60)

    assert (office.marks(), len(office.ledger())) == ([], 1)


def test_a_converted_lead_is_left_alone(office: Office):
    """Nothing is to be written on it, and nobody to be reminded."""
    lead = office.given()
    office.org.convert_lead(lead)
    office.passes(60)

    assert (office.marks(), len(office.ledger())) == ([], 1)


@pytest.mark.parametrize("planned", [{"Status": "Not Started"}, {"Status": "In Progress"}])
def test_a_task_that_is_only_planned_touches_nothing(office: Office, planned: dict[str, str]):
    """The queue of what a rep means to do is no touch."""
    lead = office.given()
    office.logs_call(lead, **planned)
    office.passes(16)

    assert office.owner(lead) == "Bob"


def test_what_the_router_s_own_user_did_touches_nothing(office: Office):
    """A task that an automation makes in its name is nobody's touch."""
    lead = office.given()
    with office.org.transaction(office.org.integration_user_id) as opened:
        opened.insert("Task", {"WhoId": lead, "Subject": "Welcome", "Status": "Completed"})
    office.passes(16)

    assert office.owner(lead) == "Bob"


def test_a_call_of_before_the_assignment_touches_nothing(office: Office):
    """What the next rep is to do is not done by what the last one did."""
    lead = office.given()
    office.passes(16)
    second = office.owner(lead)
    office.logs_call(lead, by="bob")
    office.clock.advance(2)
    office.rest_org.update(lead, OwnerId=office.rest_org.queue("Lead_Intake"))
    office.upkeep().step()
    office.drain()
    third = office.owner(lead)
    office.passes(16)

    assert (second, third, office.owner(lead)) == ("Bob", "Cid", "Dan")


def _hours(office: Office, **times: str) -> None:
    """The group works from nine to five in Brussels, Monday to Friday."""
    week = {
        f"{day}{end}Time": f"{times.get(end, hour)}:00.000Z"
        for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
        for end, hour in (("Start", "09:00"), ("End", "17:00"))
    }
    hours = office.rest_org.insert("BusinessHours", Name="Office", TimeZoneSidKey="Europe/Brussels", **week)
    office.rest_org.update(office.group, Business_Hours__c=hours, Accept_Within__c=60)
    office.anew()


def _at(office: Office, day: int, hour: int, minute: int = 0) -> None:
    """To this time of a clock in Brussels, in December 2026."""
    there = datetime(2026, 12, day, hour, minute, tzinfo=ZoneInfo("Europe/Brussels"))
    office.clock.advance((there - office.clock.now()).total_seconds())


def test_the_night_is_no_working_time(office: Office):
    """A lead of half past four has half an hour that day and half an hour the next; nobody is reminded at night."""
    _hours(office)
    _at(office, 1, 16, 30)
    office.loop.step()
    lead = office.given()
    _at(office, 1, 16, 59)
    office.passes(1)
    at_night = office.marks()
    _at(office, 2, 9, 28)
    office.passes(1)
    before = (office.marks(), office.owner(lead))
    office.passes(2)

    assert (at_night, before, office.owner(lead)) == ([], ([(lead, 1, Touched.REMINDED)], "Ann"), "Bob")


def test_a_holiday_and_a_week_end_are_no_working_time(office: Office):
    """Friday is a holiday: what came on Thursday evening is due on Monday."""
    _hours(office)
    feast = {"Description": "Hours: Office", "IsAllDay": True, "ActivityDate": "2026-12-04"}
    office.rest_org.insert("Holiday", Name="Feast", **feast)
    office.anew()
    _at(office, 3, 16, 59)
    office.loop.step()
    lead = office.given()
    _at(office, 5, 9, 58)
    office.passes(1)
    _at(office, 7, 9, 57)
    office.passes(1)
    before = office.owner(lead)
    office.passes(2)

    assert (before, office.owner(lead)) == ("Ann", "Bob")


def test_what_runs_out_as_the_group_closes_moves_when_it_opens(office: Office):
    """The look comes half a minute after five: the lead does not go to the manager for that."""
    _hours(office)
    _at(office, 1, 16, 0)
    office.loop.step()
    lead = office.given()
    _at(office, 1, 16, 59)
    office.passes(3)
    closed = (office.owner(lead), len(office.jobs()))
    _at(office, 2, 8, 59)
    office.passes(2)

    assert (closed, office.owner(lead)) == (("Ann", 1), "Bob")


def test_a_group_without_a_clock_is_left_alone(office: Office):
    """Only who asks for a clock has one."""
    office.rest_org.update(office.group, Accept_Within__c=None)
    office.anew()
    office.given()
    before = office.rest_org.calls()
    office.passes(60)

    assert (office.marks(), len(office.ledger()), office.rest_org.calls()) == ([], 1, before)


def test_a_call_of_before_its_own_assignment_touches_nothing_beside_an_older_lead(office: Office):
    """Two leads in one look: each is judged from when it was given out itself."""
    first = office.given()
    office.clock.advance(120)
    (second,) = office.leads(1)
    office.logs_call(second, by="bob")
    office.clock.advance(2)
    office.drain()
    office.clock.advance(20 * 60)
    office.loop.step()
    office.drain()

    assert (office.owner(first), office.owner(second)) == ("Cid", "Dan")


def test_a_group_that_gets_its_clock_later_begins_then(office: Office):
    """Another group's clock runs already; what this one gave out before is left alone."""
    org = office.rest_org
    asia = org.insert("Round_Robin_Group__c", Name="Asia", Key__c="asia", Mode__c="Live", Epoch__c=1)
    for name in ("ann", "bob"):
        org.insert("Round_Robin_Member__c", Group__c=asia, User__c=org.refs[name])
    criteria = {"Criteria__c": "Country = 'Japan'", "Target_Group__c": asia}
    org.insert("Routing_Rule__c", Name="Japan", Precedence__c=1, Active__c=True, **criteria)
    office.anew()
    office.given()
    before = office.given(Country="Japan")
    office.passes(5)
    org.update(asia, Accept_Within__c=10)
    office.anew()
    office.loop.step()
    office.clock.advance(1)
    after = office.given(Country="Japan")
    owners = (office.owner(before), office.owner(after))
    office.passes(12)

    assert office.owner(before) == owners[0]
    assert office.owner(after) != owners[1]


def test_what_the_clock_did_counts_for_nobody_who_returns_the_lead(office: Office):
    """Three moves within the hour were its own: the person who then returns the lead is not the fourth."""
    lead = office.given()
    office.passes(50)
    moved = [name for name, _ in office.rounds()]
    office.rest_org.update(lead, OwnerId=office.rest_org.queue("Lead_Intake"))
    office.upkeep().step()
    office.drain()

    assert (moved, office.owner(lead)) == (["Ann", "Bob", "Cid", "Mia"], "Dan")


def test_hundreds_of_groups_have_their_clocks(office: Office):
    """More keys than one URL has room for: the clock of each runs all the same, and no other group's lead is moved."""
    with office.org.transaction(office.org.admin_user_id, auto_assign=False) as opened:
        for number in range(400):
            key = f"a-territory-with-a-long-name-{number:04}"
            named = {"Name": key, "Key__c": key, "Mode__c": "Live", "Epoch__c": 1}
            opened.insert("Round_Robin_Group__c", {**named, "Accept_Within__c": 15})
    org = office.rest_org
    asia = org.insert("Round_Robin_Group__c", Name="Asia", Key__c="asia", Mode__c="Live", Epoch__c=1)
    org.insert("Round_Robin_Member__c", Group__c=asia, User__c=org.refs["dan"])
    criteria = {"Criteria__c": "Country = 'Japan'", "Target_Group__c": asia}
    org.insert("Routing_Rule__c", Name="Japan", Precedence__c=1, Active__c=True, **criteria)
    office.anew()
    office.loop.step()
    lead, unclocked = office.given(), office.given(Country="Japan")
    with capture_logs() as logs:
        office.passes(16)

    assert (office.owner(lead), office.owner(unclocked)) == ("Bob", "Dan")
    assert "first_touch_failed" not in {line["event"] for line in logs}
