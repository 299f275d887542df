import type { Step } from "../judge/check.ts";
import { partsOfQuestion, say } from "../requests/chat-request.ts";
import { combinedSteps } from "../requests/combined-request.ts";
import { accepted as auth } from "./auth/requests.ts";
import { bodies, withForeignClientId, withLongClientId, withManyMembers } from "./http/accepted.ts";
import { conversation } from "./msg/conversation.ts";
import { boundsAndIgnoredMembers, ignoredMembersInOrder, nulls, upperBounds } from "./req/accepted.ts";

/**
 * Requests that clauses of several prefixes share: each combines many things that have to be accepted. Every part and
 * its check are in the folder of its clause.
 */
export const combinedRequests: readonly Step[] = [
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
      ...auth,
      withLongClientId,
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
