"""The statements of notices (`statements` says how they are spelled)."""

from __future__ import annotations

from typing import Final

from lead_router.jobs.sweeping import WAS_SET_BACK

# Before new ones are written: what earlier rounds of the same leads had to tell, and did not yet, is no longer so. The
# leads come first, so that each looks for its own notices alone.
DROP_EARLIER: Final = """
    UPDATE notice SET status = 'dropped', completed_at = {now}, claim_token = NULL,
        last_error = 'its lead was given out again'
    WHERE id IN (
        SELECT n.id FROM {rows} CROSS JOIN notice AS n
        WHERE n.org_id = :org_id AND n.lead_id = r.value ->> 'lead_id' AND n.status = 'queued'
          AND n.round < CAST(r.value ->> 'round' AS BIGINT)
    )
"""

# What a later round of its lead has overtaken is not even written down.
NOTIFY: Final = """
    INSERT INTO notice (org_id, notice_key, channel, kind, lead_id, user_id, owner_id, round, name, group_key, reason,
                        status, attempts, next_run_at, created_at)
    SELECT :org_id, r.value ->> 'key', r.value ->> 'channel', r.value ->> 'kind', r.value ->> 'lead_id',
           r.value ->> 'user_id', r.value ->> 'owner_id', CAST(r.value ->> 'round' AS BIGINT), r.value ->> 'name',
           r.value ->> 'group_key', r.value ->> 'reason', 'queued', 0, {now}, {now}
    FROM {rows}
    WHERE NOT EXISTS (SELECT 1 FROM notice AS n WHERE n.org_id = :org_id AND n.lead_id = r.value ->> 'lead_id'
                        AND n.round > CAST(r.value ->> 'round' AS BIGINT))
    ORDER BY r.key
    ON CONFLICT (org_id, notice_key, channel) DO NOTHING
    RETURNING id
"""

# A look that writes nothing, as most of them find nothing.
DUE: Final = """
    SELECT 1 AS due FROM notice AS j
    WHERE j.org_id = :org_id AND j.channel = :channel AND j.status IN ('queued', 'sending') AND j.next_run_at <= {now}
      AND NOT EXISTS (SELECT 1 FROM notice_channel AS c
                       WHERE c.org_id = :org_id AND c.channel = :channel AND c.next_at > {now})
    LIMIT 1
"""

DOUBT: Final = """
    UPDATE notice SET status = 'unknown', completed_at = {now},
        last_error = 'whoever was sending it did not come back'
    WHERE org_id = :org_id AND channel = :channel AND status = 'sending' AND next_run_at <= {now}
    RETURNING id
"""

# The channel's row stays locked to the end of the transaction: of two who claim, the later one finds the pace kept.
PACE: Final = """
    INSERT INTO notice_channel (org_id, channel, next_at) VALUES (:org_id, :channel, 0)
    ON CONFLICT (org_id, channel) DO UPDATE SET next_at = notice_channel.next_at
    RETURNING next_at
"""

# The first of each person comes first, also where it waits for another attempt: an order is kept, or it is none.
TAKE: Final = """
    WITH picked AS MATERIALIZED (
        SELECT j.id FROM notice AS j
        WHERE j.org_id = :org_id AND j.channel = :channel AND j.status IN ('queued', 'sending')
          AND j.status = 'queued' AND j.next_run_at <= {now}
          AND EXISTS (SELECT 1 FROM notice_channel AS c
                       WHERE c.org_id = :org_id AND c.channel = :channel AND c.next_at <= {now})
          AND (SELECT o.id = j.id FROM notice AS o
                WHERE o.org_id = j.org_id AND o.channel = j.channel AND o.user_id = j.user_id
                  AND o.status IN ('queued', 'sending')
                ORDER BY o.id LIMIT 1)
        ORDER BY j.id
        LIMIT 1
        {skip_locked}
    )
    UPDATE notice
    SET claim_token = CAST(:token AS TEXT), next_run_at = {now} + :lease_ms
    FROM picked
    WHERE notice.id = picked.id
    RETURNING notice.id, notice_key, kind, lead_id, user_id, owner_id, round, name, group_key, reason, attempts,
              claim_token, {now} - created_at AS age_ms
"""

# No two claims share a token, in whatever org: the org as a condition would lead SQLite to scan by it.
PACED: Final = """
    UPDATE notice_channel SET next_at = {now} + :pace_ms
    WHERE org_id = :org_id AND channel = :channel
      AND EXISTS (SELECT 1 FROM notice AS n WHERE n.claim_token = CAST(:token AS TEXT))
"""

