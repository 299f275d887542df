/**
 * Buckets and leases of the limits. All operations of one statement run one after the other, under the lock of the row
 * "overall": no two of them deadlock, and every one sees the ones before. The formulas are those of `TokenBucket`. Levels
 * are those at the time `at_ms`, with these limits; a caller with other limits finds the same part of the bucket left.
 *
 * A crash of the database may lose the last second, because a commit does not wait for the disk. The tables are logged all the
 * same: PostgreSQL empties tables that are not after a crash, and a standby does not have them.
 */
export const limitTables = `
  CREATE TABLE parley.limit_buckets (
    owner text COLLATE "C" PRIMARY KEY,
    at_ms float8 NOT NULL,
    requests float8 NOT NULL,
    request_limit float8 NOT NULL,
    tokens float8 NOT NULL,
    token_limit float8 NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE parley.limit_leases (
    id uuid PRIMARY KEY,
    key_id text COLLATE "C" NOT NULL,
    expires_ms float8 NOT NULL,
    tokens float8 NOT NULL
  ) WITH (fillfactor = 50);
  CREATE INDEX limit_leases_key ON parley.limit_leases (key_id);

  CREATE FUNCTION parley.refilled(bucket parley.limit_buckets, now_ms float8, requests float8, tokens float8)
  RETURNS parley.limit_buckets LANGUAGE plpgsql AS $$
  DECLARE
    -- A clock may be set back, for instance by a failover.
    gained_ms float8 := greatest(0, now_ms - bucket.at_ms);
  BEGIN
    bucket.at_ms := now_ms;
    bucket.requests := least(bucket.request_limit, bucket.requests + gained_ms * bucket.request_limit / 60000);
    bucket.tokens := least(bucket.token_limit, bucket.tokens + gained_ms * bucket.token_limit / 60000);
    IF bucket.request_limit <> requests THEN
      bucket.requests := bucket.requests * requests / bucket.request_limit;
      bucket.request_limit := requests;
    END IF;
    IF bucket.token_limit <> tokens THEN
      bucket.tokens := bucket.tokens * tokens / bucket.token_limit;
      bucket.token_limit := tokens;
    END IF;
    RETURN bucket;
  END $$;

  CREATE FUNCTION parley.save_bucket(bucket parley.limit_buckets) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO parley.limit_buckets VALUES (bucket.*) ON CONFLICT (owner) DO UPDATE SET
      at_ms = excluded.at_ms, requests = excluded.requests, request_limit = excluded.request_limit,
      tokens = excluded.tokens, token_limit = excluded.token_limit;
  END $$;

  CREATE FUNCTION parley.use_limits(
    calls jsonb, overall_requests float8, overall_tokens float8, lease_ms float8, late_ms float8, fixed_ms float8
  ) RETURNS TABLE (is_taken boolean, levels float8[]) LANGUAGE plpgsql AS $$
  #variable_conflict use_column
  DECLARE
    call record;
    own parley.limit_buckets;
    overall parley.limit_buckets;
    now_ms float8;
    own_key text;
    is_changed boolean := false;
    places bigint;
    taken_requests float8;
    taken_tokens float8;
    lease_tokens float8;
  BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    SELECT * INTO overall FROM parley.limit_buckets WHERE owner = 'overall' FOR UPDATE;
    IF NOT FOUND THEN
      INSERT INTO parley.limit_buckets VALUES ('overall', 0, overall_requests, overall_requests, overall_tokens, overall_tokens)
        ON CONFLICT DO NOTHING;
      SELECT * INTO overall FROM parley.limit_buckets WHERE owner = 'overall' FOR UPDATE;
    END IF;
    -- The time after the lock: the operations that held it before were earlier.
    now_ms := coalesce(fixed_ms, extract(epoch FROM clock_timestamp()) * 1000);
    overall := parley.refilled(overall, now_ms, overall_requests, overall_tokens);
    FOR call IN SELECT * FROM jsonb_to_recordset(calls) AS c (
      does text, key_id text, requests float8, tokens float8, bound float8, lease uuid, amount float8, back float8,
      leases uuid[], key_ids text[]
    ) LOOP
      -- Calls for the same key often follow each other, so a bucket is written when another key follows.
      IF is_changed AND call.key_id IS DISTINCT FROM own_key THEN
        PERFORM parley.save_bucket(own);
        is_changed := false;
      END IF;
      IF call.does = 'renew' THEN
        -- A lease that was lost is created again, without tokens.
        INSERT INTO parley.limit_leases AS known (id, key_id, expires_ms, tokens)
          SELECT r.id, r.key_id, now_ms + lease_ms, 0 FROM unnest(call.leases, call.key_ids) AS r (id, key_id)
          ON CONFLICT (id) DO UPDATE SET expires_ms = now_ms + lease_ms;
        UPDATE parley.limit_leases SET expires_ms = now_ms WHERE expires_ms > now_ms + lease_ms;
        DELETE FROM parley.limit_leases WHERE expires_ms < now_ms - late_ms;
        DELETE FROM parley.limit_buckets b WHERE b.owner <> 'overall'
          AND b.at_ms < now_ms - 600000 - 60000 * greatest(0, 1 - b.requests / b.request_limit, 1 - b.tokens / b.token_limit);
        own_key := NULL; is_taken := true; levels := NULL;
        RETURN NEXT;
        CONTINUE;
      END IF;
      IF own_key IS DISTINCT FROM call.key_id THEN
        SELECT * INTO own FROM parley.limit_buckets WHERE owner = 'key:' || call.key_id;
        IF NOT FOUND THEN
          own := ROW('key:' || call.key_id, now_ms, call.requests, call.requests, call.tokens, call.tokens);
        END IF;
        -- The clock was set back: without a write, the bucket would refill only once the clock has caught up.
        is_changed := own.at_ms > now_ms;
        own_key := call.key_id;
        places := NULL;
      END IF;
      own := parley.refilled(own, now_ms, call.requests, call.tokens);
      is_taken := false; taken_requests := 0; taken_tokens := 0;
      IF call.does = 'take' THEN
        IF call.bound IS NOT NULL AND places IS NULL THEN
          SELECT count(*) INTO places FROM parley.limit_leases l
            WHERE l.key_id = call.key_id AND l.expires_ms > now_ms AND l.expires_ms <= now_ms + lease_ms;
        END IF;
        IF own.requests >= 1 AND overall.requests >= 1 AND (call.bound IS NULL OR call.bound > places) THEN
          INSERT INTO parley.limit_leases VALUES (call.lease, call.key_id, now_ms + lease_ms, 0);
          is_taken := true; taken_requests := 1; places := places + 1;
        END IF;
      ELSIF call.does = 'take tokens' THEN
        IF own.tokens >= call.amount AND overall.tokens >= call.amount THEN
          INSERT INTO parley.limit_leases VALUES (call.lease, call.key_id, now_ms + lease_ms, call.amount)
            ON CONFLICT (id) DO UPDATE SET tokens = excluded.tokens;
          is_taken := true; taken_tokens := call.amount; places := NULL;
        END IF;
      ELSIF call.does = 'end' THEN
        DELETE FROM parley.limit_leases l WHERE l.id = call.lease RETURNING l.tokens INTO lease_tokens;
        IF FOUND THEN
          is_taken := true; taken_requests := -call.back; taken_tokens := call.amount - lease_tokens; places := NULL;
        END IF;
      END IF;
      IF is_taken THEN
        own.requests := least(own.request_limit, own.requests - taken_requests);
        own.tokens := least(own.token_limit, own.tokens - taken_tokens);
        overall.requests := least(overall.request_limit, overall.requests - taken_requests);
        overall.tokens := least(overall.token_limit, overall.tokens - taken_tokens);
        is_changed := true;
      END IF;
      levels := ARRAY[own.requests, own.tokens, overall.requests, overall.tokens];
      RETURN NEXT;
    END LOOP;
    IF is_changed THEN
      PERFORM parley.save_bucket(own);
    END IF;
    PERFORM parley.save_bucket(overall);
  END $$;
`;

export const dropLimitTables = `
  DROP FUNCTION parley.use_limits(jsonb, float8, float8, float8, float8, float8);
  DROP FUNCTION parley.save_bucket(parley.limit_buckets);
  DROP FUNCTION parley.refilled(parley.limit_buckets, float8, float8, float8);
  DROP TABLE parley.limit_leases;
  DROP TABLE parley.limit_buckets;
`;
