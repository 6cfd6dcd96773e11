"""The table that one round of decisions is made at: what is looked at, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from lead_router.core.duty import Moment, moment_of
from lead_router.core.eligible import Former, Standing, former_owners, standings
from lead_router.core.model import (
    Ask,
    Assign,
    Configuration,
    Decision,
    Follow,
    Group,
    Lead,
    LedgerRow,
    Snapshot,
    Submission,
)
from lead_router.core.rules import Rulebook, rulebook
from lead_router.core.siblings import Siblings, rows_by_key

Age: TypeAlias = tuple[datetime, float, int]


@dataclass(slots=True)
class Waiter:
    """A lead that waits for members; `groups` are the ids of those that may give it one, None until that is asked."""

    age: Age
    ask: Ask
    lead: Lead
    groups: frozenset[str] | None = None


@dataclass(slots=True)
class Table:
    """What one round of decisions looks at and how far it has come.

    Groups move on with each turn, open leads with each assignment, and `waiting`, the leads that wait for members, the
    oldest first, with each lead that joins them. `passed` is by group and member how many of these, from the first on,
    that member could never take. `elders` is by submission key the oldest ask of a lead that waits beside this round.
    """

    configuration: Configuration
    book: Rulebook
    snapshot: Snapshot
    moment: Moment
    groups: dict[str, Group]
    rows: dict[str, tuple[LedgerRow, ...]]
    routed: frozenset[str]
    siblings: Siblings
    decided: dict[str, Decision]
    open_leads: dict[str, int]
    waiting: list[Waiter] = field(default_factory=list)
    elders: dict[str, Ask] = field(default_factory=dict)
    passed: dict[tuple[str, str], int] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Case:
    """One lead to be given out: its round, its submission keys (to be stored, if free), and notes for the ledger."""

    ask: Ask
    lead: Lead
    round: int
    submission: Submission | None
    former: Former
    notes: tuple[str, ...] = ()


def laid(configuration: Configuration, snapshot: Snapshot) -> Table:
    """The table as it is before the first decision; raises Misconfigured where the configuration cannot be used."""
    book = rulebook(configuration)
    decided: dict[str, Decision] = {}
    open_leads = dict(snapshot.open_leads)
    members = [member for group in snapshot.groups.values() for member in group.members]
    inactive = frozenset(member.user_id for member in members if not member.user_active)
    return Table(
        configuration=configuration,
        book=book,
        snapshot=snapshot,
        moment=moment_of(configuration, snapshot.taken_at, open_leads, snapshot.unfit),
        groups=dict(snapshot.groups),
        rows=_rows_by_lead(snapshot.ledger),
        routed=frozenset(row.idempotency_key for row in snapshot.ledger),
        siblings=Siblings(
            rows=rows_by_key(snapshot.ledger),
            decided=decided,
            intake_owners=configuration.intake_owners,
            inactive=inactive | snapshot.unfit,
            wait_s=configuration.follow_wait_s,
        ),
        decided=decided,
        open_leads=open_leads,
    )


def age(ask: Ask) -> Age:
    """Orders asks, the oldest first: by what happened first, then by the older job."""
    return ask.event_at, -ask.waited_s, ask.job_id


def last_round(table: Table, lead: Lead) -> int:
    """The highest round that the lead or the ledger knows, so that a blanked field cannot collide."""
    return max(lead.round, *(row.round for row in table.rows.get(lead.id, ())), 0)


def routed_before(table: Table, lead: Lead) -> bool:
    """Whether this very lead was routed: a clone bears its original's routing fields, stamp and all."""
    copied = lead.stamp is not None and lead.id not in lead.stamp
    return bool(table.rows.get(lead.id)) or (not copied and lead.round > 0)


def former_of(table: Table, lead: Lead) -> Former:
    """Who had the lead before, by the ledger."""
    return former_owners(lead, table.rows.get(lead.id, ()))


def standings_of(table: Table, group: Group, lead: Lead, former: Former) -> tuple[Standing, ...]:
    """The members of a group before a lead, at this point of the round of decisions."""
    return standings(group, lead, former, table.moment, table.book)


def note_open_lead(table: Table, decision: Decision) -> None:
    """The owner of a lead given out has one more open lead, for the decisions that follow."""
    if isinstance(decision, Assign | Follow):
        table.open_leads[decision.owner_id] = table.open_leads.get(decision.owner_id, 0) + 1


def _rows_by_lead(ledger: Iterable[LedgerRow]) -> dict[str, tuple[LedgerRow, ...]]:
    """Ledger rows by the lead that they are about."""
    found: dict[str, tuple[LedgerRow, ...]] = {}
    for row in ledger:
        found[row.about] = (*found.get(row.about, ()), row)
    return found
