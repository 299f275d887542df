import { isRecord, textAt, valueAt } from "../../src/judge/read.ts";
import type { Head, Mutant, Reply } from "../reference/mutant.ts";
import {
  flagged,
  lacking,
  misreported,
  replied,
  withChoices,
  withHeaders,
  withoutHeaders,
} from "../seeded-bugs/mutate.ts";
import { unseen, unseenWithFailure } from "./fault.ts";
import type { UnseenFault } from "./fault.ts";

type Json = Record<string, unknown>;

const errors = (edit: (body: Json, reply: Reply, head: Head) => unknown): Mutant =>
  replied((reply, head) =>
    reply.status >= 400 && isRecord(reply.body) ? { body: edit(reply.body, reply, head) } : {},
  );
const statuses = (from: number, to: number): Mutant =>
  replied((reply) => (reply.status === from ? { status: to } : {}));
const messageOf = (body: Json): string => textAt(body, "/error/message") ?? "";
const records = (edit: (record: Json, isListing: boolean) => Json): Mutant => ({
  models: (all, isListing) => all.map((record) => edit({ ...record }, isListing)),
});
const onHeaders = (
  edit: (headers: Record<string, string>, reply: Reply, head: Head) => Record<string, string>,
): Mutant => withHeaders((headers, reply, head) => edit({ ...headers }, reply, head));
const entries = (edit: (entry: Json) => Json): Mutant =>
  withChoices((choice) => {
    const content = valueAt(choice, "/logprobs/content");
    return Array.isArray(content)
      ? { ...choice, logprobs: { content: content.map((entry) => edit(entry as Json)) } }
      : choice; // entries are objects
  });
const isRetrieval = ({ path }: Head): boolean => path.startsWith("/v1/models/");
const hasBearer = ({ headers }: Head): boolean => /^bearer \S/i.test(headers["authorization"] ?? "");

