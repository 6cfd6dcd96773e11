"""Leads, groups and batches by hand, small enough to read in a test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from lead_router.core.ids import to18
from lead_router.core.model import (
    Ask,
    Assign,
    Batch,
    Follow,
    Group,
    Lead,
    Member,
    Mode,
    Outcome,
    Rule,
    Submission,
    ToGroup,
    Turn,
)

AT = datetime(2026, 11, 29, 20, 0, 0, tzinfo=UTC)
ORG = to18("00D000000000001")
INTAKE = to18("00G000000000001")
GROUP_ID = to18("a00000000000001")


def lead_id(number: int) -> str:
    return to18(f"00Q{number:012d}")


def user_id(number: int) -> str:
    return to18(f"005{number:012d}")


def member_id(number: int) -> str:
    return to18(f"a01{number:012d}")


def lead(number: int, **fields: Any) -> Lead:
    return Lead(lead_id(number), INTAKE, AT, 0, None, "Open", False, fields)  # noqa: FBT003 - not converted


def ask(number: int) -> Ask:
    return Ask(number, f"{ORG}.{lead_id(number)}.create", lead_id(number), AT)


def member(number: int, **state: Any) -> Member:
    plain = Member(
        id=member_id(number),
        user_id=user_id(number),
        name=f"Rep {number}",
        weight=1,
        sort_order=number,
        active=True,
        user_active=True,
        next_turn=None,
        last_turn=None,
    )
    return replace(plain, **state)


def group(*members: Member, turn: int = 41, clock: int = 5) -> Group:
    return Group(GROUP_ID, "emea", "EMEA", Mode.LIVE, 3, turn, clock, None, members)


def batch(numbers: Sequence[int]) -> Batch:
    """Leads of these numbers, given to members 2, 1, 2, … in turn."""
    before = group(member(1), member(2), member(3))
    now = before
    writes: list[Assign | Follow] = []
    for place, number in enumerate(numbers):
        picked = now.members[1 - place % 2]
        picked = replace(
            picked, next_turn=100 + place, last_turn=now.turn + 1, leads_received=picked.leads_received + 1
        )
        members = tuple(picked if each.id == picked.id else each for each in now.members)
        was, now = now, replace(now, turn=now.turn + 1, clock=now.clock + 1, members=members)
        writes.append(
            Assign(
                ask=ask(number),
                lead=lead(number),
                owner_id=picked.user_id,
                round=1,
                outcome=Outcome.ASSIGNED,
                rule=Rule("a02000000000001AAA", "Web", 10, "", ToGroup(GROUP_ID)),
                group_id=GROUP_ID,
                turn=Turn(now.turn, picked, now, was),
                submission=Submission(f"{number:032x}", f"{number + 1:032x}"),
                explanation="Rep 1 passed over: paused",
                passed_over=("Absent", "Paused"),
            )
        )
    return Batch(tuple(writes), before, now)


def following(number: int, first: int) -> Batch:
    """One lead that follows another, so without a turn."""
    follow = Follow(ask(number), lead(number), user_id(1), 1, lead_id(first), "second lead of a submission")
    return Batch((follow,), None, None)
