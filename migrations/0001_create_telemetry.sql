-- Telemetry as gateways sent it, one table a line type. Rows are written once, read in the order of their ids, and
-- deleted by age. AUTOINCREMENT: a reader's cursor is an id, so an id must not come again when a table has been emptied.

-- "HdRm": tells a database of Headroom's from another program's.
PRAGMA application_id = 1214534253;

-- Texts that rows repeat. Kinds: 0 tenant, 1 pool, 2 gateway, 3 model, 4 endpoint, 5 provider.
CREATE TABLE name (
    id INTEGER PRIMARY KEY,
    kind INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (kind, text)
) STRICT;

-- Where each table stood at a moment of arrival, at most one mark a second: every row that arrived at received_ms or
-- later has a higher id. Starting to read "ten minutes back" and deleting by age need no index on the tables themselves.
CREATE TABLE arrival (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    received_ms INTEGER NOT NULL,
    call_id INTEGER NOT NULL,
    call_window_id INTEGER NOT NULL,
    queue_state_id INTEGER NOT NULL,
    provider_response_id INTEGER NOT NULL,
    task_event_id INTEGER NOT NULL,
    model_event_id INTEGER NOT NULL
) STRICT;

-- criticality: 0 interactive, 1 near_real_time, 2 batch.
-- outcome: 0 ok, 1 cached, 2 denied, 3 quota, 4 overload, 5 ramp, 6 billing, 7 auth, 8 client, 9 server, 10 error.
CREATE TABLE call (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    gateway_id INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    pool_id INTEGER NOT NULL,
    model_id INTEGER,
    endpoint_id INTEGER,
    criticality INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    status INTEGER,
    latency_ms REAL,
    queued_ms REAL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cached_input_tokens INTEGER,
    max_tokens INTEGER,
    counted_tokens INTEGER,
    request TEXT,
    task TEXT,
    parent TEXT
) STRICT;

CREATE TABLE call_window (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    start_ms INTEGER NOT NULL,
    duration_s REAL NOT NULL,
    gateway_id INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    pool_id INTEGER NOT NULL,
    criticality INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    quota INTEGER NOT NULL,
    overload INTEGER NOT NULL,
    error INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    denied INTEGER NOT NULL,
    denied_tokens INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    latency_count INTEGER,
    latency_p50_ms REAL,
    latency_p95_ms REAL,
    latency_p99_ms REAL
) STRICT;

CREATE TABLE queue_state (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    gateway_id INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    pool_id INTEGER NOT NULL,
    criticality INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    oldest_age_ms REAL NOT NULL
) STRICT;

-- What a provider's answer said; its headers and body are read on arrival and not kept.
-- kind: 0 ok, 1 quota, 2 overload, 3 ramp, 4 billing, 5 auth, 6 client, 7 server.
CREATE TABLE provider_response (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    gateway_id INTEGER NOT NULL,
    pool_id INTEGER NOT NULL,
    model_id INTEGER,
    endpoint_id INTEGER,
    provider_id INTEGER,
    status INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    retry_after_ms REAL,
    request TEXT
) STRICT;

-- One limit that a response tells of. resource: 0 requests, 1 tokens, 2 input tokens, 3 output tokens.
CREATE TABLE quota_window (
    provider_response_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    quota_limit REAL,
    remaining REAL,
    reset_ms REAL,
    duration_s REAL,
    PRIMARY KEY (provider_response_id, position)
) STRICT, WITHOUT ROWID;

-- state: 0 started, 1 progress, 2 completed, 3 failed. progress: 0 to 1.
CREATE TABLE task_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    gateway_id INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    pool_id INTEGER NOT NULL,
    criticality INTEGER NOT NULL,
    state INTEGER NOT NULL,
    progress REAL,
    remaining_requests INTEGER,
    remaining_tokens INTEGER,
    task TEXT NOT NULL,
    parent TEXT
) STRICT;

CREATE TABLE model_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    gateway_id INTEGER,
    pool_id INTEGER NOT NULL,
    model_id INTEGER NOT NULL,
    version TEXT NOT NULL
) STRICT;
