-- What providers outside are asked of leads, what they answered, and what is still to be written on the leads; times are
-- BIGINT milliseconds since 1970. A claim moves next_run_at to the end of its lease.
CREATE TABLE enrichment (
    org_id {text} NOT NULL,
    lead_id {text} NOT NULL,
    status {text} NOT NULL,
    inputs {text}, -- which request was answered: its SHA-256
    result TEXT, -- values by lead field, as JSON; NULL: no answer yet
    answered_at BIGINT,
    attempts INTEGER NOT NULL,
    next_run_at BIGINT NOT NULL,
    claim_token {text},
    reason TEXT,
    asked_at BIGINT NOT NULL,
    -- A lead is asked about once, whichever jobs it has: what was paid for is found again.
    PRIMARY KEY (org_id, lead_id),
    CONSTRAINT enrichment_status CHECK (status IN ('asked', 'found', 'done', 'failed'))
);

-- The newest lead's job waits for an answer; the others were routed long ago.
CREATE INDEX enrichment_asked ON enrichment (org_id, asked_at) WHERE status = 'asked';
CREATE INDEX enrichment_found ON enrichment (org_id, asked_at) WHERE status = 'found';

-- Was the same request answered before, for another lead?
CREATE INDEX enrichment_inputs ON enrichment (org_id, inputs) WHERE result IS NOT NULL;

-- Forgetting takes the oldest.
CREATE INDEX enrichment_age ON enrichment (org_id, asked_at);
