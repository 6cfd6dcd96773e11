"""The statements about who listens; see `statements` for the spelling."""

from __future__ import annotations

from typing import Final

# A recording under a hold writes nothing once another one holds the channel; without a hold `:fence` is null. Where the
# database is an older copy of what it was, as after a failover, a generation is given a second time: not to the same.
MAY: Final = """
    (CAST(:fence AS BIGINT) IS NULL OR EXISTS (
        SELECT 1 FROM listener AS l
        WHERE l.org_id = :org_id
          AND l.channel = :fence_channel AND l.generation = CAST(:fence AS BIGINT) AND l.holder = :fence_holder
    ))"""

# A lease that ends later than any lasts was given before the clock was set back: its holder may be dead, and nobody is
# to wait for that time to come again. One that lives is fenced off like any that stalled.
# Under read committed a recording under way holds the row: whoever takes it waits for that end, and then looks again.
TAKE: Final = """
    INSERT INTO listener (org_id, channel, generation, holder, lease_until, taken_at, reloads)
    VALUES (:org_id, :channel, 1, :holder, {now} + :lease_ms, {now}, 0)
    ON CONFLICT (org_id, channel) DO UPDATE
    SET generation = listener.generation + 1, holder = excluded.holder, lease_until = excluded.lease_until,
        taken_at = excluded.taken_at, subscribed_at = NULL, lost_at = NULL
    WHERE listener.lease_until <= {now} OR listener.lease_until > {now} + :lease_ms + :set_back_ms
    RETURNING generation
"""

KEEP: Final = """
    UPDATE listener SET lease_until = {now} + :lease_ms
    WHERE org_id = :org_id AND channel = :channel AND generation = :generation AND holder = :holder
    RETURNING generation
"""

KEEP_AND_TELL: Final = """
    UPDATE listener SET lease_until = {now} + :lease_ms,
        subscribed_at = CASE WHEN :subscribed = 1 THEN COALESCE(subscribed_at, {now}) END,
        lost_at = CASE WHEN :subscribed = 0 AND subscribed_at IS NULL THEN lost_at WHEN :subscribed = 0 THEN {now} END,
        heard_at = CASE WHEN :heard = 1 THEN {now} ELSE heard_at END
    WHERE org_id = :org_id AND channel = :channel AND generation = :generation AND holder = :holder
    RETURNING reconnects, silent_at
"""

# Leads that came while the stream was subscribed, and behind which nothing at all was heard: a stream that lacks one
# event, or that a filter keeps some leads from, is not silent. A new subscription is judged by what comes under it.
FIND_SILENCE: Final = """
    UPDATE listener
    SET silent_at = COALESCE(silent_at, {now}), silent_since = COALESCE(silent_since, f.since),
        silent_leads = COALESCE(silent_leads, 0) + f.leads, reconnects = reconnects + 1, subscribed_at = NULL,
        lost_at = {now}
    FROM (
        SELECT l.org_id AS org, l.channel AS name, count(*) AS leads,
               min(CASE WHEN l.heard_at > l.subscribed_at THEN l.heard_at ELSE l.subscribed_at END) AS since
        FROM listener AS l, {rows}
        WHERE l.org_id = :org_id AND l.lease_until > {now}
          AND CAST(r.value ->> 'at' AS BIGINT) > l.subscribed_at
          AND (l.heard_at IS NULL OR CAST(r.value ->> 'at' AS BIGINT) > l.heard_at)
          AND CAST(r.value ->> 'at' AS BIGINT) <= {now} - :after_ms
        GROUP BY l.org_id, l.channel
    ) AS f
    WHERE listener.org_id = f.org AND listener.channel = f.name
    RETURNING channel, silent_leads, silent_since, CASE WHEN silent_at = {now} THEN 1 ELSE 0 END AS begun
"""

END_SILENCE: Final = """
    UPDATE listener SET silent_at = NULL, silent_since = NULL, silent_leads = NULL
    WHERE org_id = :org_id AND channel = :channel AND generation = :generation AND holder = :holder
      AND silent_at IS NOT NULL
    RETURNING generation
"""

GIVE_UP: Final = """
    UPDATE listener SET generation = generation + 1, holder = NULL, lease_until = {now}
    WHERE org_id = :org_id AND channel = :channel AND generation = :generation AND holder = :holder
    RETURNING generation
"""

ABANDON: Final = """
    UPDATE listener SET lease_until = {now}
    WHERE org_id = :org_id AND holder = :worker AND lease_until > {now}
"""

ANNOUNCE_RELOAD: Final = """
    UPDATE listener SET reloads = reloads + 1
    WHERE org_id = :org_id AND channel = :channel AND generation = :generation AND holder = :holder
"""

_LISTENER: Final = """
    SELECT channel, holder, generation, reloads, {now} - taken_at AS age_ms, {now} - lease_until AS ended_age_ms,
           {now} - COALESCE(subscribed_at, lost_at, taken_at) AS turned_age_ms,
           subscribed_at, silent_since, silent_leads,
           CASE WHEN lease_until > {now} THEN 1 ELSE 0 END AS listens, lease_until - {now} AS left_ms
    FROM listener WHERE org_id = :org_id
"""

LISTENER: Final = _LISTENER + " AND channel = :channel"

LISTENERS: Final = _LISTENER + " ORDER BY channel"
