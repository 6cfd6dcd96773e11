-- Times are BIGINT milliseconds since 1970 by the database's clock.

CREATE TABLE routing_job (
    id {id},
    org_id {text} NOT NULL,
    idempotency_key {text} NOT NULL,
    submission_key {text},
    lead_id {text} NOT NULL,
    ordering_key {text} NOT NULL,
    payload TEXT NOT NULL,
    status {text} NOT NULL,
    attempts INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    next_run_at BIGINT NOT NULL,
    locked_by TEXT,
    locked_at BIGINT,
    lease_until BIGINT,
    claim_token {text},
    last_error TEXT,
    outcome TEXT,
    created_at BIGINT NOT NULL,
    completed_at BIGINT,
    CONSTRAINT routing_job_status CHECK (status IN ('queued', 'working', 'done', 'dead')),
    -- A claim without a lease would never be taken over.
    CONSTRAINT routing_job_claim CHECK ((status = 'working') = (claim_token IS NOT NULL)
                                    AND (status = 'working') = (lease_until IS NOT NULL)),
    -- A queued job without attempts left would never be claimed, and would block its ordering key.
    CONSTRAINT routing_job_attempts CHECK (attempts >= 0 AND attempts <= max_attempts
                                       AND (status <> 'queued' OR attempts < max_attempts)),
    CONSTRAINT routing_job_completed CHECK ((status IN ('done', 'dead')) = (completed_at IS NOT NULL))
);

-- An event makes one job, however often and by however many routers it is handed in.
CREATE UNIQUE INDEX routing_job_once ON routing_job (org_id, idempotency_key);

-- Two jobs of one lead never run at a time, even where a claim looked a moment too early.
CREATE UNIQUE INDEX routing_job_one_working ON routing_job (org_id, ordering_key) WHERE status = 'working';

-- The way of a claim: in due order, without the jobs that are over. Of two that are due in one millisecond the less tried
-- goes first, so that a job that fails fast comes behind those it could hold up.
CREATE INDEX routing_job_due ON routing_job (org_id, next_run_at, attempts, id) WHERE status IN ('queued', 'working');

-- Is this job the head of its ordering key?
CREATE INDEX routing_job_order ON routing_job (org_id, ordering_key, id) WHERE status IN ('queued', 'working');

-- The sweep asks which leads have a job that is not done.
CREATE INDEX routing_job_lead ON routing_job (org_id, lead_id) WHERE status IN ('queued', 'working', 'dead');

-- Dead jobs are few and looked for among many that are done.
CREATE INDEX routing_job_dead ON routing_job (org_id, id) WHERE status = 'dead';

-- Forgetting takes the longest done first.
CREATE INDEX routing_job_done ON routing_job (org_id, completed_at) WHERE status = 'done';

CREATE TABLE stream_position (
    org_id {text} NOT NULL,
    channel {text} NOT NULL,
    replay_id {bytes} NOT NULL,
    recorded_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, channel)
);

CREATE TABLE quarantine (
    id {id},
    org_id {text} NOT NULL,
    channel {text} NOT NULL,
    digest {text} NOT NULL,
    body {bytes} NOT NULL,
    reason TEXT NOT NULL,
    deliveries INTEGER NOT NULL,
    first_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL
);

-- The same event delivered again is counted, not kept again; the digest stands for a body too large for an index.
CREATE UNIQUE INDEX quarantine_once ON quarantine (org_id, channel, digest);

CREATE TABLE sweep (
    org_id {text} NOT NULL PRIMARY KEY,
    requested TEXT,
    begun_for TEXT,
    begun_at BIGINT
);
