-- The latest time that the database's clock showed to whoever asked for a sweep: one that is set back lies behind it.
ALTER TABLE sweep ADD COLUMN seen_at BIGINT;
