"""Guards: a lead that its owner let lie is written only if nobody changed it, and the answer says whose it is."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from lead_router.core.batch import GUARDED_MAX
from lead_router.core.model import Batch, Cause
from lead_router.loops.portions import begun
from lead_router.ports import Committed, Gone, Job, LeadMoved, Refused
from lead_router.salesforce.commit import receipt
from lead_router.salesforce.rest import Subanswer
from lead_router.salesforce.writes import Step, compose
from support.batches import AT, batch, lead_id

MODIFIED = [{"errorCode": "ENTITY_FAILED_IFLASTMODIFIED_ON_UPDATE", "message": "entity was modified"}]
DELETED = [{"errorCode": "ENTITY_IS_DELETED", "message": "entity is deleted"}]
HALTED = [{"errorCode": "PROCESSING_HALTED", "message": "The transaction was rolled back"}]


def lying(plain: Batch, *numbers: int) -> Batch:
    """The batch, these of whose leads were let lie."""
    ids = {lead_id(number) for number in numbers}
    writes = tuple(
        replace(
            one,
            ask=replace(one.ask, cause=Cause.UNTOUCHED),
            lead=replace(one.lead, changed_at=AT - timedelta(minutes=15)),
        )
        if one.lead.id in ids
        else one
        for one in plain.writes
    )
    return replace(plain, writes=writes)


def test_each_lead_that_lies_has_a_part_of_its_own_and_the_others_one_together():
    """It stands where the lock stands, writes what the lock writes, and is none of the five collections."""
    composed = compose([lying(batch([1, 2, 3]), 1, 3)], AT, lock_touch=True)
    names = [part.reference for part in composed.parts]
    guard = composed.parts[names.index("guard0")]
    (locked,) = [part for part in composed.parts if part.reference == Step.LOCK]

    assert names == ["group", "ledger", "members", "guard0", "guard1", "lock", "leads"]
    assert (guard.method, guard.path) == ("PATCH", f"sobjects/Lead/{lead_id(1)}")
    assert list(guard.body or {}) == ["Routing_Expected_Owner__c"]
    assert {"If-Unmodified-Since", "Sforce-Auto-Assign", "Sforce-Call-Options"} == set(guard.headers or {})
    assert [one["id"] for one in (locked.body or {})["records"]] == [lead_id(2)]


def test_the_condition_stands_though_locks_are_not_taken():
    """It is no lock, and no setting takes it away."""
    composed = compose([lying(batch([1]), 1)], AT, lock_touch=False)

    assert [part.reference for part in composed.parts] == ["group", "ledger", "members", "guard0", "leads"]


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (412, MODIFIED, LeadMoved(lead_id(3))),
        (412, None, LeadMoved(lead_id(3))),
        (404, DELETED, Gone(lead_id(3), "deleted")),
    ],
)
def test_a_guard_that_refuses_names_its_lead(status, body, expected):
    """It is decided again, alone; what was rolled back for it is no cause."""
    composed = compose([lying(batch([1, 2, 3]), 1, 3)], AT, lock_touch=True)
    answers = [
        Subanswer(part.reference, status, body)
        if part.reference == "guard1"
        else Subanswer(part.reference, 400, HALTED)
        for part in composed.parts
    ]

    assert receipt(composed, answers) == Refused((expected,))


def test_guards_that_were_kept_say_nothing():
    """A written row answers with an empty body."""
    composed = compose([lying(batch([1]), 1)], AT, lock_touch=True)
    answers = [
        Subanswer(part.reference, 204 if "records" not in (part.body or {}) else 200, _good(part.body or {}))
        for part in composed.parts
    ]

    assert receipt(composed, answers) == Committed()


def _good(body):
    return [{"id": "x", "success": True, "errors": []} for _ in body["records"]] if "records" in body else None


def job(number: int, cause: str) -> Job:
    when = AT
    return Job(number, f"k{number}", lead_id(number), lead_id(number), {"cause": cause}, None, 1, 3, "t", when, 0.0)


def test_no_commit_guards_more_than_it_has_room_for():
    """The others are decided together, as ever; nothing is lost."""
    jobs = [job(number, "untouched" if number % 2 else "waiting") for number in range(1, 90)]
    portions = begun(jobs)

    assert [len(one.jobs) for one in portions] == [44, GUARDED_MAX, GUARDED_MAX, 5]
    assert {one.id for portion in portions for one in portion.jobs} == set(range(1, 90))
    assert [len(one.jobs) for one in begun(jobs[1::2])] == [44]
