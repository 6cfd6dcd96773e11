from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from org_simulator.changes import CREATE, DELETE, UNDELETE, UPDATE, RowChange
from org_simulator.failures import Failure
from org_simulator.founding import DEFAULT_QUEUE
from org_simulator.org import Org
from org_simulator.switches import Switches
from org_simulator.values import stamp
from support.sim_engine import START, add, add_lead, add_user, build_org, field


@pytest.fixture
def org() -> Org:
    return build_org()


@pytest.fixture
def seen(org: Org) -> list[RowChange]:
    changes: list[RowChange] = []
    org.listeners.append(changes.extend)
    return changes


def refused(org: Org, sobject: str, record_id: str | None = None, **fields: Any) -> Failure:
    """The failure of saving these fields as the integration user."""
    with pytest.raises(Failure) as failure:
        save(org, sobject, record_id, fields)
    return failure.value


def save(org: Org, sobject: str, record_id: str | None, fields: dict[str, Any]) -> None:
    with org.transaction(org.integration_user_id, auto_assign=False) as tx:
        if record_id is None:
            tx.insert(sobject, fields)
        else:
            tx.update(sobject, record_id, fields)


def ledger(**fields: Any) -> dict[str, Any]:
    return {"Idempotency_Key__c": "i", "Lead_Key__c": "l", **fields}


# ---- what a save leaves --------------------------------------------------------------------------------------------


def test_a_new_lead_has_its_system_fields(org: Org) -> None:
    lead = add_lead(org, FirstName="Jo", NumberOfEmployees=12, AnnualRevenue=5)
    with org.transaction(org.admin_user_id) as tx:
        row = tx.row("Lead", lead[:15])
    assert row is not None
    expected = {
        "Id": lead,
        "Name": "Jo Doe",
        "OwnerId": org.admin_user_id,
        "CreatedById": org.admin_user_id,
        "CreatedDate": "2026-11-29T20:26:27.000+0000",
        "SystemModstamp": "2026-11-29T20:26:27.000+0000",
        "IsDeleted": False,
        "IsConverted": False,
        "Status": "Open - Not Contacted",
        "NumberOfEmployees": 12,
        "AnnualRevenue": 5.0,
        "Routing_Round__c": None,
    }
    assert {name: row[name] for name in expected} == expected
    assert isinstance(row["NumberOfEmployees"], int)
    assert isinstance(row["AnnualRevenue"], float)


def test_milliseconds_by_switch() -> None:
    org = build_org(Switches(created_date_whole_seconds=False))
    assert field(org, "Lead", add_lead(org), "CreatedDate") == "2026-11-29T20:26:27.512+0000"


def test_an_update_keeps_what_it_does_not_name(org: Org) -> None:
    lead = add_lead(org, Phone="1", Title="CTO")
    org.clock.advance(60)
    with org.transaction(org.integration_user_id, auto_assign=False) as tx:
        tx.update("Lead", lead, {"phone": "2", "Title": ""})
        row = tx.row("Lead", lead)
    assert row is not None
    assert (row["Phone"], row["Title"], row["Company"]) == ("2", None, "Acme")
    assert row["LastModifiedById"] == org.integration_user_id
    assert (row["CreatedDate"], row["LastModifiedDate"]) == (
        "2026-11-29T20:26:27.000+0000",
        "2026-11-29T20:27:27.000+0000",
    )


def test_auto_numbers_count_and_names_default_to_the_id(org: Org) -> None:
    group = add(org, "Round_Robin_Group__c", Key__c="g")
    reps = [add_user(org, name) for name in ("ada", "bob")]
    members = [add(org, "Round_Robin_Member__c", Group__c=group, User__c=rep) for rep in reps]
    assert field(org, "Round_Robin_Group__c", group, "Name") == group
    assert [field(org, "Round_Robin_Member__c", member, "Name") for member in members] == ["RRM-000001", "RRM-000002"]


