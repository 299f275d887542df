import { randomBytes } from "node:crypto";
import type { EngineEvent, EngineUsage, OutputToken } from "@parley/inference";
import { EngineError } from "@parley/inference";
import contract from "../generated/contract.json" with { type: "json" };
import type { components } from "../generated/contract.ts";

export type Chunk = components["schemas"]["ChatCompletionChunk"];
export type Usage = components["schemas"]["Usage"];
type Delta = components["schemas"]["Delta"];
type TokenLogprob = components["schemas"]["TokenLogprob"];

/** The fields that every chunk of an answer repeats. */
export interface ChunkHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
  readonly system_fingerprint: string;
}

export interface ChunkOptions {
  readonly head: ChunkHead;
  /** Choices that must finish. */
  readonly n: number;
  /** Whether a last chunk carries the usage, and every other one `usage: null`. */
  readonly includesUsage: boolean;
  readonly hasLogprobs: boolean;
  readonly toUsage: (usage: EngineUsage) => Usage;
}

/**
 * Turns an engine's events into the contract's stream, and enforces its order: per choice one role, then deltas, then one
 * finish; usage last. @throws {EngineError} `protocol` when the engine's events break that order
 */
export async function* toChunks(events: AsyncIterable<EngineEvent>, options: ChunkOptions): AsyncGenerator<Chunk> {
  const choices = Array.from({ length: options.n }, () => new ChoiceState(options.hasLogprobs));
  const usageMember = options.includesUsage ? { usage: null } : {};
  let usage: EngineUsage | undefined;
  for await (const event of events) {
    usage = event.usage;
    const choice = choices[event.choice];
    if (!choice) throw illegal(`answered for choice ${event.choice}`);
    for (const part of choice.accept(event)) {
      yield { ...chunkHead(options.head), choices: [{ index: event.choice, ...part }], ...usageMember };
    }
  }
  const isWhole = usage !== undefined && choices.every((choice) => choice.isFinished);
  if (!isWhole || usage === undefined) throw illegal("ended before every choice was finished");
  if (options.includesUsage) yield { ...chunkHead(options.head), choices: [], usage: options.toUsage(usage) };
}

const chunkHead = (head: ChunkHead): ChunkHead & { readonly object: "chat.completion.chunk" } => ({
  id: head.id,
  object: "chat.completion.chunk",
  created: head.created,
  model: head.model,
  system_fingerprint: head.system_fingerprint,
});

type ChunkPart = Omit<Chunk["choices"][number], "index">;

const legalReasons: ReadonlySet<unknown> = new Set(contract.components.schemas.FinishReason.enum);

const illegal = (what: string): EngineError => new EngineError("protocol", `the engine ${what}`);

/** The state of one choice. */
class ChoiceState {
  readonly #hasLogprobs: boolean;
  #stage: "new" | "open" | "finished" = "new";
  #calls = 0;

  constructor(hasLogprobs: boolean) {
    this.#hasLogprobs = hasLogprobs;
  }

  get isFinished(): boolean {
    return this.#stage === "finished";
  }

  *accept(event: EngineEvent): Generator<ChunkPart> {
    if (this.#stage === "finished") throw illegal(`sent ${event.kind} after the finish`);
    if (this.#stage === "open" && event.kind === "role") throw illegal("sent the role twice");
    // Engines send the role first. A choice that begins otherwise still begins with its role here.
    const isFirst = this.#stage === "new";
    this.#stage = "open";
    // Before the role is sent: an illegal event is still an HTTP error then.
    const part = event.kind === "role" ? undefined : this.#partOf(event);
    if (isFirst) yield this.#part({ role: "assistant", content: "" });
    if (part) yield part;
  }

  #partOf(event: Exclude<EngineEvent, { kind: "role" }>): ChunkPart {
    if (event.kind === "text") return this.#part({ content: event.text }, event.tokens);
    if (event.kind === "reasoning") return this.#part({ reasoning: event.text, reasoning_content: event.text });
    if (event.kind === "tool") return this.#part({ tool_calls: [this.#toolDelta(event)] });
    return this.#finish(event);
  }

  #finish({ kind, reason }: Extract<EngineEvent, { kind: "finish" }>): ChunkPart {
    if (!legalReasons.has(reason)) throw illegal(`ended with ${kind} ${reason}`);
    const isContradicted = reason === "stop" ? this.#calls > 0 : reason === "tool_calls" && this.#calls === 0;
    if (isContradicted) throw illegal(`ended with ${reason} after ${this.#calls} calls`);
    this.#stage = "finished";
    return { ...this.#part({}), finish_reason: reason };
  }

  #part(delta: Delta, tokens: readonly OutputToken[] = []): ChunkPart {
    const logprobs = this.#hasLogprobs && tokens.length > 0 ? { content: tokens.map(toTokenLogprob) } : null;
    return { delta, logprobs, finish_reason: null };
  }

  #toolDelta(event: Extract<EngineEvent, { kind: "tool" }>): NonNullable<Delta["tool_calls"]>[number] {
    const { index, name } = event;
    const isNew = index === this.#calls;
    const isKnown = Number.isInteger(index) && index >= 0 && index <= this.#calls;
    if (!isKnown || isNew !== (name !== undefined)) throw illegal(`wrote tool call ${index} out of order`);
    if (!isNew || name === undefined) return { index, function: { arguments: event.arguments } };
    this.#calls += 1;
    const id = `call_${randomBytes(12).toString("hex")}`;
    return { index, id, type: "function", function: { name, arguments: event.arguments } };
  }
}

const toTokenLogprob = ({ token, logprob = 0, bytes, top = [] }: OutputToken): TokenLogprob => ({
  token,
  logprob,
  bytes: [...bytes],
  top_logprobs: top.map((one) => ({ token: one.token, logprob: one.logprob, bytes: [...one.bytes] })),
});
