import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EngineError } from "../src/index.ts";
import type { ScriptStep } from "../src/index.ts";
import { ask, askOne, oneByOne, requestFor, stream } from "../testing/requests.ts";
import type { Ask } from "../testing/requests.ts";
import { startScripted } from "./start-engines.ts";
import type { StartedEngine } from "./start-engines.ts";
import { until } from "../testing/until.ts";

const hello: ScriptStep[] = [{ role: true }, { text: "Hel" }, { text: "lo" }, { finish: "stop" }];
const scenarios: Record<string, ScriptStep[]> = {
  hello,
  everything: [
    { role: true },
    { reasoning: "Hm." },
    { text: "A", tokens: 3 },
    { tool: { index: 0, name: "f", arguments: "" }, tokens: 0 },
    { tool: { index: 0, arguments: "{}" } },
    { finish: "tool_calls" },
  ],
  choices: [
    { role: true, choice: 1 },
    { text: "B", choice: 1 },
    { role: true },
    { finish: "stop", choice: 1 },
    { finish: "content_filter" },
  ],
  repeated: [
    { role: true },
    { repeat: 3, steps: [{ text: "ha" }, { repeat: 2, steps: [{ text: "!" }] }] },
    { finish: "stop" },
  ],
  flood: [{ role: true }, { repeat: 2000, steps: [{ text: "x".repeat(500) }] }, { finish: "stop" }],
  late: [{ role: true }, { wait_ms: 150 }, { finish: "stop" }],
  split: [{ split: true }, ...hello.slice(0, 2), { text: "🦀" }, { finish: "stop" }],
  endless: [{ role: true }, { repeat: 1_000_000, steps: [{ text: "and so on " }, { wait_ms: 1 }] }, { finish: "stop" }],
  stall: [{ role: true }, { stall: true }],
  refuse: [{ refuse: "Not this one." }],
  fail: [{ fail: "out of memory" }],
  "fail later": [...hello.slice(0, 2), { fail: "out of memory" }],
  reset: [...hello.slice(0, 2), { reset: true }, { stall: true }],
  raw: [...hello.slice(0, 2), { raw: "<html>\n" }],
};

let started: StartedEngine;
beforeAll(async () => {
  started = startScripted(scenarios);
  await started.engine.whenReady();
});
afterAll(() => started[Symbol.asyncDispose]());

const play = (name: string): Ask => ({ say: `script:${name}` });
const failureOf = async (name: string): Promise<unknown> => {
  const error: unknown = await ask(started.engine, play(name)).catch((reason: unknown) => reason);
  return error instanceof EngineError ? [error.kind, error.message] : error;
};

describe("a scenario", () => {
  test("is played step by step, every step one event behind its usage", async () => {
    const { events } = await ask(started.engine, play("everything"));
    const usage = (completionTokens: number, reasoningTokens: number): object => ({
      kind: "usage",
      usage: { completionTokens, reasoningTokens },
    });
    expect(events).toMatchObject([
      usage(0, 0),
      { kind: "role", choice: 0 },
      usage(1, 1),
      { kind: "reasoning", choice: 0, text: "Hm." },
      usage(4, 1),
      { kind: "text", choice: 0, text: "A" },
      usage(4, 1),
      { kind: "tool", choice: 0, index: 0, name: "f", arguments: "" },
      usage(5, 1),
      { kind: "tool", choice: 0, index: 0, arguments: "{}" },
      usage(5, 1),
      { kind: "finish", choice: 0, reason: "tool_calls" },
    ]);
  });

  test("may speak for several choices in any order", async () => {
    const { choices } = await ask(started.engine, { ...play("choices"), n: 2 });
    expect(choices).toMatchObject([
      { text: "", finish: "content_filter" },
      { text: "B", finish: "stop" },
    ]);
  });

  test("repeats", async () => {
    expect((await askOne(started.engine, play("repeated"))).text).toBe("ha!!ha!!ha!!");
  });

  test("leaves the process to others after each token", async () => {
    const ended: string[] = [];
    const note = (name: string): Promise<unknown> => ask(started.engine, play(name)).then(() => ended.push(name));
    const floods = Array.from({ length: 8 }, () => note("flood"));
    await until("they run", async () => (await started.engine.status(AbortSignal.timeout(5000))).running === 8);
    await Promise.all([note("hello"), ...floods]);
    expect(ended[0]).toBe("hello");
  });

  test("waits", async () => {
    const begun = performance.now();
    await ask(started.engine, play("late"));
    expect(performance.now() - begun).toBeGreaterThan(140);
  });

  test("waits for a file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-gate-"));
    const file = join(folder, "gate");
    await using other = startScripted({
      gated: [{ text: "a" }, { wait_for: file }, { text: "b" }, { finish: "stop" }],
    });
    await other.engine.whenReady();
    const seen: string[] = [];
    for await (const event of oneByOne(stream(other.engine, requestFor(play("gated")), AbortSignal.timeout(60_000)))) {
      if (event.kind === "text") seen.push(event.text);
      if (event.kind === "text" && event.text === "a") writeFileSync(file, "");
    }
    rmSync(folder, { recursive: true });
    expect(seen).toEqual(["a", "b"]);
  });

  test("splits its bytes and says the same", async () => {
    expect((await askOne(started.engine, play("split"))).text).toBe("Hel🦀");
  });

  test("that is not there is refused", async () => {
    expect(await failureOf("nobody")).toEqual(["rejected", 'the script has no scenario "nobody"']);
  });

  test("called default answers everyone else", async () => {
    await using other = startScripted({ default: hello });
    await other.engine.whenReady();
    expect((await askOne(other.engine, { say: "Hi" })).text).toBe("Hello");
  });
});

