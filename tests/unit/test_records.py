from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.core.ids import to18
from lead_router.core.model import Batch, Configuration, Group, Mode
from lead_router.errors import ContractMismatch, Misconfigured
from lead_router.salesforce import queries, records, sweeping
from lead_router.salesforce.writes import compose, cut
from support.batches import AT, GROUP_ID, INTAKE, ORG, batch, following, lead_id, member_id, user_id

TYPED = {"attributes": {"type": "Lead"}}
CLEARED = {"Routing_Error__c", "Routing_Overridden_By__c", "Routing_Overridden_At__c"}
LEAD_HEADERS = {"Sforce-Auto-Assign": "FALSE", "Sforce-Call-Options": "client=lead-router"}


def test_a_batch_is_written_in_five_parts_in_this_order() -> None:
    """P49: the header that keeps assignment rules away stands on the parts that write leads, and only there."""
    parts = compose([batch([9, 3])], AT, lock_touch=True).parts
    assert [(part.method, part.reference, part.path, part.headers) for part in parts] == [
        ("PATCH", "group", f"sobjects/Round_Robin_Group__c/{GROUP_ID}", None),
        ("POST", "ledger", "composite/sobjects", None),
        ("PATCH", "members", "composite/sobjects", None),
        ("PATCH", "lock", "composite/sobjects", LEAD_HEADERS),
        ("PATCH", "leads", "composite/sobjects", LEAD_HEADERS),
    ]
    assert parts[0].body == {"Turn__c": 43, "Clock__c": 7, "Expected_Turn__c": "3.41"}


def test_several_groups_are_written_in_five_parts_too() -> None:
    """The groups are one collection, ids ascending whatever the order of the batches; each is compared with its own."""
    first, second = batch([9, 3]), batch([5])
    group = replace(second.before, id=to18("a00000000000000"), key="apac", epoch=0, turn=7) if second.before else None
    moved = replace(group, turn=8, members=second.after.members) if group and second.after else None
    composed = compose([first, replace(second, before=group, after=moved), following(7, 9)], AT, lock_touch=True)
    groups, ledger, members, _, leads = composed.parts

    assert [part.reference for part in composed.parts] == ["group", "ledger", "members", "lock", "leads"]
    assert all(part.path == "composite/sobjects" for part in composed.parts)
    records = (groups.body or {})["records"]
    assert [(row["id"], row["Turn__c"], row["Expected_Turn__c"]) for row in records] == [
        (to18("a00000000000000"), 8, "0.7"),
        (GROUP_ID, 43, "3.41"),
    ]
    assert (groups.body or {})["allOrNone"] is True
    assert [row["Lead__c"] for row in (ledger.body or {})["records"]] == [lead_id(n) for n in (9, 3, 5, 7)]
    assert [row["id"] for row in (leads.body or {})["records"]] == [lead_id(n) for n in (3, 5, 7, 9)]
    assert [row["id"] for row in (members.body or {})["records"]] == [member_id(n) for n in (1, 2, 2)]


def test_the_ledger_is_in_turn_order_and_all_else_in_id_order() -> None:
    ledger, members, lock, leads = (part.body or {} for part in compose([batch([9, 3])], AT, lock_touch=True).parts[1:])
    assert [row["Turn_Key__c"] for row in ledger["records"]] == ["emea.3.42", "emea.3.43"]
    assert [row["Lead__c"] for row in ledger["records"]] == [lead_id(9), lead_id(3)]
    assert [row["id"] for row in members["records"]] == [member_id(1), member_id(2)]
    assert [row["id"] for row in lock["records"]] == [row["id"] for row in leads["records"]] == [lead_id(3), lead_id(9)]
    assert all(body["allOrNone"] is True for body in (ledger, members, lock, leads))


def test_the_bodies_hold_these_keys_and_no_other_null() -> None:
    """E11: only what is written is sent; nulls take off the lead what another may have shown since it was read."""
    group, ledger, members, lock, leads = (part.body or {} for part in compose([batch([9])], AT, lock_touch=True).parts)
    assert group == {"Turn__c": 42, "Clock__c": 6, "Expected_Turn__c": "3.41"}
    assert ledger["records"] == [
        {
            "attributes": {"type": "Lead_Assignment__c"},
            "Idempotency_Key__c": f"{ORG}.{lead_id(9)}.create",
            "Lead_Key__c": f"{lead_id(9)}.1",
            "Lead__c": lead_id(9),
            "Round__c": 1,
            "Assigned_To__c": user_id(2),
            "Assigned_From__c": INTAKE,
            "Explanation__c": "Rep 1 passed over: paused",
            "Event_At__c": "2026-11-29T20:00:00.000Z",
            "Committed_At__c": "2026-11-29T20:00:00.000Z",
            "Latency_Ms__c": 0,
            "Outcome__c": "Assigned",
            "Rule__c": "Web",
            "Passed_Over__c": "Absent; Paused",
            "Group__c": GROUP_ID,
            "Member__c": member_id(2),
            "Epoch__c": 3,
            "Turn__c": 42,
            "Turn_Key__c": "emea.3.42",
            "Submission_Even__c": f"{9:032x}",
            "Submission_Odd__c": f"{10:032x}",
        }
    ]
    assert members["records"] == [
        {
            "attributes": {"type": "Round_Robin_Member__c"},
            "id": member_id(2),
            "Next_Turn__c": 100,
            "Last_Turn__c": 42,
            "Leads_Received__c": 1,
        }
    ]
    assert lock["records"] == [{**TYPED, "id": lead_id(9), "Routing_Expected_Owner__c": INTAKE}]
    assert leads["records"] == [
        {
            **TYPED,
            "id": lead_id(9),
            "OwnerId": user_id(2),
            "Routing_Idem_Key__c": f"{ORG}.{lead_id(9)}.create",
            "Routing_Round__c": 1,
            "Routing_Expected_Owner__c": INTAKE,
            "Routed_At__c": "2026-11-29T20:00:00.000Z",
            "Routing_Status__c": "Assigned",
            "Routing_Group__c": "emea",
            **dict.fromkeys(CLEARED),
        }
    ]


