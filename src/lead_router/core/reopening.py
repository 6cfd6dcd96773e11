"""Reopening: which leads wait for an owner, for the first time or again, and which are to be left alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias

from lead_router.core.fallback import chain
from lead_router.core.keys import untouched_round
from lead_router.core.model import (
    Ask,
    Cause,
    Configuration,
    Lead,
    LedgerRow,
    Outcome,
    Reroute,
    Status,
    Switch,
    ToGroup,
    ToMatched,
)
from lead_router.core.rules import is_unassigned, matching, status_is_intake
from lead_router.core.table import Table, routed_before
from lead_router.core.terms import Running, Stopped, given_on, running


@dataclass(frozen=True, slots=True)
class Wanted:
    """The lead wants an owner; `note` tells the ledger why it does so again."""

    note: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """The lead needs nothing, and why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Left:
    """The lead would be routed anew if re-routing were live; `waits` where it has no owner meanwhile."""

    reason: str
    waits: bool


@dataclass(frozen=True, slots=True)
class Late:
    """Its owner let it lie, and it wants another one."""

    running: Running


@dataclass(frozen=True, slots=True)
class Early:
    """It is too soon to say that its owner let it lie: ask again in `retry_s` seconds."""

    reason: str
    retry_s: float


FRESH: Final = timedelta(seconds=5)
"""A change so shortly before a read may have others behind it in the same second, which no condition tells apart."""

SET_BACK: Final = "its status was set back"  # the router inside begins so what a Queued lead shows, where it is so

Want: TypeAlias = Wanted | Settled | Left | Late | Early


def want_of(table: Table, ask: Ask, lead: Lead) -> Want:
    """Whether the lead is to be given out.

    A lead without owner is. One that has an owner is left alone, unless the ask says that, after its last routing,
    someone set its status back, or its fields were changed so that it matches another group and its group re-routes.
    One that shows Queued says so itself: the router inside left it so, and each routing ends that.
    An ask of the first-touch clock is about that alone.
    """
    if lead.is_converted:
        return Settled("converted")
    if ask.idempotency_key in table.routed:
        return Settled("already routed")
    if ask.cause is Cause.UNTOUCHED:
        return _lies(table, ask, lead)
    routed = routed_before(table, lead)
    if is_unassigned(table.book, lead, table.snapshot.taken_at, routed_before=routed):
        return _anew(table, "it was returned", waits=True) if routed else Wanted()
    again = _again(table, ask, lead) if routed else None
    return Settled("already owned") if again is None else _anew(table, again, waits=lead.queued)


def _anew(table: Table, why: str, *, waits: bool) -> Wanted | Left:
    match table.configuration.rollout.reroutes:
        case Switch.OFF:
            return Left(f"re-routing is switched off: {why}", waits)
        case Switch.OBSERVE:
            return Left(f"re-routing is only observed: {why}", waits)
        case Switch.LIVE:
            return Wanted(f"Routed anew: {why}.")


def _lies(table: Table, ask: Ask, lead: Lead) -> Late | Early | Settled:
    """Whether the lead still has the owner and the round that the clock ran out for, untouched as it was read."""
    if table.configuration.rollout.first_touch is not Switch.LIVE:
        return Settled("the first-touch clock is not live")
    found = running(table.configuration, table.snapshot, lead)
    if isinstance(found, Stopped):
        return Settled(found.reason)
    if untouched_round(ask.idempotency_key) != found.row.round:
        return Settled("it was routed since")
    return _early(found, lead, table.snapshot.taken_at) or Late(found)


def _early(found: Running, lead: Lead, at: datetime) -> Early | None:
    if at < found.term.due_at:
        return Early("its owner has time yet", (found.term.due_at - at) / timedelta(seconds=1))
    if found.opens_at is not None:
        return Early("its group is closed", (found.opens_at - at) / timedelta(seconds=1))
    if lead.changed_at is not None and lead.changed_at > at - FRESH:
        return Early("it was changed a moment ago", FRESH / timedelta(seconds=1))
    return None


def _again(table: Table, ask: Ask, lead: Lead) -> str | None:
    last = max(table.rows.get(lead.id, ()), key=lambda row: row.round, default=None)
    if last is None or last.round < lead.round:
        return None
    if (lead.queued or lead.failed) and ask.cause is Cause.WAITING:
        return _left_over(table, lead, last)
    if last.created_at is None or last.created_at >= ask.event_at:
        return None
    match ask.cause:
        case Cause.WAITING | Cause.UNTOUCHED:
            return None
        case Cause.STATUS:
            return SET_BACK if _set_back(table, ask, lead, last.created_at) else None
        case Cause.CHANGED:
            return _other_group(table, lead, last)


