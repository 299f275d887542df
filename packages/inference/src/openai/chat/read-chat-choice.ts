import { reasoningDelta } from "../../answer/answer-parser.ts";
import type { AnswerPlan, AnswerDelta } from "../../answer/answer-parser.ts";
import { ReasoningText } from "../../answer/reasoning-text.ts";
import { EngineError } from "../../engine.ts";
import type { EngineRequest, FinishReason } from "../../engine.ts";
import { specialToken } from "../../prompt/special-tokens.ts";
import { utf8 } from "../../prompt/token-bytes.ts";
import type { ChoiceDelta, Finish } from "../../answer/combine-choices.ts";
import { validateContent } from "./validate-answer.ts";
import { CallReader } from "./read-calls.ts";
import type { ChatEnd, ChatStep, ChatUsage } from "./read-chat.ts";
import { ContentReader } from "./read-content.ts";

const broken = (what: string): EngineError => new EngineError("protocol", `the engine ${what}`);

/** Turns what a chat route sends into the deltas of one choice: reasoning, content, calls, and one finish. */
export class ChatChoiceReader {
  readonly #request: EngineRequest;
  readonly #plan: AnswerPlan;
  readonly #countTokens: (text: string) => Promise<number>;
  readonly #content: ContentReader;
  readonly #calls: CallReader;
  readonly #reasoning = new ReasoningText();
  #reasoningText = "";
  #usage: ChatUsage | undefined;

  /** @param countTokens the tokens of a text, for a service that does not report usage */
  constructor(request: EngineRequest, plan: AnswerPlan, countTokens: (text: string) => Promise<number>) {
    this.#request = request;
    this.#plan = plan;
    this.#countTokens = countTokens;
    this.#calls = new CallReader(request);
    this.#content = new ContentReader({
      stop: request.stop,
      callStart: plan.tools === "off" ? undefined : specialToken.callStart,
      hasLogprobs: request.top_logprobs !== undefined,
    });
  }

  async *read(source: AsyncGenerator<ChatStep, ChatEnd>): AsyncGenerator<ChoiceDelta> {
    try {
      for (;;) {
        const next = await source.next();
        this.#usage = next.value.usage;
        if (next.done === true) return yield* this.#end(next.value);
        yield* this.#take(next.value);
        const finish = this.#finishBefore(next.value);
        // What follows was not asked for: leaving the stream stops the engine.
        if (finish !== undefined) return yield* this.#finish(finish);
      }
    } finally {
      await source.return(undefined as never); // its value is never looked at
    }
  }

  *#take({ reasoning, content, calls, pieces }: ChatStep): Generator<ChoiceDelta> {
    if (reasoning !== "") {
      this.#reasoningText += reasoning;
      yield* this.#countAll(reasoningDelta(this.#reasoning.push(utf8(reasoning))));
    }
    // After a call only another call may follow.
    if (this.#calls.count === 0) {
      if (content !== "") yield* this.#countAll(reasoningDelta(this.#reasoning.flush()));
      yield* this.#countAll(this.#content.push(this.#withoutBreaks(content), pieces));
    }
    if (reasoning !== "" || calls.length > 0) this.#content.dropPieces();
    for (const call of calls) {
      if (this.#calls.count === 0)
        yield* this.#countAll([...reasoningDelta(this.#reasoning.flush()), ...this.#content.flush()]);
      if (this.#isOneTooMany(call)) return;
      const delta = this.#calls.push(call);
      if (delta) yield this.#count(delta);
    }
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

  async *#end({ reason, usage }: ChatEnd): AsyncGenerator<ChoiceDelta> {
    if (this.#calls.count === 0)
      yield* this.#countAll([...reasoningDelta(this.#reasoning.flush()), ...this.#content.flush()]);
    if (!usage.isReported) this.#usage = await this.#counted(usage);
    yield* this.#finish(this.#finishFor(reason));
  }

  /** Some end a forced call with `stop`, and a call that was cut behind its last brace is a call. */
  #finishFor(reason: ChatEnd["reason"]): FinishReason {
    if (reason === "content_filter") return reason;
    if (this.#calls.count > 0) return reason !== "length" || this.#calls.isComplete ? "tool_calls" : "length";
    if (reason === "length") return reason;
    if (this.#content.stopped === "raw call") throw broken("wrote a call as text");
    if (reason === "tool_calls") throw broken("ended with a call and made none");
    if (this.#plan.tools === "required") throw broken("made no call where one was required");
    validateContent(this.#content.text, this.#request.format);
    return reason;
  }

  *#finish(reason: FinishReason): Generator<ChoiceDelta> {
    if (reason === "tool_calls") yield* this.#countAll(this.#calls.finish());
    yield this.#count({ kind: "finish", reason });
  }

  async #counted(usage: ChatUsage): Promise<ChatUsage> {
    const { max_tokens } = this.#request;
    const reasoned = await this.#countTokens(this.#reasoningText);
    const rest = await this.#countTokens(this.#content.text + this.#calls.text);
    return {
      ...usage,
      completion_tokens: Math.min(max_tokens, Math.max(usage.completion_tokens, reasoned + rest)),
      reasoning_tokens: Math.min(max_tokens, Math.max(usage.reasoning_tokens, reasoned)),
    };
  }

  *#countAll(deltas: Iterable<AnswerDelta>): Generator<ChoiceDelta> {
    for (const delta of deltas) yield this.#count(delta);
  }

  #count(delta: AnswerDelta | Finish): ChoiceDelta {
    const { isReported: _isReported, ...counted } = this.#usage ?? nothing;
    return { ...delta, counted };
  }
}

const nothing: ChatUsage = {
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  isReported: false,
};
