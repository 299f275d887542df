-- Rows as a server of version 1 has written them.
INSERT INTO parley.keys (id, hash, name, created_ms) VALUES ('aaaaaaaaaaaa', 'hash-a', 'without rules', 1700000000000);
INSERT INTO parley.keys (id, hash, name, created_ms, expires_ms, disabled_ms, models, requests_per_minute,
    tokens_per_minute, concurrency, weight, budget_usd, monthly_budget_usd, former_hash, former_until_ms)
  VALUES ('bbbbbbbbbbbb', 'hash-b', 'with every rule', 1700000000000, 1900000000000, 1700000000001, '["vendor/model-1"]',
    10, 1000, 2, 3, 12.5, 25, 'hash-before', 1800000000000);
INSERT INTO parley.deleted_keys VALUES ('cccccccccccc', 'deleted', 1700000000002);
INSERT INTO parley.spending VALUES ('aaaaaaaaaaaa', 3.0000003, 0), ('bbbbbbbbbbbb', 0, 0.251);
INSERT INTO parley.monthly_spending VALUES ('aaaaaaaaaaaa', '2026-11', 1.0000003);
INSERT INTO parley.requests (id, key_id, model, is_stream, started_ms, ended_ms, outcome, error_code, prompt_tokens,
    cached_tokens, completion_tokens, reasoning_tokens, cost_usd, prices, held_usd, replica_id)
  VALUES ('req_done', 'aaaaaaaaaaaa', 'vendor/model-1', true, 1700000000000, 1700000001000, 'failed', 'upstream_error',
    9, 1, 3, 2, 1.0000003, '{"prompt":"0.01","completion":"0.1","image":"0","request":"0"}', 0,
    '00000000-0000-4000-8000-000000000001');
INSERT INTO parley.requests (id, key_id, model, is_stream, started_ms, prices, held_usd, replica_id)
  VALUES ('req_open', 'bbbbbbbbbbbb', 'vendor/model-1', false, 1700000000000,
    '{"prompt":"0.01","completion":"0.1","image":"0","request":"0"}', 0.251, '00000000-0000-4000-8000-000000000002');
