import { Agent } from "node:http";
import { ask, chat } from "./ask.ts";
import type { Answer } from "./ask.ts";
import { pause } from "./sockets.ts";

/** What was asked again and again: how long each answer took, and what was no answer, or a wrong one. */
export interface Series {
  readonly timesMs: readonly number[];
  /** A refusal, or an error instead of an answer. */
  readonly lost: readonly string[];
  /** Of these, the ones that brought no answer at all. */
  readonly unanswered: number;
}

/** What a caller sees who does nothing wrong, and a load balancer beside it. */
export interface Seen {
  readonly chat: Series;
  readonly health: Series;
  /** The requests that were answered: the ledger has to have an entry of each. */
  readonly answered: readonly string[];
}

const pauseMs = 50;
/** Longer than anything that is called an answer. */
const patienceMs = 30_000;

export interface Neighbour {
  readonly origin: string;
  readonly token: string;
  readonly model: string;
}

/** Sends a small chat after the other on one kept connection, and asks `/health` on new ones, until the signal. */
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
    // What failed took its time, too.
    timesMs.push(performance.now() - startedMs);
    await pause(pauseMs, signal);
  }
  return { timesMs, lost, unanswered };
}

const codeOf = ({ text }: Answer): string => /"code":"(\w+)"/.exec(text)?.[1] ?? "";

/** The value that so large a share of all does not exceed; 0 of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export const largest = (values: readonly number[]): number => Math.max(0, ...values);
