import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sliceTokens } from "../src/embedded/child/slices.ts";
import { ask, askOne } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import type { ChatMessage } from "../src/engine.ts";
import { until } from "../testing/until.ts";
import { startMini } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";

let started: StartedEngine;
beforeAll(async () => {
  started = await startMini();
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

/** A text with which the prompt of no other test begins. */
const story = (name: string): string => `A story about ${name}.${" Every word counts.".repeat(100)}`;
const turns = (name: string): ChatMessage[] => [
  { role: "user", content: story(name) },
  { role: "assistant", content: "I see." },
  { role: "user", content: "How does it go on?" },
];
/** A request without a seed, at temperature 0. */
const askAs = (key: string | undefined, members: Ask): Ask => ({
  seed: undefined,
  maxTokens: 8,
  ...(key !== undefined && { origin: { key } }),
  ...members,
});

/** Asks, and returns the number of evaluated tokens with the answer. */
async function evaluate(members: Ask): Promise<Awaited<ReturnType<typeof askOne>> & { evaluated: number }> {
  const { engine } = started;
  const progress = async (): Promise<number> => (await engine.status(AbortSignal.timeout(10_000))).progress;
  const before = await progress();
  const answer = await askOne(engine, members);
  return { ...answer, evaluated: (await progress()) - before };
}

describe("a prompt that continues an earlier one of the same key", () => {
  test("is read from its end on, reports that, and gives the text that another key gets", async () => {
    await askOne(started.engine, askAs("a", { say: story("ants") }));
    const { usage, text, evaluated } = await evaluate(askAs("a", { messages: turns("ants") }));
    expect(usage.cachedTokens).toBeGreaterThan(usage.promptTokens / 2);
    expect(usage.cachedTokens % sliceTokens).toBe(0);
    expect(evaluated).toBeLessThanOrEqual(usage.promptTokens - usage.cachedTokens + usage.completionTokens);
    const other = await evaluate(askAs("b", { messages: turns("ants") }));
    expect([other.text, other.usage]).toEqual([text, { ...usage, cachedTokens: 0 }]);
  });

  test("may be the same prompt, asked for several choices", async () => {
    const members = askAs("c", { say: story("cats"), n: 3, sampling: { temperature: 1 } });
    expect((await ask(started.engine, members)).usage.cachedTokens).toBe(0);
    const { usage } = await ask(started.engine, members);
    expect(usage.cachedTokens).toBeGreaterThan(usage.promptTokens / 2);
    expect(usage.cachedTokens).toBeLessThan(usage.promptTokens);
  });

  test("was aborted in the middle: the part that was read is reused", async () => {
    const hangUp = new AbortController();
    const long = askAs("d", { say: `${story("dogs")} ${"and so on ".repeat(2000)}` });
    const reading = ask(started.engine, long, hangUp.signal).catch(() => undefined);
    const { progress } = await started.engine.status(AbortSignal.timeout(10_000));
    const status = (): ReturnType<typeof started.engine.status> => started.engine.status(AbortSignal.timeout(10_000));
    await until("its beginning is read", async () => (await status()).progress > progress + 300);
    hangUp.abort();
    await reading;
    await until("its slot is free", async () => (await status()).running === 0);
    const { usage } = await askOne(started.engine, askAs("d", { messages: turns("dogs") }));
    expect(usage.cachedTokens).toBeGreaterThanOrEqual(sliceTokens);
  });
});

describe("nothing is reused", () => {
  test.each<[string, Ask, Ask]>([
    ["from another key", askAs("e", {}), askAs("f", {})],
    ["where nobody knows whose request it is", askAs(undefined, {}), askAs(undefined, {})],
    ["for a seed", askAs("g", {}), askAs("g", { seed: "1" })],
    ["after a seed", askAs("h", { seed: "1" }), askAs("h", {})],
  ])("%s", async (title, first, second) => {
    await askOne(started.engine, { ...first, say: story(title) });
    const { usage, evaluated } = await evaluate({ ...second, messages: turns(title) });
    expect(usage.cachedTokens).toBe(0);
    expect(evaluated).toBeGreaterThanOrEqual(usage.promptTokens);
  });
});
