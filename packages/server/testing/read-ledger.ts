import type { EntrySelection } from "../src/accounts/ledger/usage-ledger.ts";
import { openState } from "../src/state/open-state.ts";
import { toLedgerRow } from "./ledger-row.ts";
import type { LedgerRow } from "./ledger-row.ts";

/** Returns the ledger entries of a data folder, sorted by start. A server may use the folder meanwhile. */
export async function readLedger(dataDir: string, selection?: EntrySelection): Promise<LedgerRow[]> {
  using state = openState(dataDir);
  const rows: LedgerRow[] = [];
  for await (const entry of state.ledger.entries(selection)) rows.push(toLedgerRow(entry));
  return rows;
}
