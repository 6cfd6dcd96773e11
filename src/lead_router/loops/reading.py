"""Reading: all that the decisions of some jobs may look at, with the older leads that wait for members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lead_router.core.keys import submission_of
from lead_router.core.model import Configuration, Lead, Snapshot, Switch
from lead_router.loops.asks import ask_of
from lead_router.ports import Job, JobStore, Org

LEADS_MAX = 200  # of one snapshot
WAITING_MAX = 50  # waiting leads beside the jobs, each group's longest first; each is weighed against each newer lead


def read(org: Org, store: JobStore, configuration: Configuration, jobs: Sequence[Job]) -> Snapshot:
    """One call; another one where submission keys came up that were not known, or more than LEADS_MAX leads are read.

    Waiting leads are read with the others or behind them: a group's state is never newer than what is judged by it.
    """
    ids = [job.lead_id for job in jobs]
    waiting = [one for one in store.waiting(limit=WAITING_MAX) if one.lead_id not in set(ids)]
    beside = [one.lead_id for one in waiting]
    room = LEADS_MAX - len(ids)
    looked_for = configuration.rollout.duplicates is not Switch.OFF  # a job may be older than the switch's position
    keys = {key for job in jobs for key in job.payload.get("submission", ()) if looked_for}
    snapshot = org.snapshot(configuration, ids + beside[:room], sorted(keys))
    wanted = _keys((snapshot.leads[one] for one in ids if one in snapshot.leads), configuration)
    if wanted - snapshot.submission_keys_read:
        snapshot = org.snapshot(configuration, ids + beside[:room], sorted(wanted))
    if beside[room:]:
        snapshot = _joined(snapshot, org.snapshot(configuration, beside[room:], ()))
    return replace(snapshot, waiting=tuple(ask_of(one) for one in waiting))


def _keys(leads: Iterable[Lead], configuration: Configuration) -> set[str]:
    found = (submission_of(lead.fields, configuration) for lead in leads)
    return {key for one in found if one is not None for key in (one.even, one.odd)}


def _joined(first: Snapshot, later: Snapshot) -> Snapshot:
    """Groups, counts and matches of the first, with the leads and ledger rows of both."""
    rows = {row.id: row for row in (*first.ledger, *later.ledger)}
    return replace(first, leads={**later.leads, **first.leads}, ledger=tuple(rows.values()))
