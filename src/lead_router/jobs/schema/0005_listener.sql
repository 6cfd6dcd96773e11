-- Who listens to a channel, until when by the database's clock (BIGINT milliseconds since 1970). A row, not a lock of a
-- session: it outlives pools that lend a session for one transaction, and ends in time where a vanished host's would not.
CREATE TABLE listener (
    org_id {text} NOT NULL,
    channel {text} NOT NULL,
    -- Rises with each holder and when one gives up: the fence that a recording checks.
    generation BIGINT NOT NULL,
    holder TEXT, -- gave up: NULL
    lease_until BIGINT NOT NULL,
    taken_at BIGINT NOT NULL,
    reloads BIGINT NOT NULL,
    PRIMARY KEY (org_id, channel)
);