describe("a scenario fails", () => {
  test.each([
    ["refuse", ["rejected", "Not this one."]],
    ["fail", ["crashed", "out of memory"]],
    ["fail later", ["crashed", "out of memory"]],
    ["reset", ["crashed", "the engine broke the connection"]],
    ["raw", ["protocol", "the engine wrote a broken line"]],
  ])("%s", async (name, want) => {
    expect(await failureOf(name)).toEqual(want);
    expect(started.engine.state).toBe("ready");
  });

  test("events before the failure have arrived", async () => {
    const seen: string[] = [];
    const reading = (async () => {
      for await (const event of oneByOne(
        stream(started.engine, requestFor(play("fail later")), AbortSignal.timeout(5000)),
      ))
        seen.push(event.kind);
    })();
    await expect(reading).rejects.toThrow("out of memory");
    expect(seen).toEqual(["usage", "role", "usage", "text"]);
  });
});

describe("hanging up", () => {
  test.each(["stall", "endless"])("during %s ends the generation in the process, too", async (name) => {
    const { engine } = started;
    const status = () => engine.status(AbortSignal.timeout(5000));
    const nothingRuns = () => until("nothing runs", async () => (await status()).running === 0);
    // The previous test broke a connection. The process may not have counted its end yet.
    await nothingRuns();
    const before = [(await status()).aborted, engine.gauges().aborted];
    for await (const event of oneByOne(stream(engine, requestFor(play(name)), new AbortController().signal)))
      if (event.kind === "role") break;
    await nothingRuns();
    expect([(await status()).aborted, engine.gauges().aborted]).toEqual(before.map((count) => count + 1));
  });

  test("a refusal is not an abort", async () => {
    const before = started.engine.gauges().aborted;
    await failureOf("refuse");
    expect(started.engine.gauges()).toMatchObject({ running: 0, aborted: before });
  });
});

describe("the built-in reply", () => {
  test.each<[string, Ask, object]>([
    ["says what was said", {}, { text: "You said: Tell me.", finish: "stop" }],
    ["reasons", { isReasoning: true }, { reasoning: "The caller asks something.", text: "You said: Tell me." }],
    ["is cut", { maxTokens: 2 }, { text: "You said:", finish: "length" }],
    ["is truncated in its reasoning", { isReasoning: true, maxTokens: 4 }, { text: "", finish: "length" }],
    ["stops", { stop: ["Tell"] }, { text: "You said: ", finish: "stop" }],
  ])("%s", async (_title, members, want) => {
    expect(await askOne(started.engine, { say: "Tell me.", ...members })).toMatchObject(want);
  });

  test("has the metadata it is given", async () => {
    await using other = startScripted(undefined, { contextLength: 99, canReason: false, quantization: "q8_0" });
    await other.engine.whenReady();
    expect(other.engine.metadata).toMatchObject({
      contextLength: 99,
      canReason: false,
      quantization: "q8_0",
      canCallTools: true,
    });
  });
});
