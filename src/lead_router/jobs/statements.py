"""Every statement of the store, in the SQL that SQLite and PostgreSQL share; braces name what they do not (`dialect`).

Statuses are literals, so that the partial indexes are used.
"""

from __future__ import annotations

import re
from typing import Final

from lead_router.jobs.listener_statements import MAY

LINE_UP: Final = "{line_up}"

RECORD_POSITION: Final = """
    INSERT INTO stream_position (org_id, channel, replay_id, recorded_at)
    SELECT :org_id, :channel, :replay_id, {now}
    WHERE {may}
    ON CONFLICT (org_id, channel) DO UPDATE SET replay_id = excluded.replay_id, recorded_at = excluded.recorded_at
""".replace("{may}", MAY)

RECORD_JOBS: Final = """
    INSERT INTO routing_job (org_id, idempotency_key, submission_key, submission_odd, lead_id,
                             ordering_key, payload, status, attempts, max_attempts, next_run_at, created_at)
    SELECT :org_id, r.value ->> 'idempotency_key', r.value ->> 'submission_even', r.value ->> 'submission_odd',
           r.value ->> 'lead_id', r.value ->> 'ordering_key', r.value ->> 'payload', 'queued', 0, :max_attempts,
           {now} + CASE WHEN :wait_ms > 0 AND NOT EXISTS (
               SELECT 1 FROM enrichment AS e
               WHERE e.org_id = :org_id AND e.lead_id = r.value ->> 'lead_id' AND e.result IS NOT NULL
           ) THEN :wait_ms ELSE 0 END, {now}
    FROM {rows}
    WHERE {may}
    ORDER BY r.key
    ON CONFLICT (org_id, idempotency_key) DO NOTHING
    RETURNING id
""".replace("{may}", MAY)

# The same for one job, which need not be looked for in a list.
RECORD_JOB: Final = re.sub(
    r"r\.value ->> '(\w+)'", r":\1", RECORD_JOBS.replace("FROM {rows}", "").replace("ORDER BY r.key", "")
)

RECORD_UNREADABLE: Final = """
    INSERT INTO quarantine (org_id, channel, digest, body, reason, deliveries, first_at, last_at)
    SELECT :org_id, :channel, :digest, :body, :reason, 1, {now}, {now}
    WHERE {may}
    ON CONFLICT (org_id, channel, digest)
    DO UPDATE SET deliveries = quarantine.deliveries + 1, last_at = excluded.last_at
""".replace("{may}", MAY)

REQUEST_SWEEP: Final = """
    INSERT INTO sweep (org_id, requested)
    SELECT :org_id, :reason
    WHERE {may}
    ON CONFLICT (org_id) DO UPDATE SET requested = COALESCE(sweep.requested, excluded.requested)
""".replace("{may}", MAY)

# A claim may have read its lead before the change: it goes on, and its end finds it due later than it was locked.
# No lock is skipped: who holds one may be putting the job back for long.
ASK_CHANGED: Final = """
    UPDATE routing_job SET next_run_at = CASE WHEN status = 'working' THEN locked_at + 1 ELSE {now} END
    WHERE org_id = :org_id AND status IN ('queued', 'working', 'dead')
      AND (status = 'working' OR status = 'queued' AND next_run_at > {now}
           AND (held_group IS NOT NULL OR substr(last_error, 1, 5) = 'held:'))
      AND lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows}) AND {may}
    RETURNING id
""".replace("{may}", MAY)

POSITION: Final = "SELECT replay_id FROM stream_position WHERE org_id = :org_id AND channel = :channel"

BURY_CRASHED: Final = """
    UPDATE routing_job
    SET status = 'dead', completed_at = {now},
        claim_token = NULL, locked_by = NULL, locked_at = NULL, lease_until = NULL,
        last_error = 'crashed: ' || locked_by || ' took the last attempt and did not end it'
                     || COALESCE('; before that: ' || last_error, '')
    WHERE id IN (
        SELECT j.id FROM routing_job AS j
        WHERE j.org_id = :org_id AND j.status = 'working' AND j.lease_until <= {now} AND j.attempts >= j.max_attempts
        {skip_locked}
    )
"""

