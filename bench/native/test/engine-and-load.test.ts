import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { modelFolder, modelName } from "../../gateways/subjects/subject.ts";
import { NativeBuildError, buildNative } from "../build.ts";
import { runLoad } from "../run-load.ts";
import type { Load, LoadResult } from "../run-load.ts";
import { startEngine } from "../start-engine.ts";
import type { SimulatedEngine } from "../start-engine.ts";

/** The programs need a C compiler and Linux. */
function canBuild(): boolean {
  try {
    return buildNative("load") !== "";
  } catch (error) {
    if (error instanceof NativeBuildError) return false;
    throw error;
  }
}

describe.skipIf(!canBuild())("the engine and the load generator", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-bench-test-"));
  let engine: SimulatedEngine;
  beforeAll(async () => {
    engine = await startEngine({ model: modelName, tokenizer: modelFolder, folder });
  });
  afterAll(async () => {
    await engine[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  async function send(load: Partial<Load>): Promise<LoadResult> {
    const body = { model: modelName, messages: [], max_tokens: 5 };
    const whole = { port: engine.port, path: "/v1/chat/completions", headers: {}, body, connections: 3, ...load };
    return (await runLoad(whole, folder, () => undefined, AbortSignal.timeout(60_000))).result;
  }

  const streamed = { model: modelName, prompt: [1, 2, 3], max_tokens: 5, stream: true };

  test("every stream has as many events as tokens, with the gaps of the pace", async () => {
    await engine.setPace({ intervalMs: 20 });
    const result = await send({ path: "/v1/completions", body: streamed, isOnce: true });
    expect(result).toMatchObject({ answers: 3, events: 15, refused: 0, cut: 0, wrong: 0, unfinished: 0 });
    expect(result.gap_us.count).toBeGreaterThan(0);
    expect(result.whole_us.p50).toBeGreaterThanOrEqual(100_000); // five tokens at 20 ms
  });

  test("a completion tells its token ids, its usage in every event, and log-probabilities when they are asked for", async () => {
    await engine.setPace({ intervalMs: 0 });
    const body = { ...streamed, logprobs: 1, stream_options: { include_usage: true, continuous_usage_stats: true } };
    const answer = await fetch(`${engine.url}/v1/completions`, { method: "POST", body: JSON.stringify(body) });
    const events = (await answer.text()).split("\n\n").filter((event) => event.includes('token_ids":['));
    const chunks = events.map((event) => JSON.parse(event.slice("data: ".length)) as Chunk); // the engine's own form
    expect(chunks.map(({ usage }) => usage.completion_tokens)).toEqual([1, 2, 3, 4, 5]);
    for (const { choices } of chunks)
      expect(choices[0]?.logprobs.tokens).toEqual([`token_id:${choices[0]?.token_ids[0]}`]);
  });

  test("plain answers are compared with what is expected", async () => {
    await engine.setPace({ intervalMs: 0 });
    expect(await send({ isOnce: true, expected: engine.text(5) })).toMatchObject({ answers: 3, wrong: 0 });
    expect(await send({ isOnce: true, expected: "something else" })).toMatchObject({ answers: 0, wrong: 3 });
  });

  test("a silent engine leaves streams open, and a hang-up ends them", async () => {
    const { aborted } = await engine.counters();
    await engine.setPace({ intervalMs: 1, isSilent: true });
    const result = await send({ path: "/v1/completions", body: streamed, seconds: 0.1 });
    expect(result).toMatchObject({ answers: 0, cut: 0 });
    await expect.poll(async () => (await engine.counters()).aborted).toBe(aborted + 3);
  });

  const broken: readonly (readonly [string, RequestListener, Partial<LoadResult>])[] = [
    ["another status", (_request, answer) => void answer.writeHead(503).end("busy"), { wrong: 3, cut: 0 }],
    ["a stream without its end", (_request, answer) => streamAnd(answer, () => answer.destroy()), { cut: 3 }],
    ["a stream that ends without [DONE]", (_request, answer) => streamAnd(answer, () => answer.end()), { wrong: 3 }],
  ];
  test.each(broken)("the load counts %s", async (_title, listener, want) => {
    const server = createServer(listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo; // it listens on a port
    expect(await send({ port, isOnce: true })).toMatchObject({ answers: 0, ...want });
    server.close();
  });

  test("the load counts connections that are refused", async () => {
    expect(await send({ port: 1, isOnce: true })).toMatchObject({ answers: 0, refused: 3 });
  });
});

interface Chunk {
  readonly usage: { readonly completion_tokens: number };
  readonly choices: readonly {
    readonly token_ids: readonly number[];
    readonly logprobs: { readonly tokens: readonly string[] };
  }[];
}

function streamAnd(answer: Parameters<RequestListener>[1], then: () => void): void {
  answer.writeHead(200, { "content-type": "text/event-stream" });
  answer.write("data: {}\n\n", then);
}
