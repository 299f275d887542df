import { afterAll, beforeAll } from "vitest";
import { postgresFolder, startPostgres, startTestServer, startValkey, valkeyProgram } from "@parley/server/testing";
import type { TestOptions, TestPostgres, TestServer, TestValkey } from "@parley/server/testing";

/** True where PostgreSQL and Valkey (or Redis) are installed. */
export const canShare = postgresFolder !== undefined && valkeyProgram !== undefined;

/** Several servers that share one PostgreSQL and one Valkey. */
export interface Replicas {
  readonly postgres: TestPostgres;
  readonly valkey: TestValkey;
  readonly servers: readonly [TestServer, ...TestServer[]];
}

/** Starts servers on shared state for the tests of a file or a block, if that can be installed here. */
export function useReplicas(count: number, { settings, ...options }: TestOptions = {}): () => Replicas {
  const started = new AsyncDisposableStack();
  let replicas: Replicas | undefined;
  beforeAll(async () => {
    if (!canShare) return;
    const postgres = started.use(await startPostgres());
    const valkey = started.use(await startValkey());
    const stores = { databaseUrl: postgres.url, valkeyUrl: valkey.url };
    const start = async (): Promise<TestServer> =>
      started.use(await startTestServer({ ...options, settings: { ...settings, ...stores } }));
    const first = await start();
    replicas = {
      postgres,
      valkey,
      servers: [first, ...(await Promise.all(Array.from({ length: count - 1 }, start)))],
    };
  }, 60_000);
  afterAll(() => started.disposeAsync(), 30_000);
  return () => {
    if (!replicas) throw new Error("the servers are there from the first test on");
    return replicas;
  };
}
