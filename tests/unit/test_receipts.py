"""What each refusal of a commit means for each of its jobs (DESIGN section 4, the table of answers)."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lead_router.loops.receipts import Resolution, resolve
from lead_router.ports import (
    AlreadyRouted,
    Bury,
    Done,
    Gone,
    Job,
    LeadMoved,
    Refusal,
    RepGone,
    Retry,
    SiblingRouted,
    TurnTaken,
)

NOTHING = Resolution((), frozenset(), frozenset(), halve=False, text="")


def _job(number: int) -> Job:
    lead = f"00Q5f0000000{number:03}AAA"
    return Job(number, f"key-{number}", lead, lead, {}, None, 1, 8, "token", datetime(2026, 11, 29, tzinfo=UTC), 1.0)


def _wait(job: Job) -> float:
    return 10.0 * job.id


A, B, C = _job(1), _job(2), _job(3)


@pytest.mark.parametrize(
    ("faults", "expected"),
    [
        ((TurnTaken(),), Resolution((), frozenset(), frozenset(), halve=False, text="TurnTaken")),
        (
            (AlreadyRouted(A.lead_id),),
            Resolution(((A, Done("already routed")),), frozenset(), frozenset(), halve=False, text="AlreadyRouted"),
        ),
        (
            (SiblingRouted(B.lead_id), LeadMoved(C.lead_id)),
            Resolution(
                (), frozenset({B.lead_id, C.lead_id}), frozenset(), halve=False, text="SiblingRouted, LeadMoved"
            ),
        ),
        (
            (Gone(B.lead_id, "deleted"),),
            Resolution(((B, Done("skipped: deleted")),), frozenset(), frozenset(), halve=False, text="Gone"),
        ),
        ((RepGone("005A"),), Resolution((), frozenset(), frozenset({"005A"}), halve=False, text="RepGone")),
        (
            (Refusal(C.lead_id, "no"),),
            Resolution(((C, Bury("no")),), frozenset(), frozenset(), halve=False, text="Refusal"),
        ),
        (
            (Refusal(C.lead_id, "who knows", again=True),),
            Resolution(((C, Retry(30.0, "who knows")),), frozenset(), frozenset(), halve=False, text="Refusal"),
        ),
        ((Refusal(None, "no"),), Resolution((), frozenset(), frozenset(), halve=True, text="Refusal")),
    ],
    ids=lambda value: "+".join(type(fault).__name__ for fault in value) if isinstance(value, tuple) else "",
)
def test_each_fault_has_its_consequence(faults, expected):
    """P32, B10: one bad lead ends alone, the others are decided anew."""
    assert resolve([A, B, C], faults, _wait) == expected


def test_an_unnamed_refusal_of_a_single_lead_is_that_lead_s():
    """Halving ends at one lead: then the refusal is its own."""
    assert resolve([B], [Refusal(None, "no")], _wait).endings == ((B, Bury("no")),)


def test_a_lead_that_ended_is_not_decided_again():
    """A row with two faults ends for good if any of them is final (B11)."""
    resolution = resolve([A], [LeadMoved(A.lead_id), Gone(A.lead_id, "converted")], _wait)

    assert (resolution.endings, resolution.moved) == (((A, Done("skipped: converted")),), frozenset())


def test_an_unclear_refusal_ends_after_all_attempts():
    """E13: a code that nobody knows is tried a bounded number of times."""
    last = replace(A, attempts=A.max_attempts)

    assert resolve([last], [Refusal(A.lead_id, "who knows", again=True)], _wait).endings == ((last, Bury("who knows")),)
