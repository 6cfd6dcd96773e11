-- What is told outside of what was done, a row for each channel: written in the transaction that ends the job, sent by a
-- loop of its own. Times are BIGINT milliseconds since 1970. queued: to be sent, from next_run_at on, which a claim moves to
-- the end of its lease; sending: handed over by now, perhaps; sent, failed, dropped; unknown: nobody can tell.
CREATE TABLE notice (
    id {id},
    org_id {text} NOT NULL,
    notice_key {text} NOT NULL,
    channel {text} NOT NULL,
    kind {text} NOT NULL,
    lead_id {text} NOT NULL,
    user_id {text} NOT NULL,
    owner_id {text} NOT NULL,
    round BIGINT NOT NULL,
    name TEXT NOT NULL,
    group_key {text} NOT NULL,
    reason TEXT NOT NULL,
    status {text} NOT NULL,
    attempts INTEGER NOT NULL,
    next_run_at BIGINT NOT NULL,
    claim_token {text},
    last_error TEXT,
    created_at BIGINT NOT NULL,
    completed_at BIGINT,
    CONSTRAINT notice_status CHECK (status IN ('queued', 'sending', 'sent', 'failed', 'unknown', 'dropped')),
    CONSTRAINT notice_completed CHECK ((status IN ('queued', 'sending')) = (completed_at IS NULL))
);

-- A job's notice is one on each channel, however often the job comes again.
CREATE UNIQUE INDEX notice_once ON notice (org_id, notice_key, channel);

-- The way of a claim, and which notice of a person comes first.
CREATE INDEX notice_due ON notice (org_id, channel, id) WHERE status IN ('queued', 'sending');
CREATE INDEX notice_person ON notice (org_id, channel, user_id, id) WHERE status IN ('queued', 'sending');

-- Who was sending and did not come back?
CREATE INDEX notice_sending ON notice (org_id, channel) WHERE status = 'sending';

-- A later round of a lead drops what was not told of the earlier ones, and no earlier one is told after it.
CREATE INDEX notice_lead ON notice (org_id, lead_id);

-- Did this claim get one?
CREATE INDEX notice_claim ON notice (claim_token) WHERE claim_token IS NOT NULL;

-- The few that a person must look at, counted.
CREATE INDEX notice_bad ON notice (org_id, channel, status) WHERE status IN ('failed', 'unknown');

-- Forgetting takes the oldest.
CREATE INDEX notice_age ON notice (org_id, created_at);

-- When the next notice of a channel may go out, whichever process sends it.
CREATE TABLE notice_channel (
    org_id {text} NOT NULL,
    channel {text} NOT NULL,
    next_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, channel)
);
