-- Whether the stream lives, by the one who listens (BIGINT milliseconds since 1970): since when it is subscribed, when it
-- last brought an event; and an episode of silence: found when, silent since, how many leads no event brought.
ALTER TABLE listener ADD COLUMN subscribed_at BIGINT;
ALTER TABLE listener ADD COLUMN heard_at BIGINT;
ALTER TABLE listener ADD COLUMN silent_at BIGINT;
ALTER TABLE listener ADD COLUMN silent_since BIGINT;
ALTER TABLE listener ADD COLUMN silent_leads BIGINT;
-- Rises with each wish for a new subscription.
ALTER TABLE listener ADD COLUMN reconnects BIGINT NOT NULL DEFAULT 0;
