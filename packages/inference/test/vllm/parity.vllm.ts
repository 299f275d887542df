import { readFileSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Engine, TokenPiece } from "../../src/index.ts";
import { askOne } from "../requests.ts";
import { startMini } from "../start-engines.ts";
import { MeasuredTable } from "./report.ts";
import { neverEnding, startVllm } from "./start-vllm.ts";
import type { StartedVllm } from "./start-vllm.ts";

/**
 * The same greedy request on llama.cpp and on vLLM. Where the texts part, two tokens were all but level: both engines
 * compute in bf16, add up in another order, and round. A wider gap would be a fault of one of them, or of ours.
 */

type Embedded = Awaited<ReturnType<typeof startMini>>;
let vllm: StartedVllm;
let embedded: Embedded;
beforeAll(async () => {
  [vllm, embedded] = [startVllm(), await startMini()];
  await Promise.all([vllm.vllm.engine.whenReady(), embedded.engine.whenReady()]);
});
afterAll(async () => {
  await Promise.all([vllm[Symbol.asyncDispose](), embedded[Symbol.asyncDispose]()]);
  summary.print();
  differences.print();
});

const summary = new MeasuredTable("parity");
const differences = new MeasuredTable("parity-differences");
/** Natural logarithm; seen so far are 0.08 and less. */
const widestGap = 0.25;

const ways = [
  ["to their own end", { max_tokens: 400 }],
  ["forced to 200 tokens", { max_tokens: 200, sampling: { logit_bias: neverEnding } }],
] as const;

describe("greedy answers of both engines to a hundred prompts are the same, or part where two tokens are level", () => {
  test.each(ways)("%s", { timeout: 1_200_000 }, async (way, members) => {
    const prompts = hundredPrompts();
    expect(prompts).toHaveLength(100);
    let same = 0;
    let tokens = 0;
    for (const say of prompts) {
      const request = { ...members, say, top_logprobs: 20 };
      const patience = AbortSignal.timeout(120_000);
      const ask = (engine: Engine): ReturnType<typeof askOne> => askOne(engine, request, patience);
      const [ours, theirs] = await Promise.all([ask(embedded.engine), ask(vllm.vllm.engine)]);
      tokens += theirs.tokens.length;
      if (ours.text === theirs.text) same += 1;
      else explain(way, say, ours.tokens, theirs.tokens);
    }
    summary.add({ answers: way, prompts: prompts.length, "tokens on vLLM": tokens, same, different: 100 - same });
  });
});

/** The first place where they part, in the eyes of each: how much likelier its own choice was than the other's. */
function explain(way: string, prompt: string, ours: readonly TokenPiece[], theirs: readonly TokenPiece[]): void {
  const places = Math.max(ours.length, theirs.length);
  const at = Array.from({ length: places }).findIndex((_, place) => ours[place]?.id !== theirs[place]?.id);
  const [mine, other] = [ours[at], theirs[at]];
  const gaps = [gapTo(mine, other), gapTo(other, mine)].filter((gap) => gap !== undefined);
  const [embeddedToken, vllmToken] = [mine, other].map((token) => JSON.stringify(token?.token ?? "<|im_end|>"));
  differences.add({
    answers: way,
    prompt,
    at,
    "embedded wrote": embeddedToken ?? "",
    "vLLM wrote": vllmToken ?? "",
    "gap on embedded": gapTo(mine, other)?.toFixed(4) ?? "-",
    "gap on vLLM": gapTo(other, mine)?.toFixed(4) ?? "-",
  });
  // An end is no token of the content: then only the one that went on can tell.
  expect(gaps.length).toBeGreaterThan(0);
  for (const gap of gaps) expect(Math.abs(gap)).toBeLessThan(widestGap);
}

/** Undefined where it wrote nothing there; infinite where the other's choice was not even among its twenty likeliest. */
function gapTo(chosen: TokenPiece | undefined, other: TokenPiece | undefined): number | undefined {
  if (!chosen) return undefined;
  const missed = chosen.top?.find(({ token }) => token === (other?.token ?? "<|im_end|>"));
  return (chosen.logprob ?? 0) - (missed?.logprob ?? Number.NEGATIVE_INFINITY);
}

function hundredPrompts(): string[] {
  const topics = new URL("../../demo-models/corpus/topics/", import.meta.url);
  const found = readdirSync(topics).flatMap((name) => questionsIn(parse(readFileSync(new URL(name, topics), "utf8"))));
  const step = Math.floor(found.length / 100);
  return Array.from({ length: 100 }, (_, index) => found[index * step] ?? "");
}

const questionsIn = (value: unknown): string[] => {
  if (typeof value === "string") return value.split("\n").filter((line) => line.endsWith("?"));
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(questionsIn) : [];
};