# The head of an ordering key is its working job, or else its earliest: the first entry of the key in the index
# routing_job_head, whose order is spelt here word for word. A scalar subquery that answers true or false, and picked
# before the update: a join, or a comparison of ids, would be planned from statistics, never right for a queue.
CLAIM: Final = """
    WITH picked AS MATERIALIZED (
        SELECT j.id FROM routing_job AS j
        WHERE j.org_id = :org_id AND j.status IN ('queued', 'working') AND j.next_run_at <= {now}
          AND (j.status = 'queued' OR j.lease_until <= {now}) AND j.attempts < j.max_attempts
          AND (SELECT o.id = j.id FROM routing_job AS o
                WHERE o.org_id = j.org_id AND o.ordering_key = j.ordering_key AND o.status IN ('queued', 'working')
                ORDER BY o.status <> 'working', o.id LIMIT 1)
        ORDER BY j.next_run_at, j.attempts, j.id
        LIMIT :limit
        {skip_locked}
    )
    UPDATE routing_job
    SET status = 'working', attempts = attempts + 1, locked_by = :worker, locked_at = {now},
        lease_until = {now} + :lease_ms, claim_token = CAST(:token AS TEXT) || '-' || CAST(routing_job.id AS TEXT)
    FROM picked
    WHERE routing_job.id = picked.id
    RETURNING routing_job.id, idempotency_key, lead_id, ordering_key, payload, submission_key, submission_odd, attempts,
              max_attempts, claim_token, created_at, next_run_at, {now} - created_at AS age_ms, held_group,
              CASE WHEN substr(last_error, 1, 5) = 'held:' THEN 1 ELSE 0 END AS waited
"""

# No two claims share a token, in whatever org: the org as a condition would lead SQLite to scan by it.
RENEW: Final = """
    UPDATE routing_job SET lease_until = {now} + :lease_ms
    FROM {rows}
    WHERE routing_job.id = CAST(r.value ->> 'id' AS BIGINT) AND routing_job.claim_token = r.value ->> 'token'
      AND routing_job.status = 'working'
    RETURNING routing_job.id
"""

HOLDERS: Final = """
    SELECT locked_by AS name FROM routing_job WHERE org_id = :org_id AND status = 'working'
    UNION
    SELECT holder FROM listener WHERE org_id = :org_id AND holder IS NOT NULL AND lease_until > {now}
"""

ABANDON: Final = """
    UPDATE routing_job SET lease_until = {now}
    WHERE org_id = :org_id AND status = 'working' AND locked_by = :worker AND lease_until > {now}
    RETURNING id
"""

# A retry without attempts left becomes dead here, whatever the worker thought: it could never be claimed again.
END: Final = """
    UPDATE routing_job
    SET status = CASE WHEN r.value ->> 'verb' = 'done' THEN 'done'
                      WHEN r.value ->> 'verb' = 'bury' THEN 'dead'
                      WHEN r.value ->> 'verb' = 'retry' AND attempts >= max_attempts THEN 'dead'
                      ELSE 'queued' END,
        completed_at = CASE WHEN r.value ->> 'verb' IN ('done', 'bury') THEN {now}
                            WHEN r.value ->> 'verb' = 'retry' AND attempts >= max_attempts THEN {now} END,
        attempts = CASE WHEN r.value ->> 'verb' = 'release' THEN attempts - 1 ELSE attempts END,
        next_run_at = CASE WHEN next_run_at > locked_at AND substr(r.value ->> 'error', 1, 5) = 'held:' THEN {now}
                           WHEN r.value ->> 'verb' IN ('retry', 'release')
                           THEN {now} + CAST(r.value ->> 'delay_ms' AS BIGINT) ELSE next_run_at END,
        last_error = COALESCE(r.value ->> 'error', last_error),
        outcome = r.value ->> 'outcome',
        submission_key = COALESCE(r.value ->> 'submission_even', submission_key),
        submission_odd = COALESCE(r.value ->> 'submission_odd', submission_odd),
        held_group = CASE WHEN r.value ->> 'keeps' = 'place' THEN held_group ELSE r.value ->> 'held_group' END,
        held_since = CASE WHEN r.value ->> 'keeps' = 'place' THEN held_since
                          ELSE CAST(r.value ->> 'held_since' AS BIGINT) END,
        claim_token = NULL, locked_by = NULL, locked_at = NULL, lease_until = NULL
    FROM {rows}
    WHERE routing_job.id = CAST(r.value ->> 'id' AS BIGINT) AND routing_job.claim_token = r.value ->> 'token'
      AND routing_job.status = 'working'
    RETURNING routing_job.id
"""

