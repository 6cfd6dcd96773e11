"""What `lead-router doctor` finds in an org, and that each finding names its remedy."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.app.looking import group_statuses
from lead_router.errors import ContractMismatch
from lead_router.ports import Finding
from lead_router.salesforce.configuration import Intake
from lead_router.salesforce.doctor import diagnose, refuse_lacking
from org_simulator.wire.faults import STATUS
from support.rest_org import START, RestOrg, best


@pytest.fixture
def org() -> RestOrg:
    return RestOrg(best())


def findings(org: RestOrg) -> list[Finding]:
    return diagnose(org.rest, org.holder, org.client)


def bad(org: RestOrg) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings(org) if not finding.ok and not finding.warning}


def test_a_ready_org_has_no_fault(org) -> None:
    found = findings(org)
    assert [finding for finding in found if not finding.ok and not finding.warning] == []
    assert {"login", "clock", "API version", "API calls left", "Lead", "Lead_Assignment__c", "group emea"} <= {
        finding.name for finding in found
    }
    assert all(finding.remedy for finding in found if not finding.ok)
    assert [finding for finding in found if finding.ok and (finding.remedy or finding.warning)] == []


def test_it_is_told_which_leads_are_unassigned_and_how_many_there_are(org) -> None:
    """A router that hears every event and routes no lead is most often one whose leads come to another owner."""
    org.lead()
    (seen,) = [finding for finding in findings(org) if finding.name == "unassigned leads"]
    assert seen.ok
    assert seen.detail == "1 now: leads owned by the queue Lead_Intake; no other lead is ever routed"


def test_a_status_that_no_lead_can_have_is_named_with_those_that_it_can(org) -> None:
    """A mistyped intake status routes nothing, and no lead says so."""
    mistyped = RestOrg(best(), Intake(statuses=("Opn", "open - not contacted")))
    (seen,) = [finding for finding in findings(mistyped) if finding.name == "intake statuses"]
    assert (seen.ok, seen.warning) == (False, False)
    assert seen.detail == "LEAD_ROUTER_INTAKE_STATUSES names 'Opn', which no lead can have"
    assert seen.remedy.startswith("name one of: Open - Not Contacted, Working - Contacted, Closed")
    assert "intake statuses" not in {finding.name for finding in findings(org)}


def test_change_events_are_described_where_lead_is_selected(org) -> None:
    """Else a warning: whether Lead is selected is only seen in Setup."""
    (seen,) = [finding for finding in findings(org) if finding.name == "change events"]
    assert seen.ok
    org.world.org.schema = replace(org.world.org.schema, cdc_entities=frozenset())
    org.world.views.clear()
    (seen,) = [finding for finding in findings(org) if finding.name == "change events"]
    assert (seen.ok, seen.warning) == (False, True)


def test_events_of_the_configuration_are_looked_for_where_somebody_listens(org) -> None:
    """Without them its changes wait for the timed reload: a warning that names them, and what to do."""
    (seen,) = [finding for finding in findings(org) if finding.name == "configuration events"]
    assert seen.ok
    org.world.org.schema = replace(org.world.org.schema, cdc_entities=frozenset({"Lead", "Member_Absence__c"}))
    org.world.views.clear()
    (seen,) = [finding for finding in findings(org) if finding.name == "configuration events"]
    assert (seen.ok, seen.warning) == (False, True)
    assert seen.detail.startswith("Routing_Rule__ChangeEvent not described")
    assert "LEAD_ROUTER_CONFIGURATION_EVENTS" in seen.remedy
    quiet = diagnose(org.rest, org.holder, org.client, notices=())
    assert "configuration events" not in {finding.name for finding in quiet}


def test_wrong_credentials_are_the_only_finding(org) -> None:
    org.world.app = type(org.world.app)(client_secret="another")
    (finding,) = findings(org)
    assert (finding.name, finding.ok) == ("login", False)
    assert "LEAD_ROUTER_CLIENT_SECRET" in finding.detail


def test_a_user_without_the_permission_set_is_told_which(org) -> None:
    """P47: rights are lost as easily as given; the remedy names the permission set."""
    with org.org.system_transaction(org.org.admin_user_id) as opened:
        for row in list(opened.rows("PermissionSetAssignment")):
            opened.delete("PermissionSetAssignment", row["Id"])
    found = bad(org)
    assert "Routing_Idem_Key__c" in found["Lead"].detail
    assert all("Lead_Router_Integration" in found[name].remedy for name in ("Lead", "Round_Robin_Group__c"))


@pytest.mark.parametrize("sobject", ["Lead", "Lead_Assignment__c", "Routing_Rule__c"])
def test_a_start_is_refused_for_a_missing_field_or_object_by_name(org, sobject) -> None:
    """A lack that would show only in a commit is told before anything is routed, with the remedy."""
    refuse_lacking(org.rest)
    fields = org.org.schema.objects[sobject.lower()].fields
    missing = next(field.name for field in fields.values() if field.name.endswith("__c"))
    del fields[missing.lower()]
    org.world.views.clear()
    with pytest.raises(ContractMismatch, match=f"{sobject}: .*{missing}.*deploy salesforce_metadata"):
        refuse_lacking(org.rest)
    del org.org.schema.objects[sobject.lower()]
    org.world.views.clear()
    with pytest.raises(ContractMismatch, match=f"{sobject}: .*deploy salesforce_metadata"):
        refuse_lacking(org.rest)


def test_a_start_is_refused_for_a_missing_right_by_name(org) -> None:
    """P47: the permission set is named."""
    with org.org.system_transaction(org.org.admin_user_id) as opened:
        for row in list(opened.rows("PermissionSetAssignment")):
            opened.delete("PermissionSetAssignment", row["Id"])
    with pytest.raises(ContractMismatch, match=r"Lead: .*Lead_Router_Integration"):
        refuse_lacking(org.rest)


def test_a_group_without_anyone_on_duty_is_a_fault_only_where_a_rule_needs_it(org) -> None:
    org.insert("Round_Robin_Group__c", Name="Spare", Key__c="spare", Mode__c="Live")
    assert bad(org) == {}
    for name in ("ann_emea", "bob_emea"):
        org.update(org.refs[name], Active__c=False)
    assert "nobody is on duty" in bad(org)["group emea"].detail


def _by_absence(org: RestOrg) -> None:
    span = {"Start__c": START.isoformat(), "End__c": (START + timedelta(days=2)).isoformat()}
    org.insert("Member_Absence__c", User__c=org.refs["ann"], **span)


def _by_hours(org: RestOrg) -> None:
    days = {"MondayStartTime": "09:00", "MondayEndTime": "17:00"}
    shut = org.insert("BusinessHours", Name="Mondays", IsActive=True, TimeZoneSidKey="UTC", **days)
    org.update(org.refs["ann_emea"], Business_Hours__c=shut)


def _by_cap_of_day(org: RestOrg) -> None:
    org.update(org.refs["ann_emea"], Daily_Cap__c=0)


def _by_open_leads(org: RestOrg) -> None:
    org.update(org.refs["ann_emea"], Open_Lead_Cap__c=1)
    org.lead(OwnerId=org.refs["ann"])


@pytest.mark.parametrize("keep_off", [_by_absence, _by_hours, _by_cap_of_day, _by_open_leads])
def test_who_may_take_nothing_now_is_not_called_on_duty(org, keep_off) -> None:
    """By absence, hours, a cap a day and one on open leads: `status` and `doctor` count as a decision would."""
    keep_off(org)
    configuration = org.client.configuration()
    (shown,) = group_statuses(configuration, org.client.snapshot(configuration, [], []))
    assert (shown.on_duty, set(shown.next_members)) == (1, {"Bob"})
    (seen,) = [finding for finding in findings(org) if finding.name == "group emea"]
    assert (seen.ok, seen.detail) == (True, "Live, 1 on duty now, turn 0")
    org.update(org.refs["bob_emea"], Active__c=False)
    (shown,) = group_statuses(configuration, org.client.snapshot(configuration, [], []))
    assert (shown.on_duty, shown.next_members) == (0, ())


def test_a_live_group_with_nobody_on_duty_now_is_a_warning(org) -> None:
    """It may be night: no fault, but told with each one's reason, and only where a rule sends leads there."""
    _by_absence(org)
    org.update(org.refs["bob_emea"], Active__c=False)
    assert bad(org) == {}
    (warned,) = [finding for finding in findings(org) if finding.name == "group emea"]
    assert (warned.ok, warned.warning) == (False, True)
    assert warned.detail.startswith("nobody is on duty now: Ann absent until ")
    assert "; Bob member inactive" in warned.detail
    assert warned.remedy
    org.update(org.refs["all"], Active__c=False)
    (seen,) = [finding for finding in findings(org) if finding.name == "group emea"]
    assert (seen.ok, seen.detail) == (True, "Live, 0 on duty now, turn 0")


