"""Observing: decisions of groups that only observe are written down beside the org, and nothing is written to it.

The org's rotation of such a group stands still; the one that would have been is kept with the observations, or every
lead would seem to go to the same rep.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lead_router.core.decide import decide
from lead_router.core.keys import submission_of
from lead_router.core.model import (
    Ask,
    Assign,
    Configuration,
    Decision,
    Elder,
    Group,
    Hold,
    Member,
    Mode,
    Observed,
    Snapshot,
    Turn,
)
from lead_router.loops.capping import capped
from lead_router.ports import JobStore, Observation, Release

OBSERVED_REST_S = 900.0  # an observed lead is looked at again: does somebody own it, is its group live?


def decided(
    store: JobStore, configuration: Configuration, snapshot: Snapshot, asks: Sequence[Ask], *, reroutes_max: int
) -> tuple[Decision, ...]:
    """One decision per ask. Leads returned over and over are held; what observing groups would do is written down."""
    stopped, others = capped(configuration, snapshot, asks, reroutes_max)
    return (*stopped, *_decided(store, configuration, snapshot, others))


def _decided(
    store: JobStore, configuration: Configuration, snapshot: Snapshot, asks: Sequence[Ask]
) -> tuple[Decision, ...]:
    if all(group.mode is not Mode.OBSERVE for group in snapshot.groups.values()):
        return tuple(decide(configuration, snapshot, asks))
    real = snapshot.groups
    snapshot = _moved(snapshot, store.rotations())
    before = store.observed([ask.idempotency_key for ask in asks])
    # A lead that has had its turn here must not take another one, nor hold others up, each time it is looked at.
    again = [ask for ask in asks if before.get(ask.idempotency_key) is not None]
    still = [one for one in decide(configuration, snapshot, again) if isinstance(one, Observed)]
    had = {one.ask.job_id for one in still}
    snapshot = replace(snapshot, elders=(*snapshot.elders, *_elders(still, configuration)))
    made = decide(configuration, snapshot, [ask for ask in asks if ask.job_id not in had])
    new = [one for one in made if isinstance(one, Observed)]
    if new:
        keys = configuration.group_keys
        store.observe([_observation(one, keys.get(one.group_id, one.group_id)) for one in new], _rotations(new, real))
    return (*made, *still)


def observed(one: Observed, configuration: Configuration) -> Release:
    """An observed lead's job rests until somebody owns the lead; a change of its group asks it at once.

    The lead counts as one that waits for members, so that it goes before newer ones once its group is live.
    """
    reason = f"held: group '{configuration.group_keys.get(one.group_id)}' only observes"
    return Release(
        OBSERVED_REST_S, reason, one.group_id, one.ask.event_at, submission_of(one.lead.fields, configuration)
    )


def _elders(still: Iterable[Observed], configuration: Configuration) -> Iterator[Elder]:
    """What second leads of a submission see of those that have had their turn here: they wait, as ever."""
    for one in still:
        submission = submission_of(one.lead.fields, configuration)
        if submission is not None:
            yield Elder(one.ask, (submission.even, submission.odd))


def _observation(one: Observed, key: str) -> Observation:
    match one.would:
        case Assign(owner_id=owner, explanation=said):
            return Observation(one.ask.idempotency_key, one.lead.id, one.group_id, key, owner, said, one.ask.event_at)
        case Hold(reason=said):
            return Observation(one.ask.idempotency_key, one.lead.id, one.group_id, key, None, said, one.ask.event_at)


def _rotations(new: Iterable[Observed], real: Mapping[str, Group]) -> dict[str, dict[str, Any]]:
    latest: dict[str, Turn] = {}
    for one in new:
        turn = one.would.turn if isinstance(one.would, Assign) else None
        own = turn is not None and turn.group.id == one.group_id
        if turn is not None and own and turn.number > (latest[one.group_id].number if one.group_id in latest else 0):
            latest[one.group_id] = turn
    return {group_id: _written(turn.group, real[group_id]) for group_id, turn in latest.items()}


def _written(group: Group, real: Group) -> dict[str, Any]:
    places = {one.id: [one.next_turn, one.last_turn, one.day, one.day_count] for one in group.members}
    return {"since": [real.epoch, real.turn], "turn": group.turn, "clock": group.clock, "places": places}


def _moved(snapshot: Snapshot, rotations: Mapping[str, Mapping[str, Any]]) -> Snapshot:
    """Observing groups as they would stand, unless the org's own rotation has moved since."""
    groups = {
        group_id: _stands(group, rotations[group_id])
        if group.mode is Mode.OBSERVE and group_id in rotations and _since(group) == rotations[group_id]["since"]
        else group
        for group_id, group in snapshot.groups.items()
    }
    return replace(snapshot, groups=groups)


def _since(group: Group) -> list[int]:
    return [group.epoch, group.turn]


def _stands(group: Group, rotation: Mapping[str, Any]) -> Group:
    members = tuple(_placed(one, rotation["places"].get(one.id)) for one in group.members)
    return replace(group, turn=rotation["turn"], clock=rotation["clock"], members=members)


def _placed(member: Member, place: Sequence[Any] | None) -> Member:
    if place is None:
        return member
    next_turn, last_turn, day, count = place
    return replace(member, next_turn=next_turn, last_turn=last_turn, day=day, day_count=count)
