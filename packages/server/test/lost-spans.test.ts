import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { freePort, startTestServer, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { openTracing } from "../src/observe/open-tracing.ts";

/** Collectors that do not take the spans. Their faults cost the requests nothing. */

const closing: (() => unknown)[] = [];
beforeEach(() => void vi.stubEnv("OTEL_EXPORTER_OTLP_TIMEOUT", "500"));
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  vi.unstubAllEnvs();
});

/** Opens a collector. @returns its URL, and a function that kills it */
async function openBroken(listener: RequestListener, wanted = 0): Promise<{ url: string; kill: () => void }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(wanted, "127.0.0.1", resolve));
  const kill = (): void => {
    server.close();
    server.closeAllConnections();
  };
  closing.push(kill);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, kill }; // it listens on a port
}

async function startFor(otlpEndpoint: string): Promise<TestServer> {
  const server = await startTestServer({ settings: { otlpEndpoint } });
  closing.push(() => server[Symbol.asyncDispose]());
  return server;
}

const countOf = (server: TestServer, outcome: "sent" | "lost") => (): Promise<number | undefined> =>
  server.gauge(`parley_spans_total{outcome="${outcome}"}`);

const take: RequestListener = (request, response) => void request.resume().on("end", () => response.end("{}"));
const silent: RequestListener = () => undefined;

const broken: readonly (readonly [title: string, listener: RequestListener])[] = [
  ["answers 500", (_request, response) => void response.writeHead(500).end("no")],
  [
    "answers 503 and wants to be asked in an hour",
    (_request, response) => void response.writeHead(503, { "retry-after": "3600" }).end(),
  ],
  [
    "refuses the whole path",
    (request, response) => void request.resume().on("end", () => response.writeHead(404).end()),
  ],
  ["reads nothing and never answers", silent],
  ["breaks every connection off", (request) => void request.socket.destroy()],
  ["answers without an end", (_request, response) => pour(response)],
];

/** Writes an answer of 5 MB, as fast as it is read. */
function pour(response: Parameters<RequestListener>[1]): void {
  for (let written = 0; written < 5_000_000; written += 50_000) response.write("x".repeat(50_000));
}

describe("a collector that", () => {
  test("is broken in any way costs lost spans, one line of the log, and no answer", async () => {
    const costOf = async (title: string, url: string): Promise<readonly unknown[]> => {
      const server = await startFor(url);
      for (let asked = 0; asked < 3; asked += 1) await server.complete({ max_completion_tokens: 8 });
      const lost = await until(countOf(server, "lost"), (count) => count === 9, 15_000);
      const lines = server.logLines.filter((line) => line.includes("Spans cannot be sent"));
      return [title, lost, await countOf(server, "sent")(), lines.length];
    };
    // At the same time, because each of them waits for its collector.
    const costs = await Promise.all([
      ...broken.map(async ([title, listener]) => costOf(title, (await openBroken(listener)).url)),
      costOf("is not there", `http://127.0.0.1:${await freePort()}`),
    ]);
    expect(costs).toEqual([...broken.map(([title]) => title), "is not there"].map((title) => [title, 9, 0, 1]));
  });

  test("is killed and started again gets the spans of later requests", async () => {
    const first = await openBroken(take);
    const server = await startFor(first.url);
    await server.complete({ max_completion_tokens: 8 });
    await until(countOf(server, "sent"), (count) => count === 3);
    first.kill();
    await server.complete({ max_completion_tokens: 8 });
    await until(countOf(server, "lost"), (count) => count === 3, 10_000);
    await openBroken(take, Number(new URL(first.url).port));
    await server.complete({ max_completion_tokens: 8 });
    expect(await until(countOf(server, "sent"), (count) => count === 6, 10_000)).toBe(6);
  });

  test("never answers delays the end of a server by a second at most", async () => {
    const server = await startFor((await openBroken(silent)).url);
    await server.complete({ max_completion_tokens: 8 });
    const beganMs = performance.now();
    await server.running.close();
    expect(performance.now() - beganMs).toBeLessThan(8000);
  });

  test("never answers gets no more spans than 4,096 that wait, and the rest is counted at once", async () => {
    const { url } = await openBroken(silent);
    const tracing = openTracing({ endpoint: url, ratio: 1, nowMs: Date.now, onFailure: () => undefined });
    closing.push(() => tracing[Symbol.asyncDispose]());
    const record = { id: "req_1", method: "POST", path: "/v1/chat/completions", client: "", startedAtMs: 0 };
    const requests = 5000;
    for (let ended = 0; ended < requests; ended += 1) tracing.begin({}).end(record, 401, 1);
    expect(tracing.counts).toMatchObject({ sent: 0, lost: requests - 4096 });
    expect(
      await until(
        () => tracing.counts.lost,
        (lost) => lost === requests,
        15_000,
      ),
    ).toBe(requests);
  });
});
