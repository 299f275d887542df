import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EngineError } from "../../src/index.ts";
import type { Engine } from "../../src/index.ts";
import { readMetrics } from "../../src/vllm/serve/read-metrics.ts";
import { Connection } from "../../src/wire/connection.ts";
import { shortSchema, weather } from "../engine-contract/given.ts";
import { ask, askOne, countTokens, oneByOne, requestFor, spell, stream } from "../../testing/requests.ts";
import { until } from "../../testing/until.ts";
import { pidOf } from "../../testing/vllm/processes.ts";
import { forward, neverEnding, noBlanks, startElsewhere, startVllm } from "../../testing/vllm/start-vllm.ts";
import type { StartedVllm } from "../../testing/vllm/start-vllm.ts";

/** A real vLLM, asked by messages over its chat route. */

let started: StartedVllm;
let engine: Engine;
let connection: Connection;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  const parsers = ["--reasoning-parser", "qwen3", "--enable-auto-tool-choice", "--tool-call-parser", "hermes"];
  started = startVllm({ extraArguments: parsers });
  await started.vllm.engine.whenReady();
  connection = new Connection({ baseUrl: "http://engine", socketPath: started.vllm.socketPath, silenceMs: 0 });
  const { url, server } = await forward(started.vllm.socketPath);
  engine = startElsewhere([url], { protocol: "chat" });
  closing.push(
    () => engine.close(0),
    () => server.close(),
  );
  await engine.whenReady();
});
afterAll(async () => {
  for (const close of closing) await close();
  await connection.close();
  await started[Symbol.asyncDispose]();
});

const soon = (): AbortSignal => AbortSignal.timeout(60_000);

test("it was tried: it thinks and calls", () => {
  expect(engine.metadata).toMatchObject({ canReason: true, canCallTools: true, contextLength: 32_768 });
});

test("a greedy answer is the engine's own, and so is its usage", async () => {
  const say = "What is MEV?";
  const body = {
    model: started.options.name,
    messages: [{ role: "user", content: say }],
    temperature: 0,
    max_tokens: 120,
  };
  const own = JSON.parse(
    await connection.read(
      "/v1/chat/completions",
      soon(),
      JSON.stringify({ ...body, chat_template_kwargs: { enable_thinking: false } }),
    ),
  ) as { readonly choices: readonly [{ readonly message: { readonly content: string } }]; readonly usage: object }; // as documented by vLLM
  const { text, finish, usage } = await askOne(engine, { say, maxTokens: 120 });
  expect([text, finish]).toEqual([own.choices[0].message.content, "stop"]);
  const { promptTokens, completionTokens } = usage;
  expect(own.usage).toMatchObject({ prompt_tokens: promptTokens, completion_tokens: completionTokens });
  expect(await countTokens(engine, requestFor({ say }), soon())).toBe(promptTokens);
});

test("it is the answer that token ids give", async () => {
  const members = { say: "What is staking?", maxTokens: 40 };
  const [chat, ids] = [await askOne(engine, members), await askOne(started.vllm.engine, members)];
  expect([chat.text, chat.finish, chat.usage.completionTokens]).toEqual([
    ids.text,
    ids.finish,
    ids.usage.completionTokens,
  ]);
});

test("a stop string ends it, and is not in it", async () => {
  const { text } = await askOne(engine, { maxTokens: 30 });
  const stop = [text.slice(11, 15)];
  const cut = await askOne(engine, { maxTokens: 30, stop });
  expect([cut.text, cut.finish]).toEqual([text.slice(0, text.indexOf(stop[0] ?? "")), "stop"]);
});

test("two choices, each as if it were alone with its seed", async () => {
  const members = { sampling: { temperature: 1 }, maxTokens: 12 };
  const { choices, usage } = await ask(engine, { ...members, n: 2, seed: "7" });
  const [first, second] = [
    await askOne(engine, { ...members, seed: "7" }),
    await askOne(engine, { ...members, seed: "8" }),
  ];
  expect(choices.map(({ text }) => text)).toEqual([first.text, second.text]);
  expect(usage.completionTokens).toBe(first.usage.completionTokens + second.usage.completionTokens);
});

test("log-probabilities: the tokens spell the content, after a thought, too", async () => {
  for (const isReasoning of [false, true]) {
    const { text, tokens } = await askOne(engine, { isReasoning, topLogprobs: 2, maxTokens: 120 });
    expect(spell(tokens)).toContain(text);
    expect(tokens.every(({ logprob = 1, top = [] }) => logprob <= 0 && top.length === 2)).toBe(true);
  }
});

