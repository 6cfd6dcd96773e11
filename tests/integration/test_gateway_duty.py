"""What duty is judged by, as read from a whole org: hours, holidays, absences, people, caps, fallbacks."""

from __future__ import annotations

import tomllib
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lead_router.core.hours import is_open
from lead_router.core.model import Absence, Assign, Group, Hold, Holiday, Outcome, Recurrence, Reroute
from lead_router.core.zones import zone_of
from lead_router.errors import BadCriteria, Misconfigured
from lead_router.ports import Committed, Overridden
from lead_router.salesforce.configuration import Intake
from support.rest_org import START, RestOrg, best, worst

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")


@pytest.fixture(params=[best, worst])
def org(request: pytest.FixtureRequest) -> RestOrg:
    return RestOrg(request.param())


def hours(org: RestOrg, name: str, start: str = "09:00", end: str = "17:30", **fields: Any) -> str:
    week = {f"{day}StartTime": start for day in WEEKDAYS} | {f"{day}EndTime": end for day in WEEKDAYS}
    given = {"Name": name, "IsActive": True, "TimeZoneSidKey": "Europe/Paris", **week, **fields}
    return org.insert("BusinessHours", **given)


def group(org: RestOrg, name: str = "emea") -> Group:
    configuration = org.client.configuration()
    return org.client.snapshot(configuration, [], []).groups[org.refs[name]]


def test_hours_are_read_with_zone_and_week(org) -> None:
    """D19: an overnight window ends on the next day; midnight to midnight is the whole day, blank is closed."""
    late = hours(org, "Late", "21:00", "05:00", SaturdayStartTime="00:00", SaturdayEndTime="00:00")
    hours(org, "Unused")
    asleep = hours(org, "Asleep", IsActive=False)
    org.update(org.refs["emea"], Business_Hours__c=late)
    org.update(org.refs["bob_emea"], Business_Hours__c=asleep)
    found = org.client.configuration().hours
    assert set(found) == {late}
    assert (found[late].name, found[late].zone) == ("Late", "Europe/Paris")
    assert found[late].week == (*(((1260, 1740),),) * 5, ((0, 1440),), ())
    assert {member.hours_id for member in group(org).members} == {None, asleep}
    assert group(org).hours_id == late


@pytest.fixture
def slim() -> Iterator[None]:
    """A machine without a table of zones of its own, as a small container is."""

    def forget() -> None:
        zoneinfo.ZoneInfo.clear_cache()
        zone_of.cache_clear()

    zoneinfo.reset_tzpath(to=())
    forget()
    yield
    zoneinfo.reset_tzpath()
    forget()


def test_a_machine_without_zones_has_those_that_are_installed_with_us(org, slim) -> None:
    """F4: shifts in Berlin are judged in Berlin's time, summer and winter; the zones are a dependency of our own."""
    berlin = hours(org, "Berlin", TimeZoneSidKey="Europe/Berlin")
    org.update(org.refs["emea"], Business_Hours__c=berlin)
    shift = org.client.configuration().hours[berlin]
    open_at = [is_open(shift, datetime(2026, month, 15, 7, 30, tzinfo=UTC)) for month in (1, 7)]
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert open_at == [False, True]
    assert "tzdata" in project["dependencies"]


def test_hours_in_an_unknown_zone_are_refused_by_name(org) -> None:
    """F4: when the configuration is read, by the start and by the doctor; never taken for UTC."""
    odd = hours(org, "Odd", TimeZoneSidKey="Mars/Olympus")
    org.client.configuration()
    org.update(org.refs["emea"], Business_Hours__c=odd)
    with pytest.raises(Misconfigured, match=r"business hours 'Odd'.*Mars/Olympus"):
        org.client.configuration()


