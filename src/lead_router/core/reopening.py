"""Reopening: which leads wait for an owner, for the first time or again, and which are to be left alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from lead_router.core.fallback import chain
from lead_router.core.model import Ask, Cause, Lead, LedgerRow, Reroute, ToGroup
from lead_router.core.rules import first_match, is_unassigned, status_is_intake
from lead_router.core.table import Table, routed_before


@dataclass(frozen=True, slots=True)
class Wanted:
    """The lead wants an owner; `note` tells the ledger why it does so again."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """The lead needs nothing, and why."""

    reason: str


Want: TypeAlias = Wanted | Settled


def want_of(table: Table, ask: Ask, lead: Lead) -> Want:
    """Whether the lead is to be given out.

    A lead without owner is. One that has an owner is left alone, unless the ask says that, after its last routing,
    someone set its status back, or its fields were changed so that it matches another group and its group re-routes.
    """
    if lead.is_converted:
        return Settled("converted")
    if ask.idempotency_key in table.routed:
        return Settled("already routed")
    routed = routed_before(table, lead)
    if is_unassigned(table.book, lead, table.snapshot.taken_at, routed_before=routed):
        return Wanted("Routed anew: it was returned." if routed else "")
    again = _again(table, ask, lead) if routed else None
    return Settled("already owned") if again is None else Wanted(again)


def _again(table: Table, ask: Ask, lead: Lead) -> str | None:
    last = max(table.rows.get(lead.id, ()), key=lambda row: row.round, default=None)
    if last is None or last.round < lead.round or last.created_at is None or last.created_at >= ask.event_at:
        return None
    match ask.cause:
        case Cause.WAITING:
            return None
        case Cause.STATUS:
            set_back = status_is_intake(table.book, lead, table.snapshot.taken_at)
            return "Routed anew: its status was set back." if set_back else None
        case Cause.CHANGED:
            return _other_group(table, lead, last)


def _other_group(table: Table, lead: Lead, last: LedgerRow) -> str | None:
    """The group that the lead is with decides; what a person gave to someone else by hand stays there."""
    group = table.groups.get(last.group_id or "")
    if group is None or group.reroute is not Reroute.REROUTE or last.assigned_to != lead.owner_id:
        return None
    rule = first_match(table.book, lead, table.snapshot.taken_at)
    chosen = table.groups.get(rule.target.group_id) if rule and isinstance(rule.target, ToGroup) else None
    if chosen is None or group.id in {one.id for one in chain(chosen, table.groups)}:
        return None
    return f"Routed anew: it now matches group '{chosen.key}'."
