import { afterAll, beforeAll, expect, test } from "vitest";
import {
  postgresFolder,
  startTestServer,
  startValkey,
  TestPostgres,
  valkeyProgram,
  withKey,
} from "@parley/server/testing";
import type { TestOptions, TestServer, TestValkey } from "@parley/server/testing";

/** True where PostgreSQL and Valkey (or Redis) are installed. */
export const canShare = postgresFolder !== undefined && valkeyProgram !== undefined;

/** Several servers that share one PostgreSQL and one Valkey. */
export interface Replicas {
  readonly postgres: TestPostgres;
  readonly databaseUrl: string;
  readonly valkey: TestValkey;
  readonly servers: readonly [TestServer, ...TestServer[]];
}

/** Starts servers on shared state for the tests of a file or a block, if that can be installed here. */
export function useReplicas(
  count: number,
  { settings, ...options }: TestOptions = {},
  limitsIn: "Valkey" | "PostgreSQL" = "Valkey",
): () => Replicas {
  const started = new AsyncDisposableStack();
  let replicas: Replicas | undefined;
  beforeAll(async () => {
    if (!canShare) return;
    const postgres = started.use(await TestPostgres.start());
    const valkey = started.use(await startValkey());
    const databaseUrl = postgres.urlOf(await postgres.createDatabase());
    const valkeyUrl = limitsIn === "Valkey" ? valkey.url : undefined;
    const start = async (): Promise<TestServer> =>
      started.use(await startTestServer({ ...options, settings: { ...settings, databaseUrl, valkeyUrl } }));
    const first = await start();
    replicas = {
      postgres,
      databaseUrl,
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

/** Tests that a valid key gets 503 on a path while PostgreSQL is away, and `status` when it is back. */
export function testAwayPostgres(path: string, status = 200): void {
  const replicas = useReplicas(1);
  const needs = "(this needs PostgreSQL and Valkey or Redis)";
  test.skipIf(!canShare)(`OPS-18 a valid key gets 503 while PostgreSQL is away ${needs}`, async () => {
    const { servers, postgres } = replicas();
    const [server] = servers;
    const key = withKey(await server.makeKey());
    await postgres.kill();
    const response = await server.fetch(path, key);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: "service_unavailable", param: null } });
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await postgres.start();
    expect((await server.fetch(path, key)).status).toBe(status);
  });
}
