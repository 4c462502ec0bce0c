-- What has been stored before, so that a line or a batch that is sent again counts once.

-- Line ids within the horizon. The key ascends as long as a gateway's ids do: inserts then touch the last page only.
CREATE TABLE seen_line (
    gateway_id INTEGER NOT NULL,
    line_id TEXT NOT NULL,
    received_ms INTEGER NOT NULL,
    PRIMARY KEY (gateway_id, line_id)
) STRICT, WITHOUT ROWID;

-- Per gateway, every number up to highest has been stored, except those in batch_gap. What lay in gaps at or below
-- forgotten is not known any more.
CREATE TABLE batch_progress (
    gateway_id INTEGER PRIMARY KEY,
    highest INTEGER NOT NULL,
    forgotten INTEGER NOT NULL
) STRICT;

CREATE TABLE batch_gap (
    gateway_id INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (gateway_id, first)
) STRICT, WITHOUT ROWID;

-- Answers to the latest batches, for when one is sent again.
CREATE TABLE batch_receipt (
    gateway_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    accepted INTEGER NOT NULL,
    duplicate INTEGER NOT NULL,
    late INTEGER NOT NULL,
    PRIMARY KEY (gateway_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE batch_fault (
    gateway_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    line INTEGER NOT NULL,
    detail TEXT NOT NULL,
    PRIMARY KEY (gateway_id, number, line)
) STRICT, WITHOUT ROWID;
