-- What the cost breaker has counted, and whom it holds, as the loop encodes it.
ALTER TABLE checkpoint ADD COLUMN breaker BLOB NOT NULL DEFAULT X'';

-- A person's word that the cost breaker leaves a tenant, or a kind of task, alone until then: one of both is NULL.
CREATE TABLE cost_lift (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT,
    task_kind TEXT,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
) STRICT;

-- Answers from gateways' own caches, in place of calls: what showback counts as saved. They are in no other column.
ALTER TABLE use_sum ADD COLUMN saved_requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE use_sum ADD COLUMN saved_input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE use_sum ADD COLUMN saved_output_tokens INTEGER NOT NULL DEFAULT 0;
