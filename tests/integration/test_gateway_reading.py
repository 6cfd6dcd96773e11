"""Reading an org: snapshots, the sweep, marks, and what a configuration must be."""

from __future__ import annotations

import json

import pytest

from lead_router.core.model import Mode, Status, ToGroup, ToOwner
from lead_router.errors import BadCriteria, Misconfigured
from lead_router.ports import Committed, Mark, Refusal
from lead_router.salesforce.configuration import Intake
from support.rest_org import RestOrg, best, worst


@pytest.fixture
def org() -> RestOrg:
    return RestOrg(worst())


def test_a_full_batch_is_read_in_one_call(org) -> None:
    """B19, P37: 200 leads with both submission keys each."""
    ids = [org.lead(f"p{number}@example.org") for number in range(200)]
    keys = [f"{'eo'[number % 2]}{number:031x}" for number in range(400)]
    configuration = org.client.configuration()
    before = org.calls()
    snapshot = org.client.snapshot(configuration, ids, keys)
    assert org.calls() - before == 1
    assert set(snapshot.leads) == set(ids)
    assert snapshot.submission_keys_read == frozenset(keys)


def test_a_snapshot_holds_what_a_decision_needs(org) -> None:
    lead, deleted = org.lead("a@example.org", LeadSource="Web"), org.lead()
    org.delete(deleted)
    org.update(org.refs["bob"], IsActive=False)
    empty = org.insert("Round_Robin_Group__c", Name="Empty", Key__c="empty", Mode__c="Observe")
    snapshot = org.client.snapshot(org.client.configuration(), [lead, deleted, lead], [])
    assert set(snapshot.leads) == {lead}
    assert snapshot.leads[lead].owner_id == org.queue("Lead_Intake")
    assert snapshot.leads[lead].fields["Owner"]["Type"] == "Queue"
    assert (snapshot.groups[empty].mode, snapshot.groups[empty].members) == (Mode.OBSERVE, ())
    group = snapshot.groups[org.refs["emea"]]
    assert (group.key, group.epoch, group.turn, group.mode) == ("emea", 1, 0, Mode.LIVE)
    assert {member.user_id: member.user_active for member in group.members} == {
        org.refs["ann"]: True,
        org.refs["bob"]: False,
    }


def test_no_leads_are_asked_for_where_none_are_given(org) -> None:
    snapshot = org.client.snapshot(org.client.configuration(), [], [])
    assert (dict(snapshot.leads), snapshot.ledger) == ({}, ())
    assert org.refs["emea"] in snapshot.groups


def test_the_ledger_tells_a_sibling_s_present_owner(org) -> None:
    first = org.lead("a@example.org")
    assert org.client.commit(org.batch([first])) == Committed()
    org.update(first, OwnerId=org.org.admin_user_id)
    (row,) = org.client.snapshot(org.client.configuration(), [first], []).ledger
    assert (row.assigned_to, row.lead_owner_id) == (org.refs["ann"], org.org.admin_user_id)
    org.delete(first)
    second = org.lead("a@example.org")
    keys = [key for key in (row.submission_even, row.submission_odd) if key]
    (row,) = org.client.snapshot(org.client.configuration(), [second], keys).ledger
    assert (row.lead_id, row.lead_owner_id) == (None, None)


def test_the_sweep_finds_every_unassigned_lead_once(org) -> None:
    """B20, P35: 130 leads of one second, in pages of 50, neither skipped nor repeated; oldest first."""
    older = org.lead()
    org.clock.advance(60)
    ids = [org.lead() for _ in range(130)]
    org.lead(OwnerId=org.org.admin_user_id)
    pages = list(org.client.unassigned(org.client.configuration(), 50))
    assert [len(page) for page in pages] == [50, 50, 31]
    found = [lead.id for page in pages for lead in page]
    assert found[0] == older
    assert sorted(found) == sorted([older, *ids])


def test_a_long_queue_is_never_held_as_a_whole(org) -> None:
    """P35: a page is read when the one before it has been dealt with: however long the queue, one page is in memory."""
    for number in range(120):
        org.lead(Company=f"{number}")
    configuration = org.client.configuration()
    before = org.calls()
    seen = [(len(page), org.calls() - before) for page in org.client.unassigned(configuration, 50)]
    assert seen == [(50, 1), (50, 2), (20, 3)]


def test_a_status_asks_until_the_first_routing_only() -> None:
    org = RestOrg(best(), Intake(statuses=("Open - Not Contacted",), unassigned="Company = 'Acme'"))
    admin = org.org.admin_user_id
    new = org.lead(OwnerId=admin, Status="Open - Not Contacted")
    org.lead(OwnerId=admin, Status="Open - Not Contacted", Routing_Round__c=1)
    org.lead(Company="Other")
    found = [lead.id for page in org.client.unassigned(org.client.configuration(), 50) for lead in page]
    assert found == [new]


def test_marks_are_best_effort_and_never_move_a_lead(org) -> None:
    held, deleted = org.lead(LeadSource="Web"), org.lead()
    leads = org.client.leads(org.client.configuration(), [held, deleted])
    org.delete(deleted)
    refused = org.client.mark([Mark(leads[held], Status.HELD, "x" * 300), Mark(leads[deleted], Status.FAILED, "gone")])
    assert list(refused) == [deleted]
    assert isinstance(refused[deleted], Refusal)
    assert refused[deleted].text.startswith("ENTITY_IS_DELETED: ")
    row = org.row(held)
    assert (row["Routing_Status__c"], row["OwnerId"]) == ("Held", org.queue("Lead_Intake"))
    assert row["Routing_Error__c"] == "x" * 254 + "…"
    org.client.mark([])


