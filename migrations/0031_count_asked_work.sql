-- What was asked for in place of rate × time of planned demand: each piece of work once, when it arrived (requests and
-- tokens; may be below 0 in a minute). Of the past, first attempts and what gateways denied is known.
ALTER TABLE rollup ADD COLUMN asked_requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN asked_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN asked_input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rollup ADD COLUMN asked_output_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pool_rollup ADD COLUMN asked_requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pool_rollup ADD COLUMN asked_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pool_rollup ADD COLUMN asked_input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE pool_rollup ADD COLUMN asked_output_tokens INTEGER NOT NULL DEFAULT 0;
UPDATE rollup SET asked_requests = ok + quota + overload + error + denied - retries,
    asked_tokens = counted_tokens + denied_tokens, asked_input_tokens = input_tokens + denied_tokens,
    asked_output_tokens = output_tokens;
UPDATE pool_rollup SET asked_requests = ok + quota + overload + error + denied - retries,
    asked_tokens = counted_tokens + denied_tokens, asked_input_tokens = input_tokens + denied_tokens,
    asked_output_tokens = output_tokens;
ALTER TABLE rollup DROP COLUMN demand_tokens;
ALTER TABLE rollup DROP COLUMN demand_requests;
ALTER TABLE pool_rollup DROP COLUMN demand_tokens;
ALTER TABLE pool_rollup DROP COLUMN demand_requests;

-- Of calls that name their kind of task.
ALTER TABLE use_sum ADD COLUMN asked_requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE use_sum ADD COLUMN asked_tokens INTEGER NOT NULL DEFAULT 0;
