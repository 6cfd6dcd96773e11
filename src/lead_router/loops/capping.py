"""Capping: a lead that is returned over and over is held for a person, whoever or whatever returns it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from lead_router.core.decide import HOLD_RETRY_MAX_S, decide
from lead_router.core.keys import untouched_round
from lead_router.core.model import Ask, Assign, Cause, Configuration, Decision, Hold, Snapshot

WITHIN = timedelta(hours=1)
REROUTES_MAX = 3


def capped(
    configuration: Configuration, snapshot: Snapshot, asks: Sequence[Ask], most: int
) -> tuple[list[Hold], list[Ask]]:
    """Holds for those of the asks whose lead would be routed anew although it was `most` times within the hour.

    They take no turn: behind them are the other asks, to be decided without them. What the first-touch clock does has a
    limit of its own, and counts for nobody who returns leads.
    """
    times = _rerouted(snapshot)
    returned = (ask for ask in asks if ask.cause is not Cause.UNTOUCHED)
    worn = [ask for ask in returned if len(times.get(ask.lead_id, ())) >= most]
    would = decide(configuration, snapshot, worn) if worn else []
    often = "once" if most == 1 else f"{most} times"
    reason = f"was routed anew {often} within an hour: see who or what returns it"
    stopped = [
        Hold(one.ask, one.lead, reason, HOLD_RETRY_MAX_S, until=times[one.lead.id][-most] + WITHIN, rule=one.rule)
        for one in would
        if isinstance(one, Assign) and one.round > 1
    ]
    apart = {one.ask.job_id for one in stopped}
    return stopped, [ask for ask in asks if ask.job_id not in apart]


def decided_with_limit(
    configuration: Configuration, snapshot: Snapshot, asks: Sequence[Ask], most: int
) -> list[Decision]:
    """`decide`, in the order of the asks, with what is returned over and over held: for looking at."""
    stopped, others = capped(configuration, snapshot, asks, most)
    made: dict[int, Decision] = {one.ask.job_id: one for one in (*stopped, *decide(configuration, snapshot, others))}
    return [made[ask.job_id] for ask in asks]


def _rerouted(snapshot: Snapshot) -> dict[str, list[datetime]]:
    """By lead, when the ledger's rounds of the last hour were made that were not the first, oldest first."""
    since = snapshot.taken_at - WITHIN
    found: dict[str, list[datetime]] = {}
    for row in snapshot.ledger:
        at, by_clock = row.created_at, untouched_round(row.idempotency_key) is not None
        if row.lead_id and row.round > 1 and at is not None and at > since and not by_clock:
            found.setdefault(row.lead_id, []).append(at)
    return {lead_id: sorted(times) for lead_id, times in found.items()}
