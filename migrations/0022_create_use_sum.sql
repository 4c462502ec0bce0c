-- The kind of agent task that a call was made for; kind 6 of the table name.
ALTER TABLE call ADD COLUMN task_kind_id INTEGER;

-- Served use by hour (span_s 3600) and day (86400), of calls that name their model or the kind of their task: what a rollup
-- has besides was reported without either. 0: not reported.
CREATE TABLE use_sum (
    span_s INTEGER NOT NULL,
    pool_id INTEGER NOT NULL,
    start_ms INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    criticality INTEGER NOT NULL,
    model_id INTEGER NOT NULL,
    task_kind_id INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    cached_input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (span_s, pool_id, start_ms, tenant_id, criticality, model_id, task_kind_id)
) STRICT, WITHOUT ROWID;
