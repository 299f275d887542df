import { expect, test } from "vitest";
import { withKey } from "@parley/server/testing";
import { canShare, useReplicas } from "../../../test/use-replicas.ts";

const replicas = useReplicas(1);

test.skipIf(!canShare)(
  "OPS-18 a valid key gets 503 while PostgreSQL is away (this needs PostgreSQL and Valkey or Redis)",
  async () => {
    const { servers, postgres } = replicas();
    const [server] = servers;
    const key = withKey(await server.makeKey());
    await postgres.kill();
    const response = await server.fetch("/models", key);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ error: { code: "service_unavailable", param: null } });
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await postgres.start();
    expect((await server.fetch("/models", key)).status).toBe(200);
  },
);
