"""Receipts: what a refused commit means for each of its jobs."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lead_router.ports import (
    AlreadyRouted,
    Bury,
    Done,
    Ending,
    Fault,
    Gone,
    GroupStuck,
    Job,
    LeadMoved,
    Refusal,
    RepGone,
    Retry,
    SiblingRouted,
    TurnTaken,
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """`endings` end jobs for good, `moved` leads are decided anew apart from the rest, which is decided anew too.

    `halve` says that the answer did not name the record at fault; `unfit` are owners that cannot own leads; `stuck`
    says why the whole group must wait for a person, if it must.
    """

    endings: tuple[tuple[Job, Ending], ...]
    moved: frozenset[str]
    unfit: frozenset[str]
    halve: bool
    text: str
    stuck: str | None = None


def resolve(jobs: Sequence[Job], faults: Sequence[Fault], wait_s: Callable[[Job], float]) -> Resolution:
    """Turn the faults of one refused commit of `jobs` into what is done about each job.

    `wait_s` tells how long a job waits before its next attempt, in seconds.
    """
    by_lead = {job.lead_id: job for job in jobs}
    endings: dict[str, Ending] = {}
    moved: set[str] = set()
    unfit: set[str] = set()
    halve = False
    stuck: str | None = None
    texts: list[str] = []
    for fault in faults:
        texts.append(type(fault).__name__)
        match fault:
            case TurnTaken():
                pass
            case AlreadyRouted(lead_id=lead_id):
                endings[lead_id] = Done("already routed")
            case SiblingRouted(lead_id=lead_id) | LeadMoved(lead_id=lead_id):
                moved.add(lead_id)
            case Gone(lead_id=lead_id, reason=reason):
                endings[lead_id] = Done(f"skipped: {reason}")
            case RepGone(user_id=user_id):
                unfit.add(user_id)
            case GroupStuck(text=text):
                stuck = text
            case Refusal(lead_id=None) if len(jobs) > 1:
                halve = True
            case Refusal(lead_id=lead_id, text=text, again=again):
                job = by_lead[lead_id or jobs[0].lead_id]
                endings[job.lead_id] = failed(job, text, wait_s(job)) if again else Bury(text)
    known = tuple((by_lead[lead_id], ending) for lead_id, ending in endings.items() if lead_id in by_lead)
    ended = {job.lead_id for job, _ in known}
    told = ", ".join(dict.fromkeys(texts))
    return Resolution(known, frozenset(moved) - ended, frozenset(unfit), halve, told, stuck)


def failed(job: Job, text: str, wait_s: float) -> Ending:
    """What follows a failed attempt: another one in `wait_s` seconds, or none where all are used."""
    return Bury(text) if job.attempts >= job.max_attempts else Retry(wait_s, text)


def unforeseen(fault: Exception) -> str:
    """What kind of fault it was, and where; its own text may hold a lead's values."""
    place = traceback.extract_tb(fault.__traceback__)[-1:]
    where = "".join(f" at {Path(frame.filename).name}:{frame.lineno}" for frame in place)
    return f"{type(fault).__name__}{where}: a fault of the router itself, told in its log"
