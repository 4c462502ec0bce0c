-- A share link's token names the token whose holder made it, and ends with that one at the latest. NULL: made at the command
-- line.
ALTER TABLE api_token ADD COLUMN maker TEXT;

CREATE INDEX api_token_maker ON api_token (maker) WHERE maker IS NOT NULL;

-- Who made the links that there are is in the audit log.
UPDATE api_token SET maker = made.author
FROM (
    SELECT author, json_extract(detail, '$.name') AS name FROM audit
    WHERE action = 'token.create' AND author != 'command line' AND detail IS NOT NULL
) AS made
WHERE api_token.name = made.name;

UPDATE api_token SET expires_at_ms = min(ifnull(api_token.expires_at_ms, maker.expires_at_ms), maker.expires_at_ms)
FROM api_token AS maker
WHERE maker.name = api_token.maker AND maker.expires_at_ms IS NOT NULL;

UPDATE api_token SET revoked_at_ms = maker.revoked_at_ms
FROM api_token AS maker
WHERE maker.name = api_token.maker AND maker.revoked_at_ms IS NOT NULL AND api_token.revoked_at_ms IS NULL;

-- How many contracts one person has changed lately is counted here.
CREATE INDEX audit_contract ON audit (author, at_ms)
WHERE action IN ('contract.put', 'contract.changed', 'contract.removed', 'contracts.import');
