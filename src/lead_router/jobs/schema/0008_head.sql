-- Which job is the head of an ordering key? Its first entry here: the working one, or else the earliest.
CREATE INDEX routing_job_head ON routing_job (org_id, ordering_key, (status <> 'working'), id)
    WHERE status IN ('queued', 'working');

-- Of no use beside it.
DROP INDEX routing_job_order;