def _set_back(table: Table, ask: Ask, lead: Lead, routed_at: datetime) -> bool:
    """Whether that happened after its routing, and stands. The times of rows are to the second: what a flow set in that
    very one may have been there before.
    """
    later = routed_at < ask.event_at.replace(microsecond=0)
    stands = status_is_intake(table.book, lead, table.snapshot.taken_at)
    return later and stands and not _given_since(table, lead, ask.event_at)


def _left_over(table: Table, lead: Lead, last: LedgerRow) -> str | None:
    """While it was Queued, or its job dead, a person may have given it to someone else: there it stays."""
    kept = last.assigned_to == lead.owner_id and lead.told.startswith(SET_BACK)
    if kept and status_is_intake(table.book, lead, table.snapshot.taken_at):
        return SET_BACK
    return _other_group(table, lead, last)


def keeps_its_mark(configuration: Configuration, lead: Lead) -> bool:
    """Whether a lead goes on showing Queued, or Failed, while it waits: by that alone it is known to leave its rep."""
    return (lead.queued or lead.failed) and lead.owner_id not in configuration.intake_owners


def failed_text(lead: Lead, text: str) -> str:
    """What a lead shows whose job is dead: with the reason why it was to leave its owner, where that alone tells it."""
    return f"{SET_BACK}: {text}" if lead.queued and lead.told.startswith(SET_BACK) else text


def failed_for_nothing(table: Table, ask: Ask, lead: Lead) -> bool:
    """Whether a lead of which nothing is wanted shows Failed although it has the owner that its last routing gave it:
    the job that died was to take it away, and would not any more.
    """
    last = max(table.rows.get(lead.id, ()), key=lambda row: row.round, default=None)
    if not lead.failed or last is None or last.assigned_to != lead.owner_id or given_on(table.snapshot, lead, last):
        return False
    if ask.idempotency_key in table.routed:
        return False
    return not status_is_intake(table.book, lead, table.snapshot.taken_at) and _other_group(table, lead, last) is None


def settled_status(table: Table, lead: Lead) -> Status | None:
    """What a lead shows that wants nothing: what its last routing wrote, None where none wrote on it."""
    last = max(table.rows.get(lead.id, ()), key=lambda row: row.round, default=None)
    outcome = None if last is None else last.outcome
    if not routed_before(table, lead) or outcome == Outcome.MANUAL:
        return None
    return Status.DUPLICATE if outcome == Outcome.DUPLICATE else Status.ASSIGNED


def given(table: Table, ask: Ask, lead: Lead) -> bool:
    """Whether the lead has the owner that a routing gave it after what is asked about: Held then came upon it too late.

    So has one that was to leave that owner, and is so no more. One that was returned and held, and then taken by
    whoever had it before, was routed earlier.
    """
    last = max(table.rows.get(lead.id, ()), key=lambda row: row.round, default=None)
    if last is None or last.assigned_to != lead.owner_id:
        return False
    since = ask.event_at.replace(microsecond=0)  # the times of rows are to the second
    later = last.created_at is not None and last.created_at >= since
    kept = ask.cause in {Cause.STATUS, Cause.CHANGED} and not given_on(table.snapshot, lead, last)
    return later or kept or last.idempotency_key == ask.idempotency_key


def returned(table: Table, ask: Ask, lead: Lead) -> bool:
    """Whether this very job has routed the lead, or was about its owner, and it has no owner again."""
    if lead.is_converted or (ask.idempotency_key not in table.routed and ask.cause is not Cause.UNTOUCHED):
        return False
    return is_unassigned(table.book, lead, table.snapshot.taken_at, routed_before=True)


def _given_since(table: Table, lead: Lead, at: datetime) -> bool:
    """Whether a person gave it to someone since then, or in that moment: whoever was given it has it."""
    told = (table.snapshot.by_hand.get(lead.id), lead.overridden_at)
    return any(one is not None and one >= at for one in told)


def _other_group(table: Table, lead: Lead, last: LedgerRow) -> str | None:
    """The group that the lead is with decides; what a person took, or gave to someone else, by hand stays there."""
    group = table.groups.get(last.group_id or "")
    if (
        last.outcome == Outcome.MANUAL
        or group is None
        or group.reroute is not Reroute.REROUTE
        or last.assigned_to != lead.owner_id
        or given_on(table.snapshot, lead, last)
    ):
        return None
    met = matching(table.book, lead, table.snapshot.taken_at)
    live = table.configuration.rollout.matched_owner is Switch.LIVE
    rule = next((one for one in met if live or not isinstance(one.target, ToMatched)), None)
    chosen = table.groups.get(rule.target.group_id) if rule and isinstance(rule.target, ToGroup) else None
    if chosen is None or group.id in {one.id for one in chain(chosen, table.groups)}:
        return None
    return f"it now matches group '{chosen.key}'"