OPEN_LEADS: Final = """
    SELECT DISTINCT lead_id FROM routing_job
    WHERE org_id = :org_id AND status IN ('queued', 'working', 'dead')
      AND lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows})
"""

ASKED_LATELY: Final = """
    SELECT lead_id FROM routing_job
    WHERE org_id = :org_id AND status = 'working' AND lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows})
    UNION
    SELECT lead_id FROM routing_job
    WHERE org_id = :org_id AND status = 'done' AND completed_at >= {now} - :within_ms
      AND lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows})
"""

DEATHS: Final = """
    SELECT lead_id, max(completed_at) AS died_at FROM routing_job
    WHERE org_id = :org_id AND status IN ('queued', 'working', 'dead')
      AND lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows})
    GROUP BY lead_id HAVING min(CASE WHEN status = 'dead' THEN 1 ELSE 0 END) = 1
"""

# Its condition is the index's own, word for word: by it alone the sweep need not read all jobs that are done.
DISCARDS: Final = """
    SELECT lead_id, max(completed_at) AS discarded_at FROM routing_job
    WHERE org_id = :org_id AND status = 'done' AND substr(outcome, 1, 10) = 'discarded:'
      AND lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows})
    GROUP BY lead_id
"""

_OF_LEADS: Final = "lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows})"

ALL_JOBS: Final = """
    SELECT id, status, lead_id, idempotency_key, attempts, max_attempts, next_run_at, locked_by, lease_until,
           last_error, outcome, created_at, completed_at, payload
    FROM routing_job WHERE org_id = :org_id
"""

# Its condition, too, is the index's own.
BY_HAND: Final = ALL_JOBS + " AND replace(payload, '\"given_by\"', '') <> payload AND " + _OF_LEADS + " ORDER BY id"

ASK_HELD: Final = """
    UPDATE routing_job SET next_run_at = {now} WHERE id IN (
        SELECT j.id FROM routing_job AS j
        WHERE j.org_id = :org_id AND j.status = 'queued' AND j.next_run_at > {now}
          AND substr(j.last_error, 1, 5) = 'held:'
        {skip_locked}
    )
    RETURNING id
"""

# A lead that is being asked again waits all the same: its claim keeps its place.
WAITING: Final = """
    SELECT id, idempotency_key, lead_id, payload, held_group, created_at, {now} - created_at AS age_ms
    FROM (
        SELECT j.*, row_number() OVER (PARTITION BY j.held_group ORDER BY j.held_since, j.id) AS place
        FROM routing_job AS j
        WHERE j.org_id = :org_id AND j.status IN ('queued', 'working') AND j.held_group IS NOT NULL
    ) AS w
    ORDER BY place, held_since, id
    LIMIT :limit
"""

