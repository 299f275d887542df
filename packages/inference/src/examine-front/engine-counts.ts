import { bad, good } from "../finding.ts";
import type { Finding } from "../finding.ts";

/** The counters of one vLLM since its start, in tokens, and the number of its running and waiting requests. */
export interface EngineCounts {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly generatedTokens: number;
  readonly active: number;
}

/**
 * Reads the counters of engines at their own addresses.
 * @throws {Error} if one does not answer, or is not a vLLM
 */
export const readCounts = (engines: readonly string[]): Promise<EngineCounts[]> => Promise.all(engines.map(readOne));

const patienceMs = 10_000;

async function readOne(baseUrl: string): Promise<EngineCounts> {
  const url = `${baseUrl.replace(/\/+$/, "").replace(/\/v1$/, "")}/metrics`;
  const text = await fetch(url, { signal: AbortSignal.timeout(patienceMs) }).then(
    async (answer) => (answer.ok ? answer.text() : `HTTP ${answer.status}`),
    (error: unknown) => String(error instanceof Error ? (error.cause ?? error) : error),
  );
  if (!text.includes("vllm:num_requests_running")) {
    throw new Error(`${url} shows no counters of vLLM: ${text.slice(0, 100).trim() || "it is empty"}`);
  }
  const sum = (name: string): number =>
    text
      .split("\n")
      .filter((line) => line.startsWith(`vllm:${name}{`) || line.startsWith(`vllm:${name} `))
      .reduce((all, line) => all + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  return {
    promptTokens: sum("prompt_tokens_total"),
    cachedTokens: sum("prefix_cache_hits_total"),
    generatedTokens: sum("generation_tokens_total"),
    active: sum("num_requests_running") + sum("num_requests_waiting"),
  };
}

/** Returns the sum of the differences of a counter. */
export const grownBy = (
  name: keyof EngineCounts,
  before: readonly EngineCounts[],
  after: readonly EngineCounts[],
): number => after.reduce((sum, counts, index) => sum + counts[name] - (before[index]?.[name] ?? 0), 0);

/** Compares the sums of the answers with the counters of the engines. Other callers can only add to the latter. */
export function compareCounts(
  topic: string,
  answered: { readonly promptTokens: number; readonly cachedTokens: number },
  before: readonly EngineCounts[],
  after: readonly EngineCounts[],
  advice: string,
): Finding {
  const read = after.map(({ promptTokens }, index) => promptTokens - (before[index]?.promptTokens ?? 0));
  const busy = read.filter((count) => count > 0).length;
  const cached = grownBy("cachedTokens", before, after);
  const seen = `${busy} of ${read.length} engines read prompts (${read.join(", ")} tokens) and found ${cached} in their caches`;
  if (read.reduce((sum, count) => sum + count, 0) < 0.99 * answered.promptTokens) {
    const why = `The answers count ${answered.promptTokens} prompt tokens. Name all engines with --engines; if these are all, it answers without them.`;
    return bad(topic, why, seen);
  }
  if (cached < 0.9 * answered.cachedTokens) {
    return bad(topic, `The answers claim ${answered.cachedTokens} cached tokens, which is not true.`, seen);
  }
  if (busy < read.length)
    return bad(topic, `It leaves engines without work, whatever the conversation: ${advice}.`, seen);
  return good(topic, seen);
}
