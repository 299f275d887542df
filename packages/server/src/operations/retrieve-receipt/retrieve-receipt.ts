import type { components } from "@parley/contract/types";
import type { LedgerEntry, UsageLedger } from "../../accounts/ledger/usage-ledger.ts";
import { ApiError } from "../../errors/api-error.ts";
import type { Operation } from "../call.ts";

type Receipt = components["schemas"]["Receipt"];

/** The form of a request id. Others are not looked up, because a database may refuse their characters. */
const requestIdPattern = /^[\w-]{1,128}$/;

/** Returns the receipt of a request of the caller's own. A request of another key is like one that does not exist. */
export const retrieveReceipt =
  (ledger: Pick<UsageLedger, "find">): Operation<"retrieveReceipt"> =>
  async ({ caller, path: { request_id: id } }) => {
    const entry = requestIdPattern.test(id) ? await ledger.find(id) : undefined;
    if (entry?.keyId === caller.keyId) return toReceipt(entry);
    const shown = id.length > 100 ? `${id.slice(0, 100)}…` : id;
    throw new ApiError(
      "request_not_found",
      `This key has no receipt with the request_id ${JSON.stringify(shown)}. Ask for the x-request-id of an answer with status 200.`,
      { param: "request_id" },
    );
  };

const toReceipt = (entry: LedgerEntry): Receipt => {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = entry.usage;
  return {
    object: "receipt",
    id: entry.id,
    model: entry.model,
    stream: entry.isStream,
    outcome: entry.outcome,
    ...(entry.errorCode !== undefined && { error_code: entry.errorCode }),
    started_at: new Date(entry.startedMs).toISOString(),
    ...(entry.endedMs !== undefined && { ended_at: new Date(entry.endedMs).toISOString() }),
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      prompt_tokens_details: { cached_tokens: cachedTokens },
      completion_tokens_details: { reasoning_tokens: reasoningTokens },
    },
    pricing: entry.pricing,
    cost_usd: entry.costUsd,
  };
};