def test_a_parent_may_be_named_by_external_id(org: Org) -> None:
    group = add(org, "Round_Robin_Group__c", Key__c="g")
    member = add(org, "Round_Robin_Member__c", Group__r={"Key__c": "g"}, User__c=add_user(org, "ada"))
    assert field(org, "Round_Robin_Member__c", member, "Group__c") == group


# ---- system validation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code", "message", "names"),
    [
        ({"Company": None}, "REQUIRED_FIELD_MISSING", "Required fields are missing: [Company]", ("Company",)),
        (
            {"Rating": "Amazing"},
            "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
            "Rating: bad value for restricted picklist field: Amazing",
            ("Rating",),
        ),
        (
            {"FirstName": "x" * 41},
            "STRING_TOO_LONG",
            f"First Name: data value too large: {'x' * 41} (max length=40)",
            ("FirstName",),
        ),
        ({"X__c": 1}, "INVALID_FIELD", "No such column 'X__c' on sobject of type Lead", ()),
        ({"Email": "nobody"}, "INVALID_EMAIL_ADDRESS", "Email: invalid email address: nobody", ("Email",)),
        (
            {"OwnerId": "0055f000005mc66"},
            "INVALID_CROSS_REFERENCE_KEY",
            "invalid cross reference id",
            ("OwnerId",),
        ),
        (
            {"OwnerId": "00Q5f000005bwLFEAY"},
            "MALFORMED_ID",
            "Owner ID: id value of incorrect type: 00Q5f000005bwLFEAY",
            ("OwnerId",),
        ),
        (
            {"Company": 5},
            "JSON_PARSER_ERROR",
            "Cannot deserialize instance of string from VALUE_NUMBER_INT value 5",
            (),
        ),
        (
            {"Routing_Round__c": 10**18},
            "NUMBER_OUTSIDE_VALID_RANGE",
            f"Routing Round: value outside of valid range on numeric field: {10**18}",
            ("Routing_Round__c",),
        ),
        (
            {"Routed_At__c": "2026-11-29T10:00:00"},
            "JSON_PARSER_ERROR",
            "Cannot deserialize instance of datetime from VALUE_STRING value 2026-11-29T10:00:00",
            (),
        ),
        (
            {"Routed_At__c": "yesterday"},
            "JSON_PARSER_ERROR",
            "Cannot deserialize instance of datetime from VALUE_STRING value yesterday",
            (),
        ),
    ],
)
def test_a_value_the_field_cannot_hold(
    org: Org, fields: dict[str, Any], code: str, message: str, names: tuple[str, ...]
) -> None:
    """Salesforce's own codes, words and field names."""
    failure = refused(org, "Lead", **{"LastName": "Doe", "Company": "Acme", **fields})
    assert (failure.code, failure.message, failure.fields, failure.also) == (code, message, names, ())


def test_fields_the_org_keeps_are_not_written(org: Org) -> None:
    failure = refused(org, "Lead", LastName="D", Company="A", IsConverted=True, CreatedDate="2026-01-01T00:00:00Z")
    assert failure.code == "INVALID_FIELD_FOR_INSERT_UPDATE"
    assert failure.fields == ("IsConverted", "CreatedDate")


def test_a_record_reports_all_its_errors_or_the_first_by_switch() -> None:
    faulty = {"LastName": "x" * 81, "Rating": "Amazing"}
    every = refused(build_org(), "Lead", **faulty)
    assert [failure.code for failure in every.all] == [
        "STRING_TOO_LONG",
        "INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST",
        "REQUIRED_FIELD_MISSING",
    ]
    first = refused(build_org(Switches(only_first_error_reported=True)), "Lead", **faulty)
    assert [failure.code for failure in first.all] == ["STRING_TOO_LONG"]


def test_an_inactive_user_cannot_become_owner(org: Org) -> None:
    """P50: the rep was deactivated between choice and write; leads they own already stay editable."""
    rep = add_user(org, "ada")
    lead, other = add_lead(org, OwnerId=rep), add_lead(org)
    with org.transaction(org.admin_user_id) as tx:
        tx.update("User", rep, {"IsActive": False})
    failure = refused(org, "Lead", other, OwnerId=rep)
    assert failure.code == "INACTIVE_OWNER_OR_USER"
    assert failure.message == f"operation performed with inactive user [{rep[:15]}] as owner of lead"
    with org.transaction(org.admin_user_id, auto_assign=False) as tx:
        tx.update("Lead", lead, {"Phone": "1"})


