import { finalCost } from "./final-cost.ts";
import type { UsageLedger } from "./usage-ledger.ts";

/**
 * Closes the entries that a dead server left open, with the usage of their last checkpoint.
 * @returns the number of entries
 */
export async function closeAbandoned(ledger: UsageLedger, endedMs: number): Promise<number> {
  const entries = await ledger.abandoned();
  for (const { id, keyId, usage, pricing } of entries) {
    const ending = { outcome: "abandoned", errorCode: undefined } as const;
    const costUsd = finalCost(usage, { ...ending, isServiceFault: false }, pricing);
    await ledger.close({ id, keyId, usage, ...ending, costUsd, endedMs });
  }
  return entries.length;
}