SENDING: Final = """
    UPDATE notice SET status = 'sending', attempts = attempts + 1, next_run_at = {now} + :lease_ms
    WHERE id = :id AND status = 'queued' AND claim_token = CAST(:token AS TEXT)
    RETURNING id
"""

# Who sent it knows better than who gave it up for unknown meanwhile.
END: Final = """
    UPDATE notice
    SET status = CAST(:status AS TEXT), last_error = COALESCE(CAST(:error AS TEXT), last_error),
        attempts = CASE WHEN :counts = 1 OR status = 'queued' THEN attempts ELSE attempts - 1 END,
        next_run_at = CASE WHEN CAST(:status AS TEXT) = 'queued' THEN {now} + :delay_ms ELSE next_run_at END,
        completed_at = CASE WHEN CAST(:status AS TEXT) = 'queued' THEN NULL ELSE {now} END, claim_token = NULL
    WHERE id = :id AND status IN ('queued', 'sending', 'unknown') AND claim_token = CAST(:token AS TEXT)
    RETURNING id
"""

UNSENT_LEADS: Final = """
    SELECT lead_id FROM notice
    WHERE org_id = :org_id AND channel = :channel AND status IN ('queued', 'sending')
      AND {now} - created_at >= :older_ms
    ORDER BY id
    LIMIT :limit
"""

_NOTICE: Final = """
    SELECT id, notice_key, channel, status, kind, lead_id, user_id, attempts, created_at, next_run_at, completed_at,
           last_error, reason
    FROM notice WHERE org_id = :org_id
"""

NOTICES_OF: Final = _NOTICE + " AND lead_id = :lead_id ORDER BY id DESC LIMIT :limit"

NOTICES: Final[dict[str | None, str]] = {
    None: _NOTICE + " ORDER BY id DESC LIMIT :limit",
    "queued": _NOTICE + " AND status = 'queued' ORDER BY id DESC LIMIT :limit",
    "sending": _NOTICE + " AND status = 'sending' ORDER BY id DESC LIMIT :limit",
    "sent": _NOTICE + " AND status = 'sent' ORDER BY id DESC LIMIT :limit",
    "failed": _NOTICE + " AND status = 'failed' ORDER BY id DESC LIMIT :limit",
    "unknown": _NOTICE + " AND status = 'unknown' ORDER BY id DESC LIMIT :limit",
    "dropped": _NOTICE + " AND status = 'dropped' ORDER BY id DESC LIMIT :limit",
}

# One count per kind of status, so that each reads its own partial index; of those that went well, only the last day's.
CHANNELS: Final = """
    SELECT channel, status, count(*) AS notices, {now} - min(created_at) AS oldest_age_ms
    FROM notice WHERE org_id = :org_id AND status IN ('queued', 'sending')
    GROUP BY channel, status
    UNION ALL
    SELECT channel, status, count(*), NULL FROM notice
    WHERE org_id = :org_id AND status IN ('failed', 'unknown')
    GROUP BY channel, status
    UNION ALL
    SELECT channel, status, count(*), NULL FROM notice
    WHERE org_id = :org_id AND status IN ('sent', 'dropped') AND created_at >= {now} - :day_ms
    GROUP BY channel, status
    ORDER BY 1, 2
"""

# One of a channel that nobody serves any more was never sent.
FORGET: Final = """
    WITH picked AS MATERIALIZED (
        SELECT j.id FROM notice AS j
        WHERE j.org_id = :org_id AND j.created_at < {now} - :older_ms AND j.status <> 'sending'
          AND COALESCE(j.completed_at, j.created_at) < {now} - :older_ms
        ORDER BY j.created_at
        LIMIT :limit
        {skip_locked}
    )
    DELETE FROM notice WHERE id IN (SELECT id FROM picked)
    RETURNING id
"""

# Where the clock was set back, what is to be sent is due. The table of one row comes first, so that no notice is read
# where the clock is as it was.
SET_RIGHT: Final = """
    UPDATE notice SET next_run_at = {now}
    WHERE id IN (
        SELECT n.id FROM sweep AS s CROSS JOIN notice AS n
        WHERE s.org_id = :org_id AND {was_set_back}
          AND n.org_id = :org_id AND n.status IN ('queued', 'sending') AND n.status = 'queued'
          AND n.next_run_at > {now} AND n.claim_token IS NULL
    )
""".replace("{was_set_back}", WAS_SET_BACK)
