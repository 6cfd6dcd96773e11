"""Recent: what the org shows now of leads that wait, and of those that were given out last."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lead_router.app.naming import group_told, names_of
from lead_router.app.wiring import Wired, now
from lead_router.core.model import Configuration, Mode
from lead_router.core.touch import touched_at
from lead_router.salesforce import queries, records, sweeping
from lead_router.salesforce.names import GroupFields, LedgerFields, Objects, Relations, Standard
from lead_router.salesforce.records import moment

GIVEN_MAX = 500
"""Rows of the ledger that are read at once, the newest."""
WAITING_MAX = 200
"""Unassigned leads that are read at once, the oldest."""

_FIELDS = (
    LedgerFields.LEAD,
    f"{Relations.LEDGER_LEAD}.{Standard.NAME}",
    f"{Relations.LEDGER_GROUP}.{GroupFields.KEY}",
    f"{Relations.LEDGER_GROUP}.{Standard.NAME}",
    LedgerFields.ASSIGNED_TO,
    LedgerFields.OUTCOME,
    LedgerFields.ROUND,
    LedgerFields.LATENCY_MS,
    Standard.CREATED_AT,
)


@dataclass(frozen=True, slots=True)
class Given:
    """A row of the ledger: `latency_ms` from the lead's event to the commit, None where that tells nothing.

    `lead` and its name are None where the lead is gone; `group` is as people know it, with its key.
    """

    lead: str | None
    lead_name: str | None
    owner_id: str
    owner: str | None
    group: str | None
    outcome: str
    round: int
    latency_ms: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class Unassigned:
    """A lead that waits, since it was created; `touched_at` is when it was last changed, None where the router did."""

    lead: str
    since: datetime
    touched_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Recent:
    """How many leads are unassigned, the oldest WAITING_MAX of them in order; what was given out last, newest first.

    `off` are the groups in mode Off by their ids, as people know them.
    """

    at: datetime
    unassigned: int
    waiting: tuple[Unassigned, ...]
    given: tuple[Given, ...]
    warnings: tuple[str, ...]
    off: Mapping[str, str]


def recent_of(wired: Wired, configuration: Configuration, *, limit: int = GIVEN_MAX) -> Recent:
    """Three calls, and one more where an owner is no member. Writes nothing."""
    (told,) = wired.rest.query(sweeping.tally(configuration))
    tail = f"ORDER BY {Standard.CREATED_AT} DESC, {Standard.ID} DESC LIMIT {limit}"
    rows = wired.rest.query(queries.select(_FIELDS, Objects.LEDGER, tail))
    names = names_of(wired.rest, configuration, {row[LedgerFields.ASSIGNED_TO] for row in rows})
    return Recent(
        at=now(),
        unassigned=int(told[queries.COUNTED]),
        waiting=_waiting(wired, configuration),
        given=tuple(
            Given(
                lead=row[LedgerFields.LEAD],
                lead_name=(row[Relations.LEDGER_LEAD] or {}).get(Standard.NAME),
                owner_id=row[LedgerFields.ASSIGNED_TO] or "",
                owner=names.get(row[LedgerFields.ASSIGNED_TO] or ""),
                group=_group(row[Relations.LEDGER_GROUP]),
                outcome=row[LedgerFields.OUTCOME] or "",
                round=int(row[LedgerFields.ROUND] or 0),
                latency_ms=None if row[LedgerFields.LATENCY_MS] is None else int(row[LedgerFields.LATENCY_MS]),
                at=moment(row[Standard.CREATED_AT]),
            )
            for row in rows
        ),
        warnings=configuration.warnings,
        off={one.id: group_told(one.key, one.name) for one in configuration.roster if one.mode is Mode.OFF},
    )


def _waiting(wired: Wired, configuration: Configuration) -> tuple[Unassigned, ...]:
    rows = wired.rest.query(sweeping.unassigned(configuration, WAITING_MAX, None))
    user = configuration.integration_user_id
    return tuple(
        Unassigned(one.id, one.created_at, touched_at(one.fields, by_others_than=user))
        for one in map(records.lead, rows)
    )


def _group(row: Mapping[str, Any] | None) -> str | None:
    return None if row is None else group_told(row[GroupFields.KEY] or row[Standard.NAME], row[Standard.NAME])
