import { readFileSync, readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { Engine, OutputToken } from "../../src/index.ts";
import { askOne } from "../../testing/requests.ts";
import { startMini } from "../start-engines.ts";
import { MeasuredTable } from "../../testing/vllm/report.ts";
import { neverEnding, startVllm } from "../../testing/vllm/start-vllm.ts";
import type { StartedVllm } from "../../testing/vllm/start-vllm.ts";

/**
 * The same greedy request on llama.cpp and on vLLM, with the same bf16 weights. llama.cpp rounds the factors of a matrix
 * product to bf16 and adds in float32. vLLM rounds everything, also the log-probabilities: 8 bits of mantissa change those by
 * tenths. Where the two texts part, the two tokens must have been nearly level, so that this rounding alone decides. So the
 * engines may differ there by no more than they differ where they agree. With vLLM in float32, two thirds of the difference
 * have to vanish.
 */

const summary = new MeasuredTable("parity");
const partings = new MeasuredTable("parity-differences");
afterAll(() => {
  summary.print();
  partings.print();
});

const ways = [
  ["to their own end", { maxTokens: 400 }],
  ["forced to 200 tokens", { maxTokens: 200, sampling: { logit_bias: neverEnding } }],
] as const;

/** The comparison of two answers to the same prompt. */
interface Compared {
  readonly isSame: boolean;
  readonly tokens: number;
  /** For every common token: the difference between the engines in the lead of the likeliest token over the second. */
  readonly noise: readonly number[];
  readonly parting: Parting | undefined;
}

interface Parting {
  readonly at: number;
  readonly tokens: readonly [embedded: string, vllm: string];
  /** For each engine: the lead of its own token over the other's. Undefined if its answer had ended. */
  readonly gaps: readonly [embedded: number | undefined, vllm: number | undefined];
}

describe.each(["bfloat16", "float32"])("vLLM in %s, llama.cpp, a hundred prompts, greedy", (dtype) => {
  let vllm: StartedVllm;
  let embedded: Awaited<ReturnType<typeof startMini>>;
  beforeAll(async () => {
    [vllm, embedded] = [startVllm({ extraArguments: ["--dtype", dtype] }), await startMini()];
    await Promise.all([vllm.vllm.engine.whenReady(), embedded.engine.whenReady()]);
  });
  afterAll(() => Promise.all([vllm[Symbol.asyncDispose](), embedded[Symbol.asyncDispose]()]));

  test.each(ways)("%s", { timeout: 1_200_000 }, async (way, members) => {
    const prompts = hundredPrompts();
    expect(prompts).toHaveLength(100);
    const compared: Compared[] = [];
    for (const say of prompts) {
      const request = { ...members, say, topLogprobs: 20 };
      const ask = (engine: Engine): ReturnType<typeof askOne> => askOne(engine, request, AbortSignal.timeout(120_000));
      const [ours, theirs] = await Promise.all([ask(embedded.engine), ask(vllm.vllm.engine)]);
      compared.push(compare(ours, theirs));
      const { parting } = compared.at(-1) ?? {};
      if (parting) partings.add(rowOf(`${way}, ${dtype}`, say, parting));
    }
    const same = compared.filter(({ isSame }) => isSame).length;
    const noise = compared.flatMap((one) => one.noise).toSorted((a, b) => a - b);
    const tokens = compared.reduce((sum, one) => sum + one.tokens, 0);
    const share = (part: number): string => (noise[Math.floor((noise.length - 1) * part)] ?? 0).toFixed(4);
    const apart = { "apart, median": share(0.5), "apart, 99 %": share(0.99), "apart, most": share(1) };
    summary.add({ answers: way, "vLLM in": dtype, prompts: 100, tokens, same, different: 100 - same, ...apart });
    for (const { parting } of compared) if (parting) expect(disagreement(parting)).toBeLessThan(noise.at(-1) ?? 0);
    if (dtype === "float32") expect(Number(share(0.99))).toBeLessThan(0.15);
  });
});

type Answer = Awaited<ReturnType<typeof askOne>>;

function compare(ours: Answer, theirs: Answer): Compared {
  const places = Math.max(ours.tokens.length, theirs.tokens.length);
  const parts = Array.from({ length: places }).findIndex((_, at) => ours.tokens[at]?.id !== theirs.tokens[at]?.id);
  const common = parts === -1 ? places : parts;
  const noise = theirs.tokens.slice(0, common).flatMap((token, at) => apart(ours.tokens[at], token) ?? []);
  const isSame = ours.text === theirs.text;
  const parting = isSame ? undefined : partingOf(common, ours.tokens[common], theirs.tokens[common]);
  return { isSame, tokens: theirs.tokens.length, noise, parting };
}

/** Compares the lead of vLLM's likeliest token over its second, if both engines name the two. */
function apart(ours: OutputToken | undefined, theirs: OutputToken): number | undefined {
  const [first, second] = theirs.top ?? [];
  if (!first || !second || !ours) return undefined;
  const [mineFirst, mineSecond] = [logprobOf(ours, first.token), logprobOf(ours, second.token)];
  if (mineFirst === undefined || mineSecond === undefined) return undefined;
  return Math.abs(first.logprob - second.logprob - (mineFirst - mineSecond));
}

const logprobOf = ({ top }: OutputToken, token: string): number | undefined =>
  top?.find((one) => one.token === token)?.logprob;

function partingOf(at: number, mine: OutputToken | undefined, other: OutputToken | undefined): Parting {
  const nameOf = (piece: OutputToken | undefined): string => piece?.token ?? "<|im_end|>";
  return { at, tokens: [nameOf(mine), nameOf(other)], gaps: [gapTo(mine, nameOf(other)), gapTo(other, nameOf(mine))] };
}

/** Returns the lead of `chosen` over `other`. It is infinite if `other` was not among the twenty likeliest. */
function gapTo(chosen: OutputToken | undefined, other: string): number | undefined {
  if (!chosen) return undefined;
  return (chosen.logprob ?? 0) - (logprobOf(chosen, other) ?? Number.NEGATIVE_INFINITY);
}

/** Each engine prefers its own token, so their leads add up to the difference between them. */
const disagreement = ({ gaps }: Parting): number => gaps.reduce<number>((sum, gap) => sum + (gap ?? 0), 0);

function rowOf(
  answers: string,
  prompt: string,
  { at, tokens, gaps }: Parting,
): Readonly<Record<string, string | number>> {
  const [embedded, vllm] = tokens.map((token) => JSON.stringify(token));
  const [embeddedGap, vllmGap] = gaps.map((gap) => gap?.toFixed(4) ?? "ended");
  return {
    answers,
    prompt,
    at,
    "llama.cpp wrote": embedded ?? "",
    "vLLM wrote": vllm ?? "",
    "gap on llama.cpp": embeddedGap ?? "",
    "gap on vLLM": vllmGap ?? "",
  };
}

function hundredPrompts(): string[] {
  const topics = new URL("../../../../demo-models/corpus/topics/", import.meta.url);
  const found = readdirSync(topics).flatMap((name) => questionsIn(parse(readFileSync(new URL(name, topics), "utf8"))));
  const step = Math.floor(found.length / 100);
  return Array.from({ length: 100 }, (_, index) => found[index * step] ?? "");
}

const questionsIn = (value: unknown): string[] => {
  if (typeof value === "string") return value.split("\n").filter((line) => line.endsWith("?"));
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(questionsIn) : [];
};
