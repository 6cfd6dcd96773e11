"""Statements that forget, a bounded number of rows each (`statements` says how they are spelled).

What goes is picked apart: within the condition of a DELETE, PostgreSQL may ask for it again for each row that it looks
at, and finds others every time, as those of before are gone.
"""

from __future__ import annotations

from typing import Final

FORGET: Final = """
    WITH picked AS MATERIALIZED (
        SELECT j.id FROM routing_job AS j
        WHERE j.org_id = :org_id AND j.status = 'done' AND j.completed_at < {now} - :older_ms
          AND (COALESCE(substr(j.outcome, 1, 10), '') <> 'discarded:' OR j.completed_at < {now} - :discarded_ms)
        ORDER BY j.completed_at
        LIMIT :limit
        {skip_locked}
    )
    DELETE FROM routing_job WHERE id IN (SELECT id FROM picked)
    RETURNING id
"""

FORGET_OBSERVED: Final = """
    WITH picked AS MATERIALIZED (
        SELECT j.idempotency_key FROM observation AS j
        WHERE j.org_id = :org_id AND j.observed_at < {now} - :older_ms
        ORDER BY j.observed_at
        LIMIT :limit
        {skip_locked}
    )
    DELETE FROM observation WHERE org_id = :org_id AND idempotency_key IN (SELECT idempotency_key FROM picked)
    RETURNING idempotency_key
"""

# Numbers tell the order of arrival. An org that tells all day what this program cannot read would fill the disk.
FORGET_UNREADABLE: Final = """
    WITH picked AS MATERIALIZED (
        SELECT j.id FROM quarantine AS j
        WHERE j.org_id = :org_id AND (
            j.last_at < {now} - :older_ms OR j.id <= (
                SELECT q.id FROM quarantine AS q WHERE q.org_id = :org_id ORDER BY q.id DESC LIMIT 1 OFFSET :keep
            )
        )
        ORDER BY j.id
        LIMIT :limit
        {skip_locked}
    )
    DELETE FROM quarantine WHERE id IN (SELECT id FROM picked)
    RETURNING id
"""
