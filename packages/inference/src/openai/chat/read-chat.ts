import { EngineError } from "../../engine.ts";
import type { EngineUsage, OutputToken } from "../../engine.ts";
import { utf8 } from "../../prompt/token-bytes.ts";
import { asStreamFailure } from "../engine-failure.ts";
import type { ChatChunk, ChunkCall, ChunkChoice, ChunkLogprob, ChunkUsage } from "./chat-chunk.ts";
import { readTextChunk } from "./read-text-chunk.ts";
import type { EventRun } from "../event-spelling.ts";

/** What one event of the upstream's stream adds to a choice. */
export interface ChatStep {
  readonly reasoning: string;
  readonly content: string;
  readonly calls: readonly CallDelta[];
  /** The tokens behind the event, where log-probabilities were asked for. */
  readonly pieces: readonly OutputToken[];
}

export interface CallDelta {
  /** Its place among the calls as the upstream counts them; some do not. */
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly arguments: string;
}

export type ChatFinish = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * Reads the data of the events of one choice. `[DONE]` is no proof of an end: one is legal only after a finish reason that the
 * contract knows; `abort`, `error`, an error frame and silence are failures.
 */
export class ChatReader {
  #usage: EngineUsage;
  #isUsageReported = false;
  #reason: string | undefined;

  /** @param promptTokens our own count, used until the upstream reports its own */
  constructor(promptTokens: number) {
    this.#usage = { ...nothing, prompt_tokens: promptTokens };
  }

  get usage(): EngineUsage {
    return this.#usage;
  }

  /** The other side has counted; otherwise every event with something in it stands for a token. */
  get isUsageReported(): boolean {
    return this.#isUsageReported;
  }

  /** @param data any but `[DONE]` @throws {EngineError} `crashed` where it broke off, `protocol` for what no such service says */
  push(data: string): ChatStep | undefined {
    return this.#take(readTextChunk(data) ?? parseChunk(data), 1);
  }

  /** Several events, as if they were one. @throws {EngineError} `protocol` after the end of the choice */
  pushRun({ chunk, events }: EventRun<ChatChunk>): ChatStep | undefined {
    return this.#take(chunk, events);
  }

  /** @param events how many events the chunk stands for */
  #take(chunk: ChatChunk, events: number): ChatStep | undefined {
    const error = chunk.error ?? (chunk.object === "error" ? chunk : undefined);
    if (error !== undefined) throw asStreamFailure(error, this.#usage.completion_tokens === 0);
    const choice = chunk.choices?.[0];
    const delta = readDelta(choice);
    const counted = delta.hasOutput && !this.#isUsageReported ? events : 0;
    this.#usage = usageOf(chunk.usage ?? undefined, this.#usage, delta, counted);
    this.#isUsageReported ||= Boolean(chunk.usage);
    if (!choice) return undefined;
    if (this.#reason !== undefined && delta.hasOutput) {
      throw new EngineError("protocol", "the engine went on after the end of a choice");
    }
    this.#reason = choice.finish_reason ?? this.#reason;
    return delta;
  }

  /** @throws {EngineError} `crashed` where the end is not legal */
  end(): ChatFinish {
    const reason = this.#reason;
    if (isLegal(reason)) return reason;
    const how = reason === undefined ? "in the middle" : `with "${reason}"`;
    throw new EngineError("crashed", `the engine ended a stream ${how}`);
  }
}

const nothing: EngineUsage = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0, reasoning_tokens: 0 };

const isLegal = (reason: string | undefined): reason is ChatFinish =>
  reason === "stop" || reason === "length" || reason === "tool_calls" || reason === "content_filter";

function parseChunk(data: string): ChatChunk {
  try {
    const value: unknown = JSON.parse(data);
    // Its members are looked at one by one.
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Thrown below.
  }
  throw new EngineError("protocol", "the engine wrote an event that is no JSON object");
}

type Delta = ChatStep & { readonly hasOutput: boolean };

function readDelta(choice: ChunkChoice | undefined): Delta {
  const { reasoning, reasoning_content, content, tool_calls } = choice?.delta ?? {};
  // vLLM and some others write `reasoning`; older vLLM and many others write `reasoning_content`.
  const reasoningText = reasoning ?? reasoning_content ?? "";
  const calls = tool_calls?.map(toCall) ?? none;
  const pieces = choice?.logprobs?.content?.map(toPiece) ?? none;
  const hasOutput = reasoningText !== "" || (content ?? "") !== "" || calls.length > 0;
  return { reasoning: reasoningText, content: content ?? "", calls, pieces, hasOutput };
}

/** Most events have neither calls nor tokens. */
const none: readonly never[] = [];

const toCall = (call: ChunkCall): CallDelta => ({
  index: call.index ?? undefined,
  id: call.id ?? undefined,
  // Some repeat it, empty.
  name: call.function?.name || undefined,
  arguments: call.function?.arguments ?? "",
});

const toPiece = (one: ChunkLogprob): OutputToken => ({
  ...toAlternative(one),
  top: (one.top_logprobs ?? []).map(toAlternative).toSorted((a, b) => b.logprob - a.logprob),
});

const toAlternative = ({
  token,
  bytes,
  logprob,
}: ChunkLogprob): Required<Pick<OutputToken, "token" | "bytes" | "logprob">> => ({
  token,
  bytes: bytes ?? utf8(token),
  logprob: Math.min(0, logprob),
});

/** @param counted how many tokens the chunk stands for, where the other side does not say it */
function usageOf(reported: ChunkUsage | undefined, before: EngineUsage, delta: Delta, counted: number): EngineUsage {
  const completed = reported?.completion_tokens ?? before.completion_tokens + counted;
  const completion_tokens = Math.max(before.completion_tokens, completed);
  const added = delta.reasoning === "" ? 0 : Math.max(1, completion_tokens - before.completion_tokens);
  const reasoned = reported?.completion_tokens_details?.reasoning_tokens ?? before.reasoning_tokens + added;
  return {
    prompt_tokens: reported?.prompt_tokens ?? before.prompt_tokens,
    completion_tokens,
    cached_tokens: reported?.prompt_tokens_details?.cached_tokens ?? before.cached_tokens,
    reasoning_tokens: Math.min(completion_tokens, Math.max(before.reasoning_tokens, reasoned)),
  };
}
