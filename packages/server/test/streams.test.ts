import { describe, expect, test } from "vitest";
import type { ScriptStep } from "@parley/inference";
import { judgeStream, miniId, modelId, play, say, testKey, until } from "@parley/server/testing";
import type { StreamReport, TestServer } from "@parley/server/testing";
import { RawConnection, requestText } from "./raw.ts";
import { useServer } from "./use-server.ts";

// Failures and ends of streams that have begun.

const begun: readonly ScriptStep[] = [{ role: true, tokens: 0 }, { text: "one" }, { text: " two" }];
const counters = { promptTokens: 5, cachedTokens: 0, completionTokens: 9, reasoningTokens: 0 };
/** An event that the engine writes behind this usage. */
const raw = (event: object, usage: object = counters): ScriptStep => ({
  raw: `${JSON.stringify({ kind: "usage", usage })}\n${JSON.stringify({ choice: 0, ...event })}\n`,
});

interface Streamed extends StreamReport {
  readonly headers: Headers;
}

async function streamOf(server: TestServer, name: string, members: object = {}): Promise<Streamed> {
  const asked = { ...play(name), ...members, stream: true };
  const response = await server.chat(asked);
  expect(response.status).toBe(200);
  return { ...judgeStream(asked, await response.text()), headers: response.headers };
}

describe("STRM-22 STRM-23 STRM-25 STRM-41 an engine that ends in mid-stream is reported as a failure: it", () => {
  const breaks = {
    fails: [{ fail: "CUDA out of memory" }],
    "breaks the connection": [{ wait_ms: 50 }, { reset: true }],
    "sends bytes that are not JSON": [{ raw: "<html>\n" }],
    "cuts an event in half": [{ raw: '{"kind":"text","choice":0,' }, { wait_ms: 50 }, { reset: true }],
    "says an unknown kind of event": [raw({ kind: "banana" })],
    "ends without a finish": [],
    "finishes for no legal reason": [raw({ kind: "finish", reason: "abort" })],
    "says that it is done": [{ raw: "data: [DONE]\n" }],
    "says the role again": [{ role: true }, { finish: "stop" }],
    "writes an unknown choice": [{ choice: 3, text: "a" }, { finish: "stop" }],
    "says that it called, and did not": [{ finish: "tool_calls" }],
    "loses count": [raw({ kind: "text", text: "a", tokens: [] }, { ...counters, completionTokens: null })],
  } satisfies Record<string, readonly ScriptStep[]>;
  const server = useServer({
    scenarios: Object.fromEntries(Object.entries(breaks).map(([name, steps]) => [name, [...begun, ...steps]])),
  });

  test.each(Object.keys(breaks))("STRM-24 %s", async (name) => {
    const { end, error, text, headers } = await streamOf(server(), name);
    expect(end).toBe("failed");
    expect(text).toBe("one two");
    expect(error).toMatchObject({ code: "upstream_error", requestId: headers.get("x-request-id") });
    expect(error?.message).not.toContain("CUDA");
  });

  test("STRM-22 after one of two choices has finished, and with the counts asked for", async () => {
    const { end, error } = await streamOf(server(), "fails", { n: 2, stream_options: { include_usage: true } });
    expect([end, error?.code]).toEqual(["failed", "upstream_error"]);
  });
});

describe("an engine that dies in mid-stream", () => {
  const server = useServer({ scenarios: { die: [...begun, { wait_ms: 100 }, { die: true }] } });

  test("OPS-07 OPS-08 OPS-16 OPS-17 fails its streams, records what was delivered, charges nothing, and comes back", async () => {
    const other = server().stream({ model: miniId, ...say("a b c") });
    const { end, error } = await streamOf(server(), "die");
    expect([end, error?.code]).toEqual(["failed", "upstream_error"]);
    expect((await other).end).toBe("done");
    const row = await until(
      async () => (await server().ledger()).find(({ model }) => model === modelId),
      (one) => one?.ended_ms != null,
    );
    const recorded = { outcome: "failed", error_code: "upstream_error", completion_tokens: 2, cost_usd: "0" };
    expect(row).toMatchObject(recorded);
    await until(
      async () => (await server().chat()).status,
      (status) => status === 200,
    );
  });
});

