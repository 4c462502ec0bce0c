-- Seconds in which a tenant wanted something and was not satisfied, among active_s. Those in which it was starved are such.
ALTER TABLE rollup ADD COLUMN missed_s REAL NOT NULL DEFAULT 0;
ALTER TABLE pool_rollup ADD COLUMN missed_s REAL NOT NULL DEFAULT 0;
UPDATE rollup SET missed_s = starved_for_delivery_s + starved_for_shortage_s
WHERE starved_for_delivery_s > 0 OR starved_for_shortage_s > 0;
UPDATE pool_rollup SET missed_s = starved_for_delivery_s + starved_for_shortage_s
WHERE starved_for_delivery_s > 0 OR starved_for_shortage_s > 0;

-- Headroom's own service levels by minute: for how much of it one was looked at, and missed.
CREATE TABLE own_level (
    start_ms INTEGER NOT NULL,
    level TEXT NOT NULL,
    observed_s REAL NOT NULL,
    missed_s REAL NOT NULL,
    PRIMARY KEY (start_ms, level)
) STRICT, WITHOUT ROWID;
