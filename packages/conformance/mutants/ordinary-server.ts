import { isRecord, listAt } from "../src/judge/read.ts";
import type { Mutant, Reply } from "./reference/mutant.ts";
import { isUsage } from "./seeded-bugs/mutate.ts";

type Json = Record<string, unknown>;

/** Names of members that only this contract knows, in answers and in model objects. */
const own = new Set([
  "cost_usd",
  "request_id",
  "reasoning",
  "reasoning_content",
  "system_fingerprint",
  "refusal",
  "details",
]);

/** The value without these members, at any depth. */
function without(names: ReadonlySet<string>, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => without(names, item));
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !names.has(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, without(names, inner)]));
}
const plain = (value: unknown): Json => without(own, value) as Json; // an object stays one

const ordinaryHeaders = new Set(["content-type", "cache-control", "retry-after", "allow"]);

/** An error as other servers write it: their own words, a number as its code, and no `param`. */
function errorOf({ status, body }: Reply): unknown {
  const message = isRecord(body) && isRecord(body["error"]) ? String(body["error"]["message"]).slice(0, 40) : "failed";
  return { error: { message, type: status === 404 ? "NotFoundError" : "BadRequestError", param: null, code: status } };
}

/** The statuses that other servers give to faults for which the contract has one of its own. */
const ordinaryStatus = (status: number): number => ({ 402: 429, 413: 400, 415: 400 })[status] ?? status;

/**
 * The reference server as an ordinary OpenAI-compatible server: the shapes of OpenAI's API, and nothing that only this contract
 * asks for. The profile `openai` may not find a fault in it.
 */
export const ordinaryServer: Mutant = {
  reply: (reply) => {
    const headers = Object.fromEntries(Object.entries(reply.headers).filter(([name]) => ordinaryHeaders.has(name)));
    const status = ordinaryStatus(reply.status);
    return {
      status,
      headers,
      body: status >= 400 && reply.body !== undefined ? errorOf({ ...reply, status }) : reply.body,
    };
  },
  models: (records) =>
    records.map(({ id, object, created, owned_by: owner }) => ({ id, object, created, owned_by: owner })),
  completion: plain,
  stream: async function* (events) {
    for await (const event of events) {
      if ("raw" in event || typeof event.data === "string") yield event;
      else {
        const data = plain(event.data);
        const choices = listAt(data, "/choices").filter(isRecord);
        // Others leave `usage` out, and have no event for an empty piece.
        const { usage, ...rest } = data;
        yield { data: { ...rest, choices, ...(isUsage(data) && { usage }) } };
      }
    }
  },
};
