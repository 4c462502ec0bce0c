-- What people said, for as long as it holds. Ending it early moves until_ms to that moment; rows go some time after.

-- Each number rises with every change of its kind, by whatever process: who has read its rows sees here whether to read
-- them again. erasures: names in memory are no longer those of the table.
CREATE TABLE change_counter (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    contracts INTEGER NOT NULL,
    steering INTEGER NOT NULL,
    erasures INTEGER NOT NULL
) STRICT;

INSERT INTO change_counter (id, contracts, steering, erasures) VALUES (1, 0, 0, 0);

-- pool NULL: in all pools. tier or weight, or both.
CREATE TABLE override (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    pool TEXT,
    tier TEXT,
    weight REAL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
) STRICT;

-- pool NULL: all pools. generation: what was rolled back to, and snapshot: its pools, since the ledger forgets.
CREATE TABLE freeze (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pool TEXT,
    generation INTEGER,
    snapshot BLOB,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
) STRICT;

-- A rate that is NULL is estimated as ever.
CREATE TABLE capacity_pin (
    pool TEXT PRIMARY KEY,
    requests_per_minute REAL,
    tokens_per_minute REAL,
    input_tokens_per_minute REAL,
    output_tokens_per_minute REAL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Questions to people and what became of them. kind: 0 guardrail, 1 override, 2 recommendation.
-- state: 0 pending (expired once until_ms has passed), 1 approved, 2 denied, 3 expired.
-- body: from, to, evidence, effects, override, as ProposalBody writes them.
CREATE TABLE proposal (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL,
    state INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    pool TEXT,
    body BLOB NOT NULL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    decided_by TEXT,
    decision_reason TEXT,
    decided_at_ms INTEGER,
    decided_until_ms INTEGER
) STRICT;

-- One pending question a kind, tenant and pool.
CREATE UNIQUE INDEX proposal_pending ON proposal (kind, tenant, ifnull(pool, '')) WHERE state = 0;
