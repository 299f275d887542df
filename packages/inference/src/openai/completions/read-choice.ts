import { AnswerParser } from "../../answer/answer-parser.ts";
import type { AnswerPlan, ParserOutput, AnswerDelta } from "../../answer/answer-parser.ts";
import { EngineError } from "../../engine.ts";
import type { FinishReason, OutputToken } from "../../engine.ts";
import type { TokenReader } from "../../model-folder/open-model.ts";
import { toOutputToken } from "../../answer/sampled-token.ts";
import type { SampledToken } from "../../answer/sampled-token.ts";
import type { Prompt } from "../../prompt/render-prompt.ts";
import { utf8 } from "../../prompt/token-bytes.ts";
import type { ChoiceDelta, Finish } from "../../answer/combine-choices.ts";
import type { ChoiceReader } from "../run-choices.ts";
import { CompletionReader } from "./read-completion.ts";
import type { CompletionChunk, CompletionEnd, CompletionUsage } from "./read-completion.ts";
import { readTokenRun } from "./read-token-chunk.ts";

export interface CompletionChoice {
  readonly plan: AnswerPlan;
  readonly prompt: Prompt;
  readonly model: TokenReader;
  readonly topLogprobs: number | undefined;
  /** True: the answer is not streamed, so texts may be joined. */
  readonly isWhole?: boolean | undefined;
}

/** Parses the tokens of one choice into reasoning, content, calls, and one finish. */
export class CompletionChoiceReader implements ChoiceReader {
  readonly #completion: CompletionReader;
  readonly #plan: AnswerPlan;
  readonly #model: TokenReader;
  readonly #topLogprobs: number | undefined;
  readonly #answer: AnswerParser;
  /** Bytes that the constraint makes the engine write next. They are structure, not part of the answer's text. */
  #expected: number[] = [];
  #finish: FinishReason | undefined;
  #isDone = false;
  #hasFinished = false;
  #reasoned = 0;
  readonly #joinsTokens: boolean;
  #usage: CompletionUsage;

  constructor({ plan, prompt, model, topLogprobs, isWhole = false }: CompletionChoice) {
    this.#completion = new CompletionReader(prompt.tokens.length);
    this.#usage = { promptTokens: prompt.tokens.length, completionTokens: 0, cachedTokens: 0 };
    this.#plan = plan;
    this.#model = model;
    this.#topLogprobs = topLogprobs;
    this.#joinsTokens = isWhole && topLogprobs === undefined && plan.stop.length === 0;
    this.#answer = new AnswerParser(plan, prompt.opensInReasoning);
    this.#expect(this.#answer.open());
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  push(events: readonly string[], deltas: ChoiceDelta[]): void {
    for (let at = 0; at < events.length && !this.#isDone;) {
      const run = this.#isInText ? readTokenRun(events, at, this.#isText) : undefined;
      at += run?.events ?? 1;
      if (run) this.#pushTexts(run.chunk, deltas);
      else this.#push(events[at - 1] ?? "", deltas);
    }
  }

  /** True if texts can be joined. */
  get #isInText(): boolean {
    return this.#joinsTokens && this.#finish === undefined && this.#expected.length === 0 && this.#answer.isInText;
  }

  readonly #isText = (id: number): boolean => !this.#model.isEndOfTurn(id) && !this.#model.isSpecialToken(id);

  #pushTexts(chunk: CompletionChunk, deltas: ChoiceDelta[]): void {
    const { tokens, usage } = this.#completion.take(chunk);
    this.#usage = usage;
    // The joined text may look like a special token. Leaving `token` empty stops the parser from treating it as one.
    const joined = { token: "", bytes: tokens.flatMap(({ id }) => [...this.#model.describe(id).bytes]) };
    for (const delta of this.#answer.push(joined).deltas) deltas.push(this.#count(delta));
  }

  #push(data: string, deltas: ChoiceDelta[]): void {
    this.#isDone = data === "[DONE]";
    if (this.#isDone) return;
    const { tokens, usage } = this.#completion.push(data);
    this.#usage = usage;
    for (const token of tokens) this.#take(token, deltas);
    if (this.#finish === undefined || this.#endsByItself) return;
    // Later tokens exceed the request.
    this.#isDone = true;
    this.#close(this.#finish, deltas);
  }

  end(deltas: ChoiceDelta[]): void {
    if (this.#hasFinished) return;
    const { reason, usage } = this.#completion.end();
    this.#usage = usage;
    this.#close(this.#finish ?? this.#complete(reason, deltas), deltas);
  }

  /** After a single call the constraint allows only the end of the answer, so we wait for that end and its exact usage. */
  get #endsByItself(): boolean {
    return this.#finish === "tool_calls" && !this.#plan.isParallel;
  }

  #take(token: SampledToken, deltas: ChoiceDelta[]): void {
    if (this.#finish !== undefined) return;
    const wasReasoning = this.#answer.mode === "reasoning";
    const output = this.#parse(token);
    if (wasReasoning) this.#reasoned += 1;
    for (const delta of output.deltas) deltas.push(this.#count(delta));
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

  /** Returns the part of a token beyond the expected bytes, or undefined. A token may extend beyond their end. */
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

  /** Handles the engine's end of an answer that the parser has not ended. */
  #complete(reason: CompletionEnd["reason"], deltas: ChoiceDelta[]): FinishReason {
    if (reason === "stop" && !this.#answer.canEnd) {
      throw new EngineError("protocol", "the engine ended a choice inside reasoning or a call");
    }
    const ending = reason === "length" ? this.#answer.truncate() : this.#answer.end();
    for (const delta of ending.deltas) deltas.push(this.#count(delta));
    return ending.finish;
  }

  #close(reason: FinishReason, deltas: ChoiceDelta[]): void {
    this.#hasFinished = true;
    deltas.push(this.#count({ kind: "finish", reason }));
  }

  #count(delta: AnswerDelta | Finish): ChoiceDelta {
    const reasoningTokens = Math.min(this.#reasoned, this.#usage.completionTokens);
    return { delta, counted: { ...this.#usage, reasoningTokens } };
  }
}

/** Returns the rest of an expected text whose beginning the previous token has already written, as `}}
` may. */
function restOf(expected: string, written: string): string {
  let begun = Math.min(written.length, expected.length);
  while (!written.endsWith(expected.slice(0, begun))) begun -= 1;
  return expected.slice(begun);
}
