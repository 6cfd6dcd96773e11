"""Statements about what groups that only observe would have done (`statements` says how they are spelled)."""

from __future__ import annotations

from typing import Final

# The first owner that was thought of stands; until there is one, the latest reason why there is none.
OBSERVE: Final = """
    INSERT INTO observation (org_id, idempotency_key, lead_id, group_id, group_key, owner_id, explanation, event_at,
                             observed_at)
    SELECT :org_id, r.value ->> 'idempotency_key', r.value ->> 'lead_id', r.value ->> 'group_id',
           r.value ->> 'group_key', r.value ->> 'owner_id', r.value ->> 'explanation',
           CAST(r.value ->> 'event_at' AS BIGINT), {now}
    FROM {rows}
    WHERE true -- tells SQLite that ON belongs to the insert
    ON CONFLICT (org_id, idempotency_key) DO UPDATE
    SET group_id = excluded.group_id, group_key = excluded.group_key, owner_id = excluded.owner_id,
        explanation = excluded.explanation, observed_at = excluded.observed_at
    WHERE observation.owner_id IS NULL
"""

TURN_OBSERVED: Final = """
    INSERT INTO observed_rotation (org_id, group_id, rotation)
    SELECT :org_id, r.value ->> 'group_id', r.value ->> 'rotation'
    FROM {rows}
    WHERE true -- tells SQLite that ON belongs to the insert
    ON CONFLICT (org_id, group_id) DO UPDATE SET rotation = excluded.rotation
"""

ROTATIONS: Final = "SELECT group_id, rotation FROM observed_rotation WHERE org_id = :org_id"

OBSERVED: Final = """
    SELECT idempotency_key, owner_id FROM observation
    WHERE org_id = :org_id AND idempotency_key IN (SELECT r.value ->> 'key' FROM {rows})
"""

_OBSERVATIONS: Final = """
    SELECT o.idempotency_key, o.lead_id, o.group_id, o.group_key, o.owner_id, o.explanation, o.event_at, o.observed_at,
           j.completed_at
    FROM observation AS o
    LEFT JOIN routing_job AS j ON j.org_id = o.org_id AND j.idempotency_key = o.idempotency_key
    WHERE o.org_id = :org_id {of}ORDER BY o.observed_at DESC, o.idempotency_key LIMIT :limit
"""

OBSERVATIONS: Final = _OBSERVATIONS.replace("{of}", "")

OBSERVATIONS_OF: Final = _OBSERVATIONS.replace("{of}", "AND o.lead_id = :lead_id ")
