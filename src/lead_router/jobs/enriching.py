"""The statements of enrichment (`statements` says how they are spelled)."""

from __future__ import annotations

from typing import Final

from lead_router.jobs.listener_statements import MAY
from lead_router.jobs.sweeping import WAS_SET_BACK

# Before the jobs are recorded: a delivery that comes again finds its jobs there, and asks nobody anew. What is under
# way goes on; an answer stays, and is worth its age.
WANT: Final = """
    INSERT INTO enrichment (org_id, lead_id, status, attempts, next_run_at, asked_at)
    SELECT :org_id, r.value ->> 'lead_id', CAST(:stage AS TEXT), 0, {now} + :delay_ms, {now}
    FROM {rows}
    WHERE {may} AND NOT EXISTS (
        SELECT 1 FROM routing_job AS j
        WHERE j.org_id = :org_id AND j.idempotency_key = r.value ->> 'idempotency_key'
    )
    GROUP BY r.value ->> 'lead_id'
    ORDER BY r.value ->> 'lead_id'
    ON CONFLICT (org_id, lead_id) DO UPDATE
    SET status = excluded.status, attempts = 0, next_run_at = excluded.next_run_at, asked_at = excluded.asked_at,
        claim_token = NULL, reason = NULL
    WHERE enrichment.status IN ('done', 'failed')
""".replace("{may}", MAY)

_DUE: Final = """
    SELECT 1 AS due FROM enrichment WHERE org_id = :org_id AND status = '{stage}' AND next_run_at <= {now} LIMIT 1
"""

_TAKE: Final = """
    WITH picked AS MATERIALIZED (
        SELECT j.lead_id FROM enrichment AS j
        WHERE j.org_id = :org_id AND j.status = '{stage}' AND j.next_run_at <= {now}
        ORDER BY j.asked_at DESC
        LIMIT :limit
        {skip_locked}
    )
    UPDATE enrichment
    SET attempts = attempts + 1, next_run_at = {now} + :lease_ms, claim_token = CAST(:token AS TEXT) || '-' || lead_id
    WHERE org_id = :org_id AND lead_id IN (SELECT lead_id FROM picked)
    RETURNING lead_id, claim_token, attempts, inputs, result, {now} - asked_at AS age_ms, asked_at,
              {now} - answered_at AS answered_age_ms
"""

DUE: Final = {stage: _DUE.replace("{stage}", stage) for stage in ("asked", "found")}

TAKE: Final = {stage: _TAKE.replace("{stage}", stage) for stage in ("asked", "found")}

SETTLE: Final = """
    UPDATE enrichment
    SET status = CASE WHEN r.value ->> 'verb' IN ('again', 'release') THEN status ELSE r.value ->> 'verb' END,
        inputs = COALESCE(r.value ->> 'inputs', inputs),
        result = COALESCE(r.value ->> 'result', result),
        answered_at = CASE WHEN r.value ->> 'result' IS NULL THEN answered_at
                           ELSE {now} - CAST(r.value ->> 'answered_age_ms' AS BIGINT) END,
        attempts = CASE r.value ->> 'verb' WHEN 'release' THEN attempts - 1 WHEN 'found' THEN 0 ELSE attempts END,
        next_run_at = {now} + CAST(r.value ->> 'delay_ms' AS BIGINT),
        reason = r.value ->> 'reason',
        claim_token = NULL
    FROM {rows}
    WHERE enrichment.org_id = :org_id AND enrichment.lead_id = r.value ->> 'lead_id'
      AND enrichment.claim_token = r.value ->> 'token'
    RETURNING enrichment.lead_id
"""

# A job that nobody has claimed yet and that is not due waits for this alone.
ASK_UNCLAIMED: Final = """
    UPDATE routing_job SET next_run_at = {now} WHERE id IN (
        SELECT j.id FROM routing_job AS j
        WHERE j.org_id = :org_id AND j.status IN ('queued', 'working', 'dead') AND j.status = 'queued'
          AND j.next_run_at > {now} AND j.attempts = 0 AND j.last_error IS NULL
          AND j.lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows})
        {skip_locked}
    )
    RETURNING id
"""

KNOWN: Final = """
    SELECT lead_id, status, result FROM enrichment
    WHERE org_id = :org_id AND lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows})
"""

ANSWERED: Final = """
    SELECT inputs, result, {now} - answered_at AS age_ms FROM enrichment
    WHERE org_id = :org_id AND result IS NOT NULL AND answered_at >= {now} - :within_ms
      AND inputs IN (SELECT r.value ->> 'inputs' FROM {rows})
    ORDER BY answered_at
"""

COUNTED: Final = """
    SELECT
      (SELECT count(*) FROM enrichment WHERE org_id = :org_id AND status = 'asked') AS asked,
      (SELECT count(*) FROM enrichment WHERE org_id = :org_id AND status = 'found') AS found,
      (SELECT count(*) FROM enrichment WHERE org_id = :org_id AND status = 'failed') AS failed
"""

FORGET: Final = """
    WITH picked AS MATERIALIZED (
        SELECT j.lead_id FROM enrichment AS j
        WHERE j.org_id = :org_id AND j.asked_at < {now} - :older_ms
        ORDER BY j.asked_at
        LIMIT :limit
        {skip_locked}
    )
    DELETE FROM enrichment WHERE org_id = :org_id AND lead_id IN (SELECT lead_id FROM picked)
    RETURNING lead_id
"""

# As the clock was set back, what waits for times of before is due; the table of one row comes first.
SET_RIGHT: Final = """
    UPDATE enrichment SET next_run_at = {now}
    WHERE org_id = :org_id AND status IN ('asked', 'found') AND next_run_at > {now} AND EXISTS (
        SELECT 1 FROM sweep AS s WHERE s.org_id = :org_id AND {was_set_back}
    )
""".replace("{was_set_back}", WAS_SET_BACK)
