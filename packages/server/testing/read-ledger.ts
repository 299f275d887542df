import type { EntrySelection } from "../src/accounts/ledger/usage-ledger.ts";
import { openStateOf } from "../src/state/open-state.ts";
import { toLedgerRow } from "./ledger-row.ts";
import type { LedgerRow } from "./ledger-row.ts";
import { storesOf } from "./shared-stores.ts";

/** Returns the ledger entries of a data folder, sorted by start. A server may use the folder meanwhile. */
export async function readLedger(dataDir: string, selection?: EntrySelection): Promise<LedgerRow[]> {
  await using state = await openStateOf({ dataDir, databaseUrl: storesOf(dataDir)?.databaseUrl });
  const rows: LedgerRow[] = [];
  for await (const entry of state.ledger.entries(selection)) rows.push(toLedgerRow(entry));
  return rows;
}
