import { Big } from "big.js";
import type { Pool } from "pg";
import { slotOf } from "../../accounts/money/period.ts";
import type { Span } from "../../accounts/money/period.ts";
import { transactionsOf } from "./run-transaction.ts";

/** Selects the cost of a group in a span: $1 is the group, $2 and $3 are the ends. */
const groupSpent = `SELECT coalesce(
  (SELECT cost_usd FROM parley.group_periods WHERE group_id = $1 AND from_ms = $2 AND to_ms = $3),
  (SELECT sum(cost_usd) FROM parley.group_spending
    WHERE group_id = $1 AND slot >= $2::bigint / 900000 AND slot < $3::bigint / 900000),
  0) AS cost_usd`;

/** Returns the cost of a group in a span, in US dollars. */
export async function readGroupSpent(pool: Pool, groupId: string, { fromMs, toMs }: Span): Promise<string> {
  const { rows } = await pool.query<{ cost_usd: string }>({
    name: "group-spent",
    text: groupSpent,
    values: [groupId, fromMs, toMs],
  });
  return new Big(rows[0]?.cost_usd ?? 0).toFixed();
}

/** Moves the amounts of a group ($1) before a slot ($2) to the slot of 1970, which only a span of all time contains. */
const joinSlotsOfGroup = `WITH old AS (
    DELETE FROM parley.group_spending WHERE group_id = $1 AND slot > 0 AND slot < $2 RETURNING cost_usd, held_usd
  ), joined AS (
    INSERT INTO parley.group_spending AS kept (group_id, slot, cost_usd, held_usd)
    SELECT $1, 0, sum(cost_usd), sum(held_usd) FROM old HAVING count(*) > 0
    ON CONFLICT (group_id, slot) DO UPDATE
    SET cost_usd = kept.cost_usd + excluded.cost_usd, held_usd = kept.held_usd + excluded.held_usd
  )
  SELECT count(*)::int AS removed FROM old`;

/** Does the same for all groups, each in a transaction of its own. @returns the number of removed slots */
export async function joinSlots(pool: Pool, beforeMs: number): Promise<number> {
  const slot = slotOf(beforeMs);
  const groups = await pool.query<{ group_id: string }>(
    "SELECT DISTINCT group_id FROM parley.group_spending WHERE slot > 0 AND slot < $1",
    [slot],
  );
  const transact = transactionsOf(pool);
  let removed = 0;
  for (const { group_id: id } of groups.rows)
    removed += await transact(async (client) => {
      // The row of the group guards its slots. The statement after the lock sees all that was committed before.
      await client.query("INSERT INTO parley.group_periods (group_id) VALUES ($1) ON CONFLICT DO NOTHING", [id]);
      await client.query("SELECT FROM parley.group_periods WHERE group_id = $1 FOR UPDATE", [id]);
      const { rows } = await client.query<{ removed: number }>(joinSlotsOfGroup, [id, slot]);
      return rows[0]?.removed ?? 0;
    });
  return removed;
}
