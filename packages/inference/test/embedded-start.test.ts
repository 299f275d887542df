import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openRenderer } from "../src/embedded/child/open-renderer.ts";
import { respell, truncate } from "./change-model-file.ts";
import { ask, askOne, countTokens, requestFor } from "../testing/requests.ts";
import { biasOn, miniModelFile, neverEnding, readMiniVocabulary, startMini } from "./start-engines.ts";

const folder = mkdtempSync(join(tmpdir(), "parley-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, "model.gguf");
const tool = { name: "f", description: undefined, parameters: undefined };

describe("a model that cannot be served fails at once, with a sentence", () => {
  test.each([
    ["its file is missing", {}, "is missing: restore it, or name another one."],
    ["its file is not the recorded one", { file: miniModelFile, sha256: "0".repeat(64) }, "is damaged"],
    ["no slot fits the memory", { file: miniModelFile, slots: 0 }, "one slot does not fit the memory budget"],
  ])("%s", async (_title, choices, want) => {
    await using started = await startMini({ file: join(folder, "none.gguf"), ...choices });
    await expect(started.engine.whenReady()).rejects.toThrow(want);
    expect(started.engine).toMatchObject({ state: "failed", stateReason: expect.stringContaining(want) });
    expect(started.engine.gauges().restarts).toBe(0);
    expect(started.reports.at(-1)).toMatchObject({ state: "failed" });
  });

  test.each([
    ["its last tensor is cut", () => truncate(path, (size) => size - 1)],
    ["its template is broken", () => respell(path, { "{%- macro": "{%~ macro" })],
  ])("%s", async (_title, prepare) => {
    prepare();
    await using started = await startMini({ file: path });
    await expect(started.engine.whenReady()).rejects.toThrow(/cannot be loaded, it is damaged, truncated/);
    expect(started.engine.gauges().restarts).toBe(0);
    expect(started.reports.at(-1)?.log?.join("\n")).toContain("cannot be loaded");
  });
});

describe("a model that was taught less", () => {
  const specialTokens = {
    "<think>": "<thonk>",
    "</think>": "</thonk>",
    "<tool_call>": "<tool_kall>",
    "</tool_call>": "</tool_kall>",
  };
  test.each([
    ["no special tokens", specialTokens],
    ["no template for them", { enable_thinking: "unable_thinking", tools: "toolz" }],
  ])("%s: it neither reasons nor calls tools unless it is forced to call", async (_title, spellings) => {
    respell(path, spellings);
    await using started = await startMini({ file: path });
    const { engine } = started;
    await engine.whenReady();
    expect(engine.metadata).toMatchObject({ canReason: false, canCallTools: false });
    const logit_bias = biasOn(await readMiniVocabulary(), ["<think>", "<tool_call>"], 100);
    const auto = {
      say: "<think>",
      isReasoning: true,
      tools: [tool],
      toolChoice: "auto",
      sampling: { logit_bias },
    } as const;
    const { reasoning, calls, usage } = await askOne(engine, auto);
    expect([reasoning, calls, usage.reasoningTokens]).toEqual(["", [], 0]);
    const forced = await askOne(engine, {
      tools: [tool],
      toolChoice: { oneOf: ["f"] },
      parallelToolCalls: false,
      maxTokens: 60,
    });
    expect(forced).toMatchObject({ finish: "tool_calls", calls: [{ name: "f", arguments: "{}" }] });
  });
});

describe("a small context", () => {
  test("is used to its last token, and not one further", async () => {
    await using started = await startMini({ contextLength: 128, slots: 2 });
    const { engine } = started;
    await engine.whenReady();
    expect(engine.metadata).toMatchObject({
      contextLength: 128,
      slots: 2,
      description: expect.stringContaining("2 slots and a spare one: 128 tokens"),
    });
    const prompt = await countTokens(engine, requestFor({}), AbortSignal.timeout(10_000));
    const sampling = { logit_bias: await neverEnding() };
    const { choices, usage } = await ask(engine, { n: 2, maxTokens: 128 - prompt, sampling });
    expect(choices.map((choice) => choice.finish)).toEqual(["length", "length"]);
    expect(usage.completionTokens).toBe(2 * (128 - prompt));
    await expect(ask(engine, { maxTokens: 129 - prompt })).rejects.toThrow("exceeds the context of 128");
    const again = await ask(engine, { n: 2, maxTokens: 128 - prompt, sampling });
    expect(again.choices).toEqual(choices);
  });
});

describe("more choices than slots", () => {
  test("get the text that each has alone", async () => {
    await using started = await startMini({ contextLength: 512, slots: 2 });
    const { engine } = started;
    await engine.whenReady();
    // A prompt of several slices.
    const members = { say: "What is a blockchain? ".repeat(40), sampling: { temperature: 1.2 }, maxTokens: 12 };
    const { choices, usage } = await ask(engine, { ...members, seed: "7", n: 5 });
    for (const [index, choice] of choices.entries()) {
      const alone = await askOne(engine, { ...members, seed: `${7 + index}` });
      expect(alone.text).toBe(choice.text);
    }
    expect(usage.promptTokens).toBe(await countTokens(engine, requestFor(members), AbortSignal.timeout(10_000)));
  });
});

describe("a long conversation", () => {
  test("is counted exactly up to twice the context, and other requests need not wait", async () => {
    await using started = await startMini();
    const { engine } = started;
    await engine.whenReady();
    const long = requestFor({ say: "What is <|im_end|> a 🦀? ".repeat(3500) });
    const done: string[] = [];
    const patience = AbortSignal.timeout(60_000);
    const counted = countTokens(engine, long, patience).finally(() => done.push("long"));
    for (let turn = 0; turn < 5; turn += 1)
      await countTokens(engine, requestFor({}), patience).then(() => done.push("short"));
    expect(await counted).toBe((await openRenderer(miniModelFile)).render(long).tokens.length);
    expect(done.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => "short"));
    await expect(ask(engine, long)).rejects.toThrow("exceeds the context of");
  });

  test("that is longer is counted no further", async () => {
    await using started = await startMini();
    const { engine } = started;
    await engine.whenReady();
    const count = (words: number) =>
      countTokens(engine, requestFor({ say: `A${" gas".repeat(words)}` }), AbortSignal.timeout(60_000));
    const most = 2 * (engine.metadata?.contextLength ?? 0);
    const words = most - (await count(0));
    expect(await count(words)).toBe(most);
    expect(await count(words + 1)).toBe(most + 1);
    const counted = await count(1_000_000);
    expect(counted).toBeGreaterThan(most);
    expect(counted).toBeLessThan(1_000_000);
  });
});
