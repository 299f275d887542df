import { execFileSync } from "node:child_process";
import { request as httpRequest } from "node:http";
import type { IncomingMessage } from "node:http";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  areStoresShared,
  CliProcess,
  chatInit,
  miniId,
  modelId,
  play,
  readLedger,
  startTestServer,
  until,
} from "@parley/server/testing";
import { priceOf } from "../src/accounts/money/price.ts";

const key = "environment-key-0123456789";
const headers = { authorization: `Bearer ${key}` };

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-crash-"));
  writeFileSync(join(folder, "script.json"), JSON.stringify({ scenarios }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const scenarios = {
  endless: [{ repeat: 100_000, steps: [{ text: "a" }, { wait_ms: 20 }] }],
  flood: [{ repeat: 100_000, steps: [{ text: "a".repeat(1000) }] }],
  crash: [{ wait_ms: 200 }, { crash: "no room for the logits" }],
};

function start(dataDir: string, wrapper: readonly string[] = []): CliProcess {
  const env = {
    PARLEY_ENGINE: "scripted",
    PARLEY_SCRIPT: join(folder, "script.json"),
    PARLEY_DATA_DIR: dataDir,
    PARLEY_API_KEY: key,
    PORT: "0",
    PARLEY_METRICS_PORT: "off",
  };
  return new CliProcess(["start"], { cwd: folder, env, wrapper });
}

const chatUrl = async (server: CliProcess): Promise<string> =>
  `${(await server.says(/Base URL\s+(\S+)/))[1]}/chat/completions`;

/** Sends a streamed request, and returns its response and all of its text that arrives. */
function receive(url: string, scenario: string) {
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    const { body, ...init } = chatInit({ ...play(scenario), stream: true }, { headers });
    const request = httpRequest(url, { method: "POST", headers: init.headers });
    request.on("response", resolve).on("error", reject).end(body);
  });
  const text = response.then(async (incoming) => {
    let received = "";
    incoming.on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
    incoming.on("error", () => undefined);
    await new Promise((resolve) => incoming.on("close", resolve));
    return received;
  });
  const id = response.then((incoming) => String(incoming.headers["x-request-id"]));
  return { response, text, id };
}

/** Returns the number of tokens in the whole events of a stream. Each event has one. */
const tokensOf = (stream: string): number =>
  stream.split("\n\n").filter((event) => event.includes('"content":"a')).length;

describe("a server that is killed", () => {
  test.skipIf(areStoresShared)(
    "OPS-19 loses no row: the next one closes what was open, and charges what had arrived",
    async () => {
      const dataDir = join(folder, "killed");
      await using server = start(dataDir);
      const url = await chatUrl(server);
      for (let turn = 0; turn < 5; turn += 1) expect((await fetch(url, chatInit({}, { headers }))).status).toBe(200);
      const streams = Array.from({ length: 20 }, () => receive(url, "endless"));
      const whole = fetch(url, chatInit(play("endless"), { headers })).catch((error: unknown) => error);
      // Running requests are checkpointed ten times per second.
      await until(
        async () =>
          (await readLedger(dataDir)).filter((row) => row.outcome === "open" && row.completion_tokens > 0).length,
        (written) => written === 21,
      );
      server.child.kill("SIGKILL");
      const received = new Map(await Promise.all(streams.map(async ({ id, text }) => [await id, await text] as const)));
      expect(await whole).toBeInstanceOf(TypeError);

      await using next = start(dataDir);
      await chatUrl(next);
      expect(next.stderr).toContain("21 requests that an earlier server had left open were closed.");
      const rows = await readLedger(dataDir);
      expect(rows.filter(({ outcome }) => outcome === "complete")).toHaveLength(5);
      const abandoned = rows.filter(({ outcome }) => outcome === "abandoned");
      expect(abandoned).toHaveLength(21);
      for (const row of abandoned) {
        const { prompt_tokens: promptTokens, completion_tokens: completionTokens, prices } = row;
        expect(completionTokens).toBeGreaterThan(0);
        if (row.is_stream) expect(completionTokens).toBeLessThanOrEqual(tokensOf(received.get(row.id) ?? ""));
        expect(row.cost_usd).toBe(
          row.is_stream ? priceOf({ cachedTokens: 0, promptTokens, completionTokens }, prices) : "0",
        );
        expect(row.ended_ms).toBeGreaterThan(row.started_ms);
      }
    },
  );

  test.skipIf(areStoresShared)("OPS-19 charges a slow reader at most for what the system had sent", async () => {
    const dataDir = join(folder, "slow-reader");
    await using server = start(dataDir);
    const url = await chatUrl(server);
    const { response, text } = receive(url, "flood");
    (await response).pause();
    let last = { tokens: 0, sinceMs: 0 };
    const read = async (): Promise<number> => {
      const tokens = (await readLedger(dataDir))[0]?.completion_tokens ?? 0;
      if (tokens !== last.tokens) last = { tokens, sinceMs: performance.now() };
      return tokens === 0 ? 0 : performance.now() - last.sinceMs;
    };
    // All buffers are full when the record does not change any more.
    await until(read, (unchangedMs) => unchangedMs > 500, 15_000);
    server.child.kill("SIGKILL");
    (await response).resume();
    const received = tokensOf(await text);

    await using next = start(dataDir);
    await chatUrl(next);
    const [row] = await readLedger(dataDir);
    expect(row).toMatchObject({ outcome: "abandoned" });
    expect(row?.completion_tokens).toBeLessThanOrEqual(received);
    expect(row?.completion_tokens).toBeGreaterThan(0);
  });
});

