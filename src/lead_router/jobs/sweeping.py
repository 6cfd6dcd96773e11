"""The statements of sweeps, the regular one of which is also where a clock that was set back is noticed."""

from __future__ import annotations

from typing import Final

SET_BACK_MS: Final = 60_000
"""How far ahead of the clock what it showed last lies at least, if the clock was set back; less, jobs wait out.

More than a statement waits for a lock: when it gets it, another one's sweep may be that much younger than its now.
"""

SEEN_MS: Final = 15_000
"""How old what the clock showed last may be: with SET_BACK_MS, how long a job waits for a clock set back at most."""

_LATEST: Final = "CASE WHEN {s}seen_at > {s}begun_at THEN {s}seen_at ELSE {s}begun_at END"
WAS_SET_BACK: Final = _LATEST.replace("{s}", "s.") + " > {now} + :set_back_ms"

# A queued job is due now, a claim keeps what it has of its lease. The table of one row comes first, so that no job is
# read where the clock is as it was.
SET_RIGHT: Final = """
    UPDATE routing_job
    SET next_run_at = next_run_at - COALESCE(locked_at, next_run_at) + {now},
        lease_until = lease_until - locked_at + {now}, locked_at = CASE WHEN status = 'working' THEN {now} END
    WHERE id IN (
        SELECT j.id FROM sweep AS s CROSS JOIN routing_job AS j
        WHERE s.org_id = :org_id AND {was_set_back}
          AND j.org_id = :org_id AND j.status IN ('queued', 'working') AND COALESCE(j.locked_at, j.next_run_at) > {now}
        {skip_locked}
    )
""".replace("{was_set_back}", WAS_SET_BACK)

# What a person does to a lead of theirs counts from its end on, and would not before the clock is back where it was.
_SET_ENDS_RIGHT: Final = """
    UPDATE routing_job SET completed_at = {now}
    WHERE id IN (
        SELECT j.id FROM sweep AS s CROSS JOIN routing_job AS j
        WHERE s.org_id = :org_id AND {was_set_back}
          AND j.org_id = :org_id AND {ended} AND j.completed_at > {now}
        {skip_locked}
    )
""".replace("{was_set_back}", WAS_SET_BACK)

SET_DEATHS_RIGHT: Final = _SET_ENDS_RIGHT.replace("{ended}", "j.status = 'dead'")

SET_DISCARDS_RIGHT: Final = _SET_ENDS_RIGHT.replace(
    "{ended}", "j.status = 'done' AND substr(j.outcome, 1, 10) = 'discarded:'"
)

# The same conditions as those of the taking, the other way round: without a row none is due to be left.
NO_SWEEP_DUE: Final = """
    SELECT CASE WHEN seen_at > {now} - :seen_ms THEN 1 ELSE 0 END AS seen FROM sweep
    WHERE org_id = :org_id AND requested IS NULL
      AND begun_at > {now} - :every_ms AND {latest} <= {now} + :set_back_ms
      AND (kept_until IS NULL OR kept_until > {now})
""".replace("{latest}", _LATEST.replace("{s}", ""))

SEE_CLOCK: Final = """
    UPDATE sweep SET seen_at = {now} WHERE org_id = :org_id AND (seen_at IS NULL OR seen_at <= {now} - :seen_ms)
"""

TAKE_SWEEP: Final = """
    INSERT INTO sweep (org_id, begun_for, begun_at, seen_at, kept_until)
    VALUES (:org_id, :first, {now}, {now}, {now} + :kept_ms)
    ON CONFLICT (org_id) DO UPDATE
    SET begun_for = CASE WHEN {latest} > {now} + :set_back_ms
                         THEN :set_back || (({latest} - {now}) / 1000) || ' s'
                         WHEN sweep.requested IS NOT NULL THEN sweep.requested
                         WHEN sweep.kept_until <= {now} THEN :left
                         ELSE :regular END,
        requested = NULL, begun_at = {now}, seen_at = {now}, kept_until = {now} + :kept_ms
    WHERE sweep.requested IS NOT NULL OR sweep.begun_at <= {now} - :every_ms OR {latest} > {now} + :set_back_ms
          OR sweep.kept_until <= {now}
    RETURNING begun_for
""".replace("{latest}", _LATEST.replace("{s}", "sweep."))

# A lead that comes back into sight as it was, because a right of the router's user came back, has no other key.
REOPEN: Final = """
    UPDATE routing_job
    SET status = 'queued', attempts = 0, next_run_at = {now}, completed_at = NULL, outcome = NULL
    WHERE org_id = :org_id AND idempotency_key IN (SELECT r.value ->> 'key' FROM {rows})
      AND status = 'done' AND outcome IN ('skipped: gone', 'skipped: deleted')
    RETURNING id
"""

KEEP_SWEEP: Final = """
    UPDATE sweep SET kept_until = {now} + :kept_ms, seen_at = CASE WHEN seen_at > {now} THEN seen_at ELSE {now} END
    WHERE org_id = :org_id AND begun_for = :reason AND kept_until IS NOT NULL
"""

END_SWEEP: Final = "UPDATE sweep SET kept_until = NULL WHERE org_id = :org_id AND begun_for = :reason"
