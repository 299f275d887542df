import { Agent } from "node:http";
import { ask, chat } from "./ask.ts";
import type { Answer } from "./ask.ts";
import { pause } from "./sockets.ts";

/** Results of a request that was sent repeatedly: the time of each answer, and the failures. */
export interface Series {
  readonly timesMs: readonly number[];
  /** Failures: a refusal, or an error instead of an answer. */
  readonly lost: readonly string[];
  /** The number of these failures without any answer. */
  readonly unanswered: number;
}

/** Results of a well-behaved caller, and of a load balancer's health probe. */
export interface Seen {
  readonly chat: Series;
  readonly health: Series;
  /** Ids of the answered requests. The ledger must have an entry for each. */
  readonly answered: readonly string[];
}

const pauseMs = 50;
/** Time-out of a request. It is longer than any time that counts as an answer. */
const patienceMs = 30_000;

export interface Neighbour {
  readonly origin: string;
  readonly token: string;
  readonly model: string;
}

/** Sends small chats one after another on one kept connection, and probes `/health` on new connections, until the signal. */
export async function watch({ origin, token, model }: Neighbour, signal: AbortSignal): Promise<Seen> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const answered: string[] = [];
  const smallChat = async (): Promise<Answer> => {
    const answer = await chat(origin, token, { model }, { agent, timeoutMs: patienceMs });
    if (answer.status === 200) answered.push(String(answer.headers["x-request-id"]));
    return answer;
  };
  const health = (): Promise<Answer> => ask({ url: `${origin}/health`, timeoutMs: patienceMs });
  const [chats, healths] = await Promise.all([timed(smallChat, signal), timed(health, signal)]);
  agent.destroy();
  return { chat: chats, health: healths, answered };
}

async function timed(act: () => Promise<Answer>, signal: AbortSignal): Promise<Series> {
  const timesMs: number[] = [];
  const lost: string[] = [];
  let unanswered = 0;
  while (!signal.aborted) {
    const startedMs = performance.now();
    try {
      const answer = await act();
      if (answer.status !== 200) lost.push(`${answer.status} ${codeOf(answer)}`);
    } catch (error) {
      lost.push(error instanceof Error ? error.message : String(error));
      unanswered += 1;
    }
    // A failed request counts with its time as well.
    timesMs.push(performance.now() - startedMs);
    await pause(pauseMs, signal);
  }
  return { timesMs, lost, unanswered };
}

const codeOf = ({ text }: Answer): string => /"code":"(\w+)"/.exec(text)?.[1] ?? "";

/** Returns the value that a share (0 to 1) of all values does not exceed, or 0 if there are none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export const largest = (values: readonly number[]): number => Math.max(0, ...values);
