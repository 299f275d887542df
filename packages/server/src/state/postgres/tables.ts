import { openRequest } from "./open-request.ts";

/** Times are Unix milliseconds of a server, except in `replicas`: leases need one clock, which is that of the database. */
const tables = `
  CREATE SCHEMA IF NOT EXISTS parley;
  CREATE TABLE parley.schema (version integer NOT NULL);
  INSERT INTO parley.schema VALUES (0);
  CREATE TABLE parley.secrets (name text PRIMARY KEY, value bytea NOT NULL);
  CREATE TABLE parley.keys (
    id text COLLATE "C" PRIMARY KEY,
    hash text NOT NULL,
    name text NOT NULL,
    created_ms bigint NOT NULL,
    expires_ms bigint,
    disabled_ms bigint,
    models text,
    requests_per_minute bigint,
    tokens_per_minute bigint,
    concurrency bigint,
    weight bigint,
    budget_usd numeric,
    monthly_budget_usd numeric,
    former_hash text,
    former_until_ms bigint
  );
  CREATE TABLE parley.deleted_keys (id text PRIMARY KEY, name text NOT NULL, deleted_ms bigint NOT NULL);
  CREATE TABLE parley.spending (
    key_id text PRIMARY KEY,
    cost_usd numeric NOT NULL DEFAULT 0,
    held_usd numeric NOT NULL DEFAULT 0
  );
  CREATE TABLE parley.monthly_spending (
    key_id text NOT NULL,
    month text NOT NULL,
    cost_usd numeric NOT NULL,
    PRIMARY KEY (key_id, month)
  );
  CREATE TABLE parley.replicas (
    id uuid PRIMARY KEY,
    renewed_at timestamptz NOT NULL DEFAULT now(),
    kept_since timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE parley.requests (
    id text COLLATE "C" PRIMARY KEY,
    key_id text NOT NULL,
    model text NOT NULL,
    is_stream boolean NOT NULL,
    started_ms bigint NOT NULL,
    ended_ms bigint,
    outcome text NOT NULL DEFAULT 'open',
    error_code text,
    prompt_tokens bigint NOT NULL DEFAULT 0,
    cached_tokens bigint NOT NULL DEFAULT 0,
    completion_tokens bigint NOT NULL DEFAULT 0,
    reasoning_tokens bigint NOT NULL DEFAULT 0,
    cost_usd numeric NOT NULL DEFAULT 0,
    prices text NOT NULL,
    held_usd numeric NOT NULL,
    replica_id uuid NOT NULL
  );
  CREATE INDEX requests_open ON parley.requests (replica_id) WHERE ended_ms IS NULL;
  CREATE INDEX requests_started ON parley.requests (started_ms, id);
`;

/**
 * The migrations, in SQL. Each step changes the tables from one version to the next, starting with an empty database. A
 * released step is never changed; changes are new steps.
 */
export const steps: readonly string[] = [tables + openRequest];
