import { storeVariables, valkeyDatabases } from "./shared-stores.ts";
import { TestPostgres } from "./start-postgres.ts";
import { startValkey } from "./start-valkey.ts";

/**
 * Starts one PostgreSQL and one Valkey for a run of vitest, as a global setup. All test servers then keep their state there.
 * @returns a function that ends both
 */
export async function setup(): Promise<() => Promise<void>> {
  const started = new AsyncDisposableStack();
  const postgres = started.use(await TestPostgres.start(["fsync=off", "max_connections=400"]));
  await postgres.query("CREATE SEQUENCE test_servers");
  const valkey = started.use(await startValkey("--databases", String(valkeyDatabases)));
  // Workers inherit the environment.
  process.env[storeVariables.postgres] = `postgres://admin:secret@127.0.0.1:${postgres.port}`;
  process.env[storeVariables.valkey] = valkey.url;
  return () => started.disposeAsync();
}
