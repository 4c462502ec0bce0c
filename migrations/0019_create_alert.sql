-- What a person should look at: from when it was seen until it was over. kind, pool ('' is none) and reason ('' is the
-- only one) name it; while it is open there is no second one.
CREATE TABLE alert (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    pool TEXT NOT NULL,
    reason TEXT NOT NULL,
    opened_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    closed_ms INTEGER,
    -- Also those that have no row.
    members INTEGER NOT NULL,
    acknowledged_by TEXT,
    acknowledged_reason TEXT,
    acknowledged_ms INTEGER
) STRICT;

CREATE UNIQUE INDEX alert_open ON alert (kind, pool, reason) WHERE closed_ms IS NULL;

-- The gravest members, in the order in which they are shown. tenant: whom the row is about, so that it goes with them.
-- body: since, severity, sentence, recommendation, as AlertMemberBody writes them.
CREATE TABLE alert_member (
    alert_id INTEGER NOT NULL,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    tenant TEXT,
    body BLOB NOT NULL,
    PRIMARY KEY (alert_id, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX alert_member_tenant ON alert_member (tenant) WHERE tenant IS NOT NULL;

-- Nobody is notified of alerts with this name until the end. One row a name: muting again replaces it.
CREATE TABLE alert_mute (
    kind TEXT NOT NULL,
    pool TEXT NOT NULL,
    reason TEXT NOT NULL,
    muted_by TEXT NOT NULL,
    muted_reason TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, pool, reason)
) STRICT, WITHOUT ROWID;
