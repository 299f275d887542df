import { decimalProduct, decimalSum } from "@parley/contract/decimal";
import { valueAt, isRecord, listAt } from "../../src/judge/read.ts";
import type { EngineEvent } from "../reference/engine.ts";
import { hash } from "../reference/language.ts";
import { prices } from "../reference/models.ts";
import type { Mutant } from "../reference/mutant.ts";
import {
  completed,
  generated,
  isFinish,
  strict,
  streamed,
  withChoices,
  withMessages,
  withPieces,
  withUsage,
  lacking,
} from "./mutate.ts";
import type { SeededBugs } from "./mutate.ts";

const finishAs = (from: string, to: string): Mutant => ({
  ...withChoices((choice) => (choice["finish_reason"] === from ? { ...choice, finish_reason: to } : choice)),
  ...withPieces((choice) => (choice["finish_reason"] === from ? { ...choice, finish_reason: to } : choice)),
});
const isGreedy = (body: Readonly<Record<string, unknown>>): boolean => body["temperature"] === 0;
let turn = 0;
const next = (): number => (turn += 1);
/** Replaces the texts of an answer by others. */
const otherWords = (event: EngineEvent): EngineEvent =>
  event.kind === "text" ? { ...event, text: ` w${hash(event.text + String(next())) % 97}` } : event;
const stopsIn = (body: Readonly<Record<string, unknown>>): string[] => [body["stop"] ?? []].flat().map(String);

/** An engine that does not know a member. */
const unaware = (...names: readonly string[]): Mutant => ({
  generated: (body) => Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))),
});

const hasTinyPenalty = ({ repetition_penalty: penalty }: Readonly<Record<string, unknown>>): boolean =>
  typeof penalty === "number" && penalty < 1e-30;

