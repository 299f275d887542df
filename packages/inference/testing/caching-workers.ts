import { hash, randomInt } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { done } from "./chat-places.ts";
import { event, letters, open } from "./remote-places.ts";
import type { Answer, Place } from "./remote-places.ts";

/** Stand-ins for workers with a prompt cache. They count cached tokens as vLLM does: in full blocks of one salt. */

/** A worker, with the tokens that its cache had for each of its requests. */
export interface Worker extends Place {
  readonly cached: number[];
  /** The tokens that it has counted since its start, by the names of vLLM's metrics. */
  readonly counters: { prompt_tokens_total: number; prefix_cache_hits_total: number; generation_tokens_total: number };
}

export interface Workers {
  readonly workers: readonly Worker[];
  /** Opens one more worker. @param host an address of the loopback interface */
  readonly add: (host?: string, port?: number) => Promise<Worker>;
  /** Returns the cached tokens of all requests since the last call, and those that one cache for all would have had. */
  readonly takeCached: () => { readonly cached: number; readonly shareable: number };
}

/**
 * @param protocol a worker of the chat route counts characters, because it gets no tokens
 * @param blockTokens the size of the cache's blocks
 */
export async function openWorkers(
  count: number,
  protocol: Protocol = "completions",
  blockTokens = 16,
): Promise<Workers> {
  const workers: Worker[] = [];
  const openCache = (): Cache => ({ blockTokens, prefixes: new Set() });
  const everything = openCache();
  let taken = { cached: 0, shareable: 0 };
  const onRequest = (sent: Sent, cached: number): void => {
    taken = { cached: taken.cached + cached, shareable: taken.shareable + countCached(sent, everything) };
  };
  const add = async (host?: string, port?: number): Promise<Worker> => {
    const worker = await openWorker(protocol, openCache(), onRequest, host, port);
    workers.push(worker);
    return worker;
  };
  for (let made = 0; made < count; made += 1) await add();
  const takeCached = (): typeof taken => {
    const result = taken;
    taken = { cached: 0, shareable: 0 };
    return result;
  };
  return { workers, add, takeCached };
}

type Protocol = "completions" | "chat";

interface Cache {
  readonly blockTokens: number;
  /** The hashes of everything up to the end of each block. */
  readonly prefixes: Set<string>;
}

async function openWorker(
  protocol: Protocol,
  own: Cache,
  onRequest: (sent: Sent, cached: number) => void,
  host?: string,
  port?: number,
): Promise<Worker> {
  const counts: number[] = [];
  const counters: Worker["counters"] = {
    prompt_tokens_total: 0,
    prefix_cache_hits_total: 0,
    generation_tokens_total: 0,
  };
  const answer: Answer = (response, body) => {
    const sent = readSent(body);
    const cached = countCached(sent, own);
    counts.push(cached);
    onRequest(sent, cached);
    counters.prompt_tokens_total += sent.units.length;
    counters.prefix_cache_hits_total += cached;
    const say = (said: readonly unknown[], completionTokens: number, finish: string | null): string => {
      const usage = {
        prompt_tokens: sent.units.length,
        completion_tokens: completionTokens,
        prompt_tokens_details: { cached_tokens: cached },
      };
      const delta = protocol === "chat" ? { delta: { content: said.join("") } } : { token_ids: said };
      return event({ choices: [{ index: 0, ...delta, finish_reason: finish }], usage });
    };
    if (sent.forced === undefined) {
      const said = sent.isRandom ? shuffled() : letters;
      const spelled = protocol === "chat" ? [said.toString()] : [...said];
      return void response.end(say(spelled, said.length, "length") + done);
    }
    void sayForced(response, protocol === "chat" ? "a" : sent.forced, sent.most, (...made) => {
      counters.generation_tokens_total += made[0].length;
      return say(...made);
    }).then((units) => countCached({ ...sent, units: [...sent.units, ...units] }, own));
  };
  const place = await open(answer, port, protocol === "chat" ? "/v1/chat/completions" : undefined, host);
  place.listed = { max_model_len: 4096, owned_by: "vllm" };
  place.metrics = () => {
    const lines = Object.entries(counters).map(([name, count]) => `vllm:${name}{engine="0",model_name="m"} ${count}.0`);
    return ['vllm:num_requests_running{engine="0"} 0.0', ...lines].join("\n");
  };
  return Object.assign(place, { cached: counts, counters });
}

interface Sent {
  readonly salt: string;
  readonly units: readonly unknown[];
  /** The token that its bias forces, and the length of the answer. */
  readonly forced: number | undefined;
  readonly most: number;
  readonly isRandom: boolean;
}

function readSent(body: string): Sent {
  // Written by the engine under test.
  const {
    prompt,
    messages,
    cache_salt = "",
    logit_bias = {},
    max_tokens,
    // sglang-router writes the newer name.
    max_completion_tokens = max_tokens,
    temperature,
  } = JSON.parse(body) as {
    readonly prompt?: readonly number[];
    readonly messages?: readonly unknown[];
    readonly cache_salt?: string;
    readonly logit_bias?: Readonly<Record<string, number>>;
    readonly max_tokens?: number;
    readonly max_completion_tokens?: number;
    readonly temperature?: number;
  };
  const [forced] = Object.entries(logit_bias).find(([, bias]) => bias === 100) ?? [];
  return {
    salt: cache_salt,
    units: prompt ?? Array.from(JSON.stringify(messages)),
    forced: forced === undefined ? undefined : Number(forced),
    most: max_completion_tokens ?? 0,
    isRandom: temperature !== 0,
  };
}

const shuffled = (): Buffer => Buffer.from(Array.from(letters, () => letters[randomInt(letters.length)] ?? 0));

/**
 * Writes an answer that repeats one unit, in 200 ms, unless its client hangs up.
 * @returns the written units
 */
async function sayForced(
  response: ServerResponse,
  unit: unknown,
  most: number,
  say: (said: readonly unknown[], completionTokens: number, finish: string | null) => string,
): Promise<unknown[]> {
  const made: unknown[] = [];
  const step = 8;
  while (made.length < most && !response.destroyed) {
    const some = Array.from({ length: Math.min(step, most - made.length) }, () => unit);
    made.push(...some);
    response.write(say(some, made.length, made.length === most ? "length" : null));
    await wait((200 * step) / most);
  }
  response.end(done);
  return made;
}

/** Returns the units of the full blocks that the cache has from the start on, and adds all full blocks to it. */
function countCached({ salt, units }: Pick<Sent, "salt" | "units">, { blockTokens, prefixes }: Cache): number {
  let [cached, isFound, prefix] = [0, true, salt];
  for (let end = blockTokens; end < units.length; end += blockTokens) {
    prefix = hash("sha1", `${prefix},${units.slice(end - blockTokens, end).join()}`);
    isFound &&= prefixes.has(prefix);
    if (isFound) cached = end;
    prefixes.add(prefix);
  }
  return cached;
}
