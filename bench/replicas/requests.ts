import { modelId } from "@parley/server/testing";

/** The answers of the scripted engine: 8 tokens at once, 200 tokens in 4 s, and 600 tokens in 12 s. */
export const scenarios = {
  short: [{ repeat: 8, steps: [{ text: "word " }] }, { finish: "stop" }],
  long: [{ repeat: 200, steps: [{ text: "word " }, { wait_ms: 20 }] }, { finish: "stop" }],
  longer: [{ repeat: 600, steps: [{ text: "word " }, { wait_ms: 20 }] }, { finish: "stop" }],
};

export type Scenario = keyof typeof scenarios;

/** A request that has ended, as its client saw it. */
export interface Seen {
  /** The id of the request, which its entry has, too; empty if no head arrived. */
  readonly id: string;
  readonly status: number;
  /** False if the stream ended without its last event. */
  readonly isWhole: boolean;
  /** Number of tokens in the usage of the answer; 0 if the stream ended before. */
  readonly completionTokens: number;
  readonly totalTokens: number;
  /** Number of tokens that arrived. */
  readonly delivered: number;
  /** Milliseconds from the request to the first event. */
  readonly firstMs: number;
  /** The times of the first event and of the end, in the milliseconds of `performance.now()`. */
  readonly span: readonly [from: number, to: number];
}

/** The base URL of a server. */
interface Target {
  readonly url: string;
}

/**
 * Sends a streamed request and reads its answer. A connection that breaks before the head gives the status 0.
 * @param onFirst is called when the first bytes of the answer arrive
 */
export async function send(
  { url }: Target,
  token: string,
  scenario: Scenario,
  onFirst: () => void = () => undefined,
): Promise<Seen> {
  const beganMs = performance.now();
  let firstMs = 0;
  let text = "";
  let status = 0;
  let id = "";
  try {
    const body = {
      model: modelId,
      messages: [{ role: "user", content: `script:${scenario}` }],
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: scenario === "longer" ? 700 : 400,
    };
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${url}/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) });
    status = response.status;
    id = response.headers.get("x-request-id") ?? "";
    for await (const bytes of response.body ?? []) {
      if (firstMs === 0) onFirst();
      firstMs ||= performance.now();
      text += Buffer.from(bytes).toString("latin1");
    }
  } catch {
    // The connection broke. The events that have arrived count.
  }
  const numberOf = (name: string): number => Number(new RegExp(`"${name}":(\\d+)`).exec(text)?.[1] ?? 0);
  return {
    id,
    status,
    isWhole: text.includes("data: [DONE]"),
    completionTokens: numberOf("completion_tokens"),
    totalTokens: numberOf("total_tokens"),
    delivered: text.split('"content":"word ').length - 1,
    firstMs: firstMs - beganMs,
    span: [firstMs, performance.now()],
  };
}

/** Starts a stream on each server. @returns a promise that resolves when each has begun, or has ended */
export function startStreams(
  servers: readonly Target[],
  token: string,
  scenario: Scenario,
): { readonly streams: readonly Promise<Seen>[]; readonly areBegun: Promise<unknown> } {
  const begun = servers.map((server) => ({ server, ...Promise.withResolvers<void>() }));
  const streams = begun.map(({ server, resolve }) => send(server, token, scenario, resolve));
  const isBegun = begun.map(({ promise }, index) => Promise.race([promise, streams[index]]));
  return { streams, areBegun: Promise.all(isBegun) };
}

/** Sends requests to servers in turn, at most `atOnce` at the same time. */
export async function race(
  servers: readonly Target[],
  { count, atOnce, token, scenario }: { count: number; atOnce: number; token: string; scenario: Scenario },
): Promise<Seen[]> {
  const seen: Seen[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const server = servers[next++ % servers.length];
      if (server) seen.push(await send(server, token, scenario));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return seen;
}

export const served = (seen: readonly Seen[]): readonly Seen[] => seen.filter(({ status }) => status === 200);

/** @example "12 × 200, 3 × 503" */
export function countStatuses(seen: readonly Seen[]): string {
  const statuses = Map.groupBy(seen, ({ status }) => status);
  return [...statuses].map(([status, { length }]) => `${length} × ${status || "broken"}`).join(", ") || "0";
}
