import type { ChoiceEvent, OutputToken } from "@parley/inference";
import { EngineError } from "@parley/inference";
import contract from "@parley/contract/contract.json" with { type: "json" };
import type { components } from "@parley/contract/types";
import { newId } from "../../http/new-id.ts";

export type Chunk = components["schemas"]["ChatCompletionChunk"];
type Delta = components["schemas"]["Delta"];
type TokenLogprob = components["schemas"]["TokenLogprob"];

/** The part of a chunk that one event adds to one choice. */
export type ChunkChoice = Chunk["choices"][number];

/**
 * Turns an engine's events into the choices of the contract's chunks, and enforces the order of events in each choice: one
 * role, then deltas, then one finish.
 */
export class ChunkMaker {
  readonly #choices: readonly ChoiceState[];

  /** @param n choices that must finish */
  constructor(n: number, hasLogprobs: boolean) {
    this.#choices = Array.from({ length: n }, (_, index) => new ChoiceState(index, hasLogprobs));
  }

  /** @param chunks receives the choices of the event @throws {EngineError} `protocol` when the event breaks the order */
  push(event: ChoiceEvent, chunks: ChunkChoice[]): void {
    const choice = this.#choices[event.choice];
    if (!choice) throw illegal(`answered for choice ${event.choice}`);
    choice.push(event, chunks);
  }

  /** @throws {EngineError} `protocol` when the events have ended too early */
  end(): void {
    if (!this.#choices.every((choice) => choice.isFinished)) throw illegal("ended before every choice was finished");
  }
}

const legalReasons: ReadonlySet<unknown> = new Set(contract.components.schemas.FinishReason.enum);

const illegal = (what: string): EngineError => new EngineError("protocol", `the engine ${what}`);

/** The state of one choice. */
class ChoiceState {
  readonly #index: number;
  readonly #hasLogprobs: boolean;
  #stage: "new" | "open" | "finished" = "new";
  #calls = 0;

  constructor(index: number, hasLogprobs: boolean) {
    this.#index = index;
    this.#hasLogprobs = hasLogprobs;
  }

  get isFinished(): boolean {
    return this.#stage === "finished";
  }

  push(event: ChoiceEvent, chunks: ChunkChoice[]): void {
    if (this.#stage === "finished") throw illegal(`sent ${event.kind} after the finish`);
    if (this.#stage === "open" && event.kind === "role") throw illegal("sent the role twice");
    // An engine should send the role first. If it does not, the role is added here.
    const isFirst = this.#stage === "new";
    this.#stage = "open";
    // Checked before the role is added, so an illegal first event still becomes an HTTP error.
    const part = event.kind === "role" ? undefined : this.#partOf(event);
    if (isFirst) chunks.push(this.#part({ role: "assistant", content: "" }));
    if (part) chunks.push(part);
  }

  #partOf(event: Exclude<ChoiceEvent, { kind: "role" }>): ChunkChoice {
    if (event.kind === "text") return this.#part({ content: event.text }, event.tokens);
    if (event.kind === "reasoning") return this.#part({ reasoning: event.text, reasoning_content: event.text });
    if (event.kind === "tool") return this.#part({ tool_calls: [this.#toolDelta(event)] });
    return this.#finish(event);
  }

  #finish({ kind, reason }: Extract<ChoiceEvent, { kind: "finish" }>): ChunkChoice {
    if (!legalReasons.has(reason)) throw illegal(`ended with ${kind} ${reason}`);
    const isContradicted = reason === "stop" ? this.#calls > 0 : reason === "tool_calls" && this.#calls === 0;
    if (isContradicted) throw illegal(`ended with ${reason} after ${this.#calls} calls`);
    this.#stage = "finished";
    return { ...this.#part({}), finish_reason: reason };
  }

  #part(delta: Delta, tokens: readonly OutputToken[] = []): ChunkChoice {
    const logprobs = this.#hasLogprobs && tokens.length > 0 ? { content: tokens.map(toTokenLogprob) } : null;
    return { index: this.#index, delta, logprobs, finish_reason: null };
  }

  #toolDelta(event: Extract<ChoiceEvent, { kind: "tool" }>): NonNullable<Delta["tool_calls"]>[number] {
    const { index, name } = event;
    const isNew = index === this.#calls;
    const isKnown = Number.isInteger(index) && index >= 0 && index <= this.#calls;
    if (!isKnown || isNew !== (name !== undefined)) throw illegal(`wrote tool call ${index} out of order`);
    if (!isNew || name === undefined) return { index, function: { arguments: event.arguments } };
    this.#calls += 1;
    const id = newId("call_", 24);
    return { index, id, type: "function", function: { name, arguments: event.arguments } };
  }
}

const toTokenLogprob = ({ token, logprob = 0, bytes, top = [] }: OutputToken): TokenLogprob => ({
  token,
  logprob,
  bytes: [...bytes],
  top_logprobs: top.map((one) => ({ token: one.token, logprob: one.logprob, bytes: [...one.bytes] })),
});
