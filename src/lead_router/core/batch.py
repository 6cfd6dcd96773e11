"""Batches: which writes go into one commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lead_router.core.model import Assign, Batch, Count, Decision, Follow, Turn, Write

GUARDED_MAX = 20  # leads of one commit that are written only if nobody changed them: a part each, of 25
BATCH_MAX = 200  # records in one subrequest of a commit: writes, and so members; groups can only be fewer


def batches(decisions: Iterable[Decision]) -> list[Batch]:
    """The writes of one round of decisions: a batch for each group that gives turns, and one for writes without a turn.

    Turns are in order, whatever the order of the decisions. A lead that follows another lead of these decisions is in
    that lead's batch: one is not written without the other. More than BATCH_MAX writes of a group become several
    batches, each to be committed after the one before.
    """
    made = list(decisions)
    units: dict[str | None, list[list[Write]]] = {}
    unit_of: dict[str, list[Write]] = {}
    for first in (one for one in made if isinstance(one, Assign | Count)):
        unit_of[first.lead.id] = [first]
        units.setdefault(None if first.turn is None else first.turn.group.id, []).append(unit_of[first.lead.id])
    for follow in (one for one in made if isinstance(one, Follow)):
        if follow.first_lead_id in unit_of:
            unit_of[follow.first_lead_id].append(follow)
        else:
            units.setdefault(None, []).append([follow])
    for group in units.keys() - {None}:
        units[group].sort(key=_number)
    ordered = sorted(units, key=lambda group: group is None)  # stable: groups as they came, then those without a turn
    return [_batch(writes) for group in ordered for writes in _packed(units[group])]


def together(several: Iterable[Batch]) -> list[tuple[Batch, ...]]:
    """The batches, in their order, by commits: as many in one as fit, and no group twice."""
    commits: list[list[Batch]] = []
    for batch in several:
        last = commits[-1] if commits else []
        writes = sum(len(one.writes) for one in last) + len(batch.writes)
        if not last or writes > BATCH_MAX or _group(batch) in map(_group, last):
            commits.append([])
        commits[-1].append(batch)
    return list(map(tuple, commits))


def _group(batch: Batch) -> str | None:
    return None if batch.before is None else batch.before.id


def _number(unit: Sequence[Write]) -> int:
    """The turn of a unit's first write, which is what the others follow."""
    first = unit[0]
    return first.turn.number if isinstance(first, Assign | Count) and first.turn is not None else 0


def _packed(units: Sequence[Sequence[Write]]) -> list[list[Write]]:
    packed: list[list[Write]] = []
    for unit in units:
        if not packed or len(packed[-1]) + len(unit) > BATCH_MAX:
            packed.append([])
        packed[-1].extend(unit)
    return packed


def _batch(writes: Sequence[Write]) -> Batch:
    turns: list[Turn] = [write.turn for write in writes if isinstance(write, Assign | Count) and write.turn is not None]
    if not turns:
        return Batch(tuple(writes), None, None)
    return Batch(tuple(writes), turns[0].before, turns[-1].group)
