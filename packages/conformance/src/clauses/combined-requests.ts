import type { Step } from "../judge/check.ts";
import { partsOfQuestion, say } from "../requests/chat-request.ts";
import { combinedSteps } from "../requests/combined-request.ts";
import { canReason } from "../requests/listed-model.ts";
import { accepted as auth } from "./auth/requests.ts";
import { bodies, withForeignClientId, withLongClientId, withManyMembers } from "./http/accepted.ts";
import { conversation } from "./msg/conversation.ts";
import { boundsAndIgnoredMembers, ignoredMembersInOrder, nulls, upperBounds } from "./req/accepted.ts";

/**
 * Requests that clauses of several prefixes share: everything that they want accepted, in one request each. Every part and
 * its check stand in the folder of its clause.
 */
export const combinedRequests: readonly Step[] = [
  // The order of the members is the order of the names in x-ignored-params. A thought of one token shows whether the cap
  // counts it.
  ...combinedSteps({
    name: "lower bounds and extras",
    base: { max_completion_tokens: 1 },
    together: (context) => (canReason(context) ? { reasoning_effort: "high" } : {}),
    parts: [
      ...boundsAndIgnoredMembers,
      withManyMembers,
      ...ignoredMembersInOrder,
      ...bodies,
      ...auth,
      withLongClientId,
    ],
  }),
  ...combinedSteps({ name: "upper bounds", together: () => say(partsOfQuestion), parts: upperBounds }),
  // Null for everything but the older cap, and one conversation with everything in it that messages may have.
  ...combinedSteps({
    name: "nulls and roles",
    base: { max_completion_tokens: 1 },
    together: () => ({ max_completion_tokens: undefined, max_tokens: 1 }),
    parts: [...nulls, withForeignClientId, ...conversation],
  }),
];
