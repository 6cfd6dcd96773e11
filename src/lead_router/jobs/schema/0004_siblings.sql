-- A submission has two keys, and a lead of a neighbouring bucket shares one of them, which may be either: submission_key is
-- the even one.
ALTER TABLE routing_job ADD COLUMN submission_odd {text};
UPDATE routing_job SET submission_odd = {payload_odd} WHERE status <> 'done';

-- Has an older lead of this submission a job that is not over? The first of each key is enough.
CREATE INDEX routing_job_even ON routing_job (org_id, submission_key, id) WHERE status IN ('queued', 'working');
CREATE INDEX routing_job_odd ON routing_job (org_id, submission_odd, id) WHERE status IN ('queued', 'working');
