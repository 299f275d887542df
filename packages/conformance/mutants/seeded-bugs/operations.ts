import { isRecord } from "../../src/judge/read.ts";
import type { Mutant, Row } from "../reference/mutant.ts";
import { chunked, flagged, lacking, misreported, replied, misjudge, withoutHeaders, withHeaders } from "./mutate.ts";
import type { SeededBugs } from "./mutate.ts";

const onError = (edit: Parameters<typeof replied>[0]): Mutant =>
  replied((reply, head) => (reply.status >= 400 ? edit(reply, head) : {}));
const onCode = (code: string, edit: Parameters<typeof replied>[0]): Mutant =>
  onError((reply, head) =>
    isRecord(reply.body) && isRecord(reply.body["error"]) && reply.body["error"]["code"] === code
      ? edit(reply, head)
      : {},
  );
const limitOf = (reply: { readonly body: unknown }): unknown =>
  isRecord(reply.body) && isRecord(reply.body["error"]) && isRecord(reply.body["error"]["details"])
    ? reply.body["error"]["details"]["limit"]
    : undefined;
const limits = (edit: (value: string, name: string) => string): Mutant =>
  withHeaders((headers) =>
    Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        name.startsWith("x-ratelimit-") ? edit(value, name) : value,
      ]),
    ),
  );
const noLimits = (isIt: (status: number) => boolean): Mutant =>
  withHeaders((headers, { status }) =>
    isIt(status) ? withoutHeaders(headers, (name) => name.startsWith("x-ratelimit-")) : headers,
  );
const waits = (status: number, edit: (headers: Readonly<Record<string, string>>) => Record<string, string>): Mutant =>
  withHeaders((headers, reply) => (reply.status === status ? edit(headers) : { ...headers }));
const rows = (edit: (row: Row) => readonly Row[]): Mutant => ({ rows: edit });
const priced = (isIt: (row: Row) => boolean, change: Partial<Row>): Mutant =>
  rows((row) => [isIt(row) ? { ...row, ...change } : row]);
/** Ignores the limit: a request that should be refused is answered. */
const unlimited = (kind: string): Mutant =>
  onCode("rate_limit_exceeded", (reply) => (limitOf(reply) === kind ? { status: 200, body: answer } : {}));
const answer = {
  id: "chatcmpl-free",
  object: "chat.completion",
  created: 1,
  model: "reference/toy",
  choices: [
    { index: 0, message: { role: "assistant", content: "x", refusal: null }, logprobs: null, finish_reason: "length" },
  ],
  usage: {},
  system_fingerprint: "f",
};

