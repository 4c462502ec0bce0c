-- Sums of each tenant's calls in a pool: by minute (span_s 60) and by hour (3600). Sorted by time within a pool: a minute's
-- rows are written to one place, and the oldest are deleted from one place. criticality: as in call.
CREATE TABLE rollup (
    span_s INTEGER NOT NULL,
    pool_id INTEGER NOT NULL,
    start_ms INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    criticality INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    quota INTEGER NOT NULL,
    overload INTEGER NOT NULL,
    error INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    denied INTEGER NOT NULL,
    denied_tokens INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    counted_tokens INTEGER NOT NULL,
    demand_tokens REAL NOT NULL,
    assured_tokens REAL NOT NULL,
    starved_for_delivery_s REAL NOT NULL,
    starved_for_shortage_s REAL NOT NULL,
    oldest_queued_s REAL NOT NULL,
    PRIMARY KEY (span_s, pool_id, start_ms, tenant_id, criticality)
) STRICT, WITHOUT ROWID;

-- The few rows of starved tenants, so that a month of them is found without reading a month of all.
CREATE INDEX rollup_starved ON rollup (span_s, start_ms, pool_id, tenant_id)
WHERE starved_for_delivery_s > 0 OR starved_for_shortage_s > 0;

-- What the loop knew of telemetry up to a cursor, and that all in front of the cursor is in the sums. One row, written in
-- the transaction that adds to the sums: so each line of telemetry counts in them once.
CREATE TABLE checkpoint (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    at_ms INTEGER NOT NULL,
    call_id INTEGER NOT NULL,
    call_window_id INTEGER NOT NULL,
    queue_state_id INTEGER NOT NULL,
    provider_response_id INTEGER NOT NULL,
    task_event_id INTEGER NOT NULL,
    model_event_id INTEGER NOT NULL,
    observer BLOB NOT NULL,
    classifier BLOB NOT NULL
) STRICT;
