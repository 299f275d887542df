import type { HoldRequest, OpenRecord } from "../../accounts/ledger/usage-ledger.ts";
import { monthOf } from "../../accounts/money/month.ts";

/**
 * The function that opens an entry: one round trip, and one transaction with the row of the key's spending locked. Without
 * `fixed` nothing is held. `tokens` is 0 if the budgets do not pay for the request: then `held` and `rest` are the
 * shortage, and there is no entry. The numbers equal those of `affordableTokens` and `costOf`; a test compares them.
 *
 * The statements after the lock see everything that was committed before it was granted, because the function is volatile.
 * It renews a lease of the replica that is older than `max_age`, so no entry is opened under an expired one.
 */
export const openRequest = `
  CREATE FUNCTION parley.renew(replica uuid, max_age interval) RETURNS void LANGUAGE sql AS $$
    INSERT INTO parley.replicas AS known (id) VALUES (replica) ON CONFLICT (id) DO UPDATE
    SET renewed_at = now(), kept_since = CASE WHEN known.renewed_at < now() - max_age THEN now() ELSE known.kept_since END
  $$;
  CREATE FUNCTION parley.open_request(
    entry_id text, entry_key text, entry_model text, streams boolean, start_ms bigint, entry_prices text,
    replica uuid, max_age interval,
    budget numeric, month_budget numeric, start_month text,
    fixed numeric, per_token numeric, max_tokens bigint, is_maximum_named boolean,
    OUT tokens bigint, OUT held numeric, OUT rest numeric
  ) LANGUAGE plpgsql AS $$
  DECLARE
    account parley.spending;
    spent_in_month numeric;
  BEGIN
    held := 0;
    IF NOT EXISTS (SELECT FROM parley.replicas r WHERE r.id = replica AND r.renewed_at > now() - max_age) THEN
      PERFORM parley.renew(replica, max_age);
    END IF;
    IF fixed IS NOT NULL THEN
      INSERT INTO parley.spending (key_id) VALUES (entry_key) ON CONFLICT DO NOTHING;
      SELECT * INTO account FROM parley.spending s WHERE s.key_id = entry_key FOR UPDATE;
      SELECT m.cost_usd INTO spent_in_month FROM parley.monthly_spending m
        WHERE m.key_id = entry_key AND m.month = start_month;
      -- least() passes over a budget that is NULL.
      rest := least(budget - account.cost_usd, month_budget - coalesce(spent_in_month, 0)) - account.held_usd;
      tokens := CASE
        WHEN rest < fixed THEN 0
        WHEN per_token = 0 THEN max_tokens
        ELSE least(div(rest - fixed, per_token), max_tokens)
      END;
      IF is_maximum_named AND tokens < max_tokens THEN
        tokens := 0;
      END IF;
      IF tokens = 0 THEN
        held := account.held_usd;
        RETURN;
      END IF;
      held := fixed + per_token * tokens;
      UPDATE parley.spending s SET held_usd = s.held_usd + held WHERE s.key_id = entry_key;
    END IF;
    INSERT INTO parley.requests (id, key_id, model, is_stream, started_ms, prices, held_usd, replica_id)
      VALUES (entry_id, entry_key, entry_model, streams, start_ms, entry_prices, held, replica);
  END $$;
`;

/**
 * The function that tells which of a key's budgets is the tighter one: true for that of the month. Called after an entry was
 * refused, in its transaction, it sees what `open_request` saw. The holds count for both budgets alike.
 */
export const isMonthShort = `
  CREATE FUNCTION parley.is_month_short(entry_key text, budget numeric, month_budget numeric, start_month text)
  RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    spent numeric := (SELECT s.cost_usd FROM parley.spending s WHERE s.key_id = entry_key);
    spent_in_month numeric := (
      SELECT m.cost_usd FROM parley.monthly_spending m WHERE m.key_id = entry_key AND m.month = start_month);
  BEGIN
    RETURN month_budget IS NOT NULL
      AND (month_budget - coalesce(spent_in_month, 0) < budget - coalesce(spent, 0)) IS NOT FALSE;
  END $$;
`;

/**
 * Opens entries in the given order. Its first 13 parameters are the columns of `openValues`, the last two are the replica and
 * the maximum age of its lease.
 */
export const openRequests = `SELECT opened.tokens, opened.held, opened.rest,
          CASE WHEN opened.tokens = 0
            THEN parley.is_month_short(new.key_id, new.budget, new.month_budget, new.month) END AS is_monthly
        FROM unnest($1::text[], $2::text[], $3::text[], $4::boolean[], $5::bigint[], $6::text[], $7::numeric[],
          $8::numeric[], $9::text[], $10::numeric[], $11::numeric[], $12::bigint[], $13::boolean[]) WITH ORDINALITY
          AS new (id, key_id, model, is_stream, started_ms, prices, budget, month_budget, month, fixed, per_token,
            max_tokens, is_maximum_named, place)
        CROSS JOIN LATERAL parley.open_request(new.id, new.key_id, new.model, new.is_stream, new.started_ms, new.prices,
          $14, $15, new.budget, new.month_budget, new.month, new.fixed, new.per_token, new.max_tokens,
          new.is_maximum_named) AS opened
        ORDER BY new.place`;

/** The arguments of `UsageLedger.open`. */
export interface OpenCall {
  readonly record: OpenRecord;
  readonly hold: HoldRequest | undefined;
}

export type Value = string | number | boolean | undefined;

/** Returns the values of an entry, in the order of the columns of `openRequests`. */
export function openValues({ record, hold }: OpenCall): readonly Value[] {
  const { id, keyId, model, isStream, startedMs, pricing } = record;
  const own = [id, keyId, model, isStream, startedMs, JSON.stringify(pricing)];
  const budgets = [hold?.budgets.budgetUsd, hold?.budgets.monthlyBudgetUsd, monthOf(startedMs)];
  const { fixedUsd, perTokenUsd, maxTokens, isMaximumNamed } = hold?.bound ?? {};
  return [...own, ...budgets, fixedUsd, perTokenUsd, maxTokens, isMaximumNamed];
}

/** Turns rows into columns. There is at least one row. */
export const columnsOf = (rows: readonly (readonly Value[])[]): Value[][] =>
  rows[0]?.map((_value, index) => rows.map((row) => row[index])) ?? [];