def test_a_counted_turn_moves_the_cap_with_the_member() -> None:
    """In the record of the same part, so that turn and count cannot part; an uncounted member shows no day."""
    given = batch([9])
    assert given.after is not None
    members = tuple(replace(member, day="2026-11-29", day_count=3) for member in given.after.members[1:2])
    counted = replace(given, after=replace(given.after, members=members))
    (part,) = [part for part in compose([counted], AT, lock_touch=True).parts if part.reference == "members"]
    (record,) = (part.body or {})["records"]
    assert (record["Cap_Day__c"], record["Cap_Count__c"], record["Last_Turn__c"]) == ("2026-11-29", 3, 42)


def test_without_a_turn_neither_group_nor_members_are_written() -> None:
    ledger, leads = compose([following(2, 1)], AT, lock_touch=False).parts
    assert (ledger.reference, leads.reference) == ("ledger", "leads")
    (row,) = (ledger.body or {})["records"]
    assert row["Outcome__c"] == "Duplicate"
    assert {"Turn_Key__c", "Submission_Even__c", "Group__c", "Rule__c"} & set(row) == set()
    (lead,) = (leads.body or {})["records"]
    assert (lead["Routing_Status__c"], lead["Routing_Duplicate_Of__c"]) == ("Duplicate", lead_id(1))


@pytest.mark.parametrize("shown", [{}, {"Routing_Error__c": "it failed"}], ids=["nothing", "an error"])
def test_what_is_of_the_past_is_cleared_and_nothing_else_is(shown: dict[str, str]) -> None:
    """Whatever the lead showed as it was read: another router may have shown more since."""
    given = batch([1])
    (write,) = given.writes
    failed = replace(write, lead=replace(write.lead, fields=shown))
    leads = compose([Batch((failed,), given.before, given.after)], AT, lock_touch=False).parts[-1].body or {}
    assert {name for name, value in leads["records"][0].items() if value is None} == CLEARED


def test_prose_is_cut_to_its_field() -> None:
    assert cut("x" * 80, 80) == "x" * 80
    assert cut("x" * 81, 80) == "x" * 79 + "…"


def test_a_lead_is_read_with_all_its_fields() -> None:
    row = {
        "attributes": {"type": "Lead", "url": "/services/data/v68.0/sobjects/Lead/00Q"},
        "Id": lead_id(1),
        "OwnerId": INTAKE,
        "Owner": {"attributes": {"type": "Name"}, "Type": "Queue"},
        "CreatedDate": "2026-11-29T20:00:00.250+0000",
        "Status": "Open",
        "IsConverted": False,
        "Email": None,
        "Routing_Idem_Key__c": None,
        "Routing_Round__c": 2.0,
        "Routing_Expected_Owner__c": None,
        "Routing_Status__c": "Held",
        "Routing_Error__c": "no rule matches",
        "SystemModstamp": "2026-11-29T21:00:00.000+0000",
    }
    lead = records.lead(row)
    assert lead.changed_at == datetime(2026, 11, 29, 21, 0, 0, 0, UTC)
    assert lead.created_at == datetime(2026, 11, 29, 20, 0, 0, 250_000, UTC)
    assert (lead.round, lead.held, lead.stamp) == (2, True, None)
    assert (lead.shows("no rule matches"), lead.shows("no rule matches, nor will")) == (True, False)
    assert type(lead.round) is int
    assert set(lead.fields) == set(row) - {"attributes"}


def test_a_row_of_another_shape_is_told_without_its_values() -> None:
    with pytest.raises(ContractMismatch) as refused:
        records.lead({"Id": lead_id(1), "OwnerId": "lovelace@example.org"})
    assert "lovelace" not in str(refused.value)


