import { reasoningDelta } from "../../answer/answer-parser.ts";
import type { AnswerPlan, AnswerDelta } from "../../answer/answer-parser.ts";
import { ReasoningText } from "../../answer/reasoning-text.ts";
import { EngineError } from "../../engine.ts";
import type { Generation, EngineUsage, FinishReason } from "../../engine.ts";
import { specialToken } from "../../prompt/special-tokens.ts";
import type { ChoiceDelta, Finish } from "../../answer/combine-choices.ts";
import type { ChoiceReader } from "../run-choices.ts";
import { validateContent } from "./validate-answer.ts";
import { CallReader } from "./read-calls.ts";
import { ChatReader } from "./read-chat.ts";
import type { ChatFinish, ChatStep } from "./read-chat.ts";
import { ContentReader } from "./read-content.ts";
import { readTextRun } from "./read-text-chunk.ts";

const broken = (what: string): EngineError => new EngineError("protocol", `the engine ${what}`);

export interface ChatChoice {
  readonly request: Generation;
  readonly plan: AnswerPlan;
  readonly promptTokens: number;
  /** Counts the tokens of a text, for a service that does not report usage. */
  readonly countTokens: (text: string) => Promise<number>;
}

/** Turns the events of a chat route into the deltas of one choice: reasoning, content, calls, and one finish. */
export class ChatChoiceReader implements ChoiceReader {
  readonly #chat: ChatReader;
  readonly #request: Generation;
  readonly #plan: AnswerPlan;
  readonly #countTokens: (text: string) => Promise<number>;
  readonly #content: ContentReader;
  readonly #calls: CallReader;
  /** True if texts can be joined: the answer is not streamed, and no text can end it. */
  readonly #joinsTexts: boolean;
  readonly #reasoning = new ReasoningText();
  #reasoningText = "";
  #counted: EngineUsage;
  #isDone = false;
  #hasFinished = false;

  constructor({ request, plan, promptTokens, countTokens }: ChatChoice) {
    this.#chat = new ChatReader(promptTokens);
    this.#counted = this.#chat.usage;
    this.#request = request;
    this.#plan = plan;
    this.#countTokens = countTokens;
    this.#calls = new CallReader(request);
    this.#joinsTexts = request.isWhole === true && request.stop.length === 0 && plan.tools === "off";
    this.#content = new ContentReader({
      stop: request.stop,
      callStart: plan.tools === "off" ? undefined : specialToken.callStart,
      hasLogprobs: request.topLogprobs !== undefined,
    });
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  push(events: readonly string[], deltas: ChoiceDelta[]): void {
    for (let at = 0; at < events.length && !this.#isDone;) {
      const run = this.#joinsTexts ? readTextRun(events, at) : undefined;
      at += run?.events ?? 1;
      if (run) this.#take(this.#chat.pushRun(run), deltas);
      else this.#push(events[at - 1] ?? "", deltas);
    }
  }

  #push(data: string, deltas: ChoiceDelta[]): void {
    this.#isDone = data === "[DONE]";
    if (!this.#isDone) this.#take(this.#chat.push(data), deltas);
  }

  #take(step: ChatStep | undefined, deltas: ChoiceDelta[]): void {
    this.#counted = this.#chat.usage;
    if (!step) return;
    const added: AnswerDelta[] = [];
    try {
      this.#add(step, added);
    } finally {
      for (const delta of added) deltas.push(this.#count(delta));
    }
    const finish = this.#finishBefore(step);
    if (finish === undefined) return;
    // Later events exceed the request.
    this.#isDone = true;
    this.#finish(finish, deltas);
  }

  async end(deltas: ChoiceDelta[]): Promise<void> {
    if (this.#hasFinished) return;
    const reason = this.#chat.end();
    const held: AnswerDelta[] = [];
    if (this.#calls.count === 0) this.#flush(held);
    for (const delta of held) deltas.push(this.#count(delta));
    if (!this.#chat.isUsageReported) this.#counted = await this.#countText();
    this.#finish(this.#finishFor(reason), deltas);
  }

  #add({ reasoning, content, calls, pieces }: ChatStep, added: AnswerDelta[]): void {
    if (reasoning !== "") {
      this.#reasoningText += reasoning;
      added.push(...reasoningDelta(this.#reasoning.pushText(reasoning)));
    }
    // Only another call may follow a call.
    if (this.#calls.count === 0) {
      if (content !== "") this.#endReasoning(added);
      this.#content.push(this.#withoutBreaks(content), pieces, added);
    }
    if (reasoning !== "" || calls.length > 0) this.#content.dropPieces();
    for (const call of calls) {
      if (this.#calls.count === 0) this.#flush(added);
      if (this.#isOneTooMany(call)) return;
      const delta = this.#calls.push(call);
      if (delta) added.push(delta);
    }
  }

  /** Emits text that was held back as reasoning or content. */
  #flush(added: AnswerDelta[]): void {
    this.#endReasoning(added);
    this.#content.flush(added);
  }

  #endReasoning(added: AnswerDelta[]): void {
    if (this.#reasoningText !== "") added.push(...reasoningDelta(this.#reasoning.flush()));
  }

  /** Line breaks right after reasoning separate it from the content and belong to neither. */
  #withoutBreaks(content: string): string {
    return this.#reasoningText !== "" && this.#content.text === "" ? content.replace(/^\n+/, "") : content;
  }

  #isOneTooMany(call: ChatStep["calls"][number]): boolean {
    return !this.#plan.isParallel && this.#calls.count === 1 && this.#calls.isNew(call);
  }

  #finishBefore({ calls }: ChatStep): FinishReason | undefined {
    if (calls.some((call) => this.#isOneTooMany(call))) return "tool_calls";
    return this.#content.stopped === "stop string" ? "stop" : undefined;
  }

  /** Some services end a forced call with `stop`. A call that was cut after its last brace is complete. */
  #finishFor(reason: ChatFinish): FinishReason {
    if (reason === "content_filter") return reason;
    if (this.#calls.count > 0) return reason !== "length" || this.#calls.isComplete ? "tool_calls" : "length";
    if (reason === "length") return reason;
    if (this.#content.stopped === "raw call") throw broken("wrote a call as text");
    if (reason === "tool_calls") throw broken("ended with a call and made none");
    if (this.#plan.tools === "required") throw broken("made no call where one was required");
    validateContent(this.#content.text, this.#request.format);
    return reason;
  }

  #finish(reason: FinishReason, deltas: ChoiceDelta[]): void {
    if (reason === "tool_calls") for (const delta of this.#calls.finish()) deltas.push(this.#count(delta));
    this.#hasFinished = true;
    deltas.push(this.#count({ kind: "finish", reason }));
  }

  async #countText(): Promise<EngineUsage> {
    const usage = this.#counted;
    const { maxTokens } = this.#request;
    const reasoned = await this.#countTokens(this.#reasoningText);
    const rest = await this.#countTokens(this.#content.text + this.#calls.text);
    return {
      ...usage,
      completionTokens: Math.min(maxTokens, Math.max(usage.completionTokens, reasoned + rest)),
      reasoningTokens: Math.min(maxTokens, Math.max(usage.reasoningTokens, reasoned)),
    };
  }

  #count(delta: AnswerDelta | Finish): ChoiceDelta {
    return { delta, counted: this.#counted };
  }
}