def test_holidays_are_those_of_the_hours_they_name(org) -> None:
    """Salesforce tells no program which hours a holiday is of; without a name it closes all, and that is told."""
    paris, pune = hours(org, "Paris"), hours(org, "Pune", TimeZoneSidKey="Asia/Kolkata")
    org.update(org.refs["ann_emea"], Business_Hours__c=paris)
    org.update(org.refs["bob_emea"], Business_Hours__c=pune)
    day = {"IsAllDay": True, "ActivityDate": "2026-12-25"}
    org.insert("Holiday", Name="Everywhere", **day)
    hours(org, "Unused")
    org.insert("Holiday", Name="Noël", Description="Hours: paris, unused", **day)
    org.insert("Holiday", Name="Over", **day | {"ActivityDate": "2026-11-26"})
    half = {"IsAllDay": False, "StartTimeInMinutes": 720, "EndTimeInMinutes": 1440, "ActivityDate": "2026-12-24"}
    org.insert("Holiday", Name="Half", Description="closed early. Hours: Pune", **half)
    configuration = org.client.configuration()
    found = configuration.hours
    all_day = date(2026, 12, 25)
    assert found[paris].holidays == (Holiday("Everywhere", all_day), Holiday("Noël", all_day))
    assert found[pune].holidays == (Holiday("Everywhere", all_day), Holiday("Half", date(2026, 12, 24), 720, 1440))
    (warned,) = [warning for warning in configuration.warnings if "holiday" in warning]
    assert "holiday 'Everywhere'" in warned
    assert "Hours:" in warned


def test_a_holiday_of_hours_that_do_not_exist_is_told(org) -> None:
    """A slip in a name would leave everybody on duty: one warning, naming holiday and name."""
    berlin = hours(org, "Berlin")
    hours(org, "Asleep", IsActive=False)
    org.update(org.refs["emea"], Business_Hours__c=berlin)
    org.insert("Holiday", Name="Feast", Description="Hours: Berln, berlin", IsAllDay=True, ActivityDate="2026-12-25")
    rested = {"IsAllDay": True, "ActivityDate": "2026-12-26"}
    org.insert("Holiday", Name="Rest", Description="Hours: Asleep, Brlin", **rested)
    configuration = org.client.configuration()
    assert configuration.hours[berlin].holidays == (Holiday("Feast", date(2026, 12, 25)),)
    feast, rest = sorted(warning for warning in configuration.warnings if "holiday" in warning)
    assert feast.startswith("holiday 'Feast' (")
    assert "no active business hours named 'Berln'" in feast
    assert "'Asleep' or 'Brlin'" in rest
    assert org.client.glance().warnings == configuration.warnings


def test_a_holiday_that_recurs_keeps_its_recurrence(org) -> None:
    paris = hours(org, "Paris")
    org.update(org.refs["emea"], Business_Hours__c=paris)
    again = {"IsRecurrence": True, "RecurrenceStartDate": "2020-11-26", "RecurrenceInterval": 1}
    nth = {"RecurrenceDayOfWeekMask": 16, "RecurrenceInstance": "Fourth", "RecurrenceMonthOfYear": "November"}
    org.insert("Holiday", Name="Thanks", IsAllDay=True, RecurrenceType="RecursYearlyNth", **again, **nth)
    configuration = org.client.configuration()
    (found,) = configuration.hours[paris].holidays
    recurrence = Recurrence("RecursYearlyNth", date(2020, 11, 26), None, 1, None, 16, "Fourth", "November")
    assert found == Holiday("Thanks", None, recurrence=recurrence)
    assert [warning for warning in configuration.warnings if "holiday" in warning] == []


def test_absences_are_read_until_they_are_over(org) -> None:
    """Half days too, and why someone is away is not asked."""
    ann = org.refs["ann"]

    def away(user: str, start_h: float, end_h: float) -> None:
        start, end = (START + timedelta(hours=each) for each in (start_h, end_h))
        given = {"Start__c": start.isoformat(), "End__c": end.isoformat(), "Reason__c": "private"}
        org.insert("Member_Absence__c", User__c=user, **given)

    for user, start_h, end_h in ((ann, 24, 28), (ann, -5, 1), (ann, -9, -1)):
        away(user, start_h, end_h)
    found = org.client.configuration().absences
    at = [(START + timedelta(hours=start), START + timedelta(hours=end)) for start, end in ((-5, 1), (24, 28))]
    assert found == {ann: tuple(Absence(ann, start, end) for start, end in at)}


def test_an_absence_of_swapped_dates_is_told_while_it_matters(org) -> None:
    """One saved before the rule that refuses it: none, but one warning that names it until both dates are past."""
    with org.org.system_transaction(org.org.admin_user_id) as opened:
        for start_h, end_h in ((9, 8), (48, -48), (5, 5), (-1, -9)):
            start, end = (START + timedelta(hours=each) for each in (start_h, end_h))
            given = {"Start__c": start.isoformat(), "End__c": end.isoformat()}
            opened.insert("Member_Absence__c", {"User__c": org.refs["bob"], **given})
    configuration = org.client.configuration()
    assert configuration.absences == {}
    told = [warning for warning in configuration.warnings if warning.startswith("absence ")]
    names = [(row["Name"], row["Id"]) for row in org.rows("Member_Absence__c")][:3]
    assert [warning.partition(":")[0] for warning in told] == [f"absence '{name}' ({found})" for name, found in names]
    assert all("swap" in warning for warning in told)
    assert org.client.glance().warnings == configuration.warnings


