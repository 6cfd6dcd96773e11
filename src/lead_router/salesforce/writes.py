"""Batches as one composite request (DESIGN section 4). Pure; the order of parts and records is the promise.

No field is ever null, but for what a lead may bear of an earlier attempt or owner: the error text, who overrode it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from enum import StrEnum
from typing import Any, TypeAlias

from lead_router.core.keys import expected_turn, lead_key, turn_key
from lead_router.core.leads import ELLIPSIS
from lead_router.core.model import Assign, Batch, Cause, Count, Follow, Group, Lead, Member, Outcome, Status, Write
from lead_router.salesforce.names import (
    CLIENT,
    GroupFields,
    LeadFields,
    LedgerFields,
    Lengths,
    MemberFields,
    Objects,
    Standard,
)
from lead_router.salesforce.queries import instant
from lead_router.salesforce.rest import Subrequest

WRITES_MAX = 200  # records of one collection
COLLECTION = "composite/sobjects"
BETWEEN = "; "  # kinds of reason for which members were passed over
LEAD_HEADERS: Mapping[str, str] = {"Sforce-Auto-Assign": "FALSE", "Sforce-Call-Options": f"client={CLIENT}"}
"""Subrequests inherit no header but three, and without the first an assignment rule would overwrite the owner."""

OF_THE_PAST = (LeadFields.ERROR, LeadFields.OVERRIDDEN_BY, LeadFields.OVERRIDDEN_AT)


Subject: TypeAlias = Write | Member | Group


class Step(StrEnum):
    """The parts of a commit, by reference id, in their order."""

    GROUP = "group"
    LEDGER = "ledger"
    MEMBERS = "members"
    LOCK = "lock"
    LEADS = "leads"


@dataclass(frozen=True, slots=True)
class Composed:
    """A commit ready to be sent. `subjects[step]` says, by position, which write, member or group a record is of.

    `guards` are the writes whose leads have a part of their own, by its reference.
    """

    parts: tuple[Subrequest, ...]
    subjects: Mapping[Step, tuple[Subject, ...]]
    guards: Mapping[str, Write] = field(default_factory=dict)


def compose(batches: Sequence[Batch], at: datetime, *, lock_touch: bool) -> Composed:
    """The parts of one commit; `at` is its time that the ledger shows. Each batch is of another group, in turn order.

    Several groups are one collection, ids ascending: each way to route takes their locks in that order. With it a
    commit has five collections, the most that one composite request takes.
    A lead that a person took by hand is that person's: its turn is written, and nothing on the lead.
    A lead that its owner let lie is locked by a part of its own, on condition that nobody changed it since it was read:
    what its owner does to it meanwhile keeps it theirs. Such leads have no room beside many others (GUARDED_MAX).
    """
    writes = tuple(write for batch in batches for write in batch.writes)
    given = (write for write in writes if not isinstance(write, Count))
    by_lead = tuple(sorted(given, key=lambda write: write.lead.id))
    moved = moved_members(batches)
    parts: list[Subrequest] = []
    subjects: dict[Step, tuple[Subject, ...]] = {}
    turned = sorted(_turned(batches), key=lambda pair: pair[0].id)
    if len(turned) == 1:
        ((before, after),) = turned
        parts.append(Subrequest("PATCH", Step.GROUP, f"sobjects/{Objects.GROUP}/{before.id}", _group(before, after)))
    elif turned:
        parts.append(_collection(Step.GROUP, "PATCH", ({"id": was.id, **_group(was, now)} for was, now in turned)))
        subjects[Step.GROUP] = tuple(before for before, _ in turned)
    parts.append(_collection(Step.LEDGER, "POST", (_ledger(write, at) for write in writes)))
    subjects[Step.LEDGER] = writes
    if moved:
        parts.append(_collection(Step.MEMBERS, "PATCH", map(_member, moved)))
        subjects[Step.MEMBERS] = moved
    guards = {f"guard{place}": write for place, write in enumerate(w for w in by_lead if guarded(w))}
    parts += [_guard(name, write) for name, write in guards.items()]
    unguarded = tuple(write for write in by_lead if not guarded(write))
    if lock_touch and unguarded:
        parts.append(_collection(Step.LOCK, "PATCH", map(_touch, unguarded), LEAD_HEADERS))
        subjects[Step.LOCK] = unguarded
    if by_lead:
        parts.append(_collection(Step.LEADS, "PATCH", (_lead(write, at) for write in by_lead), LEAD_HEADERS))
        subjects[Step.LEADS] = by_lead
    return Composed(tuple(parts), subjects, guards)


def moved_members(batches: Iterable[Batch]) -> tuple[Member, ...]:
    """The members whose state changed, as they are afterwards, ids ascending."""
    moved: list[Member] = []
    for before, after in _turned(batches):
        was = {member.id: member for member in before.members}
        moved += (member for member in after.members if member != was.get(member.id))
    return tuple(sorted(moved, key=lambda member: member.id))


def _turned(batches: Iterable[Batch]) -> Iterator[tuple[Group, Group]]:
    for batch in batches:
        if batch.before is not None and batch.after is not None:
            yield batch.before, batch.after


def collection(sobject: str, records: Iterable[Mapping[str, Any]], *, all_or_none: bool = True) -> dict[str, Any]:
    """The body of a collection of one type."""
    typed = [{"attributes": {"type": sobject}, **record} for record in records]
    return {"allOrNone": all_or_none, "records": typed}


def cut(value: str, size: int) -> str:
    """The text, or its start with an ellipsis where it is longer than its field."""
    return value if len(value) <= size else value[: size - len(ELLIPSIS)] + ELLIPSIS


_TYPES = {
    Step.GROUP: Objects.GROUP,
    Step.LEDGER: Objects.LEDGER,
    Step.MEMBERS: Objects.MEMBER,
    Step.LOCK: Objects.LEAD,
    Step.LEADS: Objects.LEAD,
}


def _collection(
    step: Step, method: str, records: Iterable[Mapping[str, Any]], headers: Mapping[str, str] | None = None
) -> Subrequest:
    return Subrequest(method, step, COLLECTION, collection(_TYPES[step], records), headers)


def _group(before: Group, after: Group) -> dict[str, Any]:
    return {
        GroupFields.TURN: after.turn,
        GroupFields.CLOCK: after.clock,
        GroupFields.EXPECTED_TURN: expected_turn(before.epoch, before.turn),
    }


def _member(member: Member) -> dict[str, Any]:
    state = {
        MemberFields.NEXT_TURN: member.next_turn,
        MemberFields.LAST_TURN: member.last_turn,
        MemberFields.LEADS_RECEIVED: member.leads_received,
        MemberFields.CAP_DAY: member.day,
        MemberFields.CAP_COUNT: None if member.day is None else member.day_count,
    }
    return {"id": member.id, **_present(state)}


def _ledger(write: Write, at: datetime) -> dict[str, Any]:
    late_s = (at - write.ask.event_at).total_seconds()
    row = {
        LedgerFields.IDEMPOTENCY_KEY: write.ask.idempotency_key,
        LedgerFields.LEAD_KEY: lead_key(write.lead.id, write.round),
        LedgerFields.LEAD: write.lead.id,
        LedgerFields.ROUND: write.round,
        LedgerFields.ASSIGNED_TO: write.owner_id,
        LedgerFields.ASSIGNED_FROM: write.lead.owner_id,
        LedgerFields.EXPLANATION: cut(write.explanation, Lengths.EXPLANATION),
        LedgerFields.EVENT_AT: instant(write.ask.event_at),
        LedgerFields.COMMITTED_AT: instant(at),
        LedgerFields.LATENCY_MS: max(0, round(late_s * 1000)),
    }
    match write:
        case Assign():
            outcome = {LedgerFields.OUTCOME: write.outcome.value, LedgerFields.GROUP: write.group_id}
            passed = {LedgerFields.PASSED_OVER: BETWEEN.join(write.passed_over) or None}
            return _present(row | outcome | passed | _ruled(write))
        case Count(turn=turn):
            # Whom it was taken from may not be known, and how long that took says nothing of routing.
            manual: dict[str, Any] = {LedgerFields.OUTCOME: Outcome.MANUAL.value, LedgerFields.GROUP: turn.group.id}
            manual |= {LedgerFields.ASSIGNED_FROM: write.ask.owner_before, LedgerFields.LATENCY_MS: None}
            return _present(row | manual | _ruled(write))
        case Follow():
            return _present(row | {LedgerFields.OUTCOME: Outcome.DUPLICATE.value})


def _ruled(write: Assign | Count) -> dict[str, Any]:
    turn = write.turn
    return {
        LedgerFields.RULE: cut(write.rule.name, Lengths.RULE) if write.rule else None,
        LedgerFields.MEMBER: turn.member.id if turn else None,
        LedgerFields.EPOCH: turn.group.epoch if turn else None,
        LedgerFields.TURN: turn.number if turn else None,
        LedgerFields.TURN_KEY: turn_key(turn.group.key, turn.group.epoch, turn.number) if turn else None,
        LedgerFields.SUBMISSION_EVEN: write.submission.even if write.submission else None,
        LedgerFields.SUBMISSION_ODD: write.submission.odd if write.submission else None,
    }


def guarded(write: Write) -> bool:
    """Whether whatever anybody did to the lead since it was read undoes the write."""
    return write.ask.cause is Cause.UNTOUCHED


def unchanged(lead: Lead) -> dict[str, str]:
    """The headers of a part that writes the lead only if nobody changed it since it was read, to the second."""
    if lead.changed_at is None:
        raise ValueError("a lead that was not read cannot be marked")
    return {**LEAD_HEADERS, "If-Unmodified-Since": format_datetime(lead.changed_at, usegmt=True)}


def _guard(name: str, write: Write) -> Subrequest:
    path, owner = f"sobjects/{Objects.LEAD}/{write.lead.id}", {LeadFields.EXPECTED_OWNER: write.lead.owner_id}
    return Subrequest("PATCH", name, path, owner, unchanged(write.lead))


def _touch(write: Write) -> dict[str, Any]:
    return {"id": write.lead.id, LeadFields.EXPECTED_OWNER: write.lead.owner_id}


def _lead(write: Assign | Follow, at: datetime) -> dict[str, Any]:
    record = {
        "id": write.lead.id,
        Standard.OWNER: write.owner_id,
        LeadFields.STAMP: write.ask.idempotency_key,
        LeadFields.ROUND: write.round,
        LeadFields.EXPECTED_OWNER: write.lead.owner_id,
        LeadFields.ROUTED_AT: instant(at),
    }
    match write:
        case Assign(turn=turn):
            record[LeadFields.STATUS] = Status.ASSIGNED.value
            if turn is not None:
                record[LeadFields.GROUP] = turn.group.key
        case Follow(first_lead_id=first):
            record[LeadFields.STATUS] = Status.DUPLICATE.value
            record[LeadFields.DUPLICATE_OF] = first
    return record | dict.fromkeys(OF_THE_PAST)  # whatever the lead bore as it was read: another may show more since


def _present(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if value is not None}
