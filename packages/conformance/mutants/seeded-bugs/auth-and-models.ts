import { isRecord, valueAt } from "../../src/judge/read.ts";
import { errorReply } from "../reference/edge.ts";
import { unknownUrl } from "../reference/models.ts";
import type { Head, Mutant } from "../reference/mutant.ts";
import { completed, flagged, misreported, misjudge, replied, strict, withoutHeaders, withHeaders } from "./mutate.ts";
import type { SeededBugs } from "./mutate.ts";

const authorization = (head: Head): string => head.headers["authorization"] ?? "";
const times = (head: Head): number =>
  head.raw.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "authorization").length;
const open = (isIt: (head: Head) => boolean): Mutant => ({ acceptsKey: (isGood, head) => isGood || isIt(head) });
const unauthorized = (edit: (message: string, head: Head) => string): Mutant =>
  misreported((error, reply, head) =>
    reply.status === 401 ? { ...error, message: edit(String(error["message"]), head) } : error,
  );
/** Hints at these models to every caller. */
const unknownModel = (hint: string): Mutant =>
  misreported((error) =>
    error["code"] === "model_not_found"
      ? { ...error, message: String(error["message"]).replace(/ Did you mean .*$/, hint) }
      : error,
  );
const records = (edit: (record: Record<string, unknown>, place: number) => Record<string, unknown>): Mutant => ({
  models: (all) => all.map(edit),
});
const priced = (edit: (pricing: Record<string, unknown>) => Record<string, unknown>): Mutant =>
  records((record) => ({ ...record, pricing: isRecord(record["pricing"]) ? edit(record["pricing"]) : {} }));
const lacks = (name: string) => (record: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(record).filter(([one]) => one !== name));

export const authAndModels: SeededBugs = {
  "no-key-accepted": open((head) => authorization(head) === "" && head.query === ""),
  "any-key-accepted": open((head) => authorization(head).startsWith("Bearer pk-") && times(head) === 1),
  "expired-key-403": {
    acceptsKey: (isGood) => isGood,
    reply: (reply, head) =>
      reply.status === 401 && authorization(head).includes("expired-") ? { ...reply, status: 403 } : reply,
  },
  "basic-accepted": open((head) => authorization(head).startsWith("Basic")),
  "two-keys-accepted": open((head) => times(head) > 1),
  "query-key-accepted": open((head) => head.query.includes("api_key=")),
  "scheme-case-matters": { acceptsKey: (isGood, head) => isGood && authorization(head).startsWith("Bearer ") },
  "challenge-missing": withHeaders((headers) => withoutHeaders(headers, (name) => name === "www-authenticate")),
  "wording-differs": unauthorized((message, head) =>
    head.headers["expect"] === undefined ? message : "Incorrect API key provided: it is wrong.",
  ),
  "missing-key-unsaid": unauthorized((message) => message.replace(": none was sent", "")),
  "wording-changed": unauthorized(() => "This key is wrong."),
  "key-echoed": unauthorized((message, head) => `${message} You sent ${authorization(head).slice(-6)}.`),
  "path-before-key": flagged("path-before-key"),
  "path-before-missing-key": {
    early: (head) =>
      head.headers["authorization"] === undefined && head.path === "/v1/conformance-nothing"
        ? errorReply(unknownUrl(head.path))
        : undefined,
  },
  "body-before-key": flagged("body-before-key"),
  "expect-before-key": flagged("expect-before-key"),
  "models-public": open(
    (head) => head.path === "/v1/models" && head.method === "GET" && head.headers["expect"] === undefined,
  ),
  "list-bare-array": { models: (all, isListing) => (isListing ? { data: all } : all) },
  "list-as-array": replied(({ status, body }, head) =>
    status === 200 && head.path === "/v1/models" ? { body: valueAt(body, "/data") } : {},
  ),
  "record-member-missing": records(lacks("description")),
  "price-is-number": priced((pricing) => ({ ...pricing, image: 0 })),
  "record-extension-missing": records(lacks("input_modalities")),
  "owner-differs": records((record) => ({ ...record, owned_by: "somebody" })),
  "output-length-differs": records((record) => ({ ...record, max_output_length: 4096 })),
  "cached-price-above-prompt": priced((pricing) => ({ ...pricing, input_cache_read: "0.00000030001" })),
  "price-with-exponent": priced((pricing) => ({ ...pricing, image: "1e-7" })),
  "ready-model-503": strict((body) => body["model"] === "reference/toy-mini", 503),
  "retrieve-differs": {
    models: (all, isListing) => (isListing ? all : all.map((record) => ({ ...record, description: "Another text." }))),
  },
  "retrieve-unserved": { early: (head) => (head.path.startsWith("/v1/models/reference") ? gone : undefined) },
  "raw-slash-404": {
    early: (head) =>
      head.path === "/v1/models/reference/toy" && authorization(head).startsWith("Bearer key") ? gone : undefined,
  },
  "encoded-slash-404": { early: (head) => (head.path === "/v1/models/reference%2Ftoy" ? gone : undefined) },
  "unknown-model-empty-200": {
    early: (head) =>
      head.path.startsWith("/v1/models/conformance") ? { status: 200, headers: {}, body: {} } : undefined,
  },
  "unknown-model-in-stream": {
    violation: (found, body) => (found?.code === "model_not_found" && body["stream"] === true ? undefined : found),
  },
  "unknown-model-400": misjudge((found) => found.code === "model_not_found", { status: 400 }),
  "defaults-invented": {
    generated: (body) => ("top_k" in body && body["seed"] === 4711 ? { ...body, seed: 1 } : body),
  },
  "default-effort-missing": records(lacks("default_reasoning_effort")),
  "forbidden-model-403": misjudge(
    (found, body) => found.code === "model_not_found" && String(body["model"]).startsWith("reference/"),
    { status: 403, message: "This key may not use the model." },
  ),
  "alias-refused": strict((body) => body["model"] === "toy", 404, "model"),
  "alias-answered-with-id": completed((json) => ({
    ...json,
    model: json["model"] === "toy" ? "reference/toy" : json["model"],
  })),
  "alias-not-retrieved": { early: (head) => (head.path === "/v1/models/toy" ? gone : undefined) },
  "short-name-refused": strict((body) => body["model"] === "toy-mini", 404, "model"),
  "short-name-echoed": completed((json, body) => ({ ...json, model: body["model"] })),
  "short-name-not-retrieved": { early: (head) => (head.path === "/v1/models/toy-mini" ? gone : undefined) },
  "nearest-id-missing": unknownModel(""),
  "hint-names-forbidden-model": unknownModel(' Did you mean "reference/toy" or "reference/toy-mini"?'),
  "trained-beyond-context": records((record) => ({ ...record, trained_prompt_tokens: 1_000_000 })),
  "alias-of-two-models": records((record) => ({ ...record, aliases: ["toy"] })),
};

const gone = {
  status: 404,
  headers: {},
  body: {
    error: {
      message: "The model does not exist.",
      type: "invalid_request_error",
      param: "model",
      code: "model_not_found",
    },
    request_id: "none",
  },
};