describe("time", () => {
  const server = useServer({
    settings: { firstEventMs: 60, keepAliveMs: 50, requestTimeoutMs: 2000 },
    scenarios: {
      silent: [{ stall: true }],
      "silent later": [...begun, { stall: true }],
      late: [{ wait_ms: 400 }, ...begun, { finish: "stop" }],
      "late refusal": [{ wait_ms: 200 }, { refuse: "no" }],
      "late failure": [{ wait_ms: 200 }, { fail: "no" }],
    },
  });

  test("STRM-28 STRM-26 the head comes after a while of patience, and until then a failure is an HTTP error", async () => {
    const asked = performance.now();
    const response = await server().chat({ ...play("silent"), stream: true });
    expect(response.status).toBe(200);
    expect(performance.now() - asked).toBeGreaterThanOrEqual(60);
    await response.body?.cancel();
  });

  test("STRM-29 comments interrupt the silence, and they are not events", async () => {
    const { end, comments, text } = await streamOf(server(), "late");
    expect([end, text]).toEqual(["done", "one two"]);
    expect(comments).toBeGreaterThanOrEqual(2);
  });

  test.each(["silent", "silent later"])(
    "STRM-30 OPS-03 a stream that reaches its bound fails with timeout: %s",
    async (name) => {
      const { end, error } = await streamOf(server(), name);
      expect([end, error?.code]).toEqual(["failed", "timeout"]);
    },
  );

  test("STRM-41 a refusal that is too late for an HTTP error is a failure of the engine", async () => {
    expect((await streamOf(server(), "late refusal")).error?.code).toBe("internal_error");
    expect((await streamOf(server(), "late failure")).error?.code).toBe("upstream_error");
  });
});

describe("events", () => {
  const server = useServer({
    scenarios: { open: [...begun, { stall: true }], split: [{ split: true }, ...begun, { finish: "stop" }] },
  });

  test("STRM-31 STRM-33 are sent when the engine yields them", async () => {
    const response = await server().chat({ ...play("open"), stream: true });
    let seen = "";
    for await (const chunk of response.body ?? []) {
      seen += Buffer.from(chunk).toString("utf8");
      if (seen.includes('" two"')) break;
    }
    expect(seen).not.toContain("[DONE]");
  });

  test("STRM-37 are the same for any cuts of the engine's bytes", async () => {
    expect(await streamOf(server(), "split")).toMatchObject({ end: "done", text: "one two", comments: 0 });
  });

  test("OPS-04 of streams side by side do not mix", async () => {
    const words = Array.from({ length: 30 }, (_, index) => `word${index}`);
    const streams = await Promise.all(
      words.map((word, index) => server().stream({ ...say(word), model: index % 2 === 0 ? modelId : miniId })),
    );
    expect(streams.map(({ text }) => text)).toEqual(words.map((word) => `You said: ${word}`));
    const ids = streams.map(({ chunks }) => chunks[0]?.id);
    expect(new Set(ids).size).toBe(30);
  });
});

describe("a caller that hangs up", () => {
  const server = useServer({
    scenarios: {
      endless: [...begun, { repeat: 100_000, steps: [{ text: " more" }, { wait_ms: 5 }] }],
      stall: [{ stall: true }],
    },
  });
  const aborted = (): Promise<number> => server().gauge('parley_generations_aborted_total{model="vendor/model-1"}');

  test.each([
    ["STRM-32 in mid-stream", { ...play("endless"), stream: true }, 1],
    ["STRM-42 while its answer is collected", play("endless"), 1],
    ["STRM-32 before the first event", { ...play("stall"), stream: true }, 0],
    ["STRM-42 before the first event, not streamed", play("stall"), 0],
  ])("%s stops the generation within a second, and is charged", async (_title, members, leastTokens) => {
    const [before, rows] = [await aborted(), (await server().ledger()).length];
    const leaving = new AbortController();
    const asked = server()
      .chat(members, { signal: leaving.signal })
      .catch(() => undefined);
    await until(
      () => server().running.models[0]?.engine.gauges().running,
      (running) => running === 1,
    );
    if (leastTokens > 0) {
      await until(
        async () => (await server().ledger())[rows]?.completion_tokens ?? 0,
        (tokens) => tokens >= leastTokens,
      );
    }
    leaving.abort();
    await (await asked)?.text().catch(() => undefined);
    await until(aborted, (count) => count === before + 1, 1000);
    // OPS-10: the prompt and the tokens generated until then.
    const row = await until(
      async () => (await server().ledger())[rows],
      (one) => one?.ended_ms != null,
    );
    expect(row).toMatchObject({ outcome: "cancelled", error_code: null });
    expect(row?.prompt_tokens).toBeGreaterThan(0);
    expect(row?.completion_tokens).toBeGreaterThanOrEqual(leastTokens);
    expect(Number(row?.cost_usd)).toBeGreaterThan(0);
  });

  test("OPS-07 does not disturb others", async () => {
    const leaving = new AbortController();
    const response = await server().chat({ ...play("endless"), stream: true }, { signal: leaving.signal });
    const other = server().stream(say("a b c d e f"));
    leaving.abort();
    expect((await other).end).toBe("done");
    await response.text().catch(() => undefined);
  });
});

