"""Portions: which jobs are read and decided together, and how far they have come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lead_router.core.batch import GUARDED_MAX, batches, together
from lead_router.core.model import Batch, Cause, Decision, Snapshot
from lead_router.loops.asks import ask_of
from lead_router.ports import Fault, Job, LeadMoved, SiblingRouted, TurnTaken

STANDSTILL_MAX = 2
_RACES = (TurnTaken, LeadMoved, SiblingRouted)


@dataclass(frozen=True, slots=True)
class Portion:
    """Jobs to be read and decided together; `passes` counts refusals so far.

    `apart` says that the groups are written by a commit each: one for all of them was refused, and what is in the way
    of one must not hold up the others. `last` says that the portion comes behind all that are not. `tried` is the turn
    from which they were last decided, `standstill` how often in a row it was the same one.
    """

    jobs: tuple[Job, ...]
    passes: int = 0
    apart: bool = False
    last: bool = False
    tried: str = ""
    standstill: int = 0


def begun(jobs: Sequence[Job]) -> list[Portion]:
    """One portion for all, but for leads that their owners let lie: of these no more than one commit can guard."""
    lying = [job for job in jobs if ask_of(job).cause is Cause.UNTOUCHED]
    others = [job for job in jobs if job not in lying] if lying else jobs
    few = (lying[place : place + GUARDED_MAX] for place in range(0, len(lying), GUARDED_MAX))
    return [Portion(tuple(part)) for part in (others, *few) if part]


def commits(portion: Portion, decisions: Iterable[Decision]) -> list[tuple[Batch, ...]]:
    """The batches of what was decided, by commits: all groups together, until that was refused once."""
    made = batches(decisions)
    return [(one,) for one in made] if portion.apart else together(made)


def counted(portion: Portion, batch: Batch, faults: Sequence[Fault]) -> Portion:
    """The portion, with how often in a row it lost a race although the group stood still, so that nobody won it."""
    if batch.before is None or not all(isinstance(fault, _RACES) for fault in faults):
        return replace(portion, tried="", standstill=0)
    group = batch.before
    tried = f"turn {group.turn + 1} of epoch {group.epoch} of group '{group.key}'"
    return replace(portion, tried=tried, standstill=portion.standstill + 1 if tried == portion.tried else 0)


def stuck(portion: Portion) -> str | None:
    """Why these jobs cannot go on by themselves, if they cannot: what they would write is there, and will stay."""
    if portion.standstill < STANDSTILL_MAX:
        return None
    return f"{portion.tried} is taken in the ledger already: raise the group's Epoch and set its Turn to 0"


def halves(portion: Portion) -> list[Portion]:
    """Two portions of its jobs, the older ones first; one where it cannot be cut."""
    middle = (len(portion.jobs) + 1) // 2
    return [replace(portion, jobs=part) for part in (portion.jobs[:middle], portion.jobs[middle:]) if part]


def without(snapshot: Snapshot, unfit: frozenset[str]) -> Snapshot:
    """The snapshot with owners that Salesforce refused shown as inactive, in their groups and elsewhere."""
    if not unfit:
        return snapshot
    groups = {
        key: replace(
            group,
            members=tuple(
                replace(member, user_active=False) if member.user_id in unfit else member for member in group.members
            ),
        )
        for key, group in snapshot.groups.items()
    }
    return replace(snapshot, groups=groups, unfit=snapshot.unfit | unfit)
