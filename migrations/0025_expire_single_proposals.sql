-- A pool's guardrail approvals and recommendations are one question each now, about all tenants that would move. Those that
-- wait for a person, one a tenant, make room for it: the loop asks again within seconds.
UPDATE proposal SET state = 3 WHERE state = 0 AND kind IN (0, 2);
UPDATE change_counter SET steering = steering + 1;
