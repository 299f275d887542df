import type { TestGroup, Check, Step, Unchecked } from "../judge/check.ts";
import { partsOfQuestion, say } from "../requests/chat-request.ts";
import { combinedSteps } from "../requests/combined-request.ts";
import { probeSteps } from "../requests/level-probes.ts";
import { acct } from "./acct/checks.ts";
import { auth } from "./auth/checks.ts";
import { accepted as acceptedAuth } from "./auth/requests.ts";
import { err } from "./err/checks.ts";
import { idem } from "./idem/checks.ts";
import { fmt } from "./fmt/checks.ts";
import { bodies, withForeignClientId, withLongClientId, withManyMembers } from "./http/accepted.ts";
import { http } from "./http/checks.ts";
import { lim } from "./lim/checks.ts";
import { logp } from "./logp/checks.ts";
import { modl } from "./modl/checks.ts";
import { msg } from "./msg/checks.ts";
import { conversation, longMessage } from "./msg/conversation.ts";
import { ops } from "./ops/checks.ts";
import { boundsAndIgnoredMembers, ignoredMembersInOrder, nulls, upperBounds } from "./req/accepted.ts";
import { req } from "./req/checks.ts";
import { resp } from "./resp/checks.ts";
import { samp } from "./samp/checks.ts";
import { strm } from "./strm/checks.ts";
import { tool } from "./tool/checks.ts";

/** The requests and checks of every clause prefix. The requests are sent in this order. */
export const testGroups: Readonly<Record<string, TestGroup>> = {
  MODL: modl,
  RESP: resp,
  AUTH: auth,
  HTTP: http,
  REQ: req,
  MSG: msg,
  STRM: strm,
  ERR: err,
  TOOL: tool,
  FMT: fmt,
  LOGP: logp,
  SAMP: samp,
  LIM: lim,
  OPS: ops,
  ACCT: acct,
  IDEM: idem,
};

/**
 * Requests that clauses of several prefixes share: each combines many things that have to be accepted. Every part and
 * its check are in the folder of its clause.
 */
const combinedRequests: readonly Step[] = [
  // The order of the members is the order of the names in x-ignored-params. One token of reasoning shows whether the token
  // limit counts it.
  ...combinedSteps({
    name: "lower bounds and extras",
    base: { max_completion_tokens: 1 },
    parts: [
      ...boundsAndIgnoredMembers,
      withManyMembers,
      ...ignoredMembersInOrder,
      ...bodies,
      ...acceptedAuth,
      withLongClientId,
      longMessage,
    ],
  }),
  ...combinedSteps({ name: "upper bounds", together: () => say(partsOfQuestion), parts: upperBounds }),
  // Null for every optional member but `max_tokens`, and one conversation with everything that messages may contain.
  ...combinedSteps({
    name: "nulls and roles",
    base: { max_completion_tokens: 1 },
    together: () => ({ max_completion_tokens: undefined, max_tokens: 1 }),
    parts: [...nulls, withForeignClientId, ...conversation],
  }),
];

/** The request catalogue: every request that the suite can send, by name. */
export const requestCatalogue: ReadonlyMap<string, Step> = new Map(
  [...Object.values(testGroups).flatMap(({ steps }) => steps), ...combinedRequests, ...probeSteps].map((step) => [
    step.name,
    step,
  ]),
);

export const checks: readonly Check[] = Object.values(testGroups).flatMap((group) => group.checks);

/** Clauses that nobody can judge from outside. */
export const unchecked: readonly Unchecked[] = [
  {
    clause: "OPS-12",
    reason: "It holds when the service cannot write its records, as on a full disk, and no request brings that about.",
  },
  {
    clause: "OPS-18",
    reason: "It holds when the service cannot reach its own stores, and no request brings that about.",
  },
  {
    clause: "OPS-19",
    reason: "It holds when a whole server is killed, and no request brings that about.",
  },
  {
    clause: "OPS-20",
    reason: "It takes an operator who disables a key while it is used, and no request brings that about.",
  },
  {
    clause: "OPS-21",
    reason: "It holds when the service could not reach its own stores, and no request brings that about.",
  },
];
