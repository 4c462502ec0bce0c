-- The term and the numbers handed out. One row: no number may ever be used twice, also after a crash.
CREATE TABLE ledger (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL,
    -- Every generation up to here may have been used.
    reserved_generation INTEGER NOT NULL
) STRICT;

INSERT INTO ledger (id, epoch, reserved_generation) VALUES (1, 0, 0);

-- Every snapshot, before anyone could see it.
CREATE TABLE snapshot (
    generation INTEGER PRIMARY KEY,
    epoch INTEGER NOT NULL,
    issued_at_ms INTEGER NOT NULL,
    body_bytes INTEGER NOT NULL,
    body BLOB NOT NULL
) STRICT;

-- Finds the recent ones and sums the sizes without a look at the bodies.
CREATE INDEX snapshot_issued ON snapshot (issued_at_ms, body_bytes);