def test_a_queue_owns_what_it_was_made_for(org: Org) -> None:
    queue = org.queue_id("Lead_Intake")
    assert field(org, "Lead", add_lead(org, OwnerId=queue), "OwnerId") == queue
    assert refused(org, "Account", Name="A", OwnerId=queue).message == "Queue not associated with this SObject type"


def test_unknown_foreign_and_deleted_ids(org: Org) -> None:
    lead = add_lead(org)
    with org.transaction(org.admin_user_id) as tx:
        tx.delete("Lead", lead)
    deleted = refused(org, "Lead", lead, Phone="1")
    assert (deleted.code, deleted.message, deleted.http, deleted.fields) == (
        "ENTITY_IS_DELETED",
        "entity is deleted",
        404,
        (),
    )
    unknown = refused(org, "Lead", "00Q000000000001EAA", Phone="1")
    assert (unknown.code, unknown.message, unknown.http) == (
        "NOT_FOUND",
        "The requested resource does not exist",
        404,
    )
    foreign = refused(org, "Lead", org.admin_user_id, Phone="1")
    assert foreign.message == f"Lead ID: id value of incorrect type: {org.admin_user_id}"
    with pytest.raises(Failure, match="INVALID_CROSS_REFERENCE_KEY"), org.transaction(org.admin_user_id) as tx:
        tx.delete("Lead", "00Q000000000001EAA")
    assert refused(org, "Robot__c", Name="R").code == "INVALID_TYPE"


# ---- unique keys ---------------------------------------------------------------------------------------------------


def test_a_duplicate_names_field_and_record(org: Org) -> None:
    first = add(org, "Lead_Assignment__c", **ledger())
    failure = refused(org, "Lead_Assignment__c", **ledger(Lead_Key__c="m"))
    assert failure.code == "DUPLICATE_VALUE"
    text = f"duplicate value found: Idempotency_Key__c duplicates value on record with id: {first[:15]}"
    assert failure.message == text


def test_a_duplicate_is_nameless_by_switch() -> None:
    org = build_org(Switches(duplicate_value_names_record=False))
    add(org, "Lead_Assignment__c", **ledger())
    failure = refused(org, "Lead_Assignment__c", **ledger())
    assert failure.message == "duplicate value found: <unknown> duplicates value on record with id: <unknown>"


def test_case_counts_where_the_field_says_so(org: Org) -> None:
    add(org, "Lead_Assignment__c", **ledger(Idempotency_Key__c="aB", Lead_Key__c="1"))
    add(org, "Lead_Assignment__c", **ledger(Idempotency_Key__c="ab", Lead_Key__c="2"))
    add_user(org, "ada")
    assert refused(org, "User", LastName="A", Username="ADA@reps.example").code == "DUPLICATE_VALUE"


def test_blanks_are_no_duplicates_and_own_writes_count(org: Org) -> None:
    with org.transaction(org.integration_user_id) as tx:
        tx.insert("Lead_Assignment__c", ledger(Turn_Key__c=None))
        tx.insert("Lead_Assignment__c", ledger(Idempotency_Key__c="j", Lead_Key__c="m"))
        with pytest.raises(Failure, match="DUPLICATE_VALUE"):
            tx.insert("Lead_Assignment__c", ledger(Idempotency_Key__c="j", Lead_Key__c="n"))


def test_a_key_moved_away_is_free_within_the_transaction(org: Org) -> None:
    row = add(org, "Lead_Assignment__c", **ledger())
    with org.transaction(org.integration_user_id) as tx:
        tx.update("Lead_Assignment__c", row, ledger(Idempotency_Key__c="j", Lead_Key__c="m"))
        new = tx.insert("Lead_Assignment__c", ledger())
    with org.transaction(org.integration_user_id) as tx:
        assert tx.find("Lead_Assignment__c", "Lead_Key__c", "l") == new
        assert tx.find("Lead_Assignment__c", "Lead_Key__c", "m") == row


