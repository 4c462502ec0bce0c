-- What a contract says of input that the provider had cached; NULL, as before: what input costs.
ALTER TABLE contract_price ADD COLUMN cached_input_micros_per_million INTEGER;

-- Of input_tokens. What was used before is counted as not cached.
ALTER TABLE tenant_use ADD COLUMN cached_input_tokens INTEGER NOT NULL DEFAULT 0;
