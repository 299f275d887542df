import { createHmac, randomBytes } from "node:crypto";
import type { RequestOrigin } from "../engine.ts";
import type { RefusedAnswerError } from "../wire/refused-answer.ts";
import type { Conversation } from "./conversation.ts";

/** The service between Parley and several engines: what it reads of a request, and what its refusals mean. */
export interface Front {
  /** Header templates, see `fillHeaders`. Headers of the operator with the same name replace them. */
  readonly headers: Readonly<Record<string, string>>;
  /** The header that keeps a conversation on one engine; undefined: there is none. */
  readonly sessionHeader?: string;
  /**
   * The form of its bodies. Absent: the one of vLLM. `nvext`: the one of Dynamo, which has extensions of its own, refuses
   * other unknown members, gives token ids only on request, and forwards no structural tags.
   */
  readonly dialect?: "nvext";
  /** The statuses that mean "full". They do not count as a failure of the address. */
  readonly busy: readonly number[];
  /** The settings of the front with which it can use prompts of token ids, in one sentence for the operator. */
  readonly advice: string;
}

const traced = { "x-request-id": "{request}", traceparent: "{trace}" };

/** The fronts by the name that the configuration gives them. */
export const fronts = {
  generic: { headers: {}, busy: [], advice: "give it a policy that keeps a session on one engine, by a header" },
  "vllm-router": {
    headers: traced,
    sessionHeader: "x-session-id",
    busy: [429, 503],
    advice: "start it with --policy consistent_hash: cache_aware compares texts, and sees only the length of token ids",
  },
  "production-stack": {
    headers: traced,
    sessionHeader: "x-session-id",
    busy: [429, 503],
    advice:
      "start it with --routing-logic session --session-key x-session-id: prefixaware answers 500 to token ids, and kvaware tokenizes them again",
  },
  dynamo: {
    headers: traced,
    sessionHeader: "x-dynamo-session-id",
    dialect: "nvext",
    busy: [429, 503, 529],
    advice: "start its frontend with --router-mode kv and --router-session-affinity-ttl-secs 300",
  },
  "llm-d": {
    headers: {
      ...traced,
      "x-llm-d-inference-fairness-id": "{key}",
      "x-llm-d-inference-objective": "weight-{weight}",
      // The names before 0.10.
      "x-gateway-inference-fairness-id": "{key}",
      "x-gateway-inference-objective": "weight-{weight}",
    },
    sessionHeader: "x-session-id",
    busy: [429],
    advice: "use its prefix-cache scorer, which reads token ids",
  },
  ray: {
    headers: traced,
    sessionHeader: "x-session-id",
    busy: [429, 503],
    advice:
      "use its ConsistentHashRouter as request_router_class, which reads x-session-id: its prefix tree compares texts",
  },
} as const satisfies Readonly<Record<string, Front>>;

export type FrontName = keyof typeof fronts;

/** Checks if llm-d has dropped a request. It names the reason in a header, with any status. */
export const isDropped = ({ headers }: RefusedAnswerError): boolean =>
  headers["x-llm-d-request-dropped-reason"] !== undefined;

/** Returns the session id of a request, 32 characters; undefined if nothing tells to which conversation it belongs. */
export type SessionNamer = (
  origin: RequestOrigin | undefined,
  conversation: Conversation | undefined,
) => string | undefined;

/**
 * The id is a keyed hash, so a front and its log learn neither the caller's value nor which of two keys share one. A probe,
 * which has no caller, has a new session each time: a front would send all probes of one session to the same engine, also when
 * that one is dead and the others are not.
 * @param secret at least 32 bytes that only this installation knows
 * @param member the member of `metadata` that names a conversation, where the request has no `prompt_cache_key`
 */
export const sessionNamer =
  (secret: Uint8Array, member: string): SessionNamer =>
  (origin, conversation) => {
    if (!origin) return randomBytes(24).toString("base64url");
    const { metadata = {} } = origin;
    const named = origin.cacheKey ?? (Object.hasOwn(metadata, member) ? metadata[member] : undefined);
    const subject = named ?? (conversation && `opening ${conversation.opening}`);
    if (subject === undefined) return undefined;
    const text = JSON.stringify([origin.placedAs ?? origin.key, subject]);
    return createHmac("sha256", secret).update(`session:${text}`).digest("base64url").slice(0, 32);
  };

/** Returns the members that a front adds to the body of a request. */
export function membersOf(
  front: Front | undefined,
  origin: RequestOrigin | undefined,
  cacheSalt: string | undefined,
): { readonly nvext?: object } {
  if (front?.dialect !== "nvext") return {};
  const weight = origin?.weight;
  const nvext = {
    // The priority is an integer, a larger one being more urgent, and a weight may be a fraction.
    ...(weight !== undefined && { agent_hints: { priority: Math.round(weight) } }),
    // The workers of Dynamo 1.6.1 that run vLLM read the salt here.
    ...(cacheSalt !== undefined && { cache_salt: cacheSalt }),
  };
  return Object.keys(nvext).length === 0 ? {} : { nvext };
}
