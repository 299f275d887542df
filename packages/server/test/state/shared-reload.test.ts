import { expect, test } from "vitest";
import { until, withKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { canShare, useReplicas } from "../use-replicas.ts";

const replicas = useReplicas(2);
const needs = canShare ? "" : " (this needs PostgreSQL and Valkey or Redis)";
const actor = { kind: "user", name: "alice", from: { address: "host", agent: "SIGHUP" } } as const;
const pricing = { prompt: "0.5", completion: "0.5", image: "0", request: "0" };

function reload({ running }: TestServer): Promise<void> {
  const read = () => ({
    ...running.settings(),
    totalTokensPerMinute: 2000,
    models: running.settings().models.map((model) => ({ ...model, pricing })),
  });
  return running.reload(read, actor);
}

test.skipIf(!canShare)(
  `the register of servers and the shared limits follow a reload of each server${needs}`,
  async () => {
    const [first, second] = replicas().servers as [TestServer, TestServer]; // as many as were asked for
    const differing = (wanted: number): Promise<unknown> =>
      until(
        () => Promise.all([first, second].map((server) => server.gauge("parley_servers_differing"))),
        (seen) => seen.every((count) => count === wanted),
        45_000,
      );
    const limitOf = async (server: TestServer): Promise<string | null> => {
      const { headers } = await server.chat({ max_completion_tokens: 1 }, withKey(await server.makeKey()));
      return headers.get("x-ratelimit-limit-tokens");
    };
    await reload(first);
    await differing(1);
    expect(await limitOf(first)).toBe("2000");
    await reload(second);
    await differing(0);
    expect(await limitOf(second)).toBe("2000");
    const entries = await second.running.state.audit.read({ action: "reloadSettings" }, 10);
    expect(entries.map(({ outcome }) => outcome)).toEqual(["done", "done"]);
  },
);
