import { TokenBias } from "node-llama-cpp";
import type { Token } from "node-llama-cpp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openLlama } from "../src/embedded/child/open-llama.ts";
import { openRenderer } from "../src/embedded/child/open-renderer.ts";
import { sliceTokens } from "../src/embedded/child/slices.ts";
import { ask, askOne, oneByOne, requestFor, stream } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { until } from "../testing/until.ts";
import { miniModelFile, neverEnding, readMiniVocabulary, startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";

let started: StartedEngine;
let endless: Record<string, number>;
beforeAll(async () => {
  endless = await neverEnding();
  started = await startMini();
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

const patienceMs = 60_000;
const progressOf = async ({ engine }: StartedEngine): Promise<number> =>
  (await engine.status(AbortSignal.timeout(patienceMs))).progress;

/** Number of words in a long prompt. One word is about one token. */
const longWords = 6000;
const long = (members: Ask = {}): Ask => ({
  say: `The word is vault.${" gas".repeat(longWords)}`,
  maxTokens: 1,
  origin: { key: "long" },
  ...members,
});
/** It asks for one token for every two slices of the long prompt. If a slice came before every token, it would end too late. */
const small = (members: Ask = {}): Ask => ({
  maxTokens: Math.ceil(longWords / sliceTokens / 2),
  sampling: { logit_bias: endless },
  origin: { key: "neighbour" },
  ...members,
});

/** Runs `act` while the engine reads long prompts, and then aborts those requests. */
async function duringLongPrompts(others: readonly Ask[], act: () => Promise<void>): Promise<void> {
  const hangUp = new AbortController();
  const before = await progressOf(started);
  const reading = others.map((members) => ask(started.engine, members, hangUp.signal).catch(() => undefined));
  await until("the prompts are read", async () => (await progressOf(started)) > before);
  await act();
  hangUp.abort();
  await Promise.all(reading);
}

describe("a small chat ends before half of the other, long prompts is read", () => {
  test.each<[string, (string | undefined)[], string | undefined]>([
    ["one prompt", [undefined], undefined],
    ["one prompt, and the chat has a seed", [undefined], "7"],
    ["three prompts with seeds", ["1", "2", "3"], undefined],
    ["three prompts with seeds, and the chat has one, too", ["1", "2", "3"], "7"],
  ])("%s", { timeout: patienceMs }, async (_title, seeds, seed) => {
    const before = await progressOf(started);
    await duringLongPrompts(
      seeds.map((one) => long({ seed: one })),
      async () => {
        const { usage, finish } = await askOne(started.engine, small({ seed }), AbortSignal.timeout(patienceMs));
        expect(finish).toBe("length");
        const others = (await progressOf(started)) - before - usage.promptTokens - usage.completionTokens;
        expect(others).toBeGreaterThan(0);
        expect(others).toBeLessThan((seeds.length * longWords) / 2);
      },
    );
  });
});

describe("a long prompt with a seed", () => {
  const hay = `What is a blockchain?${" Every word counts.".repeat(120)}`;
  const sampled: Ask = { say: hay, seed: "5", maxTokens: 32 };

  test("gives the same text alone and in turns with others", { timeout: patienceMs }, async () => {
    const members = { ...sampled, sampling: { temperature: 1.3, logit_bias: endless } };
    const alone = await askOne(started.engine, members);
    await duringLongPrompts([long({ seed: undefined }), long({ seed: "9" })], async () => {
      const chats = Array.from({ length: 3 }, () => askOne(started.engine, small({ seed: undefined })));
      const patience = AbortSignal.timeout(patienceMs);
      expect((await askOne(started.engine, members, patience)).text).toBe(alone.text);
      await Promise.all(chats);
    });
  });

  test("gives the tokens that llama.cpp gives when it reads the prompt in one piece", async () => {
    const { tokens } = await askOne(started.engine, {
      ...sampled,
      sampling: { logit_bias: endless },
      topLogprobs: 0,
    });
    const prompt = (await openRenderer(miniModelFile)).render(requestFor({ say: hay })).tokens;
    expect(prompt.length).toBeGreaterThan(6 * sliceTokens);
    const want = await greedy(prompt, tokens.length);
    expect(tokens.map((token) => token.id)).toEqual(want);
  });
});

test("a hang-up in the middle of a prompt frees the slot at once", { timeout: patienceMs }, async () => {
  await using single = await startMini({ slots: 1 });
  const { engine } = single;
  await engine.whenReady();
  const hangUp = new AbortController();
  const before = await progressOf(single);
  const reading = ask(engine, long({ seed: "1" }), hangUp.signal).catch(() => undefined);
  await until("the prompt is read", async () => (await progressOf(single)) > before);
  const next = askOne(engine, { maxTokens: 4 });
  hangUp.abort();
  expect((await next).usage.completionTokens).toBeGreaterThan(0);
  expect((await progressOf(single)) - before).toBeLessThan(longWords / 2);
  await reading;
});

test("the slot of a choice that has ended serves the next request", { timeout: patienceMs }, async () => {
  await using two = await startMini({ slots: 2 });
  const { engine } = two;
  await engine.whenReady();
  // There are two slots, and the third choice has one of them for itself.
  const three = requestFor({ n: 3, maxTokens: 500, sampling: { logit_bias: endless }, origin: { key: "three" } });
  let isOver = false;
  let next: Promise<boolean> | undefined;
  let finished = 0;
  for await (const event of oneByOne(stream(engine, three, AbortSignal.timeout(patienceMs)))) {
    if (event.kind !== "finish") continue;
    finished += 1;
    // Two choices have ended, and the third one goes on.
    if (finished === 2) next = askOne(engine, { maxTokens: 1 }).then(() => isOver);
  }
  isOver = true;
  expect([finished, await next]).toEqual([3, false]);
});

/** Returns the likeliest tokens after a prompt that is decoded in one batch, by llama.cpp's public interface. */
async function greedy(prompt: readonly number[], count: number): Promise<number[]> {
  const llama = await openLlama(1);
  const model = await llama.loadModel({ modelPath: miniModelFile, ignoreMemorySafetyChecks: true });
  const context = await model.createContext({ ...oneBatch, threads: 1, ignoreMemorySafetyChecks: true });
  const { specialTokenIds } = await readMiniVocabulary();
  // A token is a number with a brand.
  const banned = TokenBias.for(model).set([...specialTokenIds] as Token[], { logit: -1e5 });
  const tokens: number[] = [];
  const evaluation = context.getSequence().evaluate([...prompt] as Token[], { temperature: 0, tokenBias: banned });
  for await (const token of evaluation) if (tokens.push(token) === count) break;
  await context.dispose();
  return tokens;
}

const oneBatch = { contextSize: 1024, batchSize: 1024 };
