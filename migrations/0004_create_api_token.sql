-- Bearer tokens. Only the SHA-256 of a secret is kept: whoever reads this file cannot call Headroom with it.
CREATE TABLE api_token (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    secret_sha256 BLOB NOT NULL UNIQUE,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER,
    revoked_at_ms INTEGER
) STRICT;

-- What a token is limited to. No row of a kind: not limited in that. kind: gateway, pool, tenant.
CREATE TABLE api_token_scope (
    api_token_id INTEGER NOT NULL REFERENCES api_token (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (api_token_id, kind, name)
) STRICT, WITHOUT ROWID;
