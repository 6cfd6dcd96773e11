"""`lead-router explain`: the whole decision about one lead, and what was decided about it before."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime

from lead_router.app.batch import snapshot_of
from lead_router.app.looking import open_jobs
from lead_router.app.naming import names_of
from lead_router.app.wiring import Wired, wire
from lead_router.core.explain import Account, explain
from lead_router.core.ids import is_id, to18
from lead_router.core.model import Ask, Assign, Count, Decision, Follow, Hold, Observed, Skip
from lead_router.errors import LeadRouterError, Misconfigured
from lead_router.log import scrub
from lead_router.loops.capping import REROUTES_MAX, capped
from lead_router.ports import JobStore, JobView
from lead_router.salesforce import queries
from lead_router.salesforce.names import GroupFields, LedgerFields, Objects, Relations, Standard
from lead_router.salesforce.records import moment
from lead_router.settings import Settings

JOBS_SHOWN = 10
"""Jobs of a lead that are told, the newest."""


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
class Explained:
    """A lead's history, oldest first, its jobs, newest first, and the account of how it would be decided now.

    `groups` are keys by id, `names` are of owners by id, as far as they are known. Where the job database cannot be
    looked at, `jobs` is None and `jobs_fault` says why.
    """

    lead: str
    owner_id: str
    owner_is_intake: bool
    status: str | None
    history: tuple[Round, ...]
    account: Account
    groups: Mapping[str, str]
    names: Mapping[str, str]
    jobs: tuple[JobView, ...] | None = None
    jobs_fault: str | None = None


def explained(settings: Settings, lead_id: str, *, at: datetime | None) -> Explained:
    """The lead's account; raises Misconfigured for an id that is none or names no lead."""
    told = explained_in(wire(settings), lead_id, at=at, reroutes_max=settings.reroutes_max)
    try:
        with closing(open_jobs(settings)) as store:
            return with_jobs(told, store)
    except LeadRouterError as fault:
        return replace(told, jobs_fault=scrub(str(fault)))


def with_jobs(told: Explained, store: JobStore) -> Explained:
    """The same with what a store within reach knows of the lead's jobs."""
    return replace(told, jobs=tuple(store.jobs_of(told.lead, limit=JOBS_SHOWN)))


def explained_in(wired: Wired, lead_id: str, *, at: datetime | None, reroutes_max: int = REROUTES_MAX) -> Explained:
    """The same for an org within reach, without jobs."""
    if not is_id(lead_id) or not lead_id.startswith("00Q"):
        raise Misconfigured(f"'{lead_id}' is no id of a lead: 15 or 18 characters that begin with 00Q")
    configuration = wired.org.configuration()
    found = wired.org.snapshot(configuration, [to18(lead_id)], []).leads.get(to18(lead_id))
    if found is None:
        raise Misconfigured(f"there is no lead {to18(lead_id)}, or this user cannot see it")
    snapshot = snapshot_of(wired.org, configuration, [found], at=at)
    ask = Ask(0, "", found.id, found.created_at, held=found.held)
    account = explain(configuration, snapshot, ask)
    if account is None:
        raise Misconfigured(f"there is no lead {found.id}")
    stopped, _ = capped(configuration, snapshot, [ask], reroutes_max)
    account = _stopped(account, stopped[0]) if stopped else account
    history = _history(wired, found.id)
    owners = (found.owner_id, owner_of(account.decision), *account.former, *(row.owner_id for row in history))
    return Explained(
        lead=found.id,
        owner_id=found.owner_id,
        owner_is_intake=found.owner_id in configuration.intake_owners,
        status=found.status,
        history=history,
        account=account,
        groups=configuration.group_keys,
        names=names_of(wired.rest, configuration, owners, (one.match for one in account.matches)),
    )


def owner_of(decision: Decision) -> str | None:
    """Who would have the lead by this decision, None where nobody would yet."""
    match decision:
        case Assign(owner_id=owner) | Count(owner_id=owner) | Follow(owner_id=owner):
            return owner
        case Observed(would=would):
            return owner_of(would)
        case Hold() | Skip():
            return None


def _stopped(account: Account, hold: Hold) -> Account:
    """The account of a lead that is returned over and over: nobody is picked."""
    groups = (
        replace(group, members=tuple(replace(one, picked=False) for one in group.members)) for group in account.groups
    )
    return replace(account, groups=tuple(groups), decision=hold)


_HISTORY = (
    LedgerFields.ROUND,
    LedgerFields.OUTCOME,
    LedgerFields.ASSIGNED_TO,
    LedgerFields.RULE,
    f"{Relations.LEDGER_GROUP}.{GroupFields.KEY}",
    LedgerFields.TURN,
    LedgerFields.COMMITTED_AT,
    LedgerFields.EXPLANATION,
)


def _history(wired: Wired, lead_id: str) -> tuple[Round, ...]:
    tail = f"WHERE {queries.among(LedgerFields.LEAD, [lead_id])} ORDER BY {LedgerFields.ROUND}, {Standard.ID}"
    rows = wired.rest.query(queries.select(_HISTORY, Objects.LEDGER, tail))
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
