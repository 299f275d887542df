import { adminTables, dropAdminTables } from "./admin-tables.ts";
import { dropGroupTables, groupTables } from "./group-tables.ts";
import { dropIdempotencyTables, idempotencyTables } from "./postgres-idempotency-store.ts";
import { dropLimitTables, limitTables } from "./limit-tables.ts";
import { isMonthShort, openRequest } from "./open-request.ts";

/** Times are Unix milliseconds of a server, except in `replicas`: leases need one clock, which is that of the database. */
const firstTables = `
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

/** A change of the tables from one version to the next, and its way back. A server that starts makes all that are missing. */
export interface Change {
  /** Completes the sentence "The tables get …" for the operator. */
  readonly brings: string;
  /**
   * SQL. Servers of the version before are still running, and their statements must keep their meaning. So it may add
   * tables, indexes, functions, and columns that are nullable or have a default. It may replace the body of a function, but
   * not its arguments. A later version removes whatever is no longer used.
   */
  readonly forward: string;
  /** SQL that undoes `forward`, and keeps everything that the version before knows. No server is running. */
  readonly back: string;
}

/** SQL that creates the tables of version 1. */
export const versionOne = firstTables + openRequest;

/** A replica without facts is not in the register. */
const serverRegister: Change = {
  brings: "a register of servers",
  forward: `ALTER TABLE parley.replicas
    ADD name text, ADD version text, ADD started_at timestamptz, ADD digest text, ADD facts jsonb`,
  back: `ALTER TABLE parley.replicas DROP name, DROP version, DROP started_at, DROP digest, DROP facts`,
};

const limits: Change = {
  brings: "limits of requests and tokens a minute",
  forward: limitTables,
  back: dropLimitTables,
};

const keyChanges: Change = {
  brings: "word of changed keys, so that servers can keep them in memory",
  forward: `
    CREATE FUNCTION parley.tell_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('parley_keys', coalesce(NEW.id, OLD.id));
      RETURN NULL;
    END $$;
    CREATE TRIGGER tell_change AFTER INSERT OR UPDATE OR DELETE ON parley.keys
      FOR EACH ROW EXECUTE FUNCTION parley.tell_key_change()`,
  back: `DROP TRIGGER tell_change ON parley.keys; DROP FUNCTION parley.tell_key_change()`,
};

const groups: Change = {
  brings: "groups of keys, with their budgets",
  forward: groupTables,
  back: dropGroupTables,
};

const admin: Change = { brings: "admin keys and the audit log", forward: adminTables, back: dropAdminTables };
const idempotency: Change = {
  brings: "idempotency keys, with the answers that are kept for them",
  forward: idempotencyTables,
  back: dropIdempotencyTables,
};

const disablers: Change = {
  brings: "the group whose owner has disabled a key",
  forward:
    "ALTER TABLE parley.keys ADD disabled_by_group text; ALTER TABLE parley.admin_keys ADD disabled_by_group text",
  back: "ALTER TABLE parley.keys DROP disabled_by_group; ALTER TABLE parley.admin_keys DROP disabled_by_group",
};

/** A raise is JSON. */
const raises: Change = {
  brings: "raises of budgets for a limited time",
  forward: "ALTER TABLE parley.keys ADD budget_raise text; ALTER TABLE parley.groups ADD budget_raise text",
  back: "ALTER TABLE parley.keys DROP budget_raise; ALTER TABLE parley.groups DROP budget_raise",
};

const shortBudgets: Change = {
  brings: "the name of the key's budget that is short",
  forward: isMonthShort,
  back: "DROP FUNCTION parley.is_month_short",
};

/**
 * The changes after version 1: the first one leads to version 2. A released change is never edited; later changes are added
 * at the end. `test/state/postgres-changes.test.ts` makes each of them forward, back and forward.
 */
export const changes: readonly Change[] = [
  serverRegister,
  limits,
  keyChanges,
  groups,
  admin,
  idempotency,
  disablers,
  raises,
  shortBudgets,
];
