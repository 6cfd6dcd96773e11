from __future__ import annotations

from typing import Any

import pytest

from lead_router.core.model import Batch
from lead_router.errors import ContractMismatch, RateLimited, RowLocked
from lead_router.ports import (
    AlreadyRouted,
    Committed,
    Gone,
    GroupStuck,
    LeadMoved,
    Receipt,
    Refusal,
    Refused,
    RepGone,
    SiblingRouted,
    TurnTaken,
)
from lead_router.salesforce.commit import receipt
from lead_router.salesforce.rest import Subanswer
from lead_router.salesforce.writes import compose
from support.batches import AT, batch, following, lead_id, member_id, user_id

ROLLED_BACK = {
    "statusCode": "ALL_OR_NONE_OPERATION_ROLLED_BACK",
    "message": "Record rolled back because not all records were valid and the request was using AllOrNone header",
    "fields": [],
}
HALTED = {
    "errorCode": "PROCESSING_HALTED",
    "message": "The transaction was rolled back since another operation in the same transaction failed.",
}
DUPLICATE = "duplicate value found: {} duplicates value on record with id: a035f00000AAAAA"


def error(code: str, text: str = "", *fields: str) -> dict[str, Any]:
    return {"statusCode": code, "message": text, "fields": list(fields)}


def judged(
    given: Batch, failed: dict[tuple[str, int], list[dict[str, Any]]], parts: dict[str, list[dict[str, Any]]]
) -> Receipt:
    """The receipt where these records and these parts failed and, as documented, all others say so or claim success."""
    composed = compose([given], AT, lock_touch=True)
    answers = []
    for part in composed.parts:
        records = (part.body or {}).get("records")
        if part.reference in parts:
            answers.append(Subanswer(part.reference, 400, parts[part.reference]))
        elif records is None:
            answers.append(
                Subanswer(part.reference, 400 if failed or parts else 204, [HALTED] if failed or parts else None)
            )
        elif any(step == part.reference for step, _ in failed):
            results: list[dict[str, Any]] = [{"id": "x", "success": True, "errors": []} for _ in records]
            for (step, place), errors in failed.items():
                if step == part.reference:
                    results[place] = {"success": False, "errors": errors}
            answers.append(Subanswer(part.reference, 200, results))
        elif failed or parts:
            answers.append(Subanswer(part.reference, 400, [HALTED]))
        else:
            answers.append(Subanswer(part.reference, 200, [{"id": "x", "success": True, "errors": []}] * len(records)))
    return receipt(composed, answers)


def test_all_parts_and_all_records_succeeded() -> None:
    assert judged(batch([1, 2]), {}, {}) == Committed()


@pytest.mark.parametrize(
    ("place", "errors", "expected"),
    [
        (("ledger", 1), [error("DUPLICATE_VALUE", DUPLICATE.format("Turn_Key__c"))], TurnTaken()),
        (
            ("ledger", 1),
            [error("DUPLICATE_VALUE", DUPLICATE.format("Idempotency_Key__c"))],
            AlreadyRouted(lead_id(3)),
        ),
        (
            ("ledger", 0),
            [error("DUPLICATE_VALUE", DUPLICATE.format("Submission_Odd__c"))],
            SiblingRouted(lead_id(9)),
        ),
        (("ledger", 0), [error("DUPLICATE_VALUE", DUPLICATE.format("Lead_Key__c"))], LeadMoved(lead_id(9))),
        (("ledger", 0), [error("DUPLICATE_VALUE", DUPLICATE.format("<unknown>"))], LeadMoved(lead_id(9))),
        (
            ("leads", 0),
            [error("FIELD_CUSTOM_VALIDATION_EXCEPTION", "Routing_Owner_Moved: someone changed it")],
            LeadMoved(lead_id(3)),
        ),
        (("leads", 1), [error("ENTITY_IS_DELETED", "entity is deleted")], Gone(lead_id(9), "deleted")),
        (("lock", 1), [error("ENTITY_IS_DELETED", "entity is deleted")], Gone(lead_id(9), "deleted")),
        (
            ("ledger", 0),
            [error("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id", "Lead__c")],
            Gone(lead_id(9), "deleted"),
        ),
        (("leads", 0), [error("CANNOT_UPDATE_CONVERTED_LEAD", "")], Gone(lead_id(3), "converted")),
        (("leads", 0), [error("INACTIVE_OWNER_OR_USER", "inactive user")], RepGone(user_id(1))),
        (("leads", 1), [error("TRANSFER_REQUIRES_READ", "")], RepGone(user_id(2))),
        (("members", 0), [error("ENTITY_IS_DELETED", "entity is deleted")], TurnTaken()),
    ],
)
def test_a_lost_race_is_told_by_lead(place, errors, expected) -> None:
    """B10: record i of an answer belongs to record i of its part, leads in id order, the ledger in turn order."""
    assert judged(batch([9, 3]), {place: errors}, {}) == Refused((expected,))


