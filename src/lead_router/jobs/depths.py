"""Depths: how much is open, how old it is, and how the stream is heard, without a look at what is done."""

from __future__ import annotations

from typing import Final

from lead_router.jobs.engine import Row
from lead_router.jobs.verbs import Verbs
from lead_router.ports.depths import Depths, Heard

# One pass over what is open, by its partial index; `held` as `status` counts it.
OPEN: Final = """
    SELECT count(CASE WHEN status = 'queued' THEN 1 END) AS queued,
           count(CASE WHEN status = 'queued' AND next_run_at <= {now} THEN 1 END) AS due,
           count(CASE WHEN status = 'queued' AND substr(last_error, 1, 5) = 'held:' THEN 1 END) AS held,
           count(CASE WHEN status = 'working' THEN 1 END) AS working,
           {now} - min(CASE WHEN substr(last_error, 1, 5) = 'held:' THEN NULL ELSE created_at END) AS oldest_ms,
           {now} - min(CASE WHEN substr(last_error, 1, 5) = 'held:' THEN created_at END) AS oldest_held_ms
    FROM routing_job WHERE org_id = :org_id AND status IN ('queued', 'working')
"""

BESIDE: Final = """
    SELECT (SELECT count(*) FROM routing_job WHERE org_id = :org_id AND status = 'dead') AS dead,
           (SELECT count(*) FROM quarantine WHERE org_id = :org_id) AS quarantined,
           (SELECT {now} - begun_at FROM sweep WHERE org_id = :org_id) AS last_sweep_ms
"""

HEARD: Final = """
    SELECT channel, lease_until > {now} AS listens, subscribed_at IS NOT NULL AS subscribed,
           silent_at IS NOT NULL AS silent,
           {now} - CASE WHEN heard_at IS NULL OR subscribed_at > heard_at THEN subscribed_at ELSE heard_at END
               AS quiet_ms
    FROM listener WHERE org_id = :org_id ORDER BY channel
"""

POSITIONS: Final = """
    SELECT channel, {now} - recorded_at AS age_ms FROM stream_position WHERE org_id = :org_id ORDER BY channel
"""


class SqlDepths(Verbs):
    """See DepthsStore."""

    def depths(self) -> Depths:
        """Four statements in one snapshot."""
        steps = [self._step(one) for one in (OPEN, BESIDE, HEARD, POSITIONS)]
        (now,), (beside,), heard, positions = self._engine.read(steps)
        return Depths(
            queued=now["queued"],
            due=now["due"],
            held=now["held"],
            working=now["working"],
            dead=beside["dead"],
            oldest_s=_seconds(now["oldest_ms"]),
            oldest_held_s=_seconds(now["oldest_held_ms"]),
            quarantined=beside["quarantined"],
            last_sweep_s=_seconds(beside["last_sweep_ms"]),
            heard=tuple(map(_heard, heard)),
            positions=tuple((row["channel"], row["age_ms"] / 1000) for row in positions),
        )


def _heard(row: Row) -> Heard:
    listens = bool(row["listens"])
    return Heard(
        channel=row["channel"],
        listens=listens,
        subscribed=listens and bool(row["subscribed"]),
        silent=bool(row["silent"]),
        quiet_s=_seconds(row["quiet_ms"]),
    )


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
