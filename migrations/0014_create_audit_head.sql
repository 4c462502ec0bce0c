-- The newest row of the audit log, apart from it: rows that are cut off the end leave a head without its row. A new row
-- follows the head and not the last row that is there, so that it does not hide what was cut.
CREATE TABLE audit_head (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    -- 0 and 32 zero bytes before the first row.
    sequence INTEGER NOT NULL,
    sha256 BLOB NOT NULL
) STRICT;

-- sqlite_sequence has the highest number that was ever written. Where that row is gone, no hash fits, and the check says so.
INSERT INTO audit_head (id, sequence, sha256)
VALUES (
    1, ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0),
    ifnull((SELECT sha256 FROM audit ORDER BY sequence DESC LIMIT 1), zeroblob(32)));
