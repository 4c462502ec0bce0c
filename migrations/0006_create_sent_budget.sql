-- What gateways may still be using of the generations that were published: what a start has to allow for.
CREATE TABLE sent_budget (
    generation INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    gateway TEXT NOT NULL,
    pool TEXT NOT NULL,
    -- Whole numbers per minute; NULL where the pool does not limit the resource.
    rpm INTEGER,
    tpm INTEGER,
    itpm INTEGER,
    otpm INTEGER,
    fallback_rpm INTEGER,
    fallback_tpm INTEGER,
    fallback_itpm INTEGER,
    fallback_otpm INTEGER,
    published_at_ms INTEGER NOT NULL,
    -- When the next generation was published, with a part for the gateway or without; NULL: there is none.
    superseded_at_ms INTEGER,
    -- A gateway's rows side by side: only those before its last one go early.
    PRIMARY KEY (gateway, generation, pool)
) STRICT, WITHOUT ROWID;

-- Finds the newest to close, and what is over.
CREATE INDEX sent_budget_superseded ON sent_budget (superseded_at_ms);