def test_the_group_s_rule_tells_that_the_turn_is_taken() -> None:
    taken = [{"errorCode": "FIELD_CUSTOM_VALIDATION_EXCEPTION", "message": "Turn_Moved: it moved", "fields": []}]
    assert judged(batch([1]), {}, {"group": taken}) == Refused((TurnTaken(),))
    deleted = [{"errorCode": "NOT_FOUND", "message": "The requested resource does not exist"}]
    assert judged(batch([1]), {}, {"group": deleted}) == Refused((TurnTaken(),))


def test_success_inside_a_rolled_back_composite_counts_for_nothing() -> None:
    """A collection reports success for records before the failure; they were rolled back all the same."""
    answer = judged(batch([1, 2, 3]), {("leads", 2): [error("STRING_TOO_LONG", "too large", "Company")]}, {})
    assert answer == Refused((Refusal(lead_id(3), "STRING_TOO_LONG: too large [Company]"),))


def test_what_other_records_caused_is_not_a_cause() -> None:
    answer = judged(batch([1, 2]), {("leads", 0): [ROLLED_BACK], ("leads", 1): [error("ENTITY_IS_DELETED")]}, {})
    assert answer == Refused((Gone(lead_id(2), "deleted"),))


def test_each_of_several_causes_is_told_once() -> None:
    inactive = [error("INACTIVE_OWNER_OR_USER")]
    answer = judged(batch([1, 2, 3]), {("leads", 0): inactive, ("leads", 1): inactive, ("leads", 2): inactive}, {})
    assert answer == Refused((RepGone(user_id(2)), RepGone(user_id(1))))


def test_no_cause_at_all_is_worth_another_attempt() -> None:
    answer = judged(batch([1]), {("leads", 0): [ROLLED_BACK]}, {})
    assert isinstance(answer, Refused)
    assert answer.faults == (Refusal(None, "Salesforce rolled everything back and named no cause", again=True),)


@pytest.mark.parametrize("step", ["ledger", "lock", "leads"])
def test_a_locked_record_is_tried_again_whole(step) -> None:
    with pytest.raises(RowLocked):
        judged(batch([1, 2]), {(step, 0): [error("UNABLE_TO_LOCK_ROW", "exclusive access")]}, {})


def test_a_locked_group_is_tried_again_whole() -> None:
    with pytest.raises(RowLocked):
        judged(batch([1]), {}, {"group": [{"errorCode": "UNABLE_TO_LOCK_ROW", "message": "exclusive access"}]})


