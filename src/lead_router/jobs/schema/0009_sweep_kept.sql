-- Until when the sweep that was begun is its taker's: one who dies amid it leaves it to be done again. NULL: it was ended.
ALTER TABLE sweep ADD COLUMN kept_until BIGINT;
