import { EngineError } from "../../engine.ts";
import type { EngineUsage, OutputToken } from "../../engine.ts";
import { utf8 } from "../../prompt/token-bytes.ts";
import { asStreamFailure } from "../engine-failure.ts";
import type { ChatChunk, ChunkCall, ChunkChoice, ChunkLogprob, ChunkUsage } from "./chat-chunk.ts";
import { readTextChunk } from "./read-text-chunk.ts";
import type { EventRun } from "../event-spelling.ts";

/** The part of a choice that one event of the upstream's stream adds. */
export interface ChatStep {
  readonly reasoning: string;
  readonly content: string;
  readonly calls: readonly CallDelta[];
  /** The tokens of the event, if log-probabilities were asked for. */
  readonly pieces: readonly OutputToken[];
}

export interface CallDelta {
  /** The index of the call as the upstream counts it. Some services omit it. */
  readonly index: number | undefined;
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly arguments: string;
}

export type ChatFinish = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * Reads the data of the events of one choice. `[DONE]` alone does not prove a clean end. An end is legal only after a finish
 * reason that the contract knows; `abort`, `error`, an error frame and silence are failures.
 */
export class ChatReader {
  #usage: EngineUsage;
  #isUsageReported = false;
  #reason: string | undefined;

  /** @param promptTokens our count, used until the upstream reports its own */
  constructor(promptTokens: number) {
    this.#usage = { ...nothing, promptTokens };
  }

  get usage(): EngineUsage {
    return this.#usage;
  }

  /** True if the upstream reports usage. Otherwise every event that is not empty counts as one token. */
  get isUsageReported(): boolean {
    return this.#isUsageReported;
  }

  /**
   * @param data not `[DONE]`
   * @throws {EngineError} `crashed` for an error frame, `protocol` for data that is not a valid event
   */
  push(data: string): ChatStep | undefined {
    return this.#take(readTextChunk(data) ?? parseChunk(data), 1);
  }

  /**
   * Reads one event, or several that were merged into one chunk.
   * @throws {EngineError} `protocol` after the end of the choice
   */
  pushRun({ chunk, events }: EventRun<ChatChunk>): ChatStep | undefined {
    return this.#take(chunk, events);
  }

  /** @param events the number of events in the chunk */
  #take(chunk: ChatChunk, events: number): ChatStep | undefined {
    const error = chunk.error ?? (chunk.object === "error" ? chunk : undefined);
    if (error !== undefined) throw asStreamFailure(error, this.#usage.completionTokens === 0);
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

  /** @throws {EngineError} `crashed` if the end is not legal */
  end(): ChatFinish {
    const reason = this.#reason;
    if (isLegal(reason)) return reason;
    const how = reason === undefined ? "in the middle" : `with "${reason}"`;
    throw new EngineError("crashed", `the engine ended a stream ${how}`);
  }
}

const nothing: EngineUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0, reasoningTokens: 0 };

const isLegal = (reason: string | undefined): reason is ChatFinish =>
  reason === "stop" || reason === "length" || reason === "tool_calls" || reason === "content_filter";

function parseChunk(data: string): ChatChunk {
  try {
    const value: unknown = JSON.parse(data);
    // Every member is checked before it is used.
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Thrown below.
  }
  throw new EngineError("protocol", "the engine wrote an event that is not a JSON object");
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

/** Shared, because most events have neither calls nor tokens. */
const none: readonly never[] = [];

const toCall = (call: ChunkCall): CallDelta => ({
  index: call.index ?? undefined,
  id: call.id ?? undefined,
  // Some services repeat the name as an empty text.
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

/** @param counted the number of tokens in the chunk if the upstream does not report it */
function usageOf(reported: ChunkUsage | undefined, before: EngineUsage, delta: Delta, counted: number): EngineUsage {
  const completed = reported?.completion_tokens ?? before.completionTokens + counted;
  const completionTokens = Math.max(before.completionTokens, completed);
  const added = delta.reasoning === "" ? 0 : Math.max(1, completionTokens - before.completionTokens);
  const reasoned = reported?.completion_tokens_details?.reasoning_tokens ?? before.reasoningTokens + added;
  return {
    promptTokens: reported?.prompt_tokens ?? before.promptTokens,
    completionTokens,
    cachedTokens: reported?.prompt_tokens_details?.cached_tokens ?? before.cachedTokens,
    reasoningTokens: Math.min(completionTokens, Math.max(before.reasoningTokens, reasoned)),
  };
}