test("JSON is valid against its schema", async () => {
  const format = { type: "json_schema", schema: shortSchema } as const;
  const { text, finish } = await askOne(engine, { format, maxTokens: 60, sampling: { logit_bias: noBlanks } });
  expect(finish).toBe("stop");
  expect(JSON.parse(text)).toEqual({ kind: expect.stringMatching(/^(swap|stake)$/), isFinal: expect.any(Boolean) });
});

describe("calls", () => {
  const symbol = { type: "object", properties: { symbol: { type: "string" } }, required: ["symbol"] };
  const price = { name: "get_price", description: "The price of a token", parameters: symbol };

  test("one of the model's own accord, and its result", async () => {
    const question = { role: "user" as const, content: "How much is ETH right now?" };
    const members = { tools: [price], toolChoice: "auto" as const, maxTokens: 120 };
    const { calls, finish, text } = await askOne(engine, { ...members, messages: [question] });
    expect([calls.map(({ name }) => name), finish, text]).toEqual([["get_price"], "tool_calls", ""]);
    const given = calls[0]?.arguments ?? "";
    const call = { id: "call_1", type: "function" as const, function: { name: "get_price", arguments: given } };
    const [asked, told] = [
      { role: "assistant" as const, content: null, tool_calls: [call] },
      { role: "tool" as const, tool_call_id: "call_1", content: '{"usd": 3000}' },
    ];
    const request = { ...members, messages: [question, asked, told] };
    const { usage } = await askOne(engine, request);
    expect(await countTokens(engine, requestFor(request), soon())).toBe(usage.promptTokens);
  });

  test("a forced one is complete and valid", async () => {
    const members = { tools: [weather], toolChoice: { oneOf: [weather.name] }, parallelToolCalls: false };
    const { calls, finish, text } = await askOne(engine, {
      ...members,
      maxTokens: 200,
      sampling: { logit_bias: noBlanks },
    });
    expect([calls.map(({ name }) => name), finish, text]).toEqual([[weather.name], "tool_calls", ""]);
    expect(JSON.parse(calls[0]?.arguments ?? "")).toEqual({ celsius: expect.any(Boolean) });
  });

  test("one that is cut leaves nothing in the text", async () => {
    for (const maxTokens of [2, 8, 14]) {
      const members = { say: "How much is ETH right now?", tools: [price], toolChoice: "auto" as const };
      const { finish, text } = await askOne(engine, { ...members, maxTokens });
      expect([finish, text]).toEqual(["length", ""]);
    }
  });
});

test("a thought is told apart from the answer", async () => {
  const { reasoning, text, finish, usage } = await askOne(engine, { isReasoning: true, maxTokens: 200 });
  expect([reasoning === "", text.includes("think>"), reasoning.includes("think>"), finish]).toEqual([
    false,
    false,
    false,
    "stop",
  ]);
  expect(usage.reasoningTokens).toBeGreaterThan(0);
  expect(usage.completionTokens).toBeGreaterThan(usage.reasoningTokens);
});

async function tokensMade(): Promise<number> {
  const text = await connection.read("/metrics", soon());
  const counters = [...text.matchAll(/^vllm:generation_tokens_total\{[^}]*\} (\S+)/gm)];
  return counters.reduce((sum, [, count]) => sum + Number(count), 0);
}

const endless = { maxTokens: 3000, sampling: { logit_bias: neverEnding } };

test("a hang-up stops the engine", async () => {
  const before = await tokensMade();
  let charged = 0;
  for await (const event of oneByOne(stream(engine, requestFor(endless), soon()))) {
    if (event.kind === "usage") charged = event.usage.completionTokens;
    if (charged >= 30) break;
  }
  const isStill = async (): Promise<boolean> => readMetrics(await connection.read("/metrics", soon())).running === 0;
  // An idle vLLM updates its gauges every ten seconds.
  await until("it stands still", isStill, 30_000);
  const made = (await tokensMade()) - before;
  expect(made).toBeGreaterThanOrEqual(charged);
  // A tiny model generates a thousand tokens per second, and this process may have to wait for the CPU.
  expect(made - charged).toBeLessThan(1000);
  expect(engine.gauges().running).toBe(0);
});

test("SIGKILL is an error, never a clean end", async () => {
  const kinds = Array.from({ length: 3 }, async () => {
    try {
      const { finish } = await askOne(engine, endless, soon());
      return finish;
    } catch (error) {
      return error instanceof EngineError ? error.kind : error;
    }
  });
  await until("they run", async () => readMetrics(await connection.read("/metrics", soon())).running === 3);
  process.kill(pidOf(started.vllm.pid ?? 0, "core"), "SIGKILL");
  expect(await Promise.all(kinds)).toEqual(["crashed", "crashed", "crashed"]);
});
