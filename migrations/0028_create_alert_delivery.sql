-- How webhooks know the alerts whose end they were not told: as the last message that each took said.
CREATE TABLE alert_delivery (
    alert_id INTEGER NOT NULL,
    -- The webhook's name in the policy.
    sink TEXT NOT NULL,
    severity INTEGER NOT NULL,
    members INTEGER NOT NULL,
    PRIMARY KEY (alert_id, sink)
) STRICT, WITHOUT ROWID;
