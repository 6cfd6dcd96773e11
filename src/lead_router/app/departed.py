"""A lead that is not there any more: what the ledger, the recycle bin and the job store still know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lead_router.app.naming import names_of
from lead_router.app.rounds import Round, Thought, rounds_of_gone, thoughts_of
from lead_router.app.wiring import Wired
from lead_router.core.model import Configuration, Snapshot
from lead_router.errors import Misconfigured
from lead_router.ports import JobStore, JobView

JOBS_SHOWN = 10
"""Jobs of a lead that are told, the newest."""


@dataclass(frozen=True, slots=True)
class Departed:
    """A lead that cannot be read: `fate` says what became of it, the rest is as of a lead that is explained."""

    lead: str
    fate: str
    history: tuple[Round, ...]
    names: Mapping[str, str]
    observed: tuple[Thought, ...] = ()
    jobs: tuple[JobView, ...] | None = None
    jobs_fault: str | None = None


def departed_in(
    wired: Wired,
    configuration: Configuration,
    snapshot: Snapshot,
    lead_id: str,
    store: JobStore | None,
) -> Departed:
    """What is left of a lead that the snapshot was asked for and lacks; raises Misconfigured where nothing is."""
    jobs = None if store is None else tuple(store.jobs_of(lead_id, limit=JOBS_SHOWN))
    observed = () if store is None else thoughts_of(store, lead_id)
    history = rounds_of_gone(wired.rest, lead_id)
    if lead_id not in snapshot.gone and not history and not jobs and not observed:
        raise Misconfigured(f"there is no lead {lead_id}, or this user cannot see it")
    names = names_of(
        wired.rest, configuration, [*(one.owner_id for one in history), *(one.owner_id for one in observed)]
    )
    return Departed(lead_id, _fate(snapshot, lead_id), history, names, observed, jobs)


def _fate(snapshot: Snapshot, lead_id: str) -> str:
    if lead_id not in snapshot.gone:
        return "is not there any more, or this user cannot see it"
    winner = snapshot.gone[lead_id]
    return "was deleted" if winner is None else f"was merged into {winner}"
