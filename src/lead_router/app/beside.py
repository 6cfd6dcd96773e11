"""Beside: what the job store knows of leads that wait, for decisions that are looked at and not written."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from lead_router.app.looking import open_jobs
from lead_router.app.wiring import Wired
from lead_router.core.adding import with_added
from lead_router.core.hidden import scrub
from lead_router.core.keys import submission_of
from lead_router.core.model import Ask, Configuration, Elder, Lead, Snapshot
from lead_router.errors import LeadRouterError
from lead_router.loops.asks import ask_of
from lead_router.loops.reading import LEADS_MAX, WAITING_MAX, joined, with_kept
from lead_router.ports import JobStore, Org, Sibling
from lead_router.settings import Settings

_JOBS_MAX = 100  # of one lead: the one that is asked next is the oldest of those that are not over


def at_hand(settings: Settings, wired: Wired | None = None) -> JobStore | str:
    """The router's job store, to be closed by whoever asked, or why it cannot be looked at."""
    try:
        return open_jobs(settings, wired)
    except LeadRouterError as fault:
        return scrub(str(fault))


def with_elders(
    org: Org, store: JobStore, configuration: Configuration, snapshot: Snapshot, *, waiting: bool = False
) -> Snapshot:
    """The snapshot with the older leads of its submissions that wait, as the router sees them beside its jobs.

    `waiting`: also with the leads that wait for members, which newer ones do not overtake.
    """
    own = frozenset(snapshot.leads)
    keys = sorted(snapshot.submission_keys_read)
    elders = [one for one in store.siblings(keys) if one.lead_id not in own]
    held = [one for one in store.waiting(limit=WAITING_MAX) if one.lead_id not in own] if waiting else []
    ids = list(dict.fromkeys([*(one.lead_id for one in elders), *(one.lead_id for one in held)]))
    for start in range(0, len(ids), LEADS_MAX):
        snapshot = joined(snapshot, org.snapshot(configuration, ids[start : start + LEADS_MAX], ()))
    told = tuple(Elder(ask_of(one), one.submission_keys) for one in elders)
    return replace(snapshot, elders=told, waiting=tuple(map(ask_of, held)))


def hopped(store: JobStore | None, configuration: Configuration, snapshot: Snapshot) -> Snapshot:
    """The snapshot with scores, and with what providers have answered, as far as a store is at hand; none is asked."""
    return with_added(configuration, snapshot, {}) if store is None else with_kept(store, configuration, snapshot)


def own_ask(store: JobStore, ask: Ask, at: datetime) -> Ask:
    """The question as the lead's own job would ask it at that instant, if one is not over yet; else the same."""
    living = [one for one in store.jobs_of(ask.lead_id, limit=_JOBS_MAX) if one.status in {"queued", "working"}]
    if not living:
        return ask
    job = min(living, key=lambda one: one.id)
    age_s = max((at - job.created_at) / timedelta(seconds=1), 0.0)
    asked = Sibling(job.id, job.idempotency_key, job.lead_id, job.payload, (), job.created_at, age_s)
    return replace(ask_of(asked), held=ask.held)


def own_asks(store: JobStore, configuration: Configuration, snapshot: Snapshot, asks: Sequence[Ask]) -> list[Ask]:
    """Each as `own_ask` has it where an elder of its submission was found, under the number that it had."""
    shared = frozenset(key for elder in snapshot.elders for key in elder.keys)
    return [
        replace(own_ask(store, ask, snapshot.taken_at), job_id=ask.job_id)
        if _has(snapshot.leads[ask.lead_id], configuration, shared)
        else ask
        for ask in asks
    ]


def _has(lead: Lead, configuration: Configuration, keys: Collection[str]) -> bool:
    found = submission_of(lead.fields, configuration) if keys else None
    return found is not None and (found.even in keys or found.odd in keys)