describe("an engine that crashes", () => {
  test("has its last words in the log, whole, and its message as the reason", async () => {
    await using server = start(join(folder, "last-words"));
    const url = await chatUrl(server);
    await fetch(url, chatInit(play("crash"), { headers }));
    const [line] = await until(
      () => server.stdout.split("\n").filter((one) => one.includes("last_words")),
      (lines) => lines.length > 0,
    );
    const logged = JSON.parse(line ?? "") as { readonly detail: string; readonly last_words: string }; // our own log wrote it
    expect(logged).toMatchObject({ level: "warn", model: modelId, state: "crashed" });
    expect(logged.detail).toMatch(/^the engine process ended \(exit code 1\): no room for the logits; starting again/);
    expect(logged.last_words).toMatch(/^Error: no room for the logits\n +at .*core\.ts/);
  });
});

// Only Linux has `prlimit`.
describe.runIf(process.platform === "linux")("a full disk", () => {
  test.skipIf(areStoresShared)(
    "refuses new requests with 503 while it lasts, lets the running ones end, and loses none",
    async () => {
      const dataDir = join(folder, "full");
      // The soft limit of the file size stands for a full disk. Raising it later stands for freed space.
      await using server = start(dataDir, ["bash", "-c", 'trap "" XFSZ; ulimit -S -f 400; exec "$@"', "bash"]);
      const url = await chatUrl(server);
      const running = await fetch(url, chatInit({ ...play("endless"), stream: true }, { headers }));
      const refusal = await until(
        async () => {
          const answers = await Promise.all(Array.from({ length: 20 }, () => fetch(url, chatInit({}, { headers }))));
          const bodies = await Promise.all(answers.map((answer) => answer.json() as Promise<object>));
          return answers
            .map(({ status }, index) => ({ status, body: bodies[index] }))
            .find(({ status }) => status !== 200);
        },
        (found) => found !== undefined,
        60_000,
      );
      expect(refusal).toMatchObject({
        status: 503,
        body: { error: { code: "service_unavailable", type: "server_error" } },
      });
      const ready = await fetch(new URL("/ready", url));
      expect(ready.status).toBe(503);
      expect((await fetch(new URL("/health", url))).status).toBe(200);

      execFileSync("prlimit", [`--pid=${server.child.pid}`, "--fsize=unlimited"]);
      await until(
        async () => (await fetch(url, chatInit({}, { headers }))).status,
        (status) => status === 200,
        15_000,
      );
      await running.body?.cancel();
      const rows = await until(
        () => readLedger(dataDir),
        (all) => all.every(({ outcome }) => outcome !== "open"),
      );
      expect(rows.filter(({ outcome }) => outcome === "cancelled")).toHaveLength(1);
    },
    120_000,
  );
});

describe("two hundred callers that hang up at random moments", () => {
  test.each(["embedded", "scripted"] as const)(
    "leave nothing behind: %s",
    async (engine) => {
      await using server = await startTestServer({
        settings: { engine, queueLength: 300, queueWaitMs: 60_000 },
        scenarios,
      });
      const sent = Array.from({ length: 200 }, async (_, turn) => {
        const gone = new AbortController();
        setTimeout(() => gone.abort(), Math.random() * 3000);
        const model = turn % 2 === 0 ? modelId : miniId;
        // The scripted engine answers at once. Every fifth answer never ends, so some callers hang up while an answer is
        // running.
        const isEndless = engine === "scripted" && turn % 5 === 0;
        const answer = isEndless ? play("endless") : { max_tokens: 200 };
        const members = { model, stream: turn % 3 !== 0, n: 1 + (turn % 2), ...answer };
        try {
          await (await server.chat(members, { signal: gone.signal })).text();
        } catch {
          // hung up
        }
      });
      await Promise.all(sent);
      for (const gauge of ["parley_requests_running", "parley_streams_open"])
        await until(
          () => server.gauge(gauge),
          (value) => value === 0,
        );
      for (const model of [modelId, miniId])
        for (const gauge of ["parley_slots_in_use", "parley_queue_waiting"])
          await until(
            () => server.gauge(`${gauge}{model="${model}"}`),
            (value) => value === 0,
          );
      const rows = await until(
        () => server.ledger(),
        (all) => all.every(({ outcome }) => outcome !== "open"),
      );
      expect(rows.some(({ outcome }) => outcome === "cancelled")).toBe(true);
      expect((await server.chat({ max_tokens: 5 })).status).toBe(200);
      for (const model of server.running.models) expect(model.engine.gauges().restarts).toBe(0);
    },
    60_000,
  );
});
