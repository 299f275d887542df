import { isRecord, listAt, valueAt } from "../../src/judge/read.ts";
import type { Mutant } from "../reference/mutant.ts";
import { flagged, lacking, replied } from "./mutate.ts";
import type { Json, SeededBugs } from "./mutate.ts";

/** Changes the body of a success on these paths. */
const onPath = (start: string, edit: (body: Json) => Partial<Parameters<NonNullable<Mutant["reply"]>>[0]>): Mutant =>
  replied((reply, head) =>
    head.path.startsWith(start) && reply.status === 200 && isRecord(reply.body) ? edit(reply.body) : {},
  );
const receipts = (edit: (receipt: Json) => Json): Mutant => onPath("/v1/usage/", (body) => ({ body: edit(body) }));
const keyStates = (edit: (state: Json) => Json): Mutant => onPath("/v1/key", (body) => ({ body: edit(body) }));
const budgetsOf = (state: Json): readonly Json[] => listAt(state, "/budgets").filter(isRecord);

/** Changes the budget that a 402 names. */
const refusals = (edit: (budget: Json) => Json | undefined): Mutant =>
  replied((reply) => {
    const budget = valueAt(reply.body, "/error/details/budget");
    if (!isRecord(reply.body) || !isRecord(budget)) return {};
    const error = { ...Object(reply.body["error"]), details: { budget: edit(budget) } };
    return { body: { ...reply.body, error } };
  });

const notFound = (code: string, param: string | null): Json => ({
  error: { message: "There is none.", type: "invalid_request_error", param, code },
  request_id: "req_1",
});

export const account: SeededBugs = {
  "receipt-differs-from-usage": receipts((receipt) => ({
    ...receipt,
    usage: { ...(receipt["usage"] as Json), prompt_tokens: 1 }, // every receipt has its usage
  })),
  "receipt-of-stream-missing": onPath("/v1/usage/", (body) =>
    body["stream"] === true ? { status: 404, body: notFound("request_not_found", "request_id") } : {},
  ),
  "unknown-receipt-as-unknown-url": replied((reply, head) =>
    head.path.startsWith("/v1/usage/") && reply.status === 404 ? { body: notFound("unknown_url", null) } : {},
  ),
  "foreign-receipt-shown": flagged("receipts-for-all"),
  "foreign-receipt-told-apart": flagged("foreign-receipt-told"),
  "receipt-of-refusal": flagged("refusals-recorded"),
  "receipt-rounded": receipts((receipt) => ({ ...receipt, cost_usd: Number(receipt["cost_usd"]).toFixed(5) })),
  "receipt-without-prices": receipts((receipt) => lacking(receipt, "pricing")),
  "key-limits-differ": keyStates((state) => ({
    ...state,
    limits: { ...(state["limits"] as Json), requests: { limit: 1, remaining: 1, resets_at: new Date().toISOString() } }, // every key has limits
  })),
  "key-lookup-counts": flagged("lookups-count"),
  "spent-key-refused": onPath("/v1/key", (body) =>
    budgetsOf(body).length > 0
      ? {
          status: 402,
          body: { ...notFound("insufficient_quota", null), request_id: "req_1" },
        }
      : {},
  ),
  "raise-end-untold": keyStates((state) => ({
    ...state,
    budgets: budgetsOf(state).map((budget) => lacking(budget, "raised_until")),
  })),
  "ended-raise-shown": keyStates((state) => ({
    ...state,
    budgets: budgetsOf(state).map((budget) => ({ ...budget, raised_until: "2020-01-01T00:00:00.000Z" })),
  })),
  "raise-untold-in-refusal": refusals((budget) => lacking(lacking(budget, "raised_usd"), "raised_until")),
  "spent-budget-unnamed": refusals(() => undefined),
  "spent-budget-hidden": keyStates((state) => ({ ...state, budgets: [] })),
  "repetition-generated-again": replied((reply, head) =>
    head.headers["idempotency-key"] !== undefined && reply.headers["idempotent-replayed"] === "true"
      ? {
          body:
            typeof reply.body === "string"
              ? reply.body.replaceAll('"chatcmpl', '"other')
              : { ...Object(reply.body), id: "other" },
        }
      : {},
  ),
  "repetition-unmarked": flagged("repetition-unmarked"),
  "repetition-runs-beside": flagged("repetition-runs"),
  "running-request-unnamed": replied((reply) =>
    reply.status === 409 && isRecord(reply.body) && isRecord(reply.body["error"])
      ? { body: { ...reply.body, error: lacking(reply.body["error"], "details") } }
      : {},
  ),
  "reused-key-answered": flagged("reused-key-answered"),
  "repetition-charged": flagged("repetition-charged"),
  "failure-kept": flagged("failure-kept"),
  "left-call-stopped": flagged("left-call-stopped"),
  "left-answer-dropped": flagged("left-answer-dropped"),
  "idempotency-keys-shared": flagged("idempotency-shared"),
  "malformed-idempotency-key-accepted": flagged("odd-keys-accepted"),
  "reset-in-the-past": keyStates((state) => ({
    ...state,
    budgets: budgetsOf(state).map((budget) => ({ ...budget, resets_at: "2020-01-01T00:00:00.000Z" })),
  })),
};
