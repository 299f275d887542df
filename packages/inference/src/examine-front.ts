import { randomBytes } from "node:crypto";
import type { Engine, EngineUsage } from "./engine.ts";
import { bad, good } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { probeRequest, streamAtOnce } from "./probe.ts";
import type { ConstrainedRequest } from "./probe.ts";

/** The number of conversations that are begun before the first of them is continued. */
const conversations = 8;

/** The number of sessions that send the same prompt, to see how many engines have not read it. */
const sessions = 12;

/** A second turn must find this share of the first one's prompt in the cache. */
const minShare = 0.9;

/** The longest block of a prompt cache that we know, in tokens. Of a prompt, only full blocks are cached. */
const blockTokens = 16;

const sentence = "The next block holds the price of gas. ";
const maxRepeats = 60;

/**
 * Examines an upstream by the counts that its engines report for prompts that nobody has sent before. So the result does not
 * depend on what a service in between says of itself.
 * @param advice the settings of the front that would work
 * @param patienceMs the time for one request
 * @throws {EngineError} if it does not answer
 */
export async function examineFront(
  topic: string,
  engine: Engine,
  advice: string,
  patienceMs: number,
): Promise<Finding[]> {
  if (engine.metadata?.promptCache?.isShared === true) {
    return [bad(topic, "Cached tokens are not counted, because it reuses the prompts of one key for another.")];
  }
  const run = randomBytes(12).toString("hex");
  const repeats = Math.min(maxRepeats, Math.floor((engine.metadata?.contextLength ?? 512) / 32));
  const textOf = (name: string): string => `${run} ${name} ${sentence.repeat(repeats)}`;
  const ask = (session: string, messages: ConstrainedRequest["messages"]): Promise<EngineUsage> =>
    usageOf(engine, { ...probeRequest, messages, origin: { key: `doctor-${run}`, cacheKey: session } }, patienceMs);

  const names = Array.from({ length: conversations }, (_, index) => `conversation ${index}`);
  const firsts: EngineUsage[] = [];
  for (const name of names) firsts.push(await ask(name, [{ role: "user", content: textOf(name) }]));
  const seconds: EngineUsage[] = [];
  // In the reverse order, no number of engines that take turns brings all conversations back to their engine.
  for (const name of names.toReversed()) {
    const begun = [
      { role: "user" as const, content: textOf(name) },
      { role: "assistant" as const, content: "Yes." },
    ];
    seconds.unshift(await ask(name, [...begun, { role: "user", content: "And the one after it?" }]));
  }
  const same: EngineUsage[] = [];
  for (let session = 0; session < sessions; session += 1) {
    same.push(await ask(`session ${session}`, [{ role: "user", content: textOf("the same") }]));
  }
  return [judgeCache(topic, firsts, seconds, advice), judgeSpread(topic, same)];
}

function judgeCache(
  topic: string,
  firsts: readonly EngineUsage[],
  seconds: readonly EngineUsage[],
  advice: string,
): Finding {
  const isNew = ({ promptTokens, cachedTokens }: EngineUsage): boolean => cachedTokens < promptTokens / 2;
  if (!firsts.every(isNew)) {
    return bad(topic, "It counts cached tokens for prompts that nobody has sent before, so its counts mean nothing.");
  }
  // The new messages end the shared beginning before the last block of the first turn.
  const shareable = firsts.map(({ promptTokens }) => Math.max(promptTokens - 2 * blockTokens, 1));
  const met = seconds.filter(({ cachedTokens }, index) => cachedTokens >= minShare * (shareable[index] ?? 1)).length;
  const seen = `${met} of ${seconds.length} second turns met the cache of their first one, with other conversations in between`;
  if (met === seconds.length) return good(topic, seen);
  const total = seconds.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0);
  if (total === 0) {
    return bad(
      topic,
      `No second turn has cached tokens: ${advice}, and start its engines with --enable-prompt-tokens-details.`,
      seen,
    );
  }
  return bad(topic, `Conversations change the engine: ${advice}.`, seen);
}

/** The same prompt is new to each engine once. */
function judgeSpread(topic: string, same: readonly EngineUsage[]): Finding {
  const cold = same.filter(({ promptTokens, cachedTokens }) => cachedTokens < promptTokens / 2).length;
  if (cold === same.length) return good(topic, "the number of engines is unknown: none met a cached prompt");
  return good(topic, `${cold === 1 ? "1 engine" : `${cold} engines`} answered ${same.length} sessions with one prompt`);
}

async function usageOf(engine: Engine, request: ConstrainedRequest, patienceMs: number): Promise<EngineUsage> {
  let usage: EngineUsage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 };
  const signal = AbortSignal.timeout(patienceMs);
  for await (const events of streamAtOnce((asked) => engine.prepare(asked, signal), request)) {
    for (const event of events) if (event.kind === "usage") usage = event.usage;
  }
  return usage;
}
