import { AnswerParser } from "../../answer/answer-parser.ts";
import type { AnswerPlan, ParserOutput, AnswerDelta } from "../../answer/answer-parser.ts";
import { EngineError } from "../../engine.ts";
import type { FinishReason, OutputToken } from "../../engine.ts";
import type { TokenReader } from "../../model-folder/open-model.ts";
import { toOutputToken } from "../../answer/sampled-token.ts";
import type { SampledToken } from "../../answer/sampled-token.ts";
import { utf8 } from "../../prompt/token-bytes.ts";
import type { ChoiceDelta, Finish } from "../../answer/combine-choices.ts";
import type { CompletionEnd, CompletionStep, CompletionUsage } from "./read-completion.ts";

/** Reads the tokens of one choice as what they mean: thought, content, calls, and one finish. */
export class ChoiceReader {
  readonly #plan: AnswerPlan;
  readonly #model: TokenReader;
  readonly #topLogprobs: number | undefined;
  readonly #answer: AnswerParser;
  /** Bytes of the form that come next; the guide makes the engine write them. */
  #form: number[] = [];
  #finish: FinishReason | undefined;
  #reasoned = 0;
  #usage: CompletionUsage = { prompt_tokens: 0, completion_tokens: 0, cached_tokens: 0 };

  constructor(plan: AnswerPlan, opensInReasoning: boolean, model: TokenReader, topLogprobs: number | undefined) {
    this.#plan = plan;
    this.#model = model;
    this.#topLogprobs = topLogprobs;
    this.#answer = new AnswerParser(plan, opensInReasoning);
  }

  async *read(source: AsyncGenerator<CompletionStep, CompletionEnd>): AsyncGenerator<ChoiceDelta> {
    this.#expect(this.#answer.open());
    try {
      for (;;) {
        const next = await source.next();
        this.#usage = next.value.usage;
        if (next.done === true) return yield* this.#end(next.value.reason);
        for (const token of next.value.tokens) yield* this.#take(token);
        if (this.#finish === undefined || this.#endsByItself) continue;
        // What follows was not asked for: leaving the stream stops the engine.
        return yield this.#count({ kind: "finish", reason: this.#finish });
      }
    } finally {
      await source.return(undefined as never); // its value is never looked at
    }
  }

  /** After the only call that may be, the form leaves nothing to write but its end: the exact count is worth the wait. */
  get #endsByItself(): boolean {
    return this.#finish === "tool_calls" && !this.#plan.isParallel;
  }

  *#take(token: SampledToken): Generator<ChoiceDelta> {
    if (this.#finish !== undefined) return;
    const wasThought = this.#answer.mode === "reasoning";
    const output = this.#read(token);
    if (wasThought) this.#reasoned += 1;
    for (const delta of output.deltas) yield this.#count(delta);
    this.#expect(output);
  }

  #read(token: SampledToken): ParserOutput {
    if (this.#model.isEndOfTurn(token.id)) return this.#answer.end();
    const piece = this.#withoutForm(toOutputToken(this.#model.describe, token, this.#topLogprobs));
    if (!piece) return { deltas: [] };
    const isStray = this.#model.isSpecialToken(token.id) && !this.#answer.allowedSpecialTokens.includes(piece.token);
    if (isStray) return { deltas: [] };
    const output = this.#answer.push(piece);
    return output.force ? { ...output, force: [beyond(piece.token, output.force.join(""))] } : output;
  }

  #expect({ force = [], finish }: ParserOutput): void {
    this.#form.push(...force.flatMap((text) => utf8(text)));
    this.#finish ??= finish;
  }

  /** What a token writes beyond the form, or undefined. A token may reach over the end of the form. */
  #withoutForm(piece: OutputToken): OutputToken | undefined {
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

  *#end(reason: CompletionEnd["reason"]): Generator<ChoiceDelta> {
    if (this.#finish === undefined) {
      if (reason === "stop" && !this.#answer.canEnd) {
        throw new EngineError("protocol", "the engine ended a choice in the middle of a form");
      }
      const ending = reason === "length" ? this.#answer.truncate() : this.#answer.end();
      for (const delta of ending.deltas) yield this.#count(delta);
      this.#finish = ending.finish;
    }
    yield this.#count({ kind: "finish", reason: this.#finish });
  }

  #count(delta: AnswerDelta | Finish): ChoiceDelta {
    const reasoning_tokens = Math.min(this.#reasoned, this.#usage.completion_tokens);
    return { ...delta, counted: { ...this.#usage, reasoning_tokens } };
  }
}

/** What is left to come of a form that the token before it has begun already, as `}}\n` does. */
function beyond(written: string, form: string): string {
  let begun = Math.min(written.length, form.length);
  while (!written.endsWith(form.slice(0, begun))) begun -= 1;
  return form.slice(begun);
}
