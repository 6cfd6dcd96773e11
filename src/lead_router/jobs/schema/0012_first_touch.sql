-- Since when a group's leads are under the first-touch clock; what was given out before is nobody's fault. Milliseconds.
CREATE TABLE touch_clock (
    org_id {text} NOT NULL,
    group_id {text} NOT NULL,
    -- Of the switch; another one begins anew, so that what was only observed is not overdue on the first live day.
    position {text} NOT NULL,
    began_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, group_id)
);

-- What the clock did about a lead in one of its rounds: each thing once, whichever router comes first.
CREATE TABLE touch_mark (
    org_id {text} NOT NULL,
    lead_id {text} NOT NULL,
    round BIGINT NOT NULL,
    mark {text} NOT NULL,
    group_id {text} NOT NULL,
    owner_id {text} NOT NULL,
    due_at BIGINT NOT NULL,
    marked_at BIGINT NOT NULL,
    PRIMARY KEY (org_id, lead_id, round, mark)
);

-- The report takes the newest, forgetting the oldest.
CREATE INDEX touch_mark_time ON touch_mark (org_id, marked_at);
