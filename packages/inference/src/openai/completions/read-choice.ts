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

/** Parses the tokens of one choice into reasoning, content, calls, and one finish. */
export class ChoiceReader {
  readonly #plan: AnswerPlan;
  readonly #model: TokenReader;
  readonly #topLogprobs: number | undefined;
  readonly #answer: AnswerParser;
  /** Bytes that the constraint makes the engine write next. They structure the answer and are not part of its text. */
  #expected: number[] = [];
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

  /** After a single call the constraint allows nothing but the end of the answer, so we wait for it and its exact usage. */
  get #endsByItself(): boolean {
    return this.#finish === "tool_calls" && !this.#plan.isParallel;
  }

  *#take(token: SampledToken): Generator<ChoiceDelta> {
    if (this.#finish !== undefined) return;
    const wasReasoning = this.#answer.mode === "reasoning";
    const output = this.#parse(token);
    if (wasReasoning) this.#reasoned += 1;
    for (const delta of output.deltas) yield this.#count(delta);
    this.#expect(output);
  }

  #parse(sampled: SampledToken): ParserOutput {
    if (this.#model.isEndOfTurn(sampled.id)) return this.#answer.end();
    const token = this.#withoutExpected(toOutputToken(this.#model.describe, sampled, this.#topLogprobs));
    if (!token) return { deltas: [] };
    const isStray = this.#model.isSpecialToken(sampled.id) && !this.#answer.allowedSpecialTokens.includes(token.token);
    if (isStray) return { deltas: [] };
    const output = this.#answer.push(token);
    return output.force ? { ...output, force: [restOf(output.force.join(""), token.token)] } : output;
  }

  #expect({ force = [], finish }: ParserOutput): void {
    this.#expected.push(...force.flatMap((text) => utf8(text)));
    this.#finish ??= finish;
  }

  /** What a token writes beyond the expected bytes, or undefined. A token may extend beyond their end. */
  #withoutExpected(token: OutputToken): OutputToken | undefined {
    if (this.#expected.length === 0) return token;
    const bytes = token.bytes.length > 0 ? token.bytes : utf8(token.token);
    const due = this.#expected.splice(0, bytes.length);
    if (due.some((byte, index) => byte !== bytes[index])) {
      throw new EngineError("protocol", "the engine did not follow the constraint");
    }
    const rest = bytes.slice(due.length);
    return rest.length === 0
      ? undefined
      : { ...token, bytes: rest, token: new TextDecoder().decode(Uint8Array.from(rest)) };
  }

  *#end(reason: CompletionEnd["reason"]): Generator<ChoiceDelta> {
    if (this.#finish === undefined) {
      if (reason === "stop" && !this.#answer.canEnd) {
        throw new EngineError("protocol", "the engine ended a choice inside reasoning or a call");
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

/** The rest of an expected text whose beginning the token before has already written, as `}}\n` may. */
function restOf(expected: string, written: string): string {
  let begun = Math.min(written.length, expected.length);
  while (!written.endsWith(expected.slice(0, begun))) begun -= 1;
  return expected.slice(begun);
}