def test_who_may_not_read_leads_is_known(org) -> None:
    (profile,) = (row["Id"] for row in org.rows("Profile") if "API Only" in row["Name"])
    cut_off = org.insert("User", Username="c@sim.example", LastName="Cut", ProfileId=profile)
    org.insert("Round_Robin_Member__c", Group__c=org.refs["emea"], User__c=cut_off)
    assert {member.name: member.reads_leads for member in group(org).members} == {
        "Ann": True,
        "Bob": True,
        "Cut": False,
    }


def test_who_is_frozen_is_known_where_the_router_may_see_it(org) -> None:
    """Without the right to manage users nobody counts as frozen, and nothing else is lost."""
    org.freeze(org.refs["bob"])
    assert [member.frozen for member in group(org).members] == [False, False]
    org.grant("ManageUsers")
    assert {member.name: member.frozen for member in group(org).members} == {"Ann": False, "Bob": True}
    org.update(org.refs["emea"], Manager__c=org.refs["bob"])
    found = group(org)
    assert (found.manager_id, found.manager_active) == (org.refs["bob"], False)


def test_a_group_tells_what_becomes_of_its_leads(org) -> None:
    other = org.insert("Round_Robin_Group__c", Name="Other", Key__c="other", Mode__c="Live")
    given = {"Fallback_Group__c": other, "Manager__c": org.refs["ann"], "Reroute__c": "Reroute"}
    org.update(org.refs["emea"], Count_Manual__c=True, **given)
    found = group(org)
    assert (found.fallback_group, found.manager_id, found.manager_active) == (other, org.refs["ann"], True)
    assert (found.reroute, found.counts_manual) == (Reroute.REROUTE, True)
    configuration = org.client.configuration()
    assert configuration.fallbacks == {org.refs["emea"]: other}
    plain = org.client.snapshot(configuration, [], []).groups[other]
    assert (plain.manager_id, plain.manager_active, plain.reroute, plain.counts_manual) == (
        None,
        True,
        Reroute.KEEP,
        False,
    )


def test_fallback_groups_in_a_circle_are_refused_by_name(org) -> None:
    other = org.insert("Round_Robin_Group__c", Name="Other", Key__c="other", Fallback_Group__c=org.refs["emea"])
    org.update(org.refs["emea"], Fallback_Group__c=other)
    with pytest.raises(Misconfigured, match="'emea' to 'other'"):
        org.client.configuration()


def test_an_intake_user_cannot_be_a_manager() -> None:
    org = RestOrg(best(), Intake(usernames=("ann@sim.example",)))
    org.update(org.refs["emea"], Manager__c=org.refs["ann"])
    with pytest.raises(Misconfigured, match=r"group 'emea'.*manager is an intake user"):
        org.client.configuration()


def test_a_member_s_criteria_are_read_for_and_a_bad_one_is_told(org) -> None:
    """A member's fault must not hold up the leads of others."""
    org.update(org.refs["ann_emea"], Accepts__c="annualrevenue > 10")
    org.update(org.refs["bob_emea"], Accepts__c="Kountry = 'FR'")
    configuration = org.client.configuration()
    assert "AnnualRevenue" in configuration.lead_fields
    (warned,) = [warning for warning in configuration.warnings if "member" in warning]
    assert "Bob" in warned
    assert "Kountry" in warned
    rich, poor = org.lead(AnnualRevenue=11), org.lead(AnnualRevenue=9)
    first, second = org.decided([rich, poor])
    assert isinstance(first, Assign)
    assert first.owner_id == org.refs["ann"]
    assert isinstance(second, Hold)


