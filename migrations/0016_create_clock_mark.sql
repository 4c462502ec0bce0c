-- The latest time at which the clock was believed. A start far behind it asks before it deletes what is too old.
CREATE TABLE clock_mark (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    -- 0: there is nothing to compare with.
    trusted_ms INTEGER NOT NULL
) STRICT;

-- The newest row that a clock left behind.
INSERT INTO clock_mark (id, trusted_ms)
VALUES (
    1, max(
        ifnull((SELECT received_ms FROM arrival ORDER BY id DESC LIMIT 1), 0),
        ifnull((SELECT issued_at_ms FROM snapshot ORDER BY generation DESC LIMIT 1), 0)));
