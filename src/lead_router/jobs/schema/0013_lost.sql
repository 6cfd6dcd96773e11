-- Since when a listener hears nothing, its subscription being lost, or not yet acknowledged (milliseconds since 1970); NULL
-- while it is subscribed, and where a program of before lost it.
ALTER TABLE listener ADD COLUMN lost_at BIGINT;
