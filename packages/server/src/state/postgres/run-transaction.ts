import type { Pool, PoolClient } from "pg";

/** Runs work in a transaction on one connection. If the work rejects, everything is rolled back. */
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
      await client.query("COMMIT");
      return result;
    } catch (error) {
      // A connection that cannot roll back is closed, which rolls back.
      await client.query("ROLLBACK").catch((reason: Error) => (failure = reason));
      throw error;
    } finally {
      client.release(failure);
    }
  };

/** Identifies the changes of operators among the advisory locks of a database. */
const changeLock = 7_305_817_201;

/** Returns a function that runs work like `transactionsOf`. Of all servers that share the database, one does so at a time. */
export const changesOf = (pool: Pool): RunTransaction => {
  const run = transactionsOf(pool);
  return (work) =>
    run(async (client) => {
      await client.query("SELECT pg_advisory_xact_lock($1)", [changeLock]);
      return work(client);
    });
};