export const answers: SeededBugs = {
  "streamed-cap-says-stop": withPieces((choice) =>
    choice["finish_reason"] === "length" ? { ...choice, finish_reason: "stop" } : choice,
  ),
  "think-closed-in-content": withMessages((message) => {
    const { reasoning, reasoning_content: _, ...rest } = message;
    return typeof reasoning === "string"
      ? { ...rest, content: `${reasoning}</think>${String(message["content"])}` }
      : message;
  }),
  "character-broken": {
    ...withMessages((message) =>
      typeof message["content"] === "string"
        ? { ...message, content: message["content"].replace(/[a-z\u{1f600}]/u, "\ufffd") }
        : message,
    ),
  },
  "id-repeated": { ...completed((json) => ({ ...json, id: "chatcmpl-1" })) },
  "id-prefix-missing": completed((json) => ({ ...json, id: crypto.randomUUID() })),
  "object-differs": completed((json) => ({ ...json, object: "text_completion" })),
  "member-missing": completed((json) => lacking(json, "usage")),
  "choices-missing": completed((json) => lacking(json, "choices")),
  "created-in-milliseconds": completed((json) => ({ ...json, created: Number(json["created"]) * 1000 })),
  "model-renamed": completed((json) => ({ ...json, model: `${String(json["model"])}-2026` })),
  "one-choice-only": completed((json) => ({ ...json, choices: listAt(json, "/choices").slice(0, 1) })),
  "index-constant": withChoices((choice) => ({ ...choice, index: 0 })),
  "refusal-missing": withMessages((message) => lacking(message, "refusal")),
  "role-left-out": withMessages((message) => lacking(message, "role")),
  "content-null": withMessages((message) => ({ ...message, content: null })),
  "finish-abort": withChoices((choice) =>
    choice["finish_reason"] === "stop" ? { ...choice, finish_reason: "abort" } : choice,
  ),
  "cap-off-by-one": {
    maxTokens: (maxTokens, body) =>
      typeof body["max_completion_tokens"] === "number" && maxTokens > 1 ? maxTokens - 1 : maxTokens,
  },
  "cap-says-stop": finishAs("length", "stop"),
  "end-says-length": finishAs("stop", "length"),
  "total-wrong": withUsage((usage) => ({ ...usage, total_tokens: Number(usage["total_tokens"]) + 1 })),
  "prompt-counted-n-times": { prompt: (count, body) => count * (typeof body["n"] === "number" ? body["n"] : 1) },
  "first-choice-counted": generated((event) => [event.choice === 0 ? event : { ...event, count: 0 }]),
  "cached-exceeds-prompt": withUsage((usage) => ({
    ...usage,
    prompt_tokens_details: { cached_tokens: Number(usage["prompt_tokens"]) + 1 },
  })),
  "cached-for-another-key": withUsage((usage) => ({ ...usage, prompt_tokens_details: { cached_tokens: 1 } })),
  "reasoning-exceeds-completion": withUsage((usage) => ({
    ...usage,
    completion_tokens_details: { reasoning_tokens: Number(usage["completion_tokens"]) + 1 },
  })),
  "cost-as-double": withUsage((usage) => ({ ...usage, cost_usd: String(Number(usage["cost_usd"]) * 1.000_000_1) })),
  "cached-at-full-price": withUsage((usage) => ({
    ...usage,
    cost_usd: decimalSum(
      decimalProduct(prices.prompt, Number(usage["prompt_tokens"])),
      decimalProduct(prices.completion, Number(usage["completion_tokens"])),
      prices.request,
    ),
  })),
  "cached-discount": withUsage((usage) => ({ ...usage, cost_usd: "0.00001" })),
  "older-reasoning-missing": withMessages((message) => lacking(message, "reasoning_content")),
  "think-in-content": withMessages((message) =>
    typeof message["reasoning"] === "string"
      ? { ...message, content: `<think>${message["reasoning"]}</think>${String(message["content"])}` }
      : message,
  ),
  "engine-member-leaks": withChoices((choice) => ({ ...choice, stop_token_ids: [2] })),
  "fingerprint-random": completed((json) => ({ ...json, system_fingerprint: crypto.randomUUID() })),
  "none-still-thinks": {
    generated: (body) => (body["reasoning_effort"] === "none" ? { ...body, reasoning_effort: "low" } : body),
  },
  "reasoning-outside-cap": {
    maxTokens: (maxTokens, body) => ((body["reasoning_effort"] ?? "none") === "none" ? maxTokens : maxTokens + 4),
  },
  "effort-default-differs": {
    generated: (body) =>
      body["reasoning_effort"] === "none" && body["max_completion_tokens"] === 16
        ? { ...body, messages: [{ role: "user", content: "Another question." }] }
        : body,
  },

  "greedy-differs": {
    events: async function* (events, body) {
      for await (const event of events)
        yield isGreedy(body) && body["max_completion_tokens"] === 24 ? otherWords(event) : event;
    },
  },
  "seed-ignored": unaware("seed"),
  "cap-changes-text": {
    generated: (body) =>
      body["max_completion_tokens"] === 6
        ? { ...body, messages: [{ role: "user", content: "Another question." }] }
        : body,
  },
  "stop-ignored": unaware("stop"),
  "stop-says-length": {
    ...withChoices((choice, body) =>
      stopsIn(body).length > 0 && choice["finish_reason"] === "stop" ? { ...choice, finish_reason: "length" } : choice,
    ),
  },
  "stop-leaks-in-stream": {
    events: async function* (events, body) {
      for await (const event of events) {
        if (event.kind === "finish" && body["stream"] === true && stopsIn(body).length > 0)
          yield {
            kind: "text",
            choice: event.choice,
            text: (stopsIn(body)[0] ?? "").slice(0, 1),
            tokens: [],
            count: 0,
          };
        yield event;
      }
    },
  },
  "stop-string-ignored": { generated: (body) => (typeof body["stop"] === "string" ? { ...body, stop: null } : body) },
  "stop-in-reasoning": {
    events: async function* (events, body) {
      for await (const event of events) {
        if (event.kind === "reasoning" && stopsIn(body).some((stop) => event.text.includes(stop)))
          return yield { kind: "finish", choice: event.choice, reason: "stop", count: 0 };
        yield event;
      }
    },
  },
  "ban-ignored": {
    generated: (body) =>
      isRecord(body["logit_bias"])
        ? {
            ...body,
            logit_bias: Object.fromEntries(Object.entries(body["logit_bias"]).filter(([, value]) => Number(value) > 0)),
          }
        : body,
  },
  "force-ignored": {
    generated: (body) =>
      isRecord(body["logit_bias"])
        ? {
            ...body,
            logit_bias: Object.fromEntries(Object.entries(body["logit_bias"]).filter(([, value]) => Number(value) < 0)),
          }
        : body,
  },
  "foreign-id-refused": strict(
    (body) => isRecord(body["logit_bias"]) && Object.keys(body["logit_bias"]).some((id) => Number(id) > 1e8),
    400,
    "logit_bias",
  ),
  "bias-name-unchecked": {
    violation: (found) =>
      found?.code === "invalid_value" && String(found.param).startsWith("logit_bias") ? undefined : found,
  },
  "top-k-ignored": unaware("top_k"),
  "min-p-ignored": unaware("min_p"),
  "top-p-ignored": unaware("top_p"),
  "tiny-penalty-fails": strict((body) => hasTinyPenalty(body), 500),
  "tiny-penalty-leaks": withMessages((message, body) =>
    hasTinyPenalty(body) ? { ...message, content: `<|im_end|>${String(message["content"])}` } : message,
  ),

  "logprobs-unasked": withChoices((choice, body) =>
    body["logprobs"] === true ? choice : { ...choice, logprobs: { content: [] } },
  ),
  "entry-missing": entries((list) => list.slice(1)),
  "bytes-of-replacement": entries((list) => list.map((entry) => ({ ...Object(entry), bytes: [239, 191, 189] }))),
  "logprob-positive": entries((list) => list.map((entry) => ({ ...Object(entry), logprob: 0.5 }))),
  "alternatives-unsorted": entries((list) =>
    list.map((entry) => ({ ...Object(entry), top_logprobs: listAt(entry, "/top_logprobs").toReversed() })),
  ),
  "alternatives-too-many": entries((list) =>
    list.map((entry) => {
      const top = listAt(entry, "/top_logprobs");
      return { ...Object(entry), top_logprobs: top.length > 0 ? [...top, top.at(-1)] : top };
    }),
  ),
  "alternatives-unasked": entries((list) =>
    list.map((entry) =>
      listAt(entry, "/top_logprobs").length === 0
        ? { ...Object(entry), top_logprobs: [{ token: "x", logprob: -1, bytes: [120] }] }
        : entry,
    ),
  ),
  "alternatives-unbounded": {
    violation: (found) => (found?.param === "top_logprobs" && found.code === "invalid_value" ? undefined : found),
  },
  "greedy-not-first": entries((list) => list.map((entry) => ({ ...Object(entry), logprob: -5 }))),
  "entries-late": lateEntries(),
  "reasoning-entry": entries((list, message) =>
    typeof valueAt(message, "/reasoning") === "string"
      ? [{ token: "Let", logprob: -0.1, bytes: [76, 101, 116], top_logprobs: [] }, ...list]
      : list,
  ),
  "end-token-entry": entries((list, message) =>
    typeof valueAt(message, "/reasoning") === "string"
      ? [...list, { token: "", logprob: -0.1, bytes: [], top_logprobs: [] }]
      : list,
  ),
  "logprobs-change-text": {
    generated: (body) =>
      body["logprobs"] === true && body["top_logprobs"] === 5
        ? { ...body, messages: [{ role: "user", content: "Another question." }] }
        : body,
  },
};

/** Changes the entries of answers that are not streamed. */
function entries(edit: (list: readonly unknown[], message: unknown) => readonly unknown[]): Mutant {
  return withChoices((choice) =>
    isRecord(choice["logprobs"])
      ? { ...choice, logprobs: { content: edit(listAt(choice, "/logprobs/content"), choice["message"]) } }
      : choice,
  );
}

/** The entries of a stream come with the event behind their text. */
function lateEntries(): Mutant {
  let held: unknown = null;
  return streamed((data) => {
    if (typeof data === "string") return [data];
    const [choice] = listAt(data, "/choices");
    if (!isRecord(choice)) return [data];
    const own = choice["logprobs"];
    const late = { ...data, choices: [{ ...choice, logprobs: isFinish(data) ? null : held }] };
    held = own;
    return [late];
  });
}
