"""Siblings: leads of one submission. The first is given out; a second follows it, waits for it, or goes its own way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from lead_router.core.ids import is_user
from lead_router.core.model import Ask, Assign, Count, Decision, Hold, LedgerRow, Observed, Submission


@dataclass(frozen=True, slots=True)
class Lone:
    """The lead is routed by itself. `keys_free` says that it may store its submission keys; `note` explains it."""

    keys_free: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Trail:
    """The lead follows `first_lead_id` to `owner_id`."""

    first_lead_id: str
    owner_id: str


@dataclass(frozen=True, slots=True)
class Wait:
    """The lead waits until its first has an owner. `keys_free` is as for a lead that is routed by itself."""

    reason: str
    keys_free: bool


Course: TypeAlias = Lone | Trail | Wait

WAITS_FOR: Final = "waits for lead "  # begins what a lead shows that waits for its first
_OBSERVED = "Duplicates are only observed; live,"


@dataclass(frozen=True, slots=True)
class Siblings:
    """What is known of other leads' submissions: ledger rows by key, and this batch's decisions by key.

    Leads of `intake_owners` have no owner yet; nobody can follow to a user of `inactive`.
    """

    rows: Mapping[str, tuple[LedgerRow, ...]]
    decided: Mapping[str, Decision]
    intake_owners: frozenset[str]
    inactive: frozenset[str]
    wait_s: float


def rows_by_key(ledger: Iterable[LedgerRow]) -> dict[str, tuple[LedgerRow, ...]]:
    """Ledger rows under each submission key that they hold, oldest id first."""
    found: dict[str, tuple[LedgerRow, ...]] = {}
    for row in sorted(ledger, key=lambda row: row.id):
        for key in (row.submission_even, row.submission_odd):
            if key:
                found[key] = (*found.get(key, ()), row)
    return found


def course(ask: Ask, submission: Submission | None, siblings: Siblings, elder_id: str | None = None) -> Course:
    """What a lead of this submission does, by what became of the others.

    A sibling in the ledger holds the keys for ever: the lead follows its present owner if that is a person, waits at
    most `wait_s` while it has none, and after that, or if it is gone or its owner is inactive, goes its own way without
    keys. `elder_id` is an older lead of the submission that is neither in the ledger nor in this batch, and waits.
    """
    if submission is None:
        return Lone(keys_free=True)
    keys = (submission.even, submission.odd)
    rows = [row for key in keys for row in siblings.rows.get(key, ()) if row.lead_id != ask.lead_id]
    if rows:
        return _after_rows(ask, rows, siblings)
    firsts = [decision for key in keys if (decision := siblings.decided.get(key)) is not None]
    if firsts:
        return _after_decision(ask, firsts[0], siblings)
    return Lone(keys_free=True) if elder_id is None else _wait_or_go(ask, elder_id, siblings, keys_free=True)


def observed(found: Course) -> Lone:
    """The course where duplicates are only observed: every lead goes its own way, and tells of the one not taken."""
    match found:
        case Lone():
            return found
        case Trail(first_lead_id=first):
            return Lone(
                keys_free=False, note=f"{_OBSERVED} it follows lead {first} of the same submission to its owner."
            )
        case Wait(reason=reason, keys_free=keys_free):
            return Lone(keys_free, f"{_OBSERVED} it {reason}.")


def _after_rows(ask: Ask, rows: list[LedgerRow], siblings: Siblings) -> Course:
    living = [(row.lead_id, row.lead_owner_id) for row in rows if row.lead_id and row.lead_owner_id]
    for lead_id, owner_id in living:
        if _is_person(owner_id, siblings):
            return Trail(lead_id, owner_id)
    waiting = next((lead_id for lead_id, owner_id in living if owner_id not in siblings.inactive), None)
    if waiting is not None:
        return _wait_or_go(ask, waiting, siblings, keys_free=False)
    what = "is gone" if not living else "has an inactive owner"
    return Lone(keys_free=False, note=f"An earlier lead of the same submission {what}.")


def _after_decision(ask: Ask, first: Decision, siblings: Siblings) -> Course:
    match first:
        case Assign(lead=lead, owner_id=owner_id) | Count(lead=lead, owner_id=owner_id):
            if _is_person(owner_id, siblings):
                return Trail(lead.id, owner_id)
            return _wait_or_go(ask, lead.id, siblings, keys_free=False)
        case Hold(lead=lead) | Observed(lead=lead) if lead is not None:
            return _wait_or_go(ask, lead.id, siblings, keys_free=True)
        case _:
            return Lone(keys_free=True)


def _wait_or_go(ask: Ask, first_lead_id: str, siblings: Siblings, *, keys_free: bool) -> Course:
    if ask.waited_s < siblings.wait_s:
        return Wait(f"{WAITS_FOR}{first_lead_id} of the same submission, which has no owner yet", keys_free)
    return Lone(keys_free, f"Lead {first_lead_id} of the same submission got no owner in {siblings.wait_s:g} s.")


def _is_person(owner_id: str, siblings: Siblings) -> bool:
    return is_user(owner_id) and owner_id not in siblings.intake_owners and owner_id not in siblings.inactive