# A key is of one column or the other. Scalar subqueries, so that each key reads one entry of its index; the status is
# said once more, so that no plan reads the jobs that are over.
SIBLINGS: Final = """
    SELECT id, idempotency_key, lead_id, payload, submission_key, submission_odd, created_at,
           {now} - created_at AS age_ms
    FROM routing_job
    WHERE org_id = :org_id AND status IN ('queued', 'working') AND id IN (
        SELECT COALESCE(
            (SELECT min(e.id) FROM routing_job AS e
              WHERE e.org_id = :org_id AND e.submission_key = r.value ->> 'key' AND e.status IN ('queued', 'working')),
            (SELECT min(o.id) FROM routing_job AS o
              WHERE o.org_id = :org_id AND o.submission_odd = r.value ->> 'key' AND o.status IN ('queued', 'working'))
        )
        FROM {rows}
    )
"""

ASK_LEADS: Final = """
    UPDATE routing_job SET next_run_at = {now} WHERE id IN (
        SELECT j.id FROM routing_job AS j
        WHERE j.org_id = :org_id AND j.status = 'queued' AND j.next_run_at > {now}
          AND (j.held_group IS NOT NULL OR substr(j.last_error, 1, 5) = 'held:')
          AND j.lead_id IN (SELECT r.value ->> 'lead_id' FROM {rows})
        {skip_locked}
    )
    RETURNING id
"""

REVIVE: Final = """
    UPDATE routing_job SET status = 'queued', attempts = 0, next_run_at = {now}, completed_at = NULL
    WHERE id = :id AND org_id = :org_id AND status = 'dead'
    RETURNING id
"""

DISCARD: Final = """
    UPDATE routing_job SET status = 'done', outcome = :outcome, completed_at = {now}
    WHERE id = :id AND org_id = :org_id AND status = 'dead'
    RETURNING id
"""

JOB: Final = ALL_JOBS + " AND id = :id"

JOBS_OF: Final = ALL_JOBS + " AND lead_id = :lead_id ORDER BY id DESC LIMIT :limit"

JOBS: Final = {
    None: ALL_JOBS + " ORDER BY id DESC LIMIT :limit",
    "queued": ALL_JOBS + " AND status = 'queued' ORDER BY id DESC LIMIT :limit",
    "working": ALL_JOBS + " AND status = 'working' ORDER BY id DESC LIMIT :limit",
    "done": ALL_JOBS + " AND status = 'done' ORDER BY id DESC LIMIT :limit",
    "dead": ALL_JOBS + " AND status = 'dead' ORDER BY id DESC LIMIT :limit",
}

# One count per status, so that each reads its own partial index.
COUNTS: Final = """
    SELECT
      (SELECT count(*) FROM routing_job WHERE org_id = :org_id AND status = 'queued') AS queued,
      (SELECT count(*) FROM routing_job
        WHERE org_id = :org_id AND status = 'queued' AND next_run_at <= {now}) AS due,
      (SELECT count(*) FROM routing_job
        WHERE org_id = :org_id AND status = 'queued' AND substr(last_error, 1, 5) = 'held:') AS held,
      (SELECT count(*) FROM routing_job WHERE org_id = :org_id AND status = 'working') AS working,
      (SELECT count(*) FROM routing_job WHERE org_id = :org_id AND status = 'done') AS done,
      (SELECT count(*) FROM routing_job WHERE org_id = :org_id AND status = 'dead') AS dead,
      (SELECT {now} - min(created_at) FROM routing_job
        WHERE org_id = :org_id AND status IN ('queued', 'working')) AS oldest_open_age_ms,
      (SELECT count(*) FROM quarantine WHERE org_id = :org_id) AS quarantined,
      (SELECT {now} - begun_at FROM sweep WHERE org_id = :org_id) AS last_sweep_age_ms,
      (SELECT requested FROM sweep WHERE org_id = :org_id) AS sweep_requested
"""

STREAMS: Final = """
    SELECT channel, replay_id, {now} - recorded_at AS age_ms
    FROM stream_position WHERE org_id = :org_id ORDER BY channel
"""

# Every router asks for a sweep when it starts, so this small table knows each org.
KNOWN_ORGS: Final = "SELECT org_id FROM sweep ORDER BY org_id"