@pytest.mark.parametrize(
    ("code", "named", "found"),
    [
        ("UNABLE_TO_LOCK_ROW", [lead_id(2)[:15]], {lead_id(2)}),
        ("UNABLE_TO_LOCK_ROW", [lead_id(2)], {lead_id(2)}),
        ("UNABLE_TO_LOCK_ROW", [lead_id(1), lead_id(2)], {lead_id(1), lead_id(2)}),
        ("UNABLE_TO_LOCK_ROW", [lead_id(2), member_id(1)], set()),
        ("UNABLE_TO_LOCK_ROW", [member_id(1)], set()),
        ("UNABLE_TO_LOCK_ROW", [lead_id(9)], set()),
        ("UNABLE_TO_LOCK_ROW", ["unknown"], set()),
        ("UNABLE_TO_LOCK_ROW", [lead_id(2), "... (15 more)"], set()),
        ("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", ["UNABLE_TO_LOCK_ROW", lead_id(2)], set()),
    ],
)
def test_a_lock_is_a_leads_where_it_names_leads_of_the_commit_alone(code, named, found) -> None:
    """Any other record may be the group's, which holds up all; what a trigger met is not told by ids in its text."""
    text = f"unable to obtain exclusive access to this record or {len(named)} records: {','.join(named)}"
    with pytest.raises(RowLocked) as raised:
        judged(batch([1, 2]), {("lock", 1): [error(code, text)]}, {})
    assert raised.value.lead_ids == found


def test_a_permanent_error_outranks_a_lock_on_the_same_record() -> None:
    """B11: any permanent code makes it permanent, and all codes stand in the text."""
    both = [error("UNABLE_TO_LOCK_ROW", "a"), error("FIELD_CUSTOM_VALIDATION_EXCEPTION", "Budget is needed")]
    answer = judged(batch([1, 2]), {("leads", 1): both}, {})
    text = "UNABLE_TO_LOCK_ROW: a; FIELD_CUSTOM_VALIDATION_EXCEPTION: Budget is needed"
    assert answer == Refused((Refusal(lead_id(2), text),))


@pytest.mark.parametrize(
    "code", ["INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST", "STRING_TOO_LONG", "FIELD_CUSTOM_VALIDATION_EXCEPTION"]
)
def test_what_the_lead_s_content_makes_wrong_ends_after_one_attempt_with_the_field(code) -> None:
    """E13: the same lead would be refused for ever; a person sees which field it is."""
    answer = judged(batch([1, 2]), {("leads", 1): [error(code, "bad value", "Rating")]}, {})
    assert answer == Refused((Refusal(lead_id(2), f"{code}: bad value [Rating]", again=False),))


def test_code_that_threw_names_no_lead_where_several_are_refused_for_it() -> None:
    """The platform refuses all records of a part with the same answer; one that is alone is the one."""
    thrown = [error("CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY", "Other: execution of AfterUpdate")]
    text = "CANNOT_INSERT_UPDATE_ACTIVATE_ENTITY: Other: execution of AfterUpdate"
    answer = judged(batch([1, 2, 3]), {("leads", 0): thrown, ("leads", 1): thrown, ("leads", 2): thrown}, {})
    assert answer == Refused((Refusal(None, text),))
    assert judged(batch([1]), {("leads", 0): thrown}, {}) == Refused((Refusal(lead_id(1), text),))


def test_an_unknown_code_may_be_tried_again() -> None:
    """E13: codes that nobody wrote down are retried a bounded number of times."""
    answer = judged(batch([1]), {("leads", 0): [error("NEVER_HEARD_OF", "?")]}, {})
    assert answer == Refused((Refusal(lead_id(1), "NEVER_HEARD_OF: ?", again=True),))


def test_a_duplicate_rule_is_a_refusal_with_its_remedy() -> None:
    """B17: never an endless retry."""
    answer = judged(batch([1]), {("leads", 0): [error("DUPLICATES_DETECTED", "Use one of these records?")]}, {})
    assert isinstance(answer, Refused)
    (fault,) = answer.faults
    assert isinstance(fault, Refusal)
    assert not fault.again
    assert "duplicate rule" in fault.text


def test_a_first_lead_that_is_gone_makes_its_follower_decide_again() -> None:
    reference = [error("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id")]
    assert judged(following(2, 1), {("leads", 0): reference}, {}) == Refused((LeadMoved(lead_id(2)),))


