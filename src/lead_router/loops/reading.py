"""Reading: all that the decisions of some jobs may look at, with the older leads that wait beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from lead_router.core.adding import with_added
from lead_router.core.elders import awaited_by
from lead_router.core.keys import submission_of
from lead_router.core.model import Configuration, Elder, Lead, LedgerRow, Snapshot, Switch
from lead_router.loops.asks import UNASSIGNED_UNDER, ask_of, event_at
from lead_router.loops.causes import takes_back
from lead_router.ports import Job, JobStore, JobView, Org, Sibling

SECOND = timedelta(seconds=1)
LEADS_MAX = 200  # of one snapshot
WAITING_MAX = 50  # waiting leads beside the jobs, each group's longest first; each is weighed against each newer lead


def read(org: Org, store: JobStore, configuration: Configuration, jobs: Sequence[Job]) -> Snapshot:
    """One call; another one where submission keys came up that were not known, more than LEADS_MAX leads are read, or
    a lead waited for another one that no job asks for any more.

    Waiting leads are read with the others or behind them: a group's state is never newer than what is judged by it.
    Leads of elder siblings are read where there is room for them, and never cost a call; jobs are asked for by
    submission keys once for each time that leads are read by them.
    """
    ids = [job.lead_id for job in jobs]
    waiting = [one for one in store.waiting(limit=WAITING_MAX) if one.lead_id not in set(ids)]
    beside = [one.lead_id for one in waiting]
    room = LEADS_MAX - len(ids)
    keys = _known(jobs, configuration)
    elders = _elders(store, keys, ids)
    snapshot = org.snapshot(configuration, _together(ids, beside, elders), sorted(keys))
    wanted = _keys((snapshot.leads[one] for one in ids if one in snapshot.leads), configuration)
    if wanted - snapshot.submission_keys_read:
        elders = _elders(store, wanted, ids)
        snapshot = org.snapshot(configuration, _together(ids, beside, elders), sorted(wanted))
    if beside[room:]:
        snapshot = joined(snapshot, org.snapshot(configuration, beside[room:], ()))
    ended = _ended(snapshot, ids, [one.lead_id for one in elders])
    if ended:
        snapshot = joined(snapshot, org.snapshot(configuration, ended, ()))
    told = tuple(Elder(ask_of(one), one.submission_keys) for one in elders)
    return replace(snapshot, waiting=tuple(ask_of(one) for one in waiting), elders=told)


def with_kept(store: JobStore, configuration: Configuration, snapshot: Snapshot) -> Snapshot:
    """The snapshot with what the store keeps of its leads, and their scores, as far as these are on: what providers
    answered, and who gave them to someone.
    """
    known = store.enrichments(sorted(snapshot.leads)) if configuration.enrichment is not None else {}
    answers = {key: one.result for key, one in known.items() if one.result is not None or one.status != "done"}
    return with_added(configuration, with_hands(store, configuration, snapshot), answers)


def with_hands(store: JobStore, configuration: Configuration, snapshot: Snapshot) -> Snapshot:
    """The snapshot with the events that tell who gave a lead to someone, as far as the store keeps them.

    They are asked for where a lead that was routed has an owner, and may be about to be taken away. One that brought
    about a routing itself is older than that; so is one from intake to intake of the same second, to which the times of
    rows are.
    """
    if not takes_back(configuration):
        return snapshot
    last, intake = {row.about: row for row in sorted(snapshot.ledger, key=_round)}, configuration.intake_owners
    owned = sorted(one.id for one in snapshot.leads.values() if one.id in last and one.owner_id not in intake)
    routed = {row.idempotency_key for row in snapshot.ledger}
    told = [job for job in store.by_hand(owned) if job.idempotency_key not in routed]
    kept = [job for job in told if not (_into(job, intake) and _by_then(job, last[job.lead_id]))]
    return replace(snapshot, by_hand={job.lead_id: event_at(job) for job in sorted(kept, key=event_at)})


def _into(job: JobView, intake: Collection[str]) -> bool:
    return job.payload.get(UNASSIGNED_UNDER) in intake


def _by_then(job: JobView, row: LedgerRow) -> bool:
    return row.created_at is not None and event_at(job) < row.created_at + SECOND


def _round(row: LedgerRow) -> int:
    return row.round


def _ended(snapshot: Snapshot, ids: Iterable[str], elders: Collection[str]) -> list[str]:
    """Leads that some of these waited for, and of which neither a job nor the ledger knows: what became of them?"""
    known = {*snapshot.leads, *snapshot.gone, *elders, *(row.lead_id for row in snapshot.ledger)}
    awaited = (awaited_by(snapshot.leads[one]) for one in ids if one in snapshot.leads)
    return sorted({one for one in awaited if one is not None} - known)


def _known(jobs: Iterable[Job], configuration: Configuration) -> set[str]:
    """The jobs' own keys; a job may be older than the setting that duplicates are not looked for."""
    if configuration.rollout.duplicates is Switch.OFF or configuration.submission_window_s <= 0:
        return set()
    return {key for job in jobs if job.submission for key in (job.submission.even, job.submission.odd)}


def _elders(store: JobStore, keys: Collection[str], ids: Collection[str]) -> list[Sibling]:
    """Other leads' jobs; whether they are older is for the decision to say."""
    own = set(ids)
    return [one for one in store.siblings(sorted(keys)) if one.lead_id not in own] if keys else []


def _together(ids: Sequence[str], beside: Sequence[str], elders: Iterable[Sibling]) -> list[str]:
    """What one snapshot reads, no lead twice: the jobs' leads, the waiting ones, then elders while there is room."""
    return list(dict.fromkeys((*ids, *beside, *(one.lead_id for one in elders))))[:LEADS_MAX]


def _keys(leads: Iterable[Lead], configuration: Configuration) -> set[str]:
    found = (submission_of(lead.fields, configuration) for lead in leads)
    return {key for one in found if one is not None for key in (one.even, one.odd)}


def joined(first: Snapshot, later: Snapshot) -> Snapshot:
    """Groups, counts and matches of the first, with the leads and ledger rows of both, and what became of the gone."""
    rows = {row.id: row for row in (*first.ledger, *later.ledger)}
    leads, gone = {**later.leads, **first.leads}, {**later.gone, **first.gone}
    return replace(first, leads=leads, gone=gone, ledger=tuple(rows.values()))
