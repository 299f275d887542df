import { hash } from "node:crypto";
import { chunk, done } from "./chat-places.ts";
import { event, letters, open } from "./remote-places.ts";
import type { Answer, Place } from "./remote-places.ts";

/** Stand-ins for workers with a prompt cache. They count cached tokens as vLLM does: in full blocks of one salt. */

const blockTokens = 16;

/** A worker, with the tokens that its cache had for each of its requests. */
export interface Worker extends Place {
  readonly cached: number[];
}

export interface Workers {
  readonly workers: readonly Worker[];
  /** Opens one more worker. @param host an address of the loopback interface */
  readonly add: (host?: string, port?: number) => Promise<Worker>;
  /** Returns the cached tokens of all requests since the last call, and those that one cache for all would have had. */
  readonly takeCached: () => { readonly cached: number; readonly shareable: number };
}

/** @param protocol a worker of the chat route counts characters, because it gets no tokens */
export async function openWorkers(count: number, protocol: "completions" | "chat" = "completions"): Promise<Workers> {
  const workers: Worker[] = [];
  const everything = new Set<string>();
  let taken = { cached: 0, shareable: 0 };
  const add = async (host?: string, port?: number): Promise<Worker> => {
    const own = new Set<string>();
    const counts: number[] = [];
    const answer: Answer = (response, body) => {
      const sent = readSent(body);
      const cached = countCached(sent, own);
      counts.push(cached);
      taken = { cached: taken.cached + cached, shareable: taken.shareable + countCached(sent, everything) };
      const usage = {
        prompt_tokens: sent.units.length,
        completion_tokens: 8,
        prompt_tokens_details: { cached_tokens: cached },
      };
      if (protocol === "chat") {
        const text = chunk({ role: "assistant", content: "abcdefgh" }, "length");
        return void response.end(text + event({ choices: [], usage }) + done);
      }
      response.end(event({ choices: [{ token_ids: [...letters], finish_reason: "length" }], usage }) + event("[DONE]"));
    };
    const place = await open(answer, port, protocol === "chat" ? "/v1/chat/completions" : undefined, host);
    const worker = Object.assign(place, { cached: counts });
    worker.listed = { max_model_len: 4096, owned_by: "vllm" };
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

interface Sent {
  readonly salt: string;
  readonly units: readonly unknown[];
}

function readSent(body: string): Sent {
  // Written by the engine under test.
  const {
    prompt,
    messages,
    cache_salt = "",
  } = JSON.parse(body) as {
    readonly prompt?: readonly number[];
    readonly messages?: readonly unknown[];
    readonly cache_salt?: string;
  };
  return { salt: cache_salt, units: prompt ?? Array.from(JSON.stringify(messages)) };
}

/** Returns the units of the full blocks that the cache has from the start on, and adds all full blocks to it. */
function countCached({ salt, units }: Sent, cache: Set<string>): number {
  let [cached, isFound, prefix] = [0, true, salt];
  for (let end = blockTokens; end < units.length; end += blockTokens) {
    prefix = hash("sha1", `${prefix},${units.slice(end - blockTokens, end).join()}`);
    isFound &&= cache.has(prefix);
    if (isFound) cached = end;
    cache.add(prefix);
  }
  return cached;
}