/** Faults of errors, keys, the listing, headers and log-probabilities. */
export const serviceFaults: readonly UnseenFault[] = [
  unseen(
    "errors are FastAPI's detail",
    errors((body) => ({ detail: [{ loc: ["body"], msg: messageOf(body), type: "value_error" }] })),
  ),
  unseen(
    "errors are flat",
    errors((body) => ({ object: "error", ...Object(body["error"]) })),
    "vllm-project/vllm",
  ),
  unseen(
    "error is a text",
    errors((body) => ({ error: messageOf(body), request_id: body["request_id"] })),
    "ollama/ollama",
  ),
  unseen(
    "code is the status",
    misreported((error, reply) => ({ ...error, code: reply.status })),
    "vllm-project/vllm",
  ),
  unseen(
    "code is null",
    misreported((error) => ({ ...error, code: null })),
  ),
  unseen(
    "type has the name of a class",
    misreported((error) => ({ ...error, type: "BadRequestError" })),
    "vllm-project/vllm",
  ),
  unseen(
    "param is always null",
    misreported((error) => ({ ...error, param: null })),
    "peonist-ai/halogen-flash-server#32",
  ),
  unseen(
    "the message is a generic one",
    misreported((error) => ({ ...error, message: "Bad Request" })),
    "kortix-ai/suna#4434",
  ),
  unseen(
    "the message is the engine's exception",
    misreported((error) => ({ ...error, message: `Traceback (most recent call last): ${String(error["message"])}` })),
  ),
  unseen(
    "errors are 200",
    replied((reply) => (reply.status === 400 ? { status: 200 } : {})),
    "apache/rocketmq-dashboard#2178",
  ),
  unseen(
    "errors are HTML",
    replied((reply) =>
      reply.status >= 400 ? { headers: { ...reply.headers, "content-type": "text/html" }, body: "<h1>Error</h1>" } : {},
    ),
    "QwenLM/qwen-code#6465",
  ),
  unseen("401 is 403", statuses(401, 403)),
  unseen("404 is 400", statuses(404, 400)),
  unseen("405 is 404", statuses(405, 404)),
  unseen("415 is 400", statuses(415, 400)),
  unseen("413 is 400", statuses(413, 400)),
  unseen("429 is 503", statuses(429, 503)),
  unseenWithFailure("502 is 500", statuses(502, 500)),
  unseen("paths that are not there need no key", flagged("path-before-key")),
  unseen("the listing needs no key", {
    acceptsKey: (isGood, head) => isGood || (head.path === "/v1/models" && !hasBearer(head)),
  }),
  unseen("any key is accepted", { acceptsKey: (_isGood, head) => hasBearer(head) }),
  unseen("no key is needed", { acceptsKey: () => true }),
  unseen("the key may be in the query", { acceptsKey: (isGood, head) => isGood || /key=/.test(head.query) }),
  unseen("the scheme is not read", {
    acceptsKey: (isGood, head) => isGood || /^basic /i.test(head.headers["authorization"] ?? ""),
  }),
  unseen(
    "the 401 shows the key",
    misreported((error, reply, head) =>
      reply.status === 401
        ? { ...error, message: `Incorrect API key provided: ${(head.headers["authorization"] ?? "").slice(7)}` }
        : error,
    ),
    "easychen/openai-api-proxy#33",
  ),
  unseen(
    "no model can be retrieved",
    {
      early: (head) =>
        isRetrieval(head)
          ? { status: 404, headers: { "content-type": "application/json" }, body: { detail: "Not Found" } }
          : undefined,
    },
    "kekzl/imp#1599",
  ),
  unseen(
    "any model can be retrieved",
    replied((reply, head) =>
      isRetrieval(head) && reply.status === 404
        ? { status: 200, body: { id: head.path.slice(11), object: "model", created: 1, owned_by: "x" } }
        : {},
    ),
  ),
  unseen("a model with a slash cannot be retrieved", {
    early: (head) =>
      isRetrieval(head) && head.path.slice(11).includes("/")
        ? { status: 404, headers: { "content-type": "application/json" }, body: { detail: "Not Found" } }
        : undefined,
  }),
  unseen(
    "the listing's created is now",
    records((record) => ({ ...record, created: Date.now() })),
    "pollinations/pollinations#13875",
  ),
  unseen(
    "a retrieved model is not the listed one",
    records((record, isListing) =>
      isListing
        ? record
        : { id: record["id"], object: "model", created: record["created"], owned_by: record["owned_by"] },
    ),
  ),
  unseen(
    "the listing has ids only",
    records(({ id }) => ({ id, object: "model" })),
    "webai-at-home/webai-at-home#208",
  ),
  unseen("the listing is an array", { models: (all, isListing) => (isListing ? { models: all } : all) }),
  unseen("a listed model does not answer", {
    violation: (found, body) =>
      found ??
      (body["model"] === "reference/toy-mini"
        ? { status: 404, code: "model_not_found", param: "model", message: "model: not found, try reference/toy" }
        : undefined),
  }),
  unseen(
    "no x-request-id",
    onHeaders((headers) => withoutHeaders(headers, (name) => name === "x-request-id")),
  ),
  unseen(
    "one x-request-id for all",
    onHeaders((headers) => ({ ...headers, "x-request-id": "req_1" })),
  ),
  unseen(
    "limits are shown without remaining",
    onHeaders((headers) => withoutHeaders(headers, (name) => name.includes("remaining"))),
  ),
  unseen(
    "resets are times of day",
    onHeaders((headers) =>
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, name.includes("reset") ? "1751328000" : value]),
      ),
    ),
  ),
  unseen(
    "429 without Retry-After",
    onHeaders((headers) => withoutHeaders(headers, (name) => name.startsWith("retry-after"))),
  ),
  unseen(
    "Retry-After is a date",
    onHeaders((headers) =>
      headers["retry-after"] === undefined ? headers : { ...headers, "retry-after": new Date().toUTCString() },
    ),
  ),
  unseen(
    "JSON as text/html",
    onHeaders((headers) =>
      headers["content-type"] === "application/json" ? { ...headers, "content-type": "text/html" } : headers,
    ),
  ),
  unseen(
    "answers are events though not asked for",
    onHeaders((headers, reply) =>
      reply.status === 200 && headers["content-type"] === "application/json"
        ? { ...headers, "content-type": "text/event-stream" }
        : headers,
    ),
  ),
  unseen("errors are JSON that was cut", {
    reply: (reply) =>
      reply.status === 400
        ? {
            ...reply,
            body: JSON.stringify(reply.body).slice(0, 30),
            headers: { ...reply.headers, "content-type": "application/json" },
          }
        : reply,
  }),
  unseen("Expect: 100-continue is refused", {
    early: (head) => (head.headers["expect"] === "100-continue" ? { status: 417, headers: {}, body: "" } : undefined),
  }),
  unseen(
    "no CORS headers",
    onHeaders((headers) => withoutHeaders(headers, (name) => name.startsWith("access-control"))),
  ),
  unseen(
    "logprobs has the older shape",
    withChoices((choice) =>
      isRecord(choice["logprobs"])
        ? { ...choice, logprobs: { tokens: [], token_logprobs: [], top_logprobs: [], text_offset: [] } }
        : choice,
    ),
  ),
  unseen(
    "no logprobs",
    withChoices((choice) => ({ ...choice, logprobs: null })),
    "theroyallab/tabbyAPI#430",
  ),
  unseen(
    "logprobs without being asked for",
    withChoices((choice) => ({ ...choice, logprobs: choice["logprobs"] ?? { content: [], refusal: null } })),
  ),
  unseen(
    "log-probabilities are probabilities",
    entries((entry) => ({ ...entry, logprob: Math.exp(Number(entry["logprob"])) })),
  ),
  unseen(
    "an entry has no bytes",
    entries((entry) => lacking(entry, "bytes")),
  ),
  unseen(
    "one alternative too many",
    entries((entry) => ({
      ...entry,
      top_logprobs: [...(entry["top_logprobs"] as unknown[]), { token: "z", logprob: -99, bytes: [122] }],
    })),
  ), // entries have them
  unseen(
    "an entry for a group of tokens",
    withChoices((choice) => {
      const content = valueAt(choice, "/logprobs/content");
      return Array.isArray(content) ? { ...choice, logprobs: { content: content.slice(0, 1) } } : choice;
    }),
    "sgl-project/sglang#28456",
  ),
];