def test_a_record_may_keep_its_own_key(org: Org) -> None:
    row = add(org, "Lead_Assignment__c", **ledger())
    with org.transaction(org.integration_user_id) as tx:
        tx.update("Lead_Assignment__c", row, ledger(Rule__c="r"))


@pytest.mark.parametrize("kept", [False, True])
def test_the_recycle_bin_keeps_keys_by_switch(*, kept: bool) -> None:
    org = build_org(Switches(recycle_bin_keeps_unique_keys=kept))
    row = add(org, "Lead_Assignment__c", **ledger())
    with org.transaction(org.admin_user_id) as tx:
        tx.delete("Lead_Assignment__c", row)
    if kept:
        assert refused(org, "Lead_Assignment__c", **ledger()).code == "DUPLICATE_VALUE"
    else:
        add(org, "Lead_Assignment__c", **ledger())


# ---- validation and assignment rules -------------------------------------------------------------------------------


def test_the_groups_turn_moves_by_compare_and_set(org: Org) -> None:
    group = add(org, "Round_Robin_Group__c", Name="G", Key__c="g")
    with org.transaction(org.integration_user_id) as tx:
        tx.update("Round_Robin_Group__c", group, {"Turn__c": 3, "Clock__c": 9, "Expected_Turn__c": "0.0"})
    failure = refused(org, "Round_Robin_Group__c", group, Turn__c=4, Expected_Turn__c="0.0")
    assert failure.code == "FIELD_CUSTOM_VALIDATION_EXCEPTION"
    assert failure.message.startswith("Turn_Moved: ")
    assert failure.fields == ()
    assert field(org, "Round_Robin_Group__c", group, "Turn__c") == 3.0


def test_a_rule_names_its_display_field(org: Org) -> None:
    group = add(org, "Round_Robin_Group__c", Key__c="g")
    failure = refused(org, "Round_Robin_Member__c", Group__c=group, User__c=org.admin_user_id, Weight__c=101)
    assert failure.fields == ("Weight__c",)
    assert failure.message.startswith("Weight_Range: ")


def test_an_absence_of_swapped_dates_is_refused(org: Org) -> None:
    dates = {"Start__c": "2026-12-03T08:00:00Z", "End__c": "2026-12-01T08:00:00Z"}
    failure = refused(org, "Member_Absence__c", User__c=org.admin_user_id, **dates)
    assert (failure.code, failure.fields) == ("FIELD_CUSTOM_VALIDATION_EXCEPTION", ("End__c",))
    assert failure.message.startswith("Absence_Order: ")
    kept = add(org, "Member_Absence__c", User__c=org.admin_user_id, **dates | {"Start__c": "2026-11-30T08:00:00Z"})
    assert refused(org, "Member_Absence__c", kept, Start__c="2026-12-01T10:00:00+02:00").fields == ("End__c",)


def test_the_lead_assignment_rule_runs_unless_told_not_to(org: Org) -> None:
    """P49: on create and on update, behind the validation rules, over an owner that was named."""
    default = org.queue_id(DEFAULT_QUEUE)
    rep = add_user(org, "ada")
    with org.transaction(org.admin_user_id) as tx:
        taken = tx.insert("Lead", {"LastName": "A", "Company": "C", "LeadSource": "Web", "OwnerId": rep})
        left = tx.insert("Lead", {"LastName": "B", "Company": "C", "LeadSource": "Other", "OwnerId": rep})
        tx.auto_assign = False
        named = tx.insert("Lead", {"LastName": "C", "Company": "C", "LeadSource": "Web", "OwnerId": rep})
    assert [field(org, "Lead", lead, "OwnerId") for lead in (taken, left, named)] == [default, rep, rep]
    with org.transaction(org.admin_user_id) as tx:
        tx.update("Lead", named, {"Phone": "1"})
    assert field(org, "Lead", named, "OwnerId") == default