def test_a_group_s_state_is_its_own_row_s_read_before_its_members() -> None:
    """D1: a newer turn beside an older member would pass for fresh, and overwrite what a rival wrote."""
    state = {"Id": GROUP_ID, "Key__c": "emea", "Name": "EMEA", "Mode__c": "Live", "Epoch__c": 3.0, "Turn__c": 41.0}
    state |= {"Clock__c": 7.0, "Fallback_Queue__c": None}
    state |= {"Fallback_Group__c": None, "Business_Hours__c": None, "Reroute__c": None, "Count_Manual__c": True}
    state |= {"Accept_Within__c": 15.0, "Accept_Chain_Max__c": None}
    state |= {"Manager__c": user_id(8), "Manager__r": {"IsActive": False}}

    def row(number: int, group: str = GROUP_ID) -> dict[str, object]:
        return {
            "Id": member_id(number),
            "Group__c": group,
            "User__c": user_id(number),
            "User__r": {"Name": f"Rep {number}", "IsActive": number == 1, "TimeZoneSidKey": "Asia/Tokyo"},
            "Weight__c": 2.0,
            "Sort_Order__c": None,
            "Active__c": True,
            "Next_Turn__c": None,
            "Last_Turn__c": 5.0,
            "Leads_Received__c": None,
            "Business_Hours__c": "01m000000000001AAA",
            "Daily_Cap__c": 5.0,
            "Open_Lead_Cap__c": None,
            "Cap_Day__c": "2026-11-29",
            "Cap_Count__c": 3.0,
            "Accepts__c": None,
        }

    found = records.groups([state], [row(1), row(2), row(3, "a00000000000009AAA")])
    group = found[GROUP_ID]
    manager = {"manager_id": user_id(8), "manager_active": False, "counts_manual": True, "accept_within": 15}
    assert group == Group(GROUP_ID, "emea", "EMEA", Mode.LIVE, 3, 41, 7, None, group.members, **manager)
    first = group.members[0]
    assert (first.zone, first.hours_id, first.accepts) == ("Asia/Tokyo", "01m000000000001AAA", "")
    assert (first.daily_cap, first.open_cap, first.day, first.day_count) == (5, None, "2026-11-29", 3)
    assert [(each.user_active, each.next_turn, each.last_turn, each.weight) for each in group.members] == [
        (True, None, 5, 2),
        (False, None, 5, 2),
    ]


def configuration(**changes: object) -> Configuration:
    plain = Configuration(
        rules=(),
        group_keys={},
        queues={},
        intake_owners=frozenset({INTAKE}),
        unassigned="",
        form_field=None,
        submission_window_s=600,
        follow_wait_s=600,
        integration_user_id=user_id(9),
        lead_fields=frozenset({"Id", "Email"}),
    )
    return replace(plain, **changes)


def test_the_sweep_asks_for_one_page_behind_the_last_lead() -> None:
    """B20: order and cursor name creation and id, so that leads of one instant are neither skipped nor repeated."""
    asked = configuration(unassigned="LeadSource = 'Web'", intake_statuses=frozenset({"New"}))
    assert sweeping.unassigned(asked, 50, (AT, lead_id(7))) == (
        "SELECT Id,Email FROM Lead WHERE IsConverted = false"
        f" AND (OwnerId IN ('{INTAKE}')"
        " OR (Status IN ('New') AND (Routing_Round__c = null OR Routing_Round__c = 0)))"
        " AND (LeadSource = 'Web')"
        " AND (CreatedDate > 2026-11-29T20:00:00.000Z"
        f" OR (CreatedDate = 2026-11-29T20:00:00.000Z AND Id > '{lead_id(7)}'))"
        " ORDER BY CreatedDate, Id LIMIT 50"
    )


def test_queued_leads_are_asked_for_whoever_owns_them() -> None:
    """By a query of their own, whatever counts as unassigned."""
    asked = configuration(unassigned="LeadSource = 'Web'", intake_statuses=frozenset({"New"}))
    assert sweeping.queued(asked, 50, None) == (
        "SELECT Id,Email FROM Lead WHERE IsConverted = false AND Routing_Status__c = 'Queued'"
        " ORDER BY CreatedDate, Id LIMIT 50"
    )


def test_values_cannot_end_a_literal() -> None:
    assert queries.text("O'Brien \\ co\n") == r"'O\'Brien \\ co\n'"


def test_a_full_batch_s_queries_fit_into_their_urls() -> None:
    """B19: 200 leads with both submission keys each are read in one call."""
    keys = [f"{'eo'[number % 2]}{number:031x}" for number in range(400)]
    ids = [lead_id(number) for number in range(200)]
    for soql in (
        queries.submissions(keys),
        queries.ledger("Lead__c", ids),
        queries.leads(queries.BASE_LEAD_FIELDS, ids),
        queries.members(),
    ):
        assert len(queries.part("q", soql).path) < queries.URL_MAX
    with pytest.raises(Misconfigured):
        queries.part("q", queries.submissions(keys * 2))


def test_a_query_s_url_is_encoded_once() -> None:
    assert queries.part("q", "SELECT Id FROM Lead WHERE Name = 'a&b+c%?#'").path == (
        "query?q=SELECT%20Id%20FROM%20Lead%20WHERE%20Name%20=%20'a%26b%2Bc%25%3F%23'"
    )
