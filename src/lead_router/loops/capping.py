"""Capping: a lead that is returned over and over is held for a person, whoever or whatever returns it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from lead_router.core.decide import HOLD_RETRY_MAX_S, decide
from lead_router.core.model import Ask, Assign, Configuration, Hold, Snapshot

WITHIN = timedelta(hours=1)
REROUTES_MAX = 3


def capped(configuration: Configuration, snapshot: Snapshot, asks: Sequence[Ask], most: int) -> list[Hold]:
    """Holds for those of the asks whose lead would be routed anew although it was `most` times within the hour.

    They take no turn, so the other asks are to be decided without them.
    """
    times = {ask.lead_id: _rerouted(snapshot, ask.lead_id) for ask in asks}
    worn = [ask for ask in asks if len(times[ask.lead_id]) >= most]
    would = decide(configuration, snapshot, worn) if worn else []
    reason = f"was routed anew {most} times within an hour: see who or what returns it"
    return [
        Hold(one.ask, one.lead, reason, HOLD_RETRY_MAX_S, until=times[one.lead.id][-most] + WITHIN)
        for one in would
        if isinstance(one, Assign) and one.round > 1
    ]


def _rerouted(snapshot: Snapshot, lead_id: str) -> list[datetime]:
    """When the ledger's rounds of the last hour were made that were not the first, oldest first."""
    since = snapshot.taken_at - WITHIN
    rows = (row for row in snapshot.ledger if row.lead_id == lead_id and row.round > 1)
    return sorted(row.created_at for row in rows if row.created_at is not None and row.created_at > since)
