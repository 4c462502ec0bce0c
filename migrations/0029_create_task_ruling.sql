-- Agent tasks in progress over all gateways, as the loop encodes them.
ALTER TABLE checkpoint ADD COLUMN tasks BLOB NOT NULL DEFAULT X'';
-- A call for a tool of the task is no round of the task's own loop.
ALTER TABLE call ADD COLUMN is_tool_work INTEGER NOT NULL DEFAULT 0;

-- A person's word on one agent task: 0 it is stopped, 1 it goes on whatever its budget says, until then.
CREATE TABLE task_ruling (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    task TEXT NOT NULL,
    verdict INTEGER NOT NULL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
) STRICT;

-- What a tenant's agent tasks may use, in the order in which the rows are looked through: NULL is no limit, and a row
-- without a kind is for tasks of every kind.
CREATE TABLE contract_task_budget (
    tenant TEXT NOT NULL REFERENCES contract (tenant) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    task_kind TEXT,
    calls INTEGER,
    iterations INTEGER,
    tokens INTEGER,
    micros INTEGER,
    fan_out INTEGER,
    seconds INTEGER,
    PRIMARY KEY (tenant, place)
) STRICT, WITHOUT ROWID;
