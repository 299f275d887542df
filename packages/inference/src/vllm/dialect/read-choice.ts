import { Answer } from "../../answer/answer.ts";
import type { AnswerPlan, Reading, Step } from "../../answer/answer.ts";
import { EngineError } from "../../engine.ts";
import type { FinishReason, TokenPiece } from "../../engine.ts";
import { utf8 } from "../../prompt/token-bytes.ts";
import type { CompletionEnd, CompletionStep, CompletionUsage, WrittenToken } from "./read-completion.ts";

/** What one choice says as it goes; the counters are its own. */
export type ChoiceStep = (
  | Step
  | { readonly kind: "role" }
  | { readonly kind: "finish"; readonly reason: FinishReason }
) & { readonly counted: CompletionUsage & { readonly reasoning_tokens: number } };

export interface ChoiceModel {
  describe(token: number): TokenPiece;
  isEndOfTurn(token: number): boolean;
  /** Whether it is more than text, as `<tool_call>` is. */
  isMark(token: number): boolean;
}

/** Reads the tokens of one choice as what they mean: thought, content, calls, and one finish. */
export class ChoiceReader {
  readonly #plan: AnswerPlan;
  readonly #model: ChoiceModel;
  readonly #topLogprobs: number | undefined;
  readonly #answer: Answer;
  /** Bytes of the form that come next; the guide makes the engine write them. */
  #form: number[] = [];
  #finish: FinishReason | undefined;
  #reasoned = 0;
  #usage: CompletionUsage = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0 };
  #hasSpoken = false;

  constructor(plan: AnswerPlan, opensInThought: boolean, model: ChoiceModel, topLogprobs: number | undefined) {
    this.#plan = plan;
    this.#model = model;
    this.#topLogprobs = topLogprobs;
    this.#answer = new Answer(plan, opensInThought);
  }

  async *read(source: AsyncGenerator<CompletionStep, CompletionEnd>): AsyncGenerator<ChoiceStep> {
    this.#expect(this.#answer.open());
    try {
      for (;;) {
        const next = await source.next();
        this.#usage = next.value.usage;
        if (next.done === true) return yield* this.#end(next.value.reason);
        for (const token of next.value.tokens) yield* this.#take(token);
        if (this.#finish === undefined || this.#endsByItself) continue;
        // What follows was not asked for: leaving the stream stops the engine.
        return yield* this.#say({ kind: "finish", reason: this.#finish });
      }
    } finally {
      await source.return(undefined as never); // its value is never looked at
    }
  }

  /** After the only call that may be, the form leaves nothing to write but its end: the exact count is worth the wait. */
  get #endsByItself(): boolean {
    return this.#finish === "tool_calls" && !this.#plan.isParallel;
  }

  *#take(token: WrittenToken): Generator<ChoiceStep> {
    if (this.#finish !== undefined) return;
    const wasThought = this.#answer.mode === "reasoning";
    const reading = this.#read(token);
    if (wasThought) this.#reasoned += 1;
    for (const step of reading.steps) yield* this.#say(step);
    this.#expect(reading);
  }

  #read(token: WrittenToken): Reading {
    if (this.#model.isEndOfTurn(token.id)) return this.#answer.end();
    const piece = this.#withoutForm(this.#pieceOf(token));
    if (!piece) return { steps: [] };
    const isStray = this.#model.isMark(token.id) && !this.#answer.allowedMarks.includes(piece.token);
    if (isStray) return { steps: [] };
    const reading = this.#answer.push(piece);
    return reading.force ? { ...reading, force: [beyond(piece.token, reading.force.join(""))] } : reading;
  }

  #expect({ force = [], finish }: Reading): void {
    this.#form.push(...force.flatMap((text) => utf8(text)));
    this.#finish ??= finish;
  }

  /** What a token writes beyond the form, or undefined. A token may reach over the end of the form. */
  #withoutForm(piece: TokenPiece): TokenPiece | undefined {
    if (this.#form.length === 0) return piece;
    const bytes = piece.bytes.length > 0 ? piece.bytes : utf8(piece.token);
    const due = this.#form.splice(0, bytes.length);
    if (due.some((byte, place) => byte !== bytes[place])) {
      throw new EngineError("protocol", "the engine left the form that it was held to");
    }
    const rest = bytes.slice(due.length);
    return rest.length === 0
      ? undefined
      : { ...piece, bytes: rest, token: new TextDecoder().decode(Uint8Array.from(rest)) };
  }

  #pieceOf({ id, logprob, top = [] }: WrittenToken): TokenPiece {
    const piece = this.#model.describe(id);
    if (logprob === undefined) return piece;
    const named = top
      .slice(0, this.#topLogprobs)
      .map((one) => ({ ...this.#model.describe(one.id), logprob: one.logprob }));
    return {
      ...piece,
      logprob,
      top: named.map(({ token, bytes, logprob: each }) => ({ token, bytes, logprob: each })),
    };
  }

  *#end(reason: CompletionEnd["reason"]): Generator<ChoiceStep> {
    if (this.#finish === undefined) {
      if (reason === "stop" && !this.#answer.canEnd) {
        throw new EngineError("protocol", "the engine ended a choice in the middle of a form");
      }
      const ending = reason === "length" ? this.#answer.cut() : this.#answer.end();
      for (const step of ending.steps) yield* this.#say(step);
      this.#finish = ending.finish;
    }
    yield* this.#say({ kind: "finish", reason: this.#finish });
  }

  /** The role comes with the first thing said, so that whoever sees it knows that the model really works. */
  *#say(step: Step | { readonly kind: "finish"; readonly reason: FinishReason }): Generator<ChoiceStep> {
    const counted = { ...this.#usage, reasoning_tokens: Math.min(this.#reasoned, this.#usage.completion_tokens) };
    if (!this.#hasSpoken) yield { kind: "role", counted };
    this.#hasSpoken = true;
    yield { ...step, counted };
  }
}

/** What is left to come of a form that the token before it has begun already, as `}}\n` does. */
function beyond(written: string, form: string): string {
  let begun = Math.min(written.length, form.length);
  while (!written.endsWith(form.slice(0, begun))) begun -= 1;
  return form.slice(begun);
}
