-- Tenants that are being erased. Their names and small rows are gone already; what the large tables hold of them is
-- deleted in steps from the newest backwards, also after a restart. All rows above each number, and all sums from
-- rollup_ms on, have been seen to.
CREATE TABLE erasure (
    tenant_id INTEGER PRIMARY KEY,
    call_id INTEGER NOT NULL,
    call_window_id INTEGER NOT NULL,
    queue_state_id INTEGER NOT NULL,
    task_event_id INTEGER NOT NULL,
    explanation_id INTEGER NOT NULL,
    rollup_ms INTEGER NOT NULL
) STRICT;
