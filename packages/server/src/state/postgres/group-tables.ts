import { openInGroups, settleGroups } from "./open-in-groups.ts";

/**
 * Groups and their spending. `group_spending` has the cost and the holds of the requests that started in each quarter of an
 * hour (`slot` is the start of the request in Unix milliseconds, divided by 900,000). `group_periods` has the same for the
 * period that the last request of a group started in, so most requests do not add up a whole month. It is computed again
 * when the period is another one, and may be deleted at any time.
 *
 * Locks are taken in this order: the key's row of `spending`, then the rows of `group_periods` by their ids. The row of a
 * group in `group_periods` guards its rows in `group_spending`.
 */
export const groupTables = `
  CREATE TABLE parley.groups (
    id text COLLATE "C" PRIMARY KEY,
    created_ms bigint NOT NULL,
    disabled_ms bigint,
    name text NOT NULL UNIQUE,
    parent_id text,
    budget_usd numeric,
    period text,
    time_zone text,
    max_keys bigint,
    key_ceiling text
  );
  CREATE TABLE parley.deleted_groups (id text PRIMARY KEY, name text NOT NULL, deleted_ms bigint NOT NULL);
  ALTER TABLE parley.keys ADD group_id text REFERENCES parley.groups (id);
  CREATE INDEX keys_group ON parley.keys (group_id) WHERE group_id IS NOT NULL;
  CREATE TABLE parley.group_spending (
    group_id text NOT NULL,
    slot bigint NOT NULL,
    cost_usd numeric NOT NULL,
    held_usd numeric NOT NULL,
    PRIMARY KEY (group_id, slot)
  );
  CREATE TABLE parley.group_periods (
    group_id text PRIMARY KEY,
    from_ms bigint NOT NULL DEFAULT 0,
    to_ms bigint NOT NULL DEFAULT 0,
    cost_usd numeric NOT NULL DEFAULT 0,
    held_usd numeric NOT NULL DEFAULT 0
  );
  ALTER TABLE parley.requests ADD group_id text, ADD parent_group_id text;

  CREATE FUNCTION parley.tell_group_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('parley_keys', coalesce(NEW.id, OLD.id));
    RETURN NULL;
  END $$;
  CREATE TRIGGER tell_change AFTER INSERT OR UPDATE OR DELETE ON parley.groups
    FOR EACH ROW EXECUTE FUNCTION parley.tell_group_change();
  ${openInGroups}
  ${settleGroups}
`;

export const dropGroupTables = `
  DROP TRIGGER settle_closed ON parley.requests;
  DROP TRIGGER settle_withdrawn ON parley.requests;
  DROP FUNCTION parley.settle_groups(), parley.open_in_groups, parley.amounts_of_group, parley.add_to_group;
  ALTER TABLE parley.requests DROP group_id, DROP parent_group_id;
  DROP TABLE parley.group_periods, parley.group_spending;
  ALTER TABLE parley.keys DROP group_id;
  DROP TABLE parley.deleted_groups, parley.groups;
  DROP FUNCTION parley.tell_group_change();
`;
