-- Before a lead is routed anew it is asked who gave it to its owner; the finished jobs are many, those of such events few.
CREATE INDEX routing_job_by_hand ON routing_job (org_id, lead_id)
    WHERE replace(payload, '"given_by"', '') <> payload;
