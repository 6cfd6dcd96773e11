-- Jobs whose leads wait for members of a group, and since when (BIGINT milliseconds since 1970, by what happened first).
ALTER TABLE routing_job ADD COLUMN held_group {text};
ALTER TABLE routing_job ADD COLUMN held_since BIGINT;

-- The longest waiting of each group are read before any newer lead is decided.
CREATE INDEX routing_job_waiting ON routing_job (org_id, held_group, held_since, id)
    WHERE status IN ('queued', 'working') AND held_group IS NOT NULL;
