"""Rounds: what the ledger holds of one lead, as it was written down, and what observing groups thought of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lead_router.ports import JobStore
from lead_router.salesforce import queries
from lead_router.salesforce.names import GroupFields, LedgerFields, Objects, Relations, Standard
from lead_router.salesforce.records import moment
from lead_router.salesforce.rest import Rest


@dataclass(frozen=True, slots=True)
class Round:
    """One row of the lead's ledger: what was decided, and the explanation that was written down."""

    number: int
    outcome: str
    owner_id: str
    rule: str | None
    group: str | None
    turn: int | None
    committed_at: datetime | None
    explanation: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Whom a group that only observes would have given the lead to, None: nobody could have had it."""

    group: str
    owner_id: str | None
    at: datetime
    explanation: str


THOUGHTS_SHOWN = 10
"""Observations of a lead that are told, the newest."""

_FIELDS = (
    LedgerFields.ROUND,
    LedgerFields.OUTCOME,
    LedgerFields.ASSIGNED_TO,
    LedgerFields.RULE,
    f"{Relations.LEDGER_GROUP}.{GroupFields.KEY}",
    LedgerFields.TURN,
    LedgerFields.COMMITTED_AT,
    LedgerFields.EXPLANATION,
)


def rounds_of(rest: Rest, lead_id: str) -> tuple[Round, ...]:
    """What the ledger holds of a lead, oldest first."""
    return _rounds(rest, queries.among(LedgerFields.LEAD, [lead_id]))


def rounds_of_gone(rest: Rest, lead_id: str) -> tuple[Round, ...]:
    """The same of a lead that is deleted or merged: its rows name another or none, but their keys name it still."""
    return _rounds(rest, f"{LedgerFields.LEAD_KEY} LIKE '{lead_id}.%'")


def thoughts_of(store: JobStore, lead_id: str) -> tuple[Thought, ...]:
    """What was observed of a lead, oldest first."""
    found = reversed(store.observations_of(lead_id, limit=THOUGHTS_SHOWN))
    return tuple(Thought(one.what.group_key, one.what.owner_id, one.observed_at, one.what.explanation) for one in found)


def _rounds(rest: Rest, where: str) -> tuple[Round, ...]:
    rows = rest.query(
        queries.select(_FIELDS, Objects.LEDGER, f"WHERE {where} ORDER BY {LedgerFields.ROUND}, {Standard.ID}")
    )
    return tuple(
        Round(
            number=int(row[LedgerFields.ROUND] or 0),
            outcome=row[LedgerFields.OUTCOME] or "",
            owner_id=row[LedgerFields.ASSIGNED_TO] or "",
            rule=row[LedgerFields.RULE],
            group=(row[Relations.LEDGER_GROUP] or {}).get(GroupFields.KEY),
            turn=None if row[LedgerFields.TURN] is None else int(row[LedgerFields.TURN]),
            committed_at=None if row[LedgerFields.COMMITTED_AT] is None else moment(row[LedgerFields.COMMITTED_AT]),
            explanation=row[LedgerFields.EXPLANATION] or "",
        )
        for row in rows
    )
