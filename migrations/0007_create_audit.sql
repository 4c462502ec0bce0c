-- What people and tokens did, in an order that cannot be changed unseen: sha256 is over the row before it and over
-- this one's columns up to detail_sha256, of which the tenant and the detail are covered by their digests. So that a
-- tenant can be erased: then detail is NULL in its rows, the digests stay, and the chain still holds.
CREATE TABLE audit (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    author TEXT NOT NULL,
    action TEXT NOT NULL,
    -- Of the tenant that the act is about, if it is about one.
    tenant_sha256 BLOB,
    -- A JSON object.
    detail TEXT,
    detail_sha256 BLOB NOT NULL,
    sha256 BLOB NOT NULL
) STRICT;

CREATE INDEX audit_tenant ON audit (tenant_sha256) WHERE tenant_sha256 IS NOT NULL;

-- When a token's use was last written to the log: at most once an hour.
ALTER TABLE api_token ADD COLUMN used_at_ms INTEGER;