def test_an_inactive_rep_and_a_mode_are_warnings(org) -> None:
    org.update(org.refs["bob"], IsActive=False)
    (warned,) = [finding for finding in findings(org) if finding.name == "group emea"]
    assert (warned.warning, "Bob" in warned.detail) == (True, True)
    org.update(org.refs["bob"], IsActive=True)
    org.update(org.refs["emea"], Mode__c="Observe")
    (warned,) = [finding for finding in findings(org) if finding.name == "group emea"]
    left = "its leads are left alone and its decisions only recorded"
    assert (warned.warning, warned.detail) == (True, f"rules name it, but its mode is Observe: {left}")
    org.update(org.refs["emea"], Mode__c="Off")
    (warned,) = [finding for finding in findings(org) if finding.name == "group emea"]
    assert (warned.warning, warned.detail) == (True, "rules name it, but its mode is Off: its leads are held")


def test_rules_that_give_leads_out_before_any_group_does_are_a_warning(org) -> None:
    """A user or queue as target has no mode: while every group is Off or observes, such a rule is named, not later."""
    rule = {"Active__c": True, "Criteria__c": "Country = 'NO'"}
    org.insert("Routing_Rule__c", Name="Partners", Precedence__c=1, Target_User__c=org.refs["ann"], **rule)
    org.insert("Routing_Rule__c", Name="Spam", Precedence__c=2, Target_Queue__c="Default_Assigned", **rule)

    def seen() -> list[Finding]:
        return [finding for finding in findings(org) if finding.name == "rules without a group"]

    assert seen() == []
    for mode in ("Off", "Observe"):
        org.update(org.refs["emea"], Mode__c=mode)
        (warned,) = seen()
        assert (warned.ok, warned.warning) == (False, True)
        assert warned.detail.startswith("'Partners', 'Spam': the target is a user or queue, which has no mode")
        assert "uncheck Active" in warned.remedy
    for name in ("Partners", "Spam"):
        org.update(next(row["Id"] for row in org.rows("Routing_Rule__c") if row["Name"] == name), Active__c=False)
    assert seen() == []


