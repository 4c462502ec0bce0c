-- Tenants that were erased and that the loop may still know, from its memory or from its last checkpoint: by a hash of
-- their names, which are gone. A row goes with the first checkpoint that was made without the tenant.
CREATE TABLE erased_tenant (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint INTEGER NOT NULL
) STRICT;
