-- What groups that only observe would have done; times are BIGINT milliseconds since 1970.
CREATE TABLE observation (
    org_id {text} NOT NULL,
    idempotency_key {text} NOT NULL,
    lead_id {text} NOT NULL,
    group_id {text} NOT NULL,
    group_key {text} NOT NULL,
    owner_id {text}, -- nobody could have had the lead: NULL
    explanation TEXT NOT NULL,
    event_at BIGINT NOT NULL,
    observed_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, idempotency_key)
);

-- The report takes the newest, forgetting the oldest.
CREATE INDEX observation_time ON observation (org_id, observed_at);

-- Where the rotation of such a group would stand, since the one in the org does not move.
CREATE TABLE observed_rotation (
    org_id {text} NOT NULL,
    group_id {text} NOT NULL,
    rotation TEXT NOT NULL,
    PRIMARY KEY (org_id, group_id)
);
