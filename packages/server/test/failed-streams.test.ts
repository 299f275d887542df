import { expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { judgeStream, modelId, play, startTestServer, testKey, until } from "@parley/server/testing";
import type { TestServer } from "@parley/server/testing";
import { RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

// The body of a failed stream is complete as HTTP. If the connection broke after the error event, clients that read through a
// chain of streams, such as the Vercel AI SDK, would lose the event (docs/decisions/2026-11-ends-of-failed-streams.md).

const begun: readonly ScriptStep[] = [{ role: true, tokens: 0 }, { text: "one" }, { text: " two" }];
const scenarios = {
  fail: [...begun, { fail: "out of memory" }],
  "fail-at-once": [{ wait_ms: 150 }, { fail: "out of memory" }],
  refuse: [{ wait_ms: 150 }, { refuse: "no" }],
  die: [...begun, { wait_ms: 100 }, { die: true }],
  reset: [...begun, { wait_ms: 50 }, { reset: true }],
  unfinished: [...begun],
  flood: [{ role: true }, { repeat: 500, steps: [{ text: "x".repeat(1000), tokens: 0 }] }, { fail: "out of memory" }],
  stall: [...begun, { stall: true }],
} satisfies Record<string, readonly ScriptStep[]>;

const server = useServer({ settings: { firstEventMs: 60, requestTimeoutMs: 3000 }, scenarios });

function askFor(name: string, members: object = {}, key = testKey, version = "1.1"): string {
  const body = JSON.stringify({ model: modelId, ...play(name), ...members, stream: true });
  const headers = { Host: "x", Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const request = requestText("POST /v1/chat/completions", { ...headers, "Content-Length": String(body.length) }, body);
  return request.replace("HTTP/1.1", `HTTP/${version}`);
}

/** Reads a stream that fails, and then the answer to another request on the same connection. */
async function readBoth(connection: RawConnection, request: string, members: object = {}) {
  const answer = await connection.ask(request);
  const { end, error } = judgeStream({ ...members }, answer?.body ?? "");
  const next = await connection.ask(requestText("GET /v1/models", { Host: "x", Authorization: `Bearer ${testKey}` }));
  return { coding: answer?.headers["transfer-encoding"], end, code: error?.code, next: next?.status };
}

const complete = (code: string): object => ({ coding: "chunked", end: "failed", code, next: 200 });

test.each([
  ["fail", {}, "upstream_error"],
  ["fail", { n: 2, stream_options: { include_usage: true } }, "upstream_error"],
  ["fail-at-once", {}, "upstream_error"],
  ["refuse", {}, "internal_error"],
  ["reset", {}, "upstream_error"],
  ["unfinished", {}, "upstream_error"],
  ["flood", {}, "upstream_error"],
  ["stall", {}, "timeout"],
  ["die", {}, "upstream_error"],
])(
  "a stream that fails ends its body, and its connection serves the next request: %s %j",
  async (name, members, code) => {
    const [model] = server().running.models;
    await model?.engine.whenReady();
    using connection = await RawConnection.open(server().origin);
    expect(await readBoth(connection, askFor(name, members), members)).toEqual(complete(code));
  },
);

test("so does one that ends because its key is disabled", async () => {
  const token = await server().makeKey();
  const id = token.slice("parley_".length, token.indexOf("."));
  await server().running.models[0]?.engine.whenReady();
  using connection = await RawConnection.open(server().origin);
  const both = readBoth(connection, askFor("stall", {}, token));
  await until(
    () => connection.socket.bytesRead,
    (bytes) => bytes > 0,
  );
  await server().running.keys.disable(id, Date.now());
  expect(await both).toEqual(complete("invalid_api_key"));
});

test("a client of HTTP/1.0 gets the error event last, and no reset", async () => {
  using connection = await RawConnection.open(server().origin);
  connection.send(askFor("fail", {}, testKey, "1.0"));
  await connection.closed;
  const [head = "", body = ""] = connection.rest.split("\r\n\r\n", 2);
  expect(head).not.toMatch(/transfer-encoding/i);
  expect(judgeStream({}, body)).toMatchObject({ end: "failed", error: { code: "upstream_error" } });
  expect(connection.socket.errored).toBeNull();
});

test("a server that stops ends the bodies of its streams before it closes their connections", async () => {
  const stopping: TestServer = await startTestServer({ settings: { drainMs: 100 }, scenarios });
  using connection = await RawConnection.open(stopping.origin);
  connection.send(askFor("stall"));
  await until(
    () => connection.socket.bytesRead,
    (bytes) => bytes > 0,
  );
  await stopping[Symbol.asyncDispose]();
  await connection.closed;
  expect(connection.rest).toMatch(/"service_unavailable"\},"request_id":"req_\w+"\}\n\n\r\n0\r\n\r\n$/);
  expect(connection.socket.errored).toBeNull();
});
