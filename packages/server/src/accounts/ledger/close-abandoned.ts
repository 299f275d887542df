import type { UsageLedger } from "./usage-ledger.ts";

/**
 * Closes the entries that a dead server left open, with the usage of their last checkpoint.
 * @returns the number of entries
 */
export async function closeAbandoned(ledger: UsageLedger, endedMs: number): Promise<number> {
  const entries = await ledger.abandoned();
  for (const { id, keyId, usage } of entries) {
    // The service took the answer away, so nobody pays for it (OPS-17).
    await ledger.close({ id, keyId, usage, outcome: "abandoned", errorCode: undefined, costUsd: "0", endedMs });
  }
  return entries.length;
}
