/** Admin keys and the audit log. Triggers refuse to change the log, except for a pruning that the log records. */
export const adminTables = `
  CREATE TABLE parley.admin_keys (
    id text COLLATE "C" PRIMARY KEY,
    hash text NOT NULL,
    name text NOT NULL,
    scopes text NOT NULL,
    group_id text COLLATE "C" REFERENCES parley.groups (id),
    created_ms bigint NOT NULL,
    expires_ms bigint,
    disabled_ms bigint,
    last_used_ms bigint
  );
  CREATE TABLE parley.audit (
    id bigint PRIMARY KEY,
    at_ms bigint NOT NULL,
    actor_kind text NOT NULL,
    actor_id text,
    actor_name text NOT NULL,
    address text NOT NULL,
    agent text NOT NULL,
    action text NOT NULL,
    target_id text,
    target_name text,
    group_id text,
    outcome text NOT NULL,
    reason text,
    attempts bigint NOT NULL,
    before_json text,
    after_json text,
    prunes_before_ms bigint
  );
  CREATE INDEX audit_prunes ON parley.audit (prunes_before_ms) WHERE prunes_before_ms IS NOT NULL;
  CREATE FUNCTION parley.protect_audit() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF TG_OP = 'DELETE' THEN
      IF EXISTS (SELECT FROM parley.audit WHERE prunes_before_ms > OLD.at_ms) THEN RETURN OLD; END IF;
      RAISE 'entries of the audit log are deleted by a recorded pruning only';
    END IF;
    RAISE 'entries of the audit log are never changed';
  END $$;
  CREATE TRIGGER protect BEFORE UPDATE OR DELETE ON parley.audit FOR EACH ROW EXECUTE FUNCTION parley.protect_audit();
  CREATE TRIGGER protect_all BEFORE TRUNCATE ON parley.audit FOR EACH STATEMENT EXECUTE FUNCTION parley.protect_audit();
`;

export const dropAdminTables = `
  DROP TABLE parley.audit;
  DROP FUNCTION parley.protect_audit();
  DROP TABLE parley.admin_keys;
`;
