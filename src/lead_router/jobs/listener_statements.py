"""The statements about who listens; see `statements` for the spelling."""

from __future__ import annotations

from typing import Final

# A recording under a hold writes nothing once another one holds the channel; without a hold `:fence` is null.
MAY: Final = """
    (CAST(:fence AS BIGINT) IS NULL OR EXISTS (
        SELECT 1 FROM listener AS l
        WHERE l.org_id = :org_id AND l.channel = :fence_channel AND l.generation = CAST(:fence AS BIGINT)
    ))"""

# Under read committed a recording under way holds the row: whoever takes it waits for that end, and then looks again.
TAKE: Final = """
    INSERT INTO listener (org_id, channel, generation, holder, lease_until, taken_at, reloads)
    VALUES (:org_id, :channel, 1, :holder, {now} + :lease_ms, {now}, 0)
    ON CONFLICT (org_id, channel) DO UPDATE
    SET generation = listener.generation + 1, holder = excluded.holder, lease_until = excluded.lease_until,
        taken_at = excluded.taken_at
    WHERE listener.lease_until <= {now}
    RETURNING generation
"""

KEEP: Final = """
    UPDATE listener SET lease_until = {now} + :lease_ms
    WHERE org_id = :org_id AND channel = :channel AND generation = :generation
    RETURNING generation
"""

GIVE_UP: Final = """
    UPDATE listener SET generation = generation + 1, holder = NULL, lease_until = {now}
    WHERE org_id = :org_id AND channel = :channel AND generation = :generation
    RETURNING generation
"""

ABANDON: Final = """
    UPDATE listener SET lease_until = {now}
    WHERE org_id = :org_id AND holder = :worker AND lease_until > {now}
"""

ANNOUNCE_RELOAD: Final = """
    UPDATE listener SET reloads = reloads + 1
    WHERE org_id = :org_id AND channel = :channel AND generation = :generation
"""

_LISTENER: Final = """
    SELECT channel, holder, generation, reloads, {now} - taken_at AS age_ms,
           CASE WHEN lease_until > {now} THEN 1 ELSE 0 END AS listens
    FROM listener WHERE org_id = :org_id
"""

LISTENER: Final = _LISTENER + " AND channel = :channel"

LISTENERS: Final = _LISTENER + " ORDER BY channel"