def test_a_configuration_takes_two_calls_once_the_fields_are_known(org) -> None:
    first = org.client.configuration()
    before = org.calls()
    assert org.client.configuration() == first
    assert org.calls() - before == 2


def test_a_configuration_reads_the_fields_that_its_rules_use() -> None:
    intake = Intake(usernames=("ANN@sim.example",), form_field="leadsource", unassigned="country != 'XX'")
    org = RestOrg(best(), intake)
    org.update(org.refs["all"], Criteria__c="annualrevenue > 5 AND Owner.Name != 'x'")
    configuration = org.client.configuration()
    assert {"AnnualRevenue", "Owner.Name", "Country", "LeadSource", "Email"} <= configuration.lead_fields
    assert configuration.intake_owners == {org.queue("Lead_Intake"), org.refs["ann"]}
    assert configuration.form_field == "LeadSource"
    assert configuration.integration_user_id == org.org.integration_user_id
    assert any("takes every lead" in warning for warning in configuration.warnings)


def test_targets_are_groups_users_or_queues(org) -> None:
    org.insert("Routing_Rule__c", Name="U", Precedence__c=1, Active__c=True, Target_User__c=org.refs["bob"])
    org.insert("Routing_Rule__c", Name="Q", Precedence__c=2, Active__c=True, Target_Queue__c="Default_Assigned")
    org.insert("Routing_Rule__c", Name="Asleep", Precedence__c=3, Active__c=False, Target_Queue__c="Nowhere")
    assert [rule.target for rule in org.client.configuration().rules] == [
        ToOwner(org.refs["bob"], "Bob"),
        ToOwner(org.queue("Default_Assigned"), "Default_Assigned"),
        ToGroup(org.refs["emea"]),
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"Criteria__c": "Kountry = 'FR'"}, "rule 'All'.*Kountry.*did you mean Country"),
        ({"Criteria__c": "Country = "}, "rule 'All'"),
        ({"Target_Group__c": None}, "rule 'All'.*exactly one target"),
        ({"Target_Group__c": None, "Target_Queue__c": "Nowhere"}, "rule 'All'.*'Nowhere'.*no queue"),
        ({"Target_Group__c": None, "Target_Queue__c": "Lead_Intake"}, "rule 'All'.*intake queue"),
    ],
)
def test_a_bad_rule_is_refused_by_name(org, change, told) -> None:
    """F13: before anything is routed, and never by matching silently."""
    org.update(org.refs["all"], **change)
    with pytest.raises(Misconfigured, match=told):
        org.client.configuration()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"Key__c": "em ea"}, "group 'EMEA'.*key must be"),
        ({"Fallback_Queue__c": "Nowhere"}, "group 'emea'.*fallback queue is 'Nowhere'"),
        ({"Fallback_Queue__c": "Lead_Intake"}, "group 'emea'.*go round for ever"),
    ],
)
def test_a_bad_group_is_refused_by_name(org, change, told) -> None:
    org.update(org.refs["emea"], **change)
    with pytest.raises(Misconfigured, match=told):
        org.client.configuration()


@pytest.mark.parametrize(
    ("intake", "told"),
    [
        (Intake(queues=("Inbound",)), "LEAD_ROUTER_INTAKE_QUEUES names 'Inbound'"),
        (Intake(usernames=("nobody@sim.example",)), "LEAD_ROUTER_INTAKE_USERS names 'nobody@sim.example'"),
        (Intake(queues=()), "nothing is unassigned"),
        (Intake(form_field="Form__c"), "LEAD_ROUTER_FORM_FIELD names 'Form__c'"),
    ],
)
def test_a_bad_setting_is_refused_by_name(intake, told) -> None:
    """E4: a public group of that name is not a queue."""
    org = RestOrg(best(), intake)
    org.insert("Group", Name="Inbound", DeveloperName="Inbound", Type="Regular")
    with pytest.raises(Misconfigured, match=told):
        org.client.configuration()


def test_a_queue_and_a_public_group_of_one_name_are_told_apart() -> None:
    """E4: both are called 'Inbound'; the setting is the developer name, which is one record's, and of queues alone."""
    org = RestOrg(best(), Intake(queues=("Inbound",)))
    org.insert("Group", Name="Inbound", DeveloperName="Inbound_Team", Type="Regular")
    queue = org.insert("Group", Name="Inbound", DeveloperName="Inbound", Type="Queue")
    assert org.client.configuration().intake_owners == {queue}


def test_bad_narrowing_criteria_are_refused() -> None:
    with pytest.raises(BadCriteria, match="unassigned"):
        RestOrg(best(), Intake(unassigned="Nope__c = 1")).client.configuration()


def test_a_snapshot_reads_groups_first_and_members_behind_them(org: RestOrg) -> None:
    """D1: what a rival writes between the two reads makes our commit refused; the other order would overwrite it."""
    lead, configuration = org.lead("ann@example.org"), org.client.configuration()
    bodies: list[bytes] = []
    org.world.before.append(lambda request: bodies.append(request.body))
    org.client.snapshot(configuration, [lead], ["e" + "0" * 31, "o" + "0" * 31])

    parts = json.loads(bodies[-1])["compositeRequest"]
    assert [part["referenceId"] for part in parts] == [
        "groups",
        "members",
        "leads",
        "ledger0",
        "submissions0",
    ]
