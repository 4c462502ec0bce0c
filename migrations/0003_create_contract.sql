-- What tenants have bought. Always replaced as a whole, so that it equals one export of the CRM.
CREATE TABLE contract (
    tenant TEXT PRIMARY KEY,
    tier TEXT,
    is_strategic INTEGER NOT NULL,
    imported_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A tenant's terms in one pool. A rate that is NULL is not stated (floor) or not limited (ceiling).
CREATE TABLE commitment (
    tenant TEXT NOT NULL REFERENCES contract (tenant) ON DELETE CASCADE,
    pool TEXT NOT NULL,
    floor_requests_per_minute REAL,
    floor_tokens_per_minute REAL,
    floor_input_tokens_per_minute REAL,
    floor_output_tokens_per_minute REAL,
    ceiling_requests_per_minute REAL,
    ceiling_tokens_per_minute REAL,
    ceiling_input_tokens_per_minute REAL,
    ceiling_output_tokens_per_minute REAL,
    PRIMARY KEY (tenant, pool)
) STRICT, WITHOUT ROWID;
