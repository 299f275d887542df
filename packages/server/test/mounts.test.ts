import { getEventListeners, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as fc from "fast-check";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { requestBodies } from "../../../openapi/checks/request-bodies.ts";
import { createApp } from "../src/app.ts";
import type { Deps } from "../src/deps.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };
import { useServer } from "./use-server.ts";

const onNode = useServer({ mount: "node" });
const onExpress = useServer({ mount: "express" });

/** Returns the parts of an answer that are the same at any time and on every server. */
async function answerOf(server: typeof onNode, body: string): Promise<readonly unknown[]> {
  const response = await server().fetch("/chat/completions", {
    method: "POST",
    body,
    headers: { "content-type": "application/json", origin: "http://localhost" },
  });
  const headers = [...response.headers].filter(([name]) => !/^(date|x-request-id|x-ratelimit-.*)$/.test(name));
  const text = (await response.text()).replaceAll(
    /"(request_id|id|created|system_fingerprint)": ?("[^"]*"|\d+)/g,
    '"$1":',
  );
  return [response.status, headers, text];
}

const hostile = fc.oneof(
  fc.constantFrom("", " ", "null", "[]", '"a"', "1e400", "{", '{"model":', "\u0000", '{"__proto__":{"model":"a"}}'),
  fc.constantFrom(`${"[".repeat(200)}${"]".repeat(200)}`, `[${"0,".repeat(40_000)}0]`, '{"messages":'.repeat(129)),
  fc.json(),
  fc.string({ unit: "binary" }),
);

/** Bodies drawn from the schema of the contract, most of them for an existing model. */
const requests = requestBodies(contract.components.schemas).map((body) =>
  body.replace(/^\{"model":"(?:[^"\\]|\\.)*"/, '{"model":"vendor/model-1"'),
);

test("a body gets the same answer on Node's server and through Express, whatever it is", async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(fc.oneof({ arbitrary: requests, weight: 3 }, hostile), async (body) => {
      const [node, express] = await Promise.all([answerOf(onNode, body), answerOf(onExpress, body)]);
      expect(node).toEqual(express);
      const status = Number(node[0]);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }),
    { numRuns: 400 },
  );
  // The test needs many answers of each kind.
  expect(statuses.get(200)).toBeGreaterThan(20);
  expect(statuses.get(400)).toBeGreaterThan(100);
});

test.each([
  ["GET", "/health"],
  ["HEAD", "/health"],
  ["GET", "/ready"],
  ["GET", "/ready?model=vendor/model-1"],
  ["GET", "/ready?model=nobody"],
  ["GET", "/ready?model=vendor/model-1&model=vendor/model-1-mini"],
])("%s %s is answered without a key, however it is spelt", async (method, path) => {
  const [, name = "", query = ""] = /^(\/\w+)(.*)$/.exec(path) ?? [];
  // Node's own server answers the plain spelling, which load balancers use. Express answers the other one.
  const [plain, other] = await Promise.all(
    [path, `${name}/${query}`].map(async (spelling) => {
      const response = await fetch(onNode().origin + spelling, { method });
      return [response.status, response.headers.get("content-type"), await response.text()] as const;
    }),
  );
  expect(plain).toEqual(other);
  expect(plain?.[0]).toBe(path.includes("nobody") || path.includes("&") ? 404 : 200);
});

test("a fault before a request has its name ends its connection and nothing else", async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const brokenClock = () => {
    throw new Error("the clock is broken");
  };
  const config = { requestTimeoutMs: 60_000, trustedProxies: [], corsOrigins: [] };
  // The request fails when it is opened, so no other dependency is used.
  const deps = { config, log, elapsedMs: brokenClock, shutdown: new AbortController().signal } as unknown as Deps;
  const server = createServer(createApp(deps, "node")).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  for (let time = 0; time < 2; time += 1)
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed");
  expect(lines.filter((line) => line.includes("could not be answered"))).toHaveLength(2);
});

test("requests for which Express cannot be loaded are answered with 500, and leave nothing behind", async () => {
  const shutdown = new AbortController().signal;
  const deps = {
    // The mount of Express cannot be created without `models`.
    config: { requestTimeoutMs: 60_000, trustedProxies: [], corsOrigins: ["*"] },
    gate: {},
    log: pino({ enabled: false }),
    metrics: { countRequest: () => undefined },
    refusals: { next: () => undefined },
    elapsedMs: () => performance.now(),
    shutdown,
  } as unknown as Deps; // no other dependency is used
  const server = createServer(createApp(deps, "node")).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const listeners = getEventListeners(shutdown, "abort").length;
  for (let time = 0; time < 3; time += 1) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/models`);
    expect([response.status, await response.json()]).toEqual([
      500,
      expect.objectContaining({ error: expect.objectContaining({ code: "internal_error" }) }),
    ]);
  }
  expect(getEventListeners(shutdown, "abort")).toHaveLength(listeners);
});
