import type { AdminKeyStore } from "../admin-keys/admin-key-store.ts";
import type { AuditLog } from "../audit/audit-log.ts";
import type { GroupStore } from "../groups/group-store.ts";
import type { KeyStore } from "../keys/key-store.ts";
import type { UsageLedger } from "../ledger/usage-ledger.ts";

/** The stores that operators change. */
export interface ChangeStores {
  readonly keys: KeyStore;
  readonly groups: GroupStore;
  readonly adminKeys: AdminKeyStore;
  readonly audit: AuditLog;
}

/**
 * The connection to the database was lost at the end of a change, so the one who asked for it has no answer. The message says
 * whether the change was made.
 */
export class LostAnswerError extends Error {
  override readonly name = "LostAnswerError";
}

/**
 * Makes changes in one transaction: all of them, or none if the work rejects. Rejects with a `LostAnswerError` if it is unknown
 * whether they were committed. The work gets the stores that take part in the
 * transaction, and must wait for nothing else. Of all processes that share the state, one runs such work at a time.
 */
export type Transact = <T>(work: (stores: ChangeStores) => Promise<T>) => Promise<T>;

/** The state that the verbs read and change. */
export interface ManagedState extends ChangeStores {
  readonly ledger: Pick<
    UsageLedger,
    "spentUsd" | "spentByKey" | "groupSpentUsd" | "sum" | "find" | "entries" | "prune"
  >;
  readonly transact: Transact;
}
