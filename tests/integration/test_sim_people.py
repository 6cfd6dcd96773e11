"""What a simulated org tells of people and time: rights, frozen logins, semi-joins, counts, hours and holidays."""

from __future__ import annotations

import pytest

from lead_router.errors import ContractMismatch, LeadRouterError
from support.rest_org import RestOrg, best


@pytest.fixture
def org() -> RestOrg:
    return RestOrg(best())


def test_users_read_leads_by_their_profile_or_a_permission_set(org) -> None:
    """The blog's own query, as `queries.readers` asks it; who has neither is not among the assignees."""
    (profile,) = (row["Id"] for row in org.rows("Profile") if "API Only" in row["Name"])
    cut_off = org.insert("User", Username="c@sim.example", LastName="Cut", ProfileId=profile)
    asked = (
        "SELECT AssigneeId FROM PermissionSetAssignment WHERE PermissionSetId IN (SELECT ParentId FROM "
        "ObjectPermissions WHERE SobjectType = 'Lead' AND PermissionsRead = true) AND AssigneeId IN "
        f"('{org.refs['ann']}','{cut_off}','{org.org.integration_user_id}')"
    )
    readers = {row["AssigneeId"] for row in org.rest.query(asked)}
    assert readers == {org.refs["ann"], org.org.integration_user_id}


def test_frozen_logins_are_seen_only_by_who_may_manage_users(org) -> None:
    asked = "SELECT UserId FROM UserLogin WHERE IsFrozen = true"
    with pytest.raises(ContractMismatch, match="UserLogin"):
        org.rest.query(asked)
    org.grant("ManageUsers")
    org.freeze(org.refs["bob"])
    assert [row["UserId"] for row in org.rest.query(asked)] == [org.refs["bob"]]


def test_accounts_and_contacts_are_hidden_without_the_set_that_opens_them(org) -> None:
    with pytest.raises(ContractMismatch, match="Account"):
        org.rest.query("SELECT Id FROM Account")
    org.assign("Lead_Router_Matching")
    assert org.rest.query("SELECT Id FROM Account") == []


@pytest.mark.parametrize(
    ("clause", "found"),
    [
        ("Id IN (SELECT User__c FROM Round_Robin_Member__c)", {"ann", "bob"}),
        ("Id IN (SELECT User__c FROM Round_Robin_Member__c WHERE Sort_Order__c = 1) AND IsActive = true", {"ann"}),
        ("Id IN (SELECT User__c FROM Round_Robin_Member__c WHERE Sort_Order__c > 9)", set()),
        ("Username = 'x) IN (SELECT y'", set()),
    ],
)
def test_an_inner_query_gives_the_ids(org, clause, found) -> None:
    rows = org.rest.query(f"SELECT Id FROM User WHERE {clause}")
    assert {row["Id"] for row in rows} == {org.refs[name] for name in found}


@pytest.mark.parametrize(
    ("inner", "told"),
    [
        ("SELECT Name FROM Round_Robin_Member__c", "id fields"),
        ("SELECT Id, User__c FROM Round_Robin_Member__c", "id fields"),
        ("SELECT Id FROM Nothing__c", "Nothing__c"),
        ("SELECT Id FROM User", "unexpected"),
    ],
)
def test_an_inner_query_that_cannot_be_is_refused(org, inner, told) -> None:
    closing = "" if told == "unexpected" else ")"
    with pytest.raises(LeadRouterError, match=told):
        org.rest.query(f"SELECT Id FROM User WHERE Id IN ({inner}{closing}")


def test_no_more_than_two_inner_queries(org) -> None:
    one = "Id IN (SELECT User__c FROM Round_Robin_Member__c)"
    with pytest.raises(LeadRouterError, match="Maximum 2"):
        org.rest.query(f"SELECT Id FROM User WHERE {one} AND {one} AND {one}")


def test_leads_are_counted_by_owner(org) -> None:
    for name in ("ann", "ann", "bob"):
        org.lead(OwnerId=org.refs[name])
    rows = org.rest.query("SELECT OwnerId, COUNT(Id) counted FROM Lead WHERE IsConverted = false GROUP BY OwnerId")
    assert {row["OwnerId"]: row["counted"] for row in rows} == {org.refs["ann"]: 2, org.refs["bob"]: 1}


def test_times_are_written_as_rest_writes_them(org) -> None:
    """The default hours are around the clock, from midnight to midnight."""
    (always,) = org.rest.query("SELECT MondayStartTime, MondayEndTime FROM BusinessHours WHERE IsDefault = true")
    assert (always["MondayStartTime"], always["MondayEndTime"]) == ("00:00:00.000Z", "00:00:00.000Z")
    day = org.insert("BusinessHours", Name="Day", TimeZoneSidKey="Europe/Paris", MondayStartTime="09:30")
    assert org.row(day)["MondayStartTime"] == "09:30:00.000Z"


def test_a_holiday_recurs_by_the_words_of_its_picklists(org) -> None:
    org.insert("Holiday", Name="New Year", IsRecurrence=True, RecurrenceType="RecursYearly")
    with pytest.raises(Exception, match="bad value for restricted picklist"):
        org.insert("Holiday", Name="Odd", IsRecurrence=True, RecurrenceType="Yearly")
