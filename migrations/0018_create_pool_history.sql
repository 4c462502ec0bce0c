-- What plots of the past are made of. Sums go by day as well (span_s 86400): who was served most in a month is found
-- without reading a month of hours.
ALTER TABLE rollup ADD COLUMN ramp INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN billing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN cached_input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN waits INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN waited_s REAL NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN active_s REAL NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN demand_requests REAL NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN assured_requests REAL NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN ceiling_tokens REAL NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN ceiling_requests REAL NOT NULL DEFAULT 0;

-- The sums of all tenants of a pool, and what there was to divide: rate × minutes of observed_s. NULL: the pool does not
-- limit the resource. An erased tenant's part stays in the sums.
CREATE TABLE pool_rollup (
    span_s INTEGER NOT NULL,
    pool_id INTEGER NOT NULL,
    start_ms INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    quota INTEGER NOT NULL,
    overload INTEGER NOT NULL,
    error INTEGER NOT NULL,
    ramp INTEGER NOT NULL,
    billing INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    denied INTEGER NOT NULL,
    denied_tokens INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    counted_tokens INTEGER NOT NULL,
    waits INTEGER NOT NULL,
    waited_s REAL NOT NULL,
    active_s REAL NOT NULL,
    demand_tokens REAL NOT NULL,
    demand_requests REAL NOT NULL,
    assured_tokens REAL NOT NULL,
    assured_requests REAL NOT NULL,
    ceiling_tokens REAL NOT NULL,
    ceiling_requests REAL NOT NULL,
    starved_for_delivery_s REAL NOT NULL,
    starved_for_shortage_s REAL NOT NULL,
    oldest_queued_s REAL NOT NULL,
    observed_s REAL NOT NULL DEFAULT 0,
    queue_depth INTEGER NOT NULL DEFAULT 0,
    nominal_requests REAL,
    nominal_tokens REAL,
    nominal_input_tokens REAL,
    nominal_output_tokens REAL,
    estimated_requests REAL,
    estimated_tokens REAL,
    estimated_input_tokens REAL,
    estimated_output_tokens REAL,
    budget_requests REAL,
    budget_tokens REAL,
    budget_input_tokens REAL,
    budget_output_tokens REAL,
    PRIMARY KEY (span_s, pool_id, start_ms)
) STRICT, WITHOUT ROWID;

INSERT INTO rollup (span_s, pool_id, start_ms, tenant_id, criticality, ok, quota, overload, error, retries, denied,
    denied_tokens, input_tokens, output_tokens, counted_tokens, demand_tokens, assured_tokens, starved_for_delivery_s,
    starved_for_shortage_s, oldest_queued_s)
SELECT 86400, pool_id, start_ms - start_ms % 86400000, tenant_id, criticality, sum(ok), sum(quota), sum(overload),
    sum(error), sum(retries), sum(denied), sum(denied_tokens), sum(input_tokens), sum(output_tokens),
    sum(counted_tokens), total(demand_tokens), total(assured_tokens), total(starved_for_delivery_s),
    total(starved_for_shortage_s), max(oldest_queued_s)
FROM rollup WHERE span_s = 3600
GROUP BY pool_id, start_ms - start_ms % 86400000, tenant_id, criticality;

INSERT INTO pool_rollup (span_s, pool_id, start_ms, ok, quota, overload, error, ramp, billing, retries, denied,
    denied_tokens, input_tokens, cached_input_tokens, output_tokens, counted_tokens, waits, waited_s, active_s,
    demand_tokens, demand_requests, assured_tokens, assured_requests, ceiling_tokens, ceiling_requests,
    starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s)
SELECT span_s, pool_id, start_ms, sum(ok), sum(quota), sum(overload), sum(error), 0, 0, sum(retries), sum(denied),
    sum(denied_tokens), sum(input_tokens), 0, sum(output_tokens), sum(counted_tokens), 0, 0, 0, total(demand_tokens), 0,
    total(assured_tokens), 0, 0, 0, total(starved_for_delivery_s), total(starved_for_shortage_s), max(oldest_queued_s)
FROM rollup GROUP BY span_s, pool_id, start_ms;

-- Moments that explain what the numbers did after them. kind: 0 start, 1 policy, 2 capacity, 3 state, 4 model, 5 billing.
-- pool_id NULL: all pools. What people did is in the audit log.
CREATE TABLE pool_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    pool_id INTEGER,
    kind INTEGER NOT NULL,
    subject TEXT,
    before TEXT,
    after TEXT
) STRICT;

CREATE INDEX pool_event_at ON pool_event (at_ms, pool_id);

-- Finds what people did at a time.
CREATE INDEX audit_at ON audit (at_ms);
