"""Batches: which writes go into one commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lead_router.core.model import Assign, Batch, Decision, Follow, Turn, Write

BATCH_MAX = 200  # records in one subrequest of a commit


def batches(decisions: Iterable[Decision]) -> list[Batch]:
    """The writes of one round of decisions: a batch for each group that gives turns, and one for writes without a turn.

    Turns stay in order. A lead that follows another lead of these decisions is in that lead's batch: one is not written
    without the other. More than BATCH_MAX writes of a group become several batches, each to be committed after the one
    before.
    """
    units: dict[str | None, list[list[Write]]] = {}
    unit_of: dict[str, list[Write]] = {}
    for decision in decisions:
        if not isinstance(decision, Assign | Follow):
            continue
        if isinstance(decision, Follow) and decision.first_lead_id in unit_of:
            unit_of[decision.first_lead_id].append(decision)
            continue
        group = decision.group_id if isinstance(decision, Assign) and decision.turn is not None else None
        unit_of[decision.lead.id] = [decision]
        units.setdefault(group, []).append(unit_of[decision.lead.id])
    ordered = sorted(units, key=lambda group: group is None)  # stable: groups as they came, then those without a turn
    return [_batch(writes) for group in ordered for writes in _packed(units[group])]


def _packed(units: Sequence[Sequence[Write]]) -> list[list[Write]]:
    packed: list[list[Write]] = []
    for unit in units:
        if not packed or len(packed[-1]) + len(unit) > BATCH_MAX:
            packed.append([])
        packed[-1].extend(unit)
    return packed


def _batch(writes: Sequence[Write]) -> Batch:
    turns: list[Turn] = [write.turn for write in writes if isinstance(write, Assign) and write.turn is not None]
    if not turns:
        return Batch(tuple(writes), None, None)
    return Batch(tuple(writes), turns[0].before, turns[-1].group)