def test_a_rotation_that_cannot_be_written_holds_its_group_alone() -> None:
    """A rule of the org's own on one group must not stop the others: the fault is that group's, for a person."""
    rule = {("members", 0): [error("FIELD_CUSTOM_VALIDATION_EXCEPTION", "Weight_Range: no")]}
    (fault,) = judged(batch([1, 2]), rule, {}).faults
    assert isinstance(fault, GroupStuck)
    assert member_id(1) in fault.text
    access = {"group": [{"errorCode": "INSUFFICIENT_ACCESS_OR_READONLY", "message": "no"}]}
    (fault,) = judged(batch([1]), {}, access).faults
    assert isinstance(fault, GroupStuck)
    assert "INSUFFICIENT_ACCESS" in fault.text


@pytest.mark.parametrize("code", ["INSUFFICIENT_ACCESS_OR_READONLY", "REQUIRED_FIELD_MISSING"])
def test_a_ledger_that_takes_no_row_kills_no_lead(code: str) -> None:
    """A right taken from the router's user, or a field that an admin made required: leads wait until it is mended."""
    refused = {("ledger", 0): [error(code, "no", "Region__c")], ("ledger", 1): [error(code, "no", "Region__c")]}
    (fault,) = judged(batch([1, 2]), refused, {}).faults
    assert isinstance(fault, GroupStuck)
    assert fault.text.startswith(f"no row of the ledger can be written: {code}: no [Region__c]")


def test_a_lead_that_may_not_be_written_now_is_tried_again() -> None:
    """A right or share of the router's user that was taken by mistake is given back before all attempts are used."""
    answer = judged(batch([1, 2]), {("leads", 1): [error("INSUFFICIENT_ACCESS_OR_READONLY", "no")]}, {})
    assert isinstance(answer, Refused)
    assert [(fault.lead_id, fault.again) for fault in answer.faults] == [(lead_id(2), True)]


@pytest.mark.parametrize("code", ["ENTITY_IS_DELETED", "NOT_FOUND", "INVALID_CROSS_REFERENCE_KEY"])
def test_a_member_deleted_since_it_was_read_is_read_anew(code: str) -> None:
    """D8, P7: no lead is refused because an admin removed a member in the same moment."""
    gone = [error(code, "entity is deleted")]
    assert judged(batch([1]), {("members", 0): gone}, {}) == Refused((TurnTaken(),))
    named = [{**error("INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id"), "fields": ["Member__c"]}]
    assert judged(batch([1]), {("ledger", 0): named}, {}) == Refused((TurnTaken(),))


def test_a_queue_that_takes_no_leads_is_an_owner_refused() -> None:
    """The lead is not at fault when its new owner is: another is chosen."""
    refused = [{**error("INVALID_OPERATION", "Queue not associated with this SObject type"), "fields": ["OwnerId"]}]
    (fault,) = judged(batch([1]), {("leads", 0): refused}, {}).faults
    assert isinstance(fault, RepGone)


def test_a_missing_field_is_a_contract_mismatch() -> None:
    with pytest.raises(ContractMismatch, match="deploy salesforce_metadata"):
        judged(batch([1]), {}, {"ledger": [{"errorCode": "INVALID_FIELD", "message": "No such column"}]})


def test_a_used_up_allowance_inside_the_answer_is_a_fault_of_the_service() -> None:
    with pytest.raises(RateLimited):
        judged(batch([1]), {("leads", 0): [error("REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded.")]}, {})


def test_results_of_another_number_are_an_error() -> None:
    """B10: a result list of another length is never mapped to leads."""
    composed = compose([batch([1, 2])], AT, lock_touch=False)
    one = [{"id": "x", "success": True, "errors": []}]
    answers = [Subanswer(part.reference, 200, one) for part in composed.parts]
    with pytest.raises(ContractMismatch):
        receipt(composed, answers)
