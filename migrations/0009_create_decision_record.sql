-- What decisions leave behind. tenant_id and pool_id are numbers of the table name.

-- Burst credit in whole tokens since the account was opened: balance = accrued - spent - expired - above_cap.
CREATE TABLE credit (
    pool_id INTEGER NOT NULL,
    tenant_id INTEGER NOT NULL,
    accrued_tokens INTEGER NOT NULL,
    spent_tokens INTEGER NOT NULL,
    expired_tokens INTEGER NOT NULL,
    above_cap_tokens INTEGER NOT NULL,
    PRIMARY KEY (pool_id, tenant_id)
) STRICT, WITHOUT ROWID;

-- Why the numbers that a generation changed in a pool are what they are. tenant_ids: 4 bytes each, little-endian,
-- ascending; a search for a tenant reads them and not the bodies. body: as ExplanationBody writes it, in their order.
-- end_byte: the sizes of this body and of all before it, so that what is kept is a difference of two rows.
CREATE TABLE explanation (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    pool_id INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    end_byte INTEGER NOT NULL,
    tenant_ids BLOB NOT NULL,
    body BLOB NOT NULL
) STRICT;

CREATE UNIQUE INDEX explanation_pool ON explanation (pool_id, generation);
