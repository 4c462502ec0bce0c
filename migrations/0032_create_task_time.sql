-- How long agent tasks took that ended in a minute (span_s 60), hour (3600) and day (86400), by steps of their duration: eight
-- to each doubling. task_kind_id 0: their calls name none.
CREATE TABLE task_time (
    span_s INTEGER NOT NULL,
    start_ms INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    task_kind_id INTEGER NOT NULL,
    step INTEGER NOT NULL,
    tasks INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    duration_s REAL NOT NULL,
    waited_s REAL NOT NULL,
    calls INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    PRIMARY KEY (span_s, start_ms, tenant_id, task_kind_id, step)
) STRICT, WITHOUT ROWID;
