import { isRecord } from "../../src/judge/read.ts";

import type { Head, Mutant } from "../reference/mutant.ts";
import { flagged, replied, misjudge, strict, withoutHeaders, withHeaders } from "./mutate.ts";
import type { SeededBugs } from "./mutate.ts";

const known = (head: Head): boolean => head.path === "/v1/chat/completions" || head.path.startsWith("/v1/models");
const has = (head: Head, name: string): boolean => head.headers[name] !== undefined;
const html = {
  status: 404,
  headers: { "content-type": "text/html", "x-request-id": "none" },
  body: "<h1>Not found</h1>",
};
const onStatus = (wanted: number, edit: Parameters<typeof replied>[0]): Mutant =>
  replied((reply, head) => (reply.status === wanted ? edit(reply, head) : {}));
let last = "none";

/** Treats a wrong media type as right. */
const anyType = (isIt: (head: Head) => boolean): Mutant =>
  onStatus(415, (_reply, head) => (isIt(head) ? { status: 400, body: wrongJson } : {}));
const wrongJson = {
  error: { message: "The body is not JSON.", type: "invalid_request_error", param: null, code: "invalid_json" },
  request_id: "none",
};

const wrongMediaType = {
  error: {
    message: "No coding.",
    type: "invalid_request_error",
    param: null,
    code: "unsupported_media_type",
  },
  request_id: "none",
};