def test_open_leads_are_counted_only_where_a_cap_asks(org) -> None:
    """Converted and closed leads do not count, nor what others own; the plain case stays one call."""
    lead = org.lead("a@example.org")
    org.lead(OwnerId=org.refs["ann"])
    org.lead(OwnerId=org.refs["ann"], Status="Closed - Not Converted")
    org.org.convert_lead(org.lead(OwnerId=org.refs["ann"]))
    org.lead(OwnerId=org.refs["bob"])
    configuration = org.client.configuration()
    before = org.calls()
    assert org.client.snapshot(configuration, [lead], []).open_leads == {}
    assert org.calls() - before == 1
    org.update(org.refs["ann_emea"], Open_Lead_Cap__c=1)
    assert org.client.snapshot(configuration, [lead], []).open_leads == {org.refs["ann"]: 1}
    assert org.calls() - before == 3
    (decision,) = org.decided([lead])
    assert isinstance(decision, Assign)
    assert decision.owner_id == org.refs["bob"]


def test_what_counts_as_open_is_checked_by_name() -> None:
    with pytest.raises(BadCriteria, match=r"open leads.*Statuz"):
        RestOrg(best(), Intake(open_leads="Statuz = 'New'")).client.configuration()


def test_deleted_and_merged_leads_are_told_apart(org) -> None:
    """F2: what became of a lead that is not there, for one more call."""
    kept, winner, loser, deleted = (org.lead() for _ in range(4))
    org.org.merge_leads(winner, loser)
    org.delete(deleted)
    configuration = org.client.configuration()
    before = org.calls()
    snapshot = org.client.snapshot(configuration, [kept, loser, deleted], [])
    assert org.calls() - before == 2
    assert (set(snapshot.leads), dict(snapshot.gone)) == ({kept}, {loser: winner, deleted: None})


def test_the_ledger_tells_whom_a_lead_was_taken_from(org) -> None:
    lead = org.lead("a@example.org")
    assert org.client.commit(org.batch([lead])) == Committed()
    (row,) = org.client.snapshot(org.client.configuration(), [lead], []).ledger
    assert (row.group_id, row.assigned_from) == (org.refs["emea"], org.queue("Lead_Intake"))
    assert row.created_at == START


def test_a_fallback_group_s_turn_is_written_with_its_cap(org) -> None:
    """The outcome says Fallback; turn, count and lead move together."""
    carl = org.insert("User", Username="carl@sim.example", LastName="Carl", TimeZoneSidKey="Asia/Tokyo")
    other = org.insert("Round_Robin_Group__c", Name="Other", Key__c="other", Mode__c="Live")
    member = org.insert("Round_Robin_Member__c", Group__c=other, User__c=carl, Daily_Cap__c=1)
    org.update(org.refs["emea"], Fallback_Group__c=other)
    for name in ("ann_emea", "bob_emea"):
        org.update(org.refs[name], Weight__c=0)
    first, second = org.lead("a@example.org"), org.lead("b@example.org")
    assert org.client.commit(org.batch([first])) == Committed()
    row = org.row(member)
    assert (row["Cap_Day__c"], row["Cap_Count__c"]) == ("2026-11-30", 1)
    (ledger,) = org.rows("Lead_Assignment__c")
    assert (ledger["Outcome__c"], ledger["Turn_Key__c"]) == (Outcome.FALLBACK, "other.0.1")
    assert "paused" in ledger["Explanation__c"]
    (decision,) = org.decided([second])
    assert isinstance(decision, Hold)
    org.clock.advance(24 * 3600)
    assert org.client.commit(org.batch([second])) == Committed()
    row = org.row(member)
    assert (row["Cap_Day__c"], row["Cap_Count__c"]) == ("2026-12-01", 1)


def test_who_overrode_an_owner_is_shown_until_the_next_routing(org) -> None:
    lead, deleted = org.lead("a@example.org"), org.lead()
    leads = org.client.leads(org.client.configuration(), [lead, deleted])
    org.delete(deleted)
    admin = org.org.admin_user_id
    refused = org.client.mark([Overridden(leads[one], admin, START) for one in (lead, deleted)])
    assert list(refused) == [deleted]
    row = org.row(lead)
    assert (row["Routing_Overridden_By__c"], row["OwnerId"]) == (admin, org.queue("Lead_Intake"))
    assert row["Routing_Overridden_At__c"].startswith("2026-11-29T20:00:00")
    assert org.client.commit(org.batch([lead])) == Committed()
    row = org.row(lead)
    assert (row["Routing_Overridden_By__c"], row["Routing_Overridden_At__c"]) == (None, None)
    assert org.client.mark([]) == {}
