"""Lying: what the job database knows of leads that are unassigned: in work, let lie by a person, or of no job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lead_router.app.recent import Unassigned
from lead_router.ports import JobStore, QueueView

HELD_MAX = 1000
"""Leads held for members that are read at once, the longest-held of each group first."""


@dataclass(frozen=True, slots=True)
class Glance:
    """The queue; of unassigned leads those that a discard `let_lie`, and those that have `no_job`, oldest first.

    `held` counts leads that wait for members, by the group's id, at most HELD_MAX of them.
    """

    queue: QueueView
    let_lie: tuple[Unassigned, ...] = ()
    no_job: tuple[Unassigned, ...] = ()
    held: Mapping[str, int] = field(default_factory=dict)


def glance_of(store: JobStore, waiting: Sequence[Unassigned], *, within_s: float) -> Glance:
    """What the database says now of leads that the org told of at most `within_s` seconds ago.

    A job that was done since may have given its lead an owner. A discard stands until a person changes its lead.
    """
    ids = [one.lead for one in waiting]
    unfinished, discards = store.open_leads(ids), store.discards(ids)
    known = unfinished | store.asked_lately(ids, within_s=within_s)

    def lies(one: Unassigned) -> bool:
        at = discards.get(one.lead)
        return at is not None and one.lead not in unfinished and (one.touched_at is None or one.touched_at <= at)

    let_lie = tuple(one for one in waiting if lies(one))
    no_job = tuple(one for one in waiting if one.lead not in known and one not in let_lie)
    held = Counter(one.group_id for one in store.waiting(limit=HELD_MAX))
    return Glance(store.queue(), let_lie, no_job, held)
