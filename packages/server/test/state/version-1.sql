-- A data folder as version 1 left it: what upgrades are tested with. It never changes.
CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL,
  name TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  disabled_ms INTEGER,
  models TEXT,
  requests_per_minute INTEGER,
  tokens_per_minute INTEGER,
  concurrency INTEGER,
  budget_usd TEXT
) STRICT;
CREATE TABLE spending (
  key_id TEXT PRIMARY KEY,
  cost_usd TEXT NOT NULL
) STRICT;
CREATE TABLE requests (
  id TEXT PRIMARY KEY,
  key_id TEXT NOT NULL,
  model TEXT NOT NULL,
  is_stream INTEGER NOT NULL,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  outcome TEXT NOT NULL,
  error_code TEXT,
  prompt_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cost_usd TEXT NOT NULL,
  prices TEXT NOT NULL
) STRICT;
CREATE INDEX requests_open ON requests (ended_ms) WHERE ended_ms IS NULL;
CREATE INDEX requests_started ON requests (started_ms);
INSERT INTO keys VALUES
  ('aaaaaaaaaaaa', '1111111111111111111111111111111111111111111111111111111111111111', 'plain', 1000,
   NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  ('bbbbbbbbbbbb', '2222222222222222222222222222222222222222222222222222222222222222', 'with every rule', 2000,
   1900000000000, 5000, '["vendor/model-1"]', 60, 1000, 3, '12.5');
INSERT INTO spending VALUES ('aaaaaaaaaaaa', '3.0000003');
-- One of a month long ago, two of this one, and one that its server left open.
INSERT INTO requests VALUES
  ('req_old', 'aaaaaaaaaaaa', 'vendor/model-1', 1, 1000, 2000, 'complete', NULL, 5, 0, 7, 0, '2',
   '{"prompt":"0.1","completion":"0.2","image":"0","request":"0"}'),
  ('req_now', 'aaaaaaaaaaaa', 'vendor/model-1', 0, unixepoch() * 1000, unixepoch() * 1000, 'failed', 'timeout', 5, 3, 7,
   2, '1', '{"prompt":"0.1","completion":"0.2","image":"0","request":"0"}'),
  ('req_too', 'aaaaaaaaaaaa', 'vendor/model-1', 0, unixepoch() * 1000, unixepoch() * 1000, 'complete', NULL, 5, 0, 7, 0,
   '0.0000003', '{"prompt":"0.1","completion":"0.2","image":"0","request":"0"}'),
  ('req_open', 'aaaaaaaaaaaa', 'vendor/model-1', 1, unixepoch() * 1000, NULL, 'open', NULL, 5, 0, 7, 0, '0',
   '{"prompt":"0.1","completion":"0.2","image":"0","request":"0"}');
PRAGMA user_version = 1;
