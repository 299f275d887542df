import { decimalProduct, decimalSum } from "@parley/contract/decimal";
import type { EngineEvent } from "./engine.ts";
import { EngineFailureError } from "./engine.ts";
import type { Token } from "./language.ts";

type Json = Record<string, unknown>;
export type Body = Readonly<Record<string, unknown>>;

/** An event of a stream: its data, a bare word, or bytes that are not an event. */
export type Outgoing = { readonly data: Json | string } | { readonly raw: string };

export interface Identity {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

type Prices = Readonly<Record<"prompt" | "completion" | "request" | "input_cache_read", string>>;

/** The tokens used so far. */
export class Meter {
  readonly prompt: number;
  completion = 0;
  reasoning = 0;
  readonly #cached: number;
  readonly #prices: Prices;

  constructor(prompt: number, cached: number, prices: Prices) {
    this.prompt = prompt;
    this.#cached = cached;
    this.#prices = prices;
  }

  get usage(): Json {
    const { prompt, completion, reasoning } = this;
    const cost = decimalSum(
      decimalProduct(this.#prices.prompt, prompt - this.#cached),
      decimalProduct(this.#prices.input_cache_read, this.#cached),
      decimalProduct(this.#prices.completion, completion),
      this.#prices.request,
    );
    return {
      prompt_tokens: prompt,
      completion_tokens: completion,
      total_tokens: prompt + completion,
      prompt_tokens_details: { cached_tokens: this.#cached },
      completion_tokens_details: { reasoning_tokens: reasoning },
      cost_usd: cost,
    };
  }
}

/** Counts the tokens of the events that pass. */
export async function* metered(events: AsyncGenerator<EngineEvent>, meter: Meter): AsyncGenerator<EngineEvent> {
  for await (const event of events) {
    meter.completion += event.count;
    if (event.kind === "reasoning") meter.reasoning += event.count;
    yield event;
  }
}

const legal = new Set(["stop", "length", "tool_calls", "content_filter"]);

/** Throws if a choice has no legal finish reason. */
export async function* finished(events: AsyncGenerator<EngineEvent>): AsyncGenerator<EngineEvent> {
  const open = new Set<number>();
  for await (const event of events) {
    if (event.kind === "role") open.add(event.choice);
    if (event.kind === "finish") {
      if (!legal.has(event.reason)) throw new EngineFailureError("upstream_error");
      open.delete(event.choice);
    }
    yield event;
  }
  if (open.size > 0) throw new EngineFailureError("upstream_error");
}

const bytesOf = (text: string): number[] => [...Buffer.from(text)];
const entries = (tokens: readonly Token[], most: number): Json => ({
  content: tokens.map(({ text, logprob, top }) => ({
    token: text,
    logprob,
    bytes: bytesOf(text),
    top_logprobs: top
      .slice(0, most)
      .map((one) => ({ token: one.text, logprob: one.logprob, bytes: bytesOf(one.text) })),
  })),
});

const topOf = (body: Body): number => (typeof body["top_logprobs"] === "number" ? body["top_logprobs"] : 0);

/** The events of a stream, in the order of the contract's machine. */
export async function* toStream(
  events: AsyncGenerator<EngineEvent>,
  body: Body,
  identity: Identity,
  meter: Meter,
): AsyncGenerator<Outgoing> {
  const options = body["stream_options"];
  const includesUsage =
    typeof options === "object" && options !== null && "include_usage" in options && options.include_usage === true;
  const base = {
    id: identity.id,
    object: "chat.completion.chunk",
    created: identity.created,
    model: identity.model,
    system_fingerprint: identity.system_fingerprint,
  };
  const usage = includesUsage ? { usage: null } : {};
  let calls = -1;
  for await (const event of events) {
    if (event.kind === "tool" && event.id !== undefined) calls += 1;
    const reason = event.kind === "finish" ? event.reason : null;
    const isScored = body["logprobs"] === true && event.kind === "text";
    const choice = {
      index: event.choice,
      delta: deltaOf(event, calls),
      logprobs: isScored ? entries(event.tokens, topOf(body)) : null,
      finish_reason: reason,
    };
    yield { data: { ...base, choices: [choice], ...usage } };
  }
  if (includesUsage) yield { data: { ...base, choices: [], usage: meter.usage } };
  yield { data: "[DONE]" };
}

function deltaOf(event: EngineEvent, index: number): Json {
  switch (event.kind) {
    case "role":
      return { role: "assistant", content: "" };
    case "text":
      return { content: event.text };
    case "reasoning":
      return { reasoning: event.text, reasoning_content: event.text };
    case "finish":
      return {};
    case "tool": {
      const begin = event.id === undefined ? {} : { id: event.id, type: "function" };
      const name = event.name === undefined ? {} : { name: event.name };
      return { tool_calls: [{ index, ...begin, function: { ...name, arguments: event.arguments } }] };
    }
  }
}

/** The whole answer: the same events, collected. */
export async function collect(
  events: AsyncGenerator<EngineEvent>,
  body: Body,
  identity: Identity,
  meter: Meter,
): Promise<Json> {
  const all: EngineEvent[] = [];
  for await (const event of events) all.push(event);
  const indexes = [...new Set(all.map(({ choice }) => choice))];
  return {
    id: identity.id,
    object: "chat.completion",
    created: identity.created,
    model: identity.model,
    choices: indexes.map((index) =>
      choiceOf(
        all.filter(({ choice }) => choice === index),
        index,
        body,
      ),
    ),
    usage: meter.usage,
    system_fingerprint: identity.system_fingerprint,
  };
}

function choiceOf(events: readonly EngineEvent[], index: number, body: Body): Json {
  const texts = events.flatMap((event) => (event.kind === "text" ? [event] : []));
  const reasoning = events.map((event) => (event.kind === "reasoning" ? event.text : "")).join("");
  const tools = events.flatMap((event) => (event.kind === "tool" ? [event] : []));
  const [first] = tools;
  const call = first && {
    id: first.id,
    type: "function",
    function: { name: first.name, arguments: tools.map((tool) => tool.arguments).join("") },
  };
  const finish = events.find((event) => event.kind === "finish");
  return {
    index,
    message: {
      role: "assistant",
      content: call ? null : texts.map(({ text }) => text).join(""),
      refusal: null,
      ...(reasoning !== "" && { reasoning, reasoning_content: reasoning }),
      ...(call && { tool_calls: [call] }),
    },
    logprobs:
      body["logprobs"] === true
        ? entries(
            texts.flatMap(({ tokens }) => tokens),
            topOf(body),
          )
        : null,
    finish_reason: finish?.kind === "finish" ? finish.reason : null,
  };
}
