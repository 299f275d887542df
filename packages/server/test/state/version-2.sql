-- What version 2 added to a data folder of version 1. It never changes.
ALTER TABLE keys ADD COLUMN monthly_budget_usd TEXT;
ALTER TABLE keys ADD COLUMN former_hash TEXT;
ALTER TABLE keys ADD COLUMN former_until_ms INTEGER;
CREATE TABLE deleted_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  deleted_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE monthly_spending (
  key_id TEXT NOT NULL,
  month TEXT NOT NULL,
  cost_usd TEXT NOT NULL,
  PRIMARY KEY (key_id, month)
) STRICT;
UPDATE keys SET monthly_budget_usd = '25', former_hash = hash, former_until_ms = 1800000000000
  WHERE id = 'bbbbbbbbbbbb';
INSERT INTO monthly_spending VALUES ('aaaaaaaaaaaa', strftime('%Y-%m', 'now'), '0.75');
PRAGMA user_version = 2;
