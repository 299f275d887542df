import type { SampledToken } from "../../answer/sampled-token.ts";
import { EngineError } from "../../engine.ts";
import type { EngineUsage } from "../../engine.ts";
import { asStreamFailure } from "../engine-failure.ts";
import { readTokenChunk } from "./read-token-chunk.ts";

/** The part of a choice that one event of the engine's stream adds. */
export interface CompletionStep {
  readonly tokens: readonly SampledToken[];
  /** Counters so far. The number of cached prompt tokens is known only at the end. */
  readonly usage: CompletionUsage;
}

export type CompletionUsage = Omit<EngineUsage, "reasoningTokens">;

/** The legal end of a stream. */
export interface CompletionEnd {
  readonly reason: "stop" | "length";
  readonly usage: CompletionUsage;
}

/** The members that are read of an event. Any of them may be missing. */
export interface CompletionChunk {
  readonly error?: unknown;
  readonly choices?: readonly {
    readonly token_ids?: readonly number[] | null;
    readonly finish_reason?: string | null;
    readonly logprobs?: ChunkLogprobs | null;
  }[];
  /** Dynamo has the ids of its only choice here. */
  readonly nvext?: { readonly completion_token_ids?: readonly number[] | null } | null;
  readonly usage?: {
    readonly prompt_tokens: number;
    readonly completion_tokens?: number;
    readonly prompt_tokens_details?: { readonly cached_tokens?: number | null } | null;
  } | null;
}

interface ChunkLogprobs {
  readonly token_logprobs: readonly (number | null)[];
  readonly top_logprobs?: readonly (Readonly<Record<string, number>> | null)[] | null;
}

/**
 * Reads the data of the events of one choice. vLLM may send `[DONE]` after a failure, too. An end is legal only after a finish
 * reason of `stop` or `length`; `abort`, `error`, an error frame and silence are failures.
 */
export class CompletionReader {
  #usage: CompletionUsage;
  #written = 0;
  #reason: string | undefined;

  /**
   * @param promptTokens our count, used until the engine reports its own: a router may remove the request for counters in
   * every event (vllm-router 0.1.17 does)
   */
  constructor(promptTokens: number) {
    this.#usage = { promptTokens, completionTokens: 0, cachedTokens: 0 };
  }

  /**
   * @param data not `[DONE]`
   * @throws {EngineError} `crashed` for an error frame, `protocol` for data that is not a valid event
   */
  push(data: string): CompletionStep {
    return this.take(readTokenChunk(data) ?? parseChunk(data));
  }

  /** @param chunk the content of one event, or of several merged ones @throws as `push` */
  take(chunk: CompletionChunk): CompletionStep {
    if (chunk.error !== undefined) throw asStreamFailure(chunk.error, this.#usage.completionTokens === 0);
    const choice = chunk.choices?.[0];
    const ids = choice?.token_ids ?? chunk.nvext?.completion_token_ids ?? [];
    this.#written += ids.length;
    this.#usage = usageOf(chunk, this.#usage, this.#written);
    if (!choice) return { tokens: [], usage: this.#usage };
    if (this.#reason !== undefined) throw new EngineError("protocol", "the engine went on after the end of a choice");
    this.#reason = choice.finish_reason ?? undefined;
    return { tokens: tokensOf(ids, choice), usage: this.#usage };
  }

  /** @throws {EngineError} `crashed` if the end is not legal */
  end(): CompletionEnd {
    const reason = this.#reason;
    if (reason === "stop" || reason === "length") return { reason, usage: this.#usage };
    throw new EngineError(
      "crashed",
      `the engine ended a stream ${reason === undefined ? "in the middle" : `with "${reason}"`}`,
    );
  }
}

function parseChunk(data: string): CompletionChunk {
  const chunk = parse(data);
  if (chunk === undefined) throw new EngineError("protocol", "the engine wrote an event that is not a JSON object");
  return chunk;
}

function parse(data: string): CompletionChunk | undefined {
  try {
    const value: unknown = JSON.parse(data);
    // Every member is checked before it is used.
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function usageOf({ usage }: CompletionChunk, before: CompletionUsage, written: number): CompletionUsage {
  return {
    promptTokens: usage?.prompt_tokens ?? before.promptTokens,
    completionTokens: Math.max(usage?.completion_tokens ?? 0, before.completionTokens, written),
    cachedTokens: usage?.prompt_tokens_details?.cached_tokens ?? before.cachedTokens,
  };
}

function tokensOf(
  ids: readonly number[],
  { logprobs }: NonNullable<CompletionChunk["choices"]>[number],
): SampledToken[] {
  return ids.map((id, place) => {
    const logprob = logprobs?.token_logprobs[place];
    if (logprob === undefined || logprob === null) return { id };
    return { id, logprob: Math.min(0, logprob), top: topOf(logprobs?.top_logprobs?.[place]) };
  });
}

/** Tokens are named `token_id:17`, because a token may be half a character. */
const topOf = (top: Readonly<Record<string, number>> | null | undefined): NonNullable<SampledToken["top"]> =>
  Object.entries(top ?? {})
    .map(([name, logprob]) => ({ id: Number(name.slice("token_id:".length)), logprob: Math.min(0, logprob) }))
    .toSorted((a, b) => b.logprob - a.logprob);