def test_an_owner_change_leaves_its_marks(org: Org) -> None:
    lead = add_lead(org, IsUnreadByOwner=False)
    with org.transaction(org.admin_user_id, auto_assign=False) as tx:
        tx.update("Lead", lead, {"OwnerId": add_user(org, "ada")})
    assert field(org, "Lead", lead, "IsUnreadByOwner") is True
    assert field(org, "Lead", lead, "LastTransferDate") == "2026-11-29"


# ---- transactions --------------------------------------------------------------------------------------------------


def test_an_exception_rolls_everything_back(org: Org, seen: list[RowChange]) -> None:
    def work() -> None:
        with org.transaction(org.admin_user_id) as tx:
            lead = tx.insert("Lead", {"LastName": "A", "Company": "C"})
            assert tx.row("Lead", lead) is not None
            tx.on_commit(lambda: pytest.fail("called back"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    with org.transaction(org.admin_user_id) as tx:
        assert list(tx.rows("Lead")) == []
        assert seen == []


def test_a_transaction_rolled_back_by_hand_leaves_nothing(org: Org) -> None:
    with org.transaction(org.admin_user_id) as tx:
        tx.insert("Lead", {"LastName": "A", "Company": "C"})
        tx.rollback()
    with org.transaction(org.admin_user_id) as tx:
        assert list(tx.rows("Lead")) == []


def test_a_failed_save_leaves_the_others_of_its_transaction(org: Org) -> None:
    with org.transaction(org.admin_user_id) as tx:
        tx.insert("Lead", {"LastName": "A", "Company": "C"})
        with pytest.raises(Failure):
            tx.insert("Lead", {"LastName": "B"})
        tx.insert("Lead", {"LastName": "C", "Company": "C"})
    with org.transaction(org.admin_user_id) as tx:
        assert [row["LastName"] for row in tx.rows("Lead")] == ["A", "C"]


def test_a_savepoint_takes_back_rows_keys_and_changes(org: Org, seen: list[RowChange]) -> None:
    lead = add_lead(org)
    seen.clear()
    with org.transaction(org.integration_user_id, auto_assign=False) as tx:
        tx.update("Lead", lead, {"Phone": "1"})
        point = tx.savepoint()
        tx.update("Lead", lead, {"Phone": "2"})
        tx.insert("Lead_Assignment__c", ledger())
        tx.rollback_to(point)
        assert list(tx.rows("Lead_Assignment__c")) == []
        tx.insert("Lead_Assignment__c", ledger())
    assert field(org, "Lead", lead, "Phone") == "1"
    assert [(change.sobject, change.sequence) for change in seen] == [("Lead", 1), ("Lead_Assignment__c", 2)]


def test_listeners_hear_commits_in_order(org: Org, seen: list[RowChange]) -> None:
    calls: list[str] = []
    with org.transaction(org.admin_user_id, client="WebForm") as tx:
        tx.on_commit(lambda: calls.append("committed"))
        lead = tx.insert("Lead", {"LastName": "A", "Company": "C"})
        tx.origin = ""
        tx.update("Lead", lead, {"Phone": "1"})
        assert seen == []
        assert calls == []
    with org.transaction(org.admin_user_id) as tx:
        tx.delete("Lead", lead)
        tx.undelete("Lead", lead)
    assert calls == ["committed"]
    assert [(change.kind, change.sequence, change.origin) for change in seen] == [
        (CREATE, 1, "com/salesforce/api/rest/68.0;client=WebForm"),
        (UPDATE, 2, ""),
        (DELETE, 1, "com/salesforce/api/rest/68.0"),
        (UNDELETE, 2, "com/salesforce/api/rest/68.0"),
    ]
    created, updated, deleted, undeleted = seen
    assert created.before is None
    assert created.after is not None
    assert created.after["Phone"] is None
    assert updated.before == created.after
    assert updated.after is not None
    assert updated.after["Phone"] == "1"
    assert deleted.after is None
    assert undeleted.after is not None
    assert created.transaction_key == updated.transaction_key != deleted.transaction_key
    assert created.commit_number == updated.commit_number < deleted.commit_number
    assert {change.at for change in seen} == {START}


def test_rows_show_own_writes_once(org: Org) -> None:
    old = add_lead(org)
    with org.transaction(org.admin_user_id) as tx:
        tx.update("Lead", old, {"Phone": "1"})
        new = tx.insert("Lead", {"LastName": "N", "Company": "C"})
        gone = tx.insert("Lead", {"LastName": "G", "Company": "C"})
        tx.delete("Lead", gone)
        assert [(row["Id"], row["Phone"]) for row in tx.rows("Lead")] == [(old, "1"), (new, None)]
        assert [row["Id"] for row in tx.rows("Lead", deleted=True)] == [old, new, gone]
        by_owner = tx.rows_by("Lead", "ownerid", [org.admin_user_id])
        assert by_owner is not None
        assert {row["Id"] for row in by_owner} == {old, new}
        assert tx.rows_by("Lead", "Phone", ["1"]) is None


def test_an_index_forgets_the_former_value(org: Org) -> None:
    rep = add_user(org, "ada")
    lead = add_lead(org)
    with org.transaction(org.admin_user_id, auto_assign=False) as tx:
        tx.update("Lead", lead, {"OwnerId": rep})
    with org.transaction(org.admin_user_id) as tx:
        former, present = (tx.rows_by("Lead", "OwnerId", [owner]) for owner in (org.admin_user_id, rep))
        assert former is not None
        assert present is not None
        assert (list(former), [row["Id"] for row in present]) == ([], [lead])


def test_external_ids_find_their_record(org: Org) -> None:
    group = add(org, "Round_Robin_Group__c", Name="G", Key__c="Emea")
    with org.transaction(org.admin_user_id) as tx:
        assert tx.find("Round_Robin_Group__c", "key__c", "Emea") == group
        assert tx.find("Round_Robin_Group__c", "Key__c", "emea") is None


# ---- deletion, conversion, merge, transfer -------------------------------------------------------------------------


def test_deleting_clears_lookups_and_takes_details_along(org: Org, seen: list[RowChange]) -> None:
    lead = add_lead(org)
    row = add(org, "Lead_Assignment__c", **ledger(Lead__c=lead))
    group = add(org, "Round_Robin_Group__c", Key__c="g")
    member = add(org, "Round_Robin_Member__c", Group__c=group, User__c=org.admin_user_id)
    seen.clear()
    with org.transaction(org.admin_user_id) as tx:
        tx.delete("Lead", lead)
        tx.delete("Round_Robin_Group__c", group)
        assert tx.row("Round_Robin_Member__c", member) is None
    assert field(org, "Lead_Assignment__c", row, "Lead__c") is None
    assert [(change.sobject, change.kind) for change in seen] == [
        ("Lead", DELETE),
        ("Round_Robin_Member__c", DELETE),
        ("Round_Robin_Group__c", DELETE),
    ]


@pytest.mark.parametrize("restores", [True, False])
def test_undeleting_restores_the_lookups_that_nobody_set_since(restores: bool) -> None:
    org = build_org(Switches(undelete_restores_lookups=restores))
    lead, other = add_lead(org), add_lead(org)
    rows = [
        add(org, "Lead_Assignment__c", **ledger(Lead__c=lead, Idempotency_Key__c=key, Lead_Key__c=key)) for key in "ab"
    ]
    for _ in range(2):
        with org.transaction(org.admin_user_id) as tx:
            tx.delete("Lead", lead)
        save(org, "Lead_Assignment__c", rows[1], {"Lead__c": other})
        with org.transaction(org.admin_user_id) as tx:
            tx.undelete("Lead", lead)

    assert [field(org, "Lead_Assignment__c", row, "Lead__c") for row in rows] == [lead if restores else None, other]


def test_conversion_closes_the_lead(org: Org, seen: list[RowChange]) -> None:
    """E1: account, contact, opportunity and lead in one transaction; afterwards the lead is read-only."""
    lead = add_lead(org, FirstName="Jo")
    seen.clear()
    account, contact, opportunity = org.convert_lead(lead)
    assert [(change.sobject, change.sequence) for change in seen] == [
        ("Account", 1),
        ("Contact", 2),
        ("Opportunity", 3),
        ("Lead", 4),
    ]
    after = seen[3].after
    assert after is not None
    assert (after["IsConverted"], after["Status"]) == (True, "Closed - Converted")
    ids = [after[f"Converted{kind}Id"] for kind in ("Account", "Contact", "Opportunity")]
    assert ids == [account, contact, opportunity]
    failure = refused(org, "Lead", lead, Phone="1")
    assert (failure.code, failure.message, failure.fields) == (
        "CANNOT_UPDATE_CONVERTED_LEAD",
        "cannot reference converted lead",
        (),
    )


def test_merge_deletes_the_loser_and_updates_the_winner(org: Org, seen: list[RowChange]) -> None:
    winner, loser = add_lead(org), add_lead(org)
    seen.clear()
    org.merge_leads(winner, loser)
    assert [(change.id, change.kind) for change in seen] == [(loser, DELETE), (winner, UPDATE)]
    with org.transaction(org.admin_user_id) as tx:
        masters = {row["Id"]: row["MasterRecordId"] for row in tx.rows("Lead", deleted=True)}
    assert masters == {winner: None, loser: winner}


def test_mass_transfer_passes_the_validation_rules(org: Org) -> None:
    """List views change owners without validation rules, so that a broken rule does not stop them."""
    rep = add_user(org, "ada")
    leads = [add_lead(org), add_lead(org)]
    org.mass_transfer(leads, rep)
    assert [field(org, "Lead", lead, "OwnerId") for lead in leads] == [rep, rep]


def test_a_touch_moves_the_system_modstamp_and_nothing_else(org: Org, seen: list[RowChange]) -> None:
    """The platform's own upkeep: no user changed it, and nobody is told."""
    lead = add_lead(org)
    with org.transaction(org.admin_user_id) as tx:
        before = tx.row("Lead", lead)
    seen.clear()
    org.clock.advance(2)
    org.touch(lead)
    with org.transaction(org.admin_user_id) as tx:
        after = tx.row("Lead", lead)
    assert before is not None
    assert after == {**before, "SystemModstamp": stamp(org.clock.now(), whole_seconds=True)}
    assert (after != before, seen) == (True, [])


# ---- users ---------------------------------------------------------------------------------------------------------


def test_permissions_come_with_the_permission_set(org: Org) -> None:
    assert org.permissions(org.integration_user_id) == {"Lead_Router"}
    assert org.permissions(org.admin_user_id) == frozenset()


def test_a_token_dies_with_its_user(org: Org) -> None:
    token = org.sessions.issue(org.integration_user_id)
    assert org.sessions.user(token) == org.integration_user_id
    with org.transaction(org.admin_user_id) as tx:
        logins = tx.rows_by("UserLogin", "UserId", [org.integration_user_id])
        assert logins is not None
        login = next(logins)["Id"]
        tx.update("UserLogin", login, {"IsFrozen": True})
    assert org.sessions.user(token) is None
    with org.transaction(org.admin_user_id) as tx:
        tx.update("UserLogin", login, {"IsFrozen": False})
    assert org.sessions.user(token) == org.integration_user_id
    org.sessions.revoke(token)
    assert org.sessions.user(token) is None


def test_revoking_all_tells_who_listens(org: Org) -> None:
    told: list[str] = []
    org.sessions.on_revoke.append(told.append)
    tokens = [org.sessions.issue(org.admin_user_id) for _ in range(3)]
    org.sessions.revoke_all()
    assert sorted(told) == sorted(tokens)
    assert [org.sessions.user(token) for token in tokens] == [None, None, None]


def test_time_is_the_clocks(org: Org) -> None:
    org.clock.advance(86_400)
    assert org.clock.now() == START + timedelta(days=1)
    assert field(org, "Lead", add_lead(org), "CreatedDate") == "2026-11-30T20:26:27.000+0000"