def test_frozen_users_that_cannot_be_seen_are_told_of(org) -> None:
    """The right to manage users is large: it is told of, and not asked for by the permission set."""

    def seen() -> Finding:
        (finding,) = [finding for finding in findings(org) if finding.name == "frozen users"]
        return finding

    assert (seen().ok, "Manage Users" in seen().detail) == (True, True)
    org.grant("ManageUsers")
    assert (seen().ok, "passed over" in seen().detail) == (True, True)


def test_a_start_is_refused_where_a_cap_cannot_be_counted(org) -> None:
    """A count that is not written would be a cap that nobody keeps."""
    sets = org.org.schema.permission_sets
    shipped = sets["Lead_Router_Integration"]
    path = "round_robin_member__c.cap_count__c"
    sets["Lead_Router_Integration"] = replace(shipped, fields={**shipped.fields, path: False})
    org.world.views.clear()
    with pytest.raises(ContractMismatch, match=r"Round_Robin_Member__c: .*Cap_Count__c"):
        refuse_lacking(org.rest)


def test_a_bad_rule_is_one_finding_among_the_others(org) -> None:
    org.update(org.refs["all"], Criteria__c="Kountry = 'FR'")
    assert "Kountry" in bad(org)["configuration"].detail


def test_a_clock_that_is_off_is_told(org) -> None:
    """B5."""
    org.holder.token()
    org.holder.skew_s = -600.0
    (clock,) = [finding for finding in findings(org) if finding.name == "clock"]
    assert (clock.ok, clock.detail) == (False, "600 s behind Salesforce")


def test_an_org_that_is_down_is_told_once(org) -> None:
    org.fault(STATUS, path="/services/data", value=503, count=None)
    assert set(bad(org)) == {"API version"}


def test_few_calls_left_are_a_warning(org) -> None:
    """P37."""
    org.org.calls_used = org.org.calls_allowed - 50
    (left,) = [finding for finding in findings(org) if finding.name == "API calls left"]
    assert (left.ok, left.warning) == (False, True)
