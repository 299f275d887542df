import { describe, expect, onTestFinished, test } from "vitest";
import { miniFolder } from "@parley/inference/testing";
import { chatWell, openPlace } from "@parley/inference/testing/places";
import { TestPostgres, miniId, startTestServer, startValkey, until, withKey } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { canShare } from "../use-replicas.ts";

const needs = canShare ? "" : " (this needs PostgreSQL and Valkey or Redis)";

describe.skipIf(!canShare)(`two servers with one engine${needs}`, () => {
  test("divide its slots, follow each other, and warn of different prices", async () => {
    const { place, start, first } = await openWorld();
    expect(await sharesOf(first)).toEqual({ slots: 5, servers: 1, differing: 0 });
    const second = await start("0.2");
    expect(await sharesOf(second)).toEqual({ slots: 2, servers: 2, differing: 1 });
    const seen = await until(
      () => sharesOf(first),
      ({ servers }) => servers === 2,
      10_000,
    );
    expect(seen).toEqual({ slots: 3, servers: 2, differing: 1 });
    expectWarning(first, "0.1 here, 0.2 there");
    expectWarning(second, "0.2 here, 0.1 there");

    /** Functions that answer the requests that the engine has. */
    const held: (() => void)[] = [];
    place.answer = (...request) => void held.push(() => chatWell(...request));
    const untilHeld = (count: number): Promise<number> =>
      until(
        () => held.length,
        (length) => length === count,
        10_000,
      );
    const key = withKey(await first.makeKey());
    const ask = (server: TestServer, count: number): Promise<unknown>[] =>
      Array.from({ length: count }, () => server.complete({ model: miniId }, key));
    const answers = [...ask(first, 8), ...ask(second, 2)];
    await untilHeld(5);
    expect([await inUse(first), await inUse(second)]).toEqual([3, 2]);
    for (const answer of held.splice(0)) answer();
    await untilHeld(3);
    // Two requests still wait at the first server, and get the slots of the second one when it has closed.
    await second[Symbol.asyncDispose]();
    await untilHeld(5);
    expect(await sharesOf(first)).toEqual({ slots: 5, servers: 1, differing: 0 });
    for (const answer of held) answer();
    await Promise.all(answers);
  }, 60_000);
});

/** Starts a server whose engine has five slots, and returns a function that starts another one with another price. */
async function openWorld() {
  const started = new AsyncDisposableStack();
  onTestFinished(() => started.disposeAsync());
  const place = await openPlace(chatWell, 0, "/v1/chat/completions");
  place.listed = { owned_by: "vllm" };
  const postgres = started.use(await TestPostgres.start());
  const valkey = started.use(await startValkey());
  const databaseUrl = postgres.urlOf(await postgres.createDatabase());
  const start = (prompt: string): Promise<TestServer> => {
    const remote = { urls: [place.url], model: "there", tokenizer: miniFolder, protocol: "chat" } as const;
    const pricing = { prompt, completion: "0.1" };
    const models = { "model-1-mini": { engine: "remote", remote, slots: 5, pricing } } as const;
    return startTestServer({ settings: { models, databaseUrl, valkeyUrl: valkey.url } });
  };
  return { place, start, first: started.use(await start("0.1")) };
}

function expectWarning({ logLines }: TestServer, values: string): void {
  const warnings = logLines.filter((line) => line.includes("has other prices or limits"));
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(`${miniId} pricing.prompt: ${values}`);
}

const inUse = (server: TestServer): Promise<number> => server.gauge(`parley_slots_in_use{model="${miniId}"}`);

/** Reads one page of metrics, so the values belong together. */
async function sharesOf(server: TestServer): Promise<Record<"slots" | "servers" | "differing", number>> {
  const lines = (await server.metrics()).split("\n");
  const read = (name: string): number =>
    Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? Number.NaN);
  return {
    slots: read(`parley_slots{model="${miniId}"}`),
    servers: read("parley_servers_live"),
    differing: read("parley_servers_differing"),
  };
}