/** Pieces of 100 kB, which cost the engine little work. */
const pieces = (count: number): readonly ScriptStep[] => [
  { role: true },
  { repeat: count, steps: [raw({ kind: "text", text: "x".repeat(100_000), tokens: [] })] },
  { finish: "stop" },
];

describe("a reader that takes nothing", () => {
  const server = useServer({
    settings: { slowReaderMs: 1000, requestTimeoutMs: 20_000 },
    scenarios: {
      flood: pieces(1000),
      river: pieces(100),
    },
  });

  test("STRM-34 OPS-14 STRM-40 is disconnected after its generation was paused, and charged like one that disconnects itself", async () => {
    const rows = (await server().ledger()).length;
    using connection = await flood(server().origin);
    connection.socket.pause();
    const row = await until(
      async () => (await server().ledger())[rows],
      (one) => one?.ended_ms != null,
    );
    expect(row?.outcome).toBe("cancelled");
    expect(Number(row?.cost_usd)).toBeGreaterThan(0);
    connection.socket.resume();
    await connection.closed;
    // The kernel's two buffers and 256 KiB of the server's, instead of the whole 100 MB.
    expect(connection.socket.bytesRead).toBeLessThan(30_000_000);
    expect(connection.rest).not.toContain("[DONE]");
    expect(connection.socket.errored).toMatchObject({ code: "ECONNRESET" });
  });

  test("STRM-34 is not a client that reads slowly", async () => {
    const response = await server().chat({ ...play("river"), stream: true });
    const parts: Buffer[] = [];
    let pauses = 0;
    for await (const chunk of response.body ?? []) {
      parts.push(Buffer.from(chunk));
      // The pauses together are longer than one pause of a reader may be.
      if (parts.length % 20 === 0 && pauses < 20) {
        pauses += 1;
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
    }
    expect(judgeStream({}, Buffer.concat(parts).toString("utf8")).end).toBe("done");
  });
});

describe("a reader that takes nothing while its stream fails", () => {
  const server = useServer({
    settings: { requestTimeoutMs: 3000, slowReaderMs: 4000 },
    scenarios: { flood: pieces(1000) },
  });

  test("STRM-40 STRM-30 sees the connection break, and neither an end nor an error", async () => {
    using connection = await flood(server().origin);
    connection.socket.pause();
    const row = await until(
      async () => (await server().ledger())[0],
      (one) => one?.ended_ms != null,
    );
    expect(row).toMatchObject({ outcome: "failed", error_code: "timeout" });
    const line = await until(
      () => server().logLines.find((one) => one.includes('"msg":"request"')),
      (one) => one !== undefined,
    );
    expect(line).toContain('"error_code":"timeout"');
    connection.socket.resume();
    await connection.closed;
    expect(connection.rest).not.toContain("[DONE]");
    expect(connection.socket.errored).toMatchObject({ code: "ECONNRESET" });
  });
});

/** Opens a connection and starts a stream that is larger than all buffers between engine and client. */
async function flood(origin: string): Promise<RawConnection> {
  const connection = await RawConnection.open(origin);
  const body = JSON.stringify({ model: modelId, ...play("flood"), stream: true });
  const headers = { Authorization: `Bearer ${testKey}`, "Content-Type": "application/json" };
  const length = { "Content-Length": String(body.length) };
  connection.send(requestText("POST /v1/chat/completions", { ...headers, ...length }, body));
  return connection;
}
