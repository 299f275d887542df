import { DatabaseError } from "pg";
import type { Pool, PoolClient } from "pg";
import { LostAnswerError } from "../../accounts/manage/managed-state.ts";

/**
 * Runs work in a transaction on one connection. If the work rejects, everything is rolled back. Rejects with a
 * `LostAnswerError` if the connection was lost during the commit.
 */
export type RunTransaction = <T>(work: (client: PoolClient) => Promise<T>) => Promise<T>;

/** Returns a function that begins and commits transactions of a pool. */
export const transactionsOf =
  (pool: Pool): RunTransaction =>
  async (work) => {
    const client = await pool.connect();
    let failure: Error | undefined;
    try {
      await client.query("BEGIN");
      const result = await work(client);
      await client.query("COMMIT").catch(explainCommit);
      return result;
    } catch (error) {
      // A connection that cannot roll back is closed, which rolls back.
      await client.query("ROLLBACK").catch((reason: Error) => (failure = reason));
      throw error;
    } finally {
      client.release(failure);
    }
  };

/** An error that PostgreSQL reports has rolled the transaction back, except when PostgreSQL was ended meanwhile. */
function explainCommit(cause: unknown): never {
  if (cause instanceof DatabaseError && !cause.code?.startsWith("57P")) throw cause;
  const message =
    "The connection to the database was lost during the commit, so the change may or may not have been made. Look before you try again.";
  throw new LostAnswerError(message, { cause });
}

/** Identifies the changes of operators among the advisory locks of a database. */
const changeLock = 7_305_817_201;

/**
 * Returns a function that runs work like `transactionsOf`. Of all servers that share the database, one does so at a time.
 * @param maxIdleMs a server that pauses for this time in its transaction loses it, so that it does not block the others
 */
export const changesOf = (pool: Pool, maxIdleMs: number): RunTransaction => {
  const run = transactionsOf(pool);
  return (work) =>
    run(async (client) => {
      await client.query(
        "SELECT set_config('idle_in_transaction_session_timeout', $2, true), pg_advisory_xact_lock($1)",
        [changeLock, String(maxIdleMs)],
      );
      return work(client);
    });
};
