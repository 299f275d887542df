/**
 * Something that a request has taken: a share of a limit, memory, money, slots or an open ledger entry. An `Admission` ends it
 * once, by one of the two methods. Neither should throw or reject.
 */
export interface Lease<Used> {
  /** Ends the lease of a request that was served. Keeps the part that was used, and gives back the rest. */
  commit(used: Used): void | Promise<void>;
  /** Ends the lease of a request that was not served. Gives everything back. */
  rollback(): void | Promise<void>;
}
