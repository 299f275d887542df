import { unsupportedMembers } from "../../src/contract/contract.ts";
import { valueAt, isRecord, listAt } from "../../src/judge/read.ts";
import { formatName } from "../reference/chat.ts";
import { fault } from "../reference/violation.ts";
import { overlook, overlookCode, completed, messagesOf, misjudge, replied, strict } from "./mutate.ts";
import type { SeededBugs } from "./mutate.ts";

const missing = (param: RegExp) => overlookCode("missing_required_parameter", param);
const harmless = new Set(["store", "service_tier", "safety_identifier", "verbosity"]);
const isText = (value: unknown): boolean => typeof value === "string";

const engineFailed = { type: "server_error", param: null, code: "upstream_error" };

const shortened = (message: unknown): unknown => {
  const content = valueAt(message, "/content");
  return typeof content === "string" ? { ...Object(message), content: content.slice(0, 1000) } : message;
};

export const request: SeededBugs = {
  "missing-member-guessed": missing(/^(?:model|messages)$/),
  "null-model-guessed": overlook(
    (found, body) => found.code === "invalid_type" && (body["model"] === null || body["messages"] === null),
  ),
  "types-unchecked": overlook((found, body) => found.code === "invalid_type" && !isText(body[String(found.param)])),
  "bounds-unchecked": overlookCode(
    "invalid_value",
    /^(?:temperature|max_completion_tokens|top_p|n|top_k|min_p|frequency_penalty|presence_penalty|repetition_penalty)$/,
  ),
  "value-clamped": overlookCode("invalid_value", /^(?:max_completion_tokens|max_tokens)$/),
  "long-message-cut": {
    body: (body) => ({ ...body, messages: messagesOf(body).map(shortened) }),
  },
  "assistant-parts-dropped": {
    body: (body) => ({
      ...body,
      messages: messagesOf(body).map((message) =>
        valueAt(message, "/role") === "assistant" && Array.isArray(valueAt(message, "/content"))
          ? { ...Object(message), content: "" }
          : message,
      ),
    }),
  },
  "choices-clamped": overlookCode("invalid_value", /^n$/),
  "top-p-of-zero-accepted": overlookCode("invalid_value", /^top_p$/),
  "bounds-off-by-one": strict((body) => body["temperature"] === 2 && body["top_p"] === 1, 400, "temperature"),
  "strings-coerced": overlook(
    (found, body) =>
      found.code === "invalid_type" &&
      isText(body[String(found.param)]) &&
      ["temperature", "stream", "n", "seed"].includes(String(found.param)),
  ),
  "text-true-taken": overlook((found) => found.code === "invalid_type" && found.param === "stream"),
  "whole-number-refused": {
    violation: (found) => found,
    text: (text) => text.replace(/"(n|max_completion_tokens)":1(?:\.0|e0)/g, '"$1":1.5'),
  },
  "fraction-rounded": overlook(
    (found, body) =>
      found.code === "invalid_type" && typeof body[String(found.param)] === "number" && found.param !== "seed",
  ),
  "null-refused": strict((body) => body["temperature"] === null, 400, "temperature"),
  "nested-null-refused": strict(
    (body) => isRecord(body["metadata"]) && Object.values(body["metadata"]).includes(null),
    400,
    "metadata.a",
  ),
  "unknown-member-refused": strict((body) => isRecord(body["conformance_unknown"]), 400, "conformance_unknown"),
  "ignored-in-silence": { ignored: () => [] },
  "nested-unknown-unnamed": { ignored: (names) => names.filter((name) => !name.includes("[")) },
  "store-unnamed": { ignored: (names) => names.filter((name) => !harmless.has(name)) },
  "cache-key-named": {
    ignored: (names, body) => (body["prompt_cache_key"] === undefined ? names : ["prompt_cache_key", ...names]),
  },
  "store-refused": strict((body) => "store" in body && body["store"] !== null, 400, "store"),
  "null-named": {
    ignored: (names, body) => [
      ...names,
      ...Object.keys(body).filter((name) => body[name] === null && name === "store"),
    ],
  },
  "empty-header": { ignored: (names, body) => (names.length === 0 && body["store"] === null ? [""] : names) },
  "names-unordered": { ignored: (names) => names.toReversed() },
  "names-unbounded": {
    ignored: (names) => (names.length > 16 ? [...names.slice(0, 15), names.slice(15, 60).join(",")] : names),
    formatName: (name) => (name.startsWith("unknown") ? name : formatName(name)),
  },
  "header-injection": { formatName: (name) => formatName(name.replaceAll(/[^\w[\].-]/g, "")) },
  "long-name-whole": { formatName: (name) => (name.startsWith("long_") ? name : formatName(name)) },
  "known-member-named": { ignored: (names, body) => (body["stop"] === undefined ? names : [...names, "stop"]) },
  "strict-ignored": overlook(
    (found, _body, head) => found.code === "unknown_parameter" && head.headers["x-strict-params"] === "true",
  ),
  "strict-case-matters": overlook(
    (found, _body, head) => found.code === "unknown_parameter" && head.headers["x-strict-params"] !== "true",
  ),
  "strict-always": strict(
    (body, head) => head.headers["x-strict-params"] === "yes" && "conformance_unknown" in body,
    400,
    "conformance_unknown",
  ),
  "functions-ignored": overlookCode("unsupported_parameter", /^functions$/),
  "modalities-ignored": overlookCode("unsupported_parameter", /^modalities$/),
  "text-modality-refused": strict(
    (body) => body["modalities"] !== undefined && JSON.stringify(body["modalities"]) === '["text"]',
    400,
    "modalities",
  ),
  "top-logprobs-alone": overlook((found, body) => found.param === "top_logprobs" && body["top_logprobs"] === 2),
  "stream-options-alone": overlookCode("invalid_value", /^stream_options$/),
  "older-cap-wins": {
    maxTokens: (maxTokens, body) =>
      typeof body["max_tokens"] === "number" && typeof body["max_completion_tokens"] === "number"
        ? Math.min(body["max_tokens"], 5)
        : maxTokens,
  },
  "older-cap-ignored": {
    maxTokens: (maxTokens, body) =>
      body["max_completion_tokens"] === undefined && typeof body["max_tokens"] === "number" ? 16 : maxTokens,
  },
  "seed-rounded": overlookCode("invalid_value", /^seed$/),
  "seed-end-refused": {
    violation: (found, body) =>
      found ??
      (Math.abs(Number(body["seed"] ?? 0)) >= 2 ** 63
        ? fault("invalid_value", "seed", "seed is too large.")
        : undefined),
  },
  "seed-spelling-accepted": overlookCode("invalid_type", /^seed$/),
  "metadata-in-answer": completed((json, body) =>
    isRecord(body["metadata"]) && Object.keys(body["metadata"]).length > 0
      ? { ...json, metadata: body["metadata"] }
      : json,
  ),
  "metadata-unbounded": overlookCode("invalid_value", /^metadata/),
  "lengths-in-bytes": strict(
    (body) => isRecord(body["metadata"]) && Object.keys(body["metadata"]).some((name) => Buffer.byteLength(name) > 64),
    400,
    "metadata",
  ),
  "highest-effort-refused": strict((body) => body["reasoning_effort"] === "max", 400, "reasoning_effort"),
  "foreign-member-ignored": overlook(
    ({ code, param }) =>
      code === "unsupported_parameter" &&
      unsupportedMembers.some(({ member }) => member === param?.replaceAll(/\d+/g, "")),
  ),
  "large-maximum-refused": strict((body) => Number(body["max_tokens"]) > 16_384, 400, "max_tokens"),
  "lowered-maximum-unnamed": { ignored: (names) => names.filter((name) => !name.startsWith("max_")) },
  "empty-stop-accepted": overlookCode("invalid_value", /^stop/),
  "developer-refused": strict(
    (body) => messagesOf(body).some((one) => valueAt(one, "/role") === "developer"),
    400,
    "messages[0].role",
  ),
  "unknown-role-accepted": overlook((found) => found.code === "invalid_value" && String(found.param).endsWith(".role")),
  "role-guessed": missing(/\.role$/),
  "no-messages-accepted": overlookCode("invalid_value", /^messages$/),
  "long-list-refused": {
    violation: (found, body) =>
      messagesOf(body).length > 1000 && found?.code === "context_length_exceeded"
        ? fault("invalid_value", "messages", "messages has too many items.")
        : found,
  },
  "content-guessed": overlook(
    (found, body) =>
      found.code === "missing_required_parameter" &&
      String(found.param).endsWith(".content") &&
      !messagesOf(body).some((one) => valueAt(one, "/role") === "assistant"),
  ),
  "parts-joined-by-newline": {
    prompt: (count, body) =>
      count + messagesOf(body).reduce<number>((sum, one) => sum + Math.max(0, listAt(one, "/content").length - 1), 0),
  },
  "empty-text-refused": strict(
    (body) => messagesOf(body).some((one) => valueAt(one, "/content") === ""),
    400,
    "messages[0].content",
  ),
  "nul-refused": strict(
    (body) => messagesOf(body).some((one) => String(valueAt(one, "/content")).includes("\u0000")),
    400,
    "messages[0].content",
  ),
  "surrogate-500": strict(
    (body) => messagesOf(body).some((one) => !String(valueAt(one, "/content")).isWellFormed()),
    500,
  ),
  "no-parts-accepted": overlook((found) => found.code === "invalid_value" && String(found.param).endsWith(".content")),
  "image-ignored": overlookCode("unsupported_value"),
  "image-path-shallow": misjudge((found) => found.code === "unsupported_value", { param: "messages" }),
  "unknown-part-ignored": overlook(
    (found) => found.code === "invalid_value" && /content\[\d+\]\.type$/.test(String(found.param)),
  ),
  "part-text-guessed": missing(/\.text$/),
  "null-content-refused": strict(
    (body) =>
      messagesOf(body).some(
        (one) =>
          valueAt(one, "/content") === null &&
          listAt(one, "/tool_calls").length > 0 &&
          valueAt(one, "/role") === "assistant",
      ),
    400,
    "messages[0].content",
  ),
  "empty-turn-accepted": overlook(
    (found, body) =>
      found.code === "missing_required_parameter" &&
      messagesOf(body).some((one) => valueAt(one, "/role") === "assistant"),
  ),
  "call-id-guessed": missing(/\.tool_call_id$/),
  "replay-refused": strict(
    (body) => messagesOf(body).some((one) => valueAt(one, "/annotations") !== undefined),
    400,
    "messages[0].annotations",
  ),
  "replay-named": {
    ignored: (names, body) =>
      messagesOf(body).some((one) => valueAt(one, "/annotations") !== undefined)
        ? [...names, "messages[9].annotations"]
        : names,
  },
  "name-refused": strict(
    (body) => messagesOf(body).some((one) => typeof valueAt(one, "/name") === "string"),
    400,
    "messages[0].name",
  ),
  "developer-is-user": {
    generated: (body) => ({
      ...body,
      messages: messagesOf(body).map((one) =>
        valueAt(one, "/role") === "developer" ? { ...Object(one), role: "user" } : one,
      ),
    }),
  },
  "special-token-obeyed": {
    prompt: (count, body) =>
      count -
      (7 *
        (JSON.stringify(messagesOf(body).filter((one) => valueAt(one, "/role") === "user")).match(
          /<\|im_start\|>|<\|im_end\|>|<think>|<tool_call>/g,
        )?.length ?? 0)) /
        4,
  },
  "special-token-in-arguments": {
    prompt: (count, body) =>
      count -
      (7 *
        (JSON.stringify(messagesOf(body).flatMap((one) => listAt(one, "/tool_calls"))).match(
          /<\|im_start\|>|<\|im_end\|>|<think>|<tool_call>/g,
        )?.length ?? 0)) /
        4,
  },
  "template-refusal-5xx": replied(({ body }) =>
    valueAt(body, "/error/message") === "The template refuses these messages."
      ? { status: 502, body: { ...Object(body), error: { ...Object(valueAt(body, "/error")), ...engineFailed } } }
      : {},
  ),
  "overflow-in-stream": overlook((found, body) => found.code === "context_length_exceeded" && body["stream"] === true),
  "overflow-truncated": overlookCode("context_length_exceeded"),
  "overflow-wording": misjudge((found) => found.code === "context_length_exceeded", {
    message: "The messages are too long: maximum context length is 32768 tokens.",
  }),
  "overflow-unworded": misjudge((found) => found.code === "context_length_exceeded", {
    code: "invalid_value",
    message: "The messages are too long.",
  }),
  "overflow-count-rough": {
    violation: (found) =>
      found?.details
        ? {
            ...found,
            details: {
              ...found.details,
              prompt_tokens: Math.round(Number(found.details["prompt_tokens"]) / 1000) * 1000,
            },
          }
        : found,
  },
  "maximum-not-lowered": strict((body) => Number(body["max_completion_tokens"]) > 10_000, 400, "max_completion_tokens"),
  "default-cap-16": {
    maxTokens: (maxTokens, body) =>
      body["max_completion_tokens"] === undefined && body["max_tokens"] === undefined
        ? Math.min(maxTokens, 16)
        : maxTokens,
  },
  "late-system-refused": strict(
    (body) =>
      messagesOf(body).some(
        (one, index) => valueAt(one, "/role") === "system" && valueAt(messagesOf(body)[index - 1], "/role") === "user",
      ),
    400,
    "messages[1].role",
  ),
  "message-audio-ignored": overlookCode("unsupported_parameter", /^messages/),
};
