import { randomBytes } from "node:crypto";
import { bad, good } from "../finding.ts";
import type { Finding } from "../finding.ts";
import { probeRequest } from "../probe.ts";
import type { ExamineFrontOptions } from "./examine-front.ts";
import type { Answered, FrontPrompts } from "./front-prompts.ts";

/** The number of conversations that are begun before the first of them is continued. */
const conversations = 8;

/** The number of prompts with one beginning, to see how many engines have not read it. */
const prompted = 12;

/**
 * A second turn that finds this share of the first one's prompt has met its cache. Only full blocks are cached, and they may be
 * long: 128 tokens on processors. But a prompt with at least one full block has at least half of its tokens in full blocks.
 */
const minShare = 0.5;

/** The new messages change at most this many tokens at the end of the first turn's prompt. */
const endTokens = 32;

const isNew = ({ usage: { promptTokens, cachedTokens } }: Answered): boolean => cachedTokens < promptTokens / 2;

type Known = Pick<ExamineFrontOptions, "advice" | "protocol">;

/** Checks if second turns meet the cache of the first ones, with other conversations in between. */
export async function examineCache(
  topic: string,
  prompts: FrontPrompts,
  { advice, protocol }: Known,
): Promise<Finding> {
  const names = Array.from({ length: conversations }, (_, index) => `conversation ${index} ${"of ".repeat(index)}`);
  const firsts: Answered[] = [];
  for (const name of names) firsts.push(await prompts.ask(name, prompts.textOf(name)));
  const seconds: Answered[] = [];
  // In the reverse order, no number of engines that take turns brings all conversations back to their engine.
  for (const name of names.toReversed()) {
    const begun = [
      { role: "user" as const, content: prompts.textOf(name) },
      { role: "assistant" as const, content: "Yes." },
    ];
    seconds.unshift(await prompts.ask(name, [...begun, { role: "user", content: "And the one after it?" }]));
  }
  const mixed = [...firsts, ...seconds].filter(({ usage, promptTokens }) => usage.promptTokens !== promptTokens);
  if (protocol === "completions" && mixed.length > 0) {
    const why = "Answers count other prompts than the ones that were sent: it changes prompts, or mixes answers up.";
    return bad(topic, why, `${mixed.length} of ${2 * conversations} answers count another number of prompt tokens`);
  }
  if (!firsts.every(isNew)) {
    return bad(topic, "It counts cached tokens for prompts that nobody has sent before, so its counts mean nothing.");
  }
  return judgeTurns(topic, firsts, seconds, advice);
}

function judgeTurns(topic: string, firsts: readonly Answered[], seconds: readonly Answered[], advice: string): Finding {
  const shareable = firsts.map(({ usage }) => Math.max(usage.promptTokens - endTokens, 1));
  const isMet = ({ usage }: Answered, index: number): boolean =>
    usage.cachedTokens >= minShare * (shareable[index] ?? 1);
  const met = seconds.filter(isMet).length;
  const seen = `${met} of ${seconds.length} second turns met the cache of their first one, with other conversations in between`;
  if (met === seconds.length) return good(topic, seen);
  if (seconds.every(({ usage }) => usage.cachedTokens === 0)) {
    const why = `No second turn has cached tokens: ${advice}, and start its engines with --enable-prompt-tokens-details.`;
    return bad(topic, why, seen);
  }
  return bad(topic, `Conversations change the engine: ${advice}.`, seen);
}

/**
 * Counts the engines that answer, and checks if the length of a prompt decides which one does. A beginning that several prompts
 * have in common is new to each engine once.
 */
export async function examineSpread(
  topic: string,
  prompts: FrontPrompts,
  { advice }: Pick<Known, "advice">,
): Promise<Finding> {
  const equal = await countEngines(prompts, "equal lengths", (name) =>
    ofEqualLength(prompts, prompts.textOf(name, 0.4)),
  );
  // Routers that compare the lengths as texts take 612 and 618 for similar, so the first digits have to differ.
  const different = await countEngines(prompts, "different lengths", async (name) =>
    Array.from({ length: prompted }, (_, index) => prompts.textOf(name, 0.4 + (0.6 * index) / (prompted - 1))),
  );
  if (equal === undefined || different === undefined) {
    return good(topic, "their number cannot be seen from here, because no prompt met a cache: see --engines");
  }
  if (equal === 1 && different > 1) {
    const seen = `${prompted} prompts of one length went to 1 engine, and ${prompted} of different lengths to ${different}`;
    return bad(topic, `The length of a prompt decides which engine gets it: ${advice}.`, seen);
  }
  const most = Math.max(equal, different);
  const note = most === 1 ? "--engines shows if others get any" : "there may be more";
  return good(topic, `at least ${most === 1 ? "1" : most} answered ${2 * prompted} sessions; ${note}`);
}

/** @returns undefined if no prompt met the cache, so nothing is known */
async function countEngines(
  prompts: FrontPrompts,
  name: string,
  makeTexts: (name: string) => Promise<readonly string[]>,
): Promise<number | undefined> {
  const answers: Answered[] = [];
  const shared = await prompts.count(prompts.textOf(name, 0.4));
  for (const text of await makeTexts(name)) answers.push(await prompts.ask(`${name} ${answers.length}`, text));
  const cold = answers.filter(({ usage }) => usage.cachedTokens < shared / 2).length;
  return cold === answers.length ? undefined : cold;
}

/** Tries random ends until the whole prompts have equally many tokens. */
async function ofEqualLength(prompts: FrontPrompts, base: string): Promise<string[]> {
  const byLength = new Map<number, string[]>();
  for (let tries = 0; tries < 40 * prompted; tries += 1) {
    const text = `${base}${randomBytes(4).toString("hex")}`;
    const count = await prompts.count(text);
    const texts = [...(byLength.get(count) ?? []), text];
    if (texts.length === prompted) return texts;
    byLength.set(count, texts);
  }
  return [...byLength.values()].toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** Checks that the same request is really answered again: an answer that is drawn at random does not repeat. */
export async function examineSampling(topic: string, prompts: FrontPrompts): Promise<Finding> {
  const texts = new Set<string>();
  const sampling = { ...probeRequest.sampling, temperature: 2 };
  const asked = 3;
  for (let count = 0; count < asked; count += 1) {
    const { text } = await prompts.ask("one request", prompts.textOf("one request"), { maxTokens: 32, sampling });
    texts.add(text);
  }
  const seen = `${asked} times the same request, drawn at random, gave ${texts.size} different answers`;
  if (texts.size > 1) return good(topic, seen);
  const why =
    "It seems to answer from a cache of whole answers, which shows one caller what another got: switch it off.";
  return bad(topic, why, seen);
}
