import { columnsOf, openRequests, openValues } from "./open-request.ts";
import type { OpenCall, Value } from "./open-request.ts";

/**
 * The function that opens an entry of a key in a group. It is `open_request` with the budgets of the group and of its parent:
 * `short_of` is the group whose budget is the tightest, null for a budget of the key.
 *
 * `amounts_of_group` locks the sums of a group's period, and adds them up again if they are those of another period. Its
 * second statement sees everything that was committed before the lock was granted, because the function is volatile.
 */
export const openInGroups = `
  CREATE FUNCTION parley.amounts_of_group(id text, span_from bigint, span_to bigint)
  RETURNS parley.group_periods LANGUAGE plpgsql AS $$
  DECLARE
    amounts parley.group_periods;
  BEGIN
    INSERT INTO parley.group_periods (group_id) VALUES (id) ON CONFLICT DO NOTHING;
    SELECT * INTO amounts FROM parley.group_periods p WHERE p.group_id = id FOR UPDATE;
    IF amounts.from_ms <> span_from OR amounts.to_ms <> span_to THEN
      UPDATE parley.group_periods p
        SET from_ms = span_from, to_ms = span_to, cost_usd = sums.cost_usd, held_usd = sums.held_usd
        FROM (
          SELECT coalesce(sum(s.cost_usd), 0) AS cost_usd, coalesce(sum(s.held_usd), 0) AS held_usd
          FROM parley.group_spending s
          WHERE s.group_id = id AND s.slot >= span_from / 900000 AND s.slot < span_to / 900000
        ) AS sums
        WHERE p.group_id = id
        RETURNING p.* INTO amounts;
    END IF;
    RETURN amounts;
  END $$;

  CREATE FUNCTION parley.add_to_group(id text, start_ms bigint, cost numeric, hold numeric)
  RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO parley.group_periods AS old (group_id) VALUES (id) ON CONFLICT (group_id) DO UPDATE SET
      cost_usd = old.cost_usd + CASE WHEN start_ms >= old.from_ms AND start_ms < old.to_ms THEN cost ELSE 0 END,
      held_usd = old.held_usd + CASE WHEN start_ms >= old.from_ms AND start_ms < old.to_ms THEN hold ELSE 0 END;
    INSERT INTO parley.group_spending AS old (group_id, slot, cost_usd, held_usd)
      VALUES (id, start_ms / 900000, cost, hold) ON CONFLICT (group_id, slot) DO UPDATE
      SET cost_usd = old.cost_usd + excluded.cost_usd, held_usd = old.held_usd + excluded.held_usd;
  END $$;

  CREATE FUNCTION parley.open_in_groups(
    entry_id text, entry_key text, entry_model text, streams boolean, start_ms bigint, entry_prices text,
    replica uuid, max_age interval,
    budget numeric, month_budget numeric, start_month text,
    fixed numeric, per_token numeric, max_tokens bigint, is_maximum_named boolean,
    own_group text, own_from bigint, own_to bigint, own_budget numeric,
    parent_group text, parent_from bigint, parent_to bigint, parent_budget numeric,
    OUT tokens bigint, OUT held numeric, OUT rest numeric, OUT short_of text
  ) LANGUAGE plpgsql AS $$
  DECLARE
    account parley.spending;
    spent_in_month numeric;
    own parley.group_periods;
    parent parley.group_periods;
  BEGIN
    held := 0;
    IF NOT EXISTS (SELECT FROM parley.replicas r WHERE r.id = replica AND r.renewed_at > now() - max_age) THEN
      PERFORM parley.renew(replica, max_age);
    END IF;
    IF fixed IS NOT NULL THEN
      INSERT INTO parley.spending (key_id) VALUES (entry_key) ON CONFLICT DO NOTHING;
      SELECT * INTO account FROM parley.spending s WHERE s.key_id = entry_key FOR UPDATE;
      IF parent_group COLLATE "C" < own_group COLLATE "C" THEN
        parent := parley.amounts_of_group(parent_group, parent_from, parent_to);
      END IF;
      own := parley.amounts_of_group(own_group, own_from, own_to);
      IF parent_group COLLATE "C" > own_group COLLATE "C" THEN
        parent := parley.amounts_of_group(parent_group, parent_from, parent_to);
      END IF;
      SELECT m.cost_usd INTO spent_in_month FROM parley.monthly_spending m
        WHERE m.key_id = entry_key AND m.month = start_month;
      SELECT budgets.rest, budgets.held, budgets.short_of INTO rest, held, short_of FROM (VALUES
        (1, budget - account.cost_usd - account.held_usd, account.held_usd, NULL),
        (2, month_budget - coalesce(spent_in_month, 0) - account.held_usd, account.held_usd, NULL),
        (3, own_budget - own.cost_usd - own.held_usd, own.held_usd, own_group),
        (4, parent_budget - parent.cost_usd - parent.held_usd, parent.held_usd, parent_group)
      ) AS budgets (place, rest, held, short_of)
        WHERE budgets.rest IS NOT NULL ORDER BY budgets.rest, budgets.place LIMIT 1;
      tokens := CASE
        WHEN rest < fixed THEN 0
        WHEN per_token = 0 THEN max_tokens
        ELSE least(div(rest - fixed, per_token), max_tokens)
      END;
      IF is_maximum_named AND tokens < max_tokens THEN
        tokens := 0;
      END IF;
      IF tokens = 0 THEN
        RETURN;
      END IF;
      held := fixed + per_token * tokens;
      UPDATE parley.spending s SET held_usd = s.held_usd + held WHERE s.key_id = entry_key;
      PERFORM parley.add_to_group(own_group, start_ms, 0, held);
      IF parent_group IS NOT NULL THEN
        PERFORM parley.add_to_group(parent_group, start_ms, 0, held);
      END IF;
    END IF;
    INSERT INTO parley.requests (id, key_id, model, is_stream, started_ms, prices, held_usd, replica_id, group_id, parent_group_id)
      VALUES (entry_id, entry_key, entry_model, streams, start_ms, entry_prices, held, replica, own_group, parent_group);
  END $$;
`;

