-- The sweep asks which leads a person has ended for good; the finished jobs are many, the discarded ones few.
CREATE INDEX routing_job_discarded ON routing_job (org_id, lead_id)
    WHERE status = 'done' AND substr(outcome, 1, 10) = 'discarded:';
