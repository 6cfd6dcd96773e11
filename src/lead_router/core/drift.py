"""The nouns of verification: ledger rows as they are counted, what drifted from them, and what would put it right."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the ledger. `epoch`, `turn` and `turn_key` are None, `member_id` too, where no turn was used.

    `lead_id` is None once the lead was deleted; `lead_key` names it all the same.
    """

    id: str
    group_id: str | None
    member_id: str | None
    lead_id: str | None
    lead_key: str
    round: int
    idempotency_key: str
    outcome: str
    epoch: int | None
    turn: int | None
    turn_key: str | None
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """How many rows of one epoch of a group name this member (None: nobody any more), the first and the last turn."""

    group_id: str
    epoch: int
    member_id: str | None
    rows: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a lead says of its last routing, and who owns it."""

    lead_id: str
    owner_id: str
    round: int
    idempotency_key: str | None
    group_key: str | None


class Drift(StrEnum):
    """What is not as the ledger has it."""

    MISSING = "rows missing"
    TWICE = "two rows of one turn"
    EDITED = "row edited"
    EPOCH = "epoch"
    TURN = "turn"
    CLOCK = "clock"
    LAST_TURN = "last turn"
    NEXT_TURN = "next turn"
    RECEIVED = "leads received"
    ROUND = "lead's round"
    STAMP = "lead's stamp"
    SHOWN_GROUP = "lead's group"
    JOB = "job"


class Field(StrEnum):
    """What a repair may write: of a group, of a member, of a lead."""

    TURN = "Turn"
    CLOCK = "Clock"
    LAST_TURN = "Last Turn"
    NEXT_TURN = "Next Turn"
    RECEIVED = "Leads Received"
    ROUND = "Routing Round"
    STAMP = "Routing Idem Key"


Value: TypeAlias = int | str | None


@dataclass(frozen=True, slots=True)
class Change:
    """One field of one record, as it is and as the ledger proves it to be."""

    record_id: str
    field: Field
    old: Value
    new: Value


@dataclass(frozen=True, slots=True)
class Drifted:
    """One drift of group `group` (its key; blank where it is of none), from turn `turn` of `epoch` on, as far as known.

    `record` is the id of the row, group, member or lead, or the job's number; `text` says what is found and what the
    ledger has, `cause` what most probably happened. `changes` put it right; empty where that is for a person.
    """

    kind: Drift
    group: str
    epoch: int | None
    turn: int | None
    record: str
    text: str
    cause: str
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, and what was seen and is no drift."""

    findings: tuple[Drifted, ...] = ()
    notes: tuple[str, ...] = ()