/**
 * Triggers that charge an entry to its groups when it is closed, and release its hold when it is closed or withdrawn. So they
 * hold for entries that a server of an earlier version closes, and cost nothing for a key without a group.
 */
export const settleGroups = `
  CREATE FUNCTION parley.settle_groups() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    id text;
  BEGIN
    FOR id IN SELECT g FROM unnest(ARRAY[OLD.group_id, OLD.parent_group_id]) AS g
      WHERE g IS NOT NULL ORDER BY g COLLATE "C" LOOP
      PERFORM parley.add_to_group(id, OLD.started_ms, CASE TG_OP WHEN 'UPDATE' THEN NEW.cost_usd ELSE 0 END, -OLD.held_usd);
    END LOOP;
    RETURN NULL;
  END $$;
  CREATE TRIGGER settle_closed AFTER UPDATE OF ended_ms ON parley.requests FOR EACH ROW
    WHEN (OLD.group_id IS NOT NULL AND OLD.ended_ms IS NULL AND NEW.ended_ms IS NOT NULL)
    EXECUTE FUNCTION parley.settle_groups();
  CREATE TRIGGER settle_withdrawn AFTER DELETE ON parley.requests FOR EACH ROW
    WHEN (OLD.group_id IS NOT NULL AND OLD.ended_ms IS NULL)
    EXECUTE FUNCTION parley.settle_groups();
`;

/**
 * Opens entries of keys in groups in the given order. Its first 21 parameters are the columns of `openInGroupsValues`, the
 * last two are the replica and the maximum age of its lease.
 */
const openRequestsInGroups = `SELECT opened.tokens, opened.held, opened.rest, opened.short_of,
          CASE WHEN opened.tokens = 0 AND opened.short_of IS NULL
            THEN parley.is_month_short(new.key_id, new.budget, new.month_budget, new.month) END AS is_monthly
        FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::bigint[], $6::text[], $7::numeric[],
          $8::numeric[], $9::text[], $10::numeric[], $11::numeric[], $12::bigint[], $13::boolean[],
          $14::text[], $15::bigint[], $16::bigint[], $17::numeric[],
          $18::text[], $19::bigint[], $20::bigint[], $21::numeric[]) WITH ORDINALITY
          AS new (id, key_id, model, is_stream, started_ms, prices, budget, month_budget, month, fixed, per_token,
            max_tokens, is_maximum_named, own, own_from, own_to, own_budget, parent, parent_from, parent_to,
            parent_budget, place)
        CROSS JOIN LATERAL parley.open_in_groups(new.id, new.key_id, new.model, new.is_stream, new.started_ms,
          new.prices, $22, $23, new.budget, new.month_budget, new.month, new.fixed, new.per_token, new.max_tokens,
          new.is_maximum_named, new.own, new.own_from, new.own_to, new.own_budget, new.parent, new.parent_from,
          new.parent_to, new.parent_budget) AS opened
        ORDER BY new.place`;

/** Returns the values of an entry, in the order of the columns of `openRequestsInGroups`. */
function openInGroupsValues(call: OpenCall): readonly Value[] {
  const { record, hold } = call;
  const groups = [0, 1].flatMap((index): Value[] => {
    const budget = hold?.budgets.groups?.[index];
    return [record.groupIds?.[index], budget?.fromMs, budget?.toMs, budget?.budgetUsd];
  });
  return [...openValues(call), ...groups];
}

/**
 * Returns the statement that opens entries, all of keys without a group or all of keys in groups.
 * @param replica its id, and the maximum age of its lease
 */
export function openQuery(calls: readonly OpenCall[], replica: readonly Value[]) {
  const [name, text, valuesOf] = calls.some(({ record }) => record.groupIds)
    ? (["open-in-groups", openRequestsInGroups, openInGroupsValues] as const)
    : (["open-requests", openRequests, openValues] as const);
  return { name, text, values: [...columnsOf(calls.map(valuesOf)), ...replica] };
}
