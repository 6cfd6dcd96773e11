"""Rows as Salesforce's JSON has them, to nouns. Pure; a row of another shape raises ContractMismatch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from lead_router.core.ids import to18
from lead_router.core.model import Group, Lead, LedgerRow, Member, Mode, Reroute, Status
from lead_router.errors import ContractMismatch
from lead_router.salesforce.names import GroupFields, LeadFields, LedgerFields, MemberFields, Relations, Standard

P = ParamSpec("P")
T = TypeVar("T")
Row = Mapping[str, Any]

_ATTRIBUTES = "attributes"


def shaped(read: Callable[P, T]) -> Callable[P, T]:
    """The reader, with what it trips over told as a ContractMismatch that repeats no value."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return read(*args, **kwargs)
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            name = fault.args[0] if isinstance(fault, KeyError) else type(fault).__name__
            raise ContractMismatch(f"{read.__name__}: a row came in another shape than asked for ({name})") from None

    return reading


def moment(value: str) -> datetime:
    """A date-time of Salesforce's JSON (`2026-01-31T08:00:00.000+0000`), aware, in UTC."""
    found = datetime.fromisoformat(value)
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)


def whole(value: float | None, default: int = 0) -> int:
    """A whole number, which Salesforce sends as a double; `default` for a blank."""
    return default if value is None else int(value)


def maybe_whole(value: float | None) -> int | None:
    """A whole number, or None for a blank."""
    return None if value is None else int(value)


@shaped
def lead(row: Row) -> Lead:
    """A Lead."""
    overridden_at, changed_at = row.get(LeadFields.OVERRIDDEN_AT), row.get(Standard.CHANGED_AT)
    routed_at = row.get(LeadFields.ROUTED_AT)
    return Lead(
        id=to18(row[Standard.ID]),
        owner_id=to18(row[Standard.OWNER]),
        created_at=moment(row[Standard.CREATED_AT]),
        round=whole(row[LeadFields.ROUND]),
        stamp=row[LeadFields.STAMP],
        status=row[Standard.STATUS],
        is_converted=bool(row[Standard.IS_CONVERTED]),
        fields={name: value for name, value in row.items() if name != _ATTRIBUTES},
        held=row[LeadFields.STATUS] == Status.HELD,
        overridden_at=moment(overridden_at) if overridden_at else None,
        told=row[LeadFields.ERROR] or "",
        queued=row[LeadFields.STATUS] == Status.QUEUED,
        failed=row[LeadFields.STATUS] == Status.FAILED,
        unmarked=not (row[LeadFields.STATUS] and row[LeadFields.EXPECTED_OWNER]),
        changed_at=moment(changed_at) if changed_at else None,
        routed_at=moment(routed_at) if routed_at else None,
        routed_by=row.get(LeadFields.GROUP),
    )


@shaped
def ledger_row(row: Row) -> LedgerRow:
    """A row of the ledger, with its lead's present owner."""
    parent = row[Relations.LEDGER_LEAD]
    return LedgerRow(
        id=row[Standard.ID],
        lead_id=row[LedgerFields.LEAD],
        lead_key=row[LedgerFields.LEAD_KEY],
        round=whole(row[LedgerFields.ROUND]),
        idempotency_key=row[LedgerFields.IDEMPOTENCY_KEY],
        submission_even=row[LedgerFields.SUBMISSION_EVEN],
        submission_odd=row[LedgerFields.SUBMISSION_ODD],
        assigned_to=row[LedgerFields.ASSIGNED_TO] or "",
        outcome=row[LedgerFields.OUTCOME] or "",
        lead_owner_id=parent[Standard.OWNER] if parent else None,
        group_id=row[LedgerFields.GROUP],
        assigned_from=row[LedgerFields.ASSIGNED_FROM],
        created_at=moment(row[Standard.CREATED_AT]),
        turn=maybe_whole(row[LedgerFields.TURN]),
    )


@shaped
def member(row: Row) -> Member:
    """A member, with what its row tells of its user; whether that user is frozen, or reads leads, other rows tell."""
    user = row[Relations.MEMBER_USER] or {}
    return Member(
        id=row[Standard.ID],
        user_id=row[MemberFields.USER],
        name=user.get(Standard.NAME) or "",
        weight=whole(row[MemberFields.WEIGHT]),
        sort_order=whole(row[MemberFields.SORT_ORDER]),
        active=bool(row[MemberFields.ACTIVE]),
        user_active=bool(user.get(Standard.IS_ACTIVE)),
        next_turn=maybe_whole(row[MemberFields.NEXT_TURN]),
        last_turn=maybe_whole(row[MemberFields.LAST_TURN]),
        leads_received=whole(row[MemberFields.LEADS_RECEIVED]),
        hours_id=row[MemberFields.BUSINESS_HOURS],
        daily_cap=maybe_whole(row[MemberFields.DAILY_CAP]),
        open_cap=maybe_whole(row[MemberFields.OPEN_LEAD_CAP]),
        accepts=row[MemberFields.ACCEPTS] or "",
        zone=user.get(Standard.TIME_ZONE) or "UTC",
        day=row[MemberFields.CAP_DAY],
        day_count=whole(row[MemberFields.CAP_COUNT]),
    )


@shaped
def group(row: Row) -> Group:
    """A group, without its members."""
    return Group(
        id=row[Standard.ID],
        key=row[GroupFields.KEY],
        name=row[Standard.NAME],
        mode=Mode(row[GroupFields.MODE] or Mode.OFF),
        epoch=whole(row[GroupFields.EPOCH]),
        turn=whole(row[GroupFields.TURN]),
        clock=whole(row[GroupFields.CLOCK]),
        fallback_queue=row[GroupFields.FALLBACK_QUEUE] or None,
        members=(),
        hours_id=row[GroupFields.BUSINESS_HOURS],
        fallback_group=row[GroupFields.FALLBACK_GROUP],
        manager_id=row[GroupFields.MANAGER],
        manager_active=bool((row[Relations.GROUP_MANAGER] or {Standard.IS_ACTIVE: True})[Standard.IS_ACTIVE]),
        reroute=Reroute(row[GroupFields.REROUTE] or Reroute.KEEP),
        counts_manual=bool(row[GroupFields.COUNT_MANUAL]),
        accept_within=maybe_whole(row[GroupFields.ACCEPT_WITHIN]),
        accept_chain=maybe_whole(row[GroupFields.ACCEPT_CHAIN_MAX]),
    )


@shaped
def groups(group_rows: Iterable[Row], member_rows: Iterable[Row]) -> dict[str, Group]:
    """Groups with their members, by id. A member whose group is not among them, being newer, is left out."""
    members: dict[str, list[Member]] = {}
    for row in member_rows:
        members.setdefault(row[MemberFields.GROUP], []).append(member(row))
    plain = (group(row) for row in group_rows)
    return {one.id: replace(one, members=tuple(members.get(one.id, ()))) for one in plain}
