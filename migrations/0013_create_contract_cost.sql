-- What a tenant's use costs, and the most that it may cost in a period (0 day, 1 month, in UTC). All money is in whole
-- millionths of the currency's unit.
CREATE TABLE contract_cost (
    tenant TEXT PRIMARY KEY REFERENCES contract (tenant) ON DELETE CASCADE,
    currency TEXT NOT NULL,
    period INTEGER NOT NULL,
    most_micros INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- pool '' has the price of every pool without a row of its own.
CREATE TABLE contract_price (
    tenant TEXT NOT NULL REFERENCES contract_cost (tenant) ON DELETE CASCADE,
    pool TEXT NOT NULL,
    input_micros_per_million INTEGER NOT NULL,
    output_micros_per_million INTEGER NOT NULL,
    request_micros INTEGER NOT NULL,
    PRIMARY KEY (tenant, pool)
) STRICT, WITHOUT ROWID;

-- What tenants whose use is priced used, by UTC day since 1970: written with the roll-ups that it sums up, so that each
-- line of telemetry counts once. A new contract has what was used since it came, and one that comes again what there was.
CREATE TABLE tenant_use (
    day INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    pool TEXT NOT NULL,
    requests INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    PRIMARY KEY (day, tenant, pool)
) STRICT, WITHOUT ROWID;