export const http: SeededBugs = {
  "accept-decides-media-type": {
    body: (body, head) =>
      head.headers["accept"] === "text/event-stream"
        ? { ...body, stream: true }
        : head.headers["accept"] === "application/json"
          ? { ...body, stream: false }
          : body,
  },
  "wrong-method-404": onStatus(405, () => ({ status: 404 })),
  "allow-missing": withHeaders((headers) => withoutHeaders(headers, (name) => name === "allow")),
  "head-answers-get": {
    early: (head) => (head.method === "HEAD" ? { status: 200, headers: {}, body: "" } : undefined),
  },
  "options-answers-204": flagged("bare-204-options"),
  "unknown-path-html": {
    early: (head) =>
      /^\/v1\/(?:conformance|embeddings)/.test(head.path) &&
      has(head, "authorization") &&
      !known(head) &&
      head.headers["authorization"]?.includes("pk-") === false
        ? html
        : undefined,
  },
  "near-miss-unhelpful": onStatus(404, ({ body }) =>
    isRecord(body) && isRecord(body["error"]) && body["error"]["code"] === "unknown_url"
      ? { body: { ...body, error: { ...body["error"], message: "There is no such path." } } }
      : {},
  ),
  "near-miss-unnamed": onStatus(404, ({ body }, head) =>
    isRecord(body) && isRecord(body["error"]) && /\/\/|s\/chat|\/Chat|openai|%20/.test(head.path)
      ? { body: { ...body, error: { ...body["error"], message: `There is no ${head.path}.` } } }
      : {},
  ),
  "large-body-read": onStatus(413, () => ({ status: 400, body: wrongJson })),
  "large-body-reset": {
    early: (head) =>
      Number(head.headers["content-length"]) > 4_194_304
        ? { status: 500, headers: { connection: "close" }, body: "" }
        : undefined,
  },
  "body-limit-1-mib": { settings: { maxBodyBytes: 1_048_576 } },
  "media-type-unchecked": anyType((head) => head.headers["content-type"]?.startsWith("application/json") === false),
  "media-type-guessed": anyType((head) => !has(head, "content-type")),
  "charset-unchecked": anyType((head) => head.headers["content-type"]?.includes("iso-8859-1") === true),
  "coding-decoded": anyType((head) => has(head, "content-encoding")),
  "charset-refused": {
    early: (head) =>
      /charset/i.test(head.headers["content-type"] ?? "") && !/iso/.test(head.headers["content-type"] ?? "")
        ? {
            status: 415,
            headers: {},
            body: {
              error: {
                message: "No charset.",
                type: "invalid_request_error",
                param: null,
                code: "unsupported_media_type",
              },
              request_id: "none",
            },
          }
        : undefined,
  },
  "bad-json-500": {
    violation: (found) => (found?.code === "invalid_json" ? { ...found, status: 500, code: "internal_error" } : found),
  },
  "trailing-comma-accepted": { text: (text) => text.replace(/,\s*\}$/, "}") },
  "deep-json-accepted": { settings: { maxLevels: 1000 } },
  "many-values-accepted": { settings: { maxBodyValues: 1_000_000 } },
  "depth-64-refused": { settings: { maxLevels: 64 } },
  "array-body-500": misjudge((found) => found.code === "invalid_type" && found.param === null, {
    status: 500,
    code: "internal_error",
  }),
  "first-member-counts": flagged("first-member-counts"),
  "many-members-500": strict((body) => Object.keys(body).length > 5000, 500),
  "proto-member-500": strict((body) => Object.hasOwn(body, "__proto__"), 500),
  "slow-head-kept": { settings: { headMs: 60_000 } },
  "slow-body-kept": { settings: { bodyMs: 60_000 } },
  "fault-order-changed": {
    violation: (found, body) =>
      found?.param === "top_p" && body["model"] === "conformance/none"
        ? { ...found, code: "model_not_found", status: 404, param: "model" }
        : found,
  },
  "edge-without-envelope": flagged("edge-without-envelope"),
  "error-closes-connection": flagged("closes-after-error"),
  "body-left-unread": { violation: (found) => found, ...flagged("closes-after-error") },
  "preflight-needs-key": {
    early: (head) =>
      head.method === "OPTIONS" && has(head, "origin")
        ? {
            status: 401,
            headers: { "www-authenticate": "Bearer" },
            body: {
              error: {
                message: "Incorrect API key provided. Send a valid one.",
                type: "invalid_request_error",
                param: null,
                code: "invalid_api_key",
              },
              request_id: "none",
            },
          }
        : undefined,
  },
  "preflight-not-cacheable": withHeaders((headers) =>
    withoutHeaders(headers, (name) => name === "access-control-max-age"),
  ),
  "identity-coding-refused": {
    early: (head) =>
      head.headers["content-encoding"] === "identity" ? { status: 415, headers: {}, body: wrongMediaType } : undefined,
  },
  "headers-not-exposed": withHeaders((headers) =>
    withoutHeaders(headers, (name) => name === "access-control-expose-headers"),
  ),
  "cors-always": withHeaders((headers) => ({ "access-control-allow-origin": "*", ...headers })),
  "cors-credentials": withHeaders((headers, _reply, head) =>
    has(head, "origin") ? { ...headers, "access-control-allow-credentials": "true" } : headers,
  ),
  "odd-input-500": {
    violation: (found, body) =>
      found && Object.hasOwn(body, "constructor") ? { ...found, status: 500, code: "internal_error" } : found,
  },
  "mistake-500": misjudge((found) => found.code === "invalid_type", { status: 500, code: "internal_error" }),
  "request-id-missing": withHeaders((headers) => withoutHeaders(headers, (name) => name === "x-request-id")),
  "request-id-repeated": withHeaders((headers) => {
    const before = last;
    last = headers["x-request-id"] ?? "none";
    return { ...headers, "x-request-id": before === "none" ? last : before };
  }),
  "request-id-taken-over": withHeaders((headers, _reply, head) => ({
    ...headers,
    "x-request-id": head.headers["x-request-id"] ?? headers["x-request-id"] ?? "",
  })),
  "client-id-not-echoed": withHeaders((headers) => withoutHeaders(headers, (name) => name === "x-client-request-id")),
  "client-id-refused": {
    early: (head) =>
      (head.headers["x-client-request-id"] ?? "").length > 512
        ? { status: 400, headers: {}, body: wrongJson }
        : undefined,
  },
  "client-id-echoed-raw": withHeaders((headers, _reply, head) => ({
    ...headers,
    ...(has(head, "x-client-request-id") && { "x-client-request-id": head.headers["x-client-request-id"] ?? "" }),
  })),
};