export const operations: SeededBugs = {
  "error-as-detail": onError(({ body }) => ({ body: { detail: isRecord(body) ? body["error"] : body } })),
  "error-as-html": onError((reply) => ({
    headers: { ...reply.headers, "content-type": "text/html" },
    body: "<h1>Error</h1>",
  })),
  "message-absent": misreported((error) => lacking(error, "message")),
  "param-absent": misreported((error) => lacking(error, "param")),
  "code-absent": misreported((error) => lacking(error, "code")),
  "body-request-id-differs": onError(({ body }) =>
    isRecord(body) ? { body: { ...body, request_id: "req_other" } } : {},
  ),
  "error-as-text": onError((reply) => ({
    headers: { ...reply.headers, "content-type": "text/plain" },
    body: JSON.stringify(reply.body),
  })),
  "type-differs": misreported((error, { status }) => (status === 404 ? { ...error, type: "not_found_error" } : error)),
  "status-differs": misjudge(
    (found) => found.code === "invalid_value" && /^(?:temperature|top_p)$/.test(String(found.param)),
    {
      status: 422,
    },
  ),
  "code-invented": misreported((error) =>
    error["code"] === "invalid_type" ? { ...error, code: "wrong_type" } : error,
  ),
  "error-differs-in-stream": {
    violation: (found, body) =>
      found?.param === "temperature" && body["stream"] === true ? { ...found, code: "invalid_type" } : found,
  },
  "stack-leaks": misreported((error, { status }) =>
    status === 404
      ? { ...error, message: `${String(error["message"])}\n    at route (/srv/app/server.js:12:7)` }
      : error,
  ),
  "upstream-address-leaks": misreported((error, { status }) =>
    status === 404 ? { ...error, message: `${String(error["message"])} (10.0.0.5:8000)` } : error,
  ),
  "param-as-pointer": misreported((error) =>
    typeof error["param"] === "string"
      ? { ...error, param: `/${error["param"].replaceAll(/[.[]/g, "/").replaceAll("]", "")}` }
      : error,
  ),
  "param-shallow": misreported((error) =>
    typeof error["param"] === "string" ? { ...error, param: error["param"].replace(/[.[].*/, "") } : error,
  ),
  "help-link-missing": withHeaders((headers) => withoutHeaders(headers, (name) => name === "link")),
  "message-vague": misreported((error) =>
    typeof error["param"] === "string" ? { ...error, message: "The request is wrong." } : error,
  ),

  "long-param-cut": misjudge((found) => (found.param?.length ?? 0) > 2000, { param: `logit_bias.${"9".repeat(1989)}` }),
  "long-message-whole": misjudge((found) => (found.param?.length ?? 0) > 2000, {
    param: "logit_bias",
    message: `logit_bias.${"9".repeat(4000)} is out of its range.`,
  }),

  "limit-headers-missing": noLimits((status) => status === 200),
  "limit-headers-missing-on-error": noLimits((status) => status >= 400),
  "limits-shown-to-strangers": withHeaders((headers, { status }) =>
    status === 401 ? { ...headers, "x-ratelimit-limit-requests": "10" } : headers,
  ),
  "remaining-above-limit": limits((value, name) =>
    name.includes("remaining") ? String(Number(value) + 20_000_000) : value,
  ),
  "reset-as-timestamp": limits((value, name) => (name.includes("reset") ? "1795230934" : value)),
  "no-limit-shown-as-zero": limits((value, name) =>
    name.endsWith("limit-requests") || name.endsWith("remaining-requests") ? "0" : value,
  ),
  "request-limit-ignored": unlimited("requests"),
  "token-limit-ignored": unlimited("tokens"),
  "concurrency-limit-ignored": unlimited("concurrency"),
  "retry-after-missing": waits(429, (headers) => withoutHeaders(headers, (name) => name === "retry-after")),
  "retry-headers-missing": waits(429, (headers) => withoutHeaders(headers, (name) => name.startsWith("retry-after"))),
  "retry-after-zero": waits(429, (headers) => ({ ...headers, "retry-after": "0" })),
  "waits-disagree": waits(429, (headers) => ({
    ...headers,
    "retry-after": String(Number(headers["retry-after"]) + 5),
  })),
  "long-wait-invites-retry": waits(429, (headers) =>
    Number(headers["retry-after"]) > 60 ? withoutHeaders(headers, (name) => name === "x-should-retry") : headers,
  ),
  "wait-too-short": waits(429, (headers) => ({ ...headers, "retry-after": "1", "retry-after-ms": "10" })),
  "full-queue-hangs": flagged("full-queue-waits"),
  "budget-says-429": retellBudget(),
  "oversized-request-waits": waits(429, (headers) => withoutHeaders(headers, (name) => name === "x-should-retry")),
  "oversize-untold": misreported((error) =>
    isRecord(error["details"]) ? { ...error, details: lacking(error["details"], "requested") } : error,
  ),
  "place-leaks": flagged("place-leaks"),
  "budget-after-body": flagged("budget-after-body"),
  "unnamed-maximum-refused": flagged("maximum-reserved-whole"),
  "refused-engine-500": onCode("service_unavailable", ({ body }) => ({
    status: 500,
    body: isRecord(body) ? { ...body, error: { ...Object(body["error"]), code: "internal_error" } } : body,
  })),
  "broken-engine-200": onCode("upstream_error", () => ({ status: 200, body: answer })),
  "slow-engine-hangs": { settings: { requestMs: 60_000 } },
  "streams-mixed": mixedStreams(),
  "unavailable-without-wait": waits(503, (headers) =>
    withoutHeaders(headers, (name) => name.startsWith("retry-after")),
  ),
  "other-model-stands-in": flagged("stand-in"),
  "hang-up-cuts-others": cutOthers(),
  "failure-sticks": failureSticks(),
  "row-missing": rows((row) => (row.outcome === "left" ? [] : [row])),
  "row-twice": rows((row) => [row, row]),
  "left-stream-free": priced((row) => row.outcome === "left", { completion_tokens: 0, cost_usd: "0" }),
  "left-stream-full-price": priced((row) => row.outcome === "left", { completion_tokens: 16_384 }),
  "failure-charged": priced((row) => row.outcome === "failed" && row.completion_tokens === 0, { cost_usd: "0.01" }),
  "refusal-charged": withRefusals(),
  "cut-reader-free": priced((row) => row.outcome === "cut", { cost_usd: "0", completion_tokens: 0 }),
  "ledger-differs-from-usage": rows((row) => [{ ...row, prompt_tokens: row.prompt_tokens + 1 }]),
  "dead-engine-unrecorded": priced((row) => row.outcome === "failed" && row.completion_tokens > 0, {
    completion_tokens: 0,
  }),
  "dead-engine-charged": priced((row) => row.outcome === "failed" && row.completion_tokens > 0, { cost_usd: "0.01" }),
};

function retellBudget(): Mutant {
  return onCode("insufficient_quota", (reply) => ({
    status: 429,
    headers: { ...reply.headers, "retry-after": "60", "retry-after-ms": "60000" },
  }));
}

/** All streams but the first one go on under its id. */
function mixedStreams(): Mutant {
  let first: unknown;
  return chunked((chunk, place, body) => {
    if (!JSON.stringify(body["messages"]).includes("Repeat this word")) return chunk;
    first ??= chunk["id"];
    return place === 0 ? chunk : { ...chunk, id: first };
  });
}

/** The first of a scenario's streams that ends takes the others with it. */
function cutOthers(): Mutant {
  return {
    stream: async function* (events, body) {
      let count = 0;
      for await (const event of events) {
        count += 1;
        if (count > 20 && JSON.stringify(body["messages"]).includes("conformance-slow")) return;
        yield event;
      }
    },
  };
}

function failureSticks(): Mutant {
  let hasFailed = false;
  return {
    violation: (found, body) => {
      if (JSON.stringify(body["messages"] ?? "").includes("conformance-reset")) hasFailed = true;
      const isAfter = hasFailed && body["max_completion_tokens"] === 2 && !found;
      return isAfter ? { status: 502, code: "upstream_error", param: null, message: "The engine failed." } : found;
    },
  };
}

/** A refusal is recorded and charged like an answer. */
function withRefusals(): Mutant {
  return {
    ...onError(() => ({})),
    flags: new Set(["refusals-recorded"]),
  };
}
