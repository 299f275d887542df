import type { FinishReason, OutputToken } from "../engine.ts";
import { specialToken } from "../prompt/special-tokens.ts";
import { ContentText } from "./content-text.ts";
import type { SafeText } from "./content-text.ts";
import { ReasoningText } from "./reasoning-text.ts";
import { ToolCallText } from "./tool-call-text.ts";

/** The parts that a choice may contain besides text. */
export interface AnswerPlan {
  readonly isReasoning: boolean;
  readonly tools: "off" | "auto" | "required";
  readonly isParallel: boolean;
  /** A grammar constrains the content, so no tool call may interrupt it. */
  readonly isConstrained: boolean;
  readonly stop: readonly string[];
}

/** The part of the answer that one or more tokens add, without the index of the choice and without usage. */
export type AnswerDelta =
  | { readonly kind: "text"; readonly text: string; readonly tokens: readonly OutputToken[] }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "tool"; readonly index: number; readonly name?: string; readonly arguments: string };

/** The parser's result for one token. */
export interface ParserOutput {
  readonly deltas: readonly AnswerDelta[];
  /** Special tokens and white space that the answer must continue with. They are written without sampling. */
  readonly force?: readonly string[];
  /** Set when the answer is complete although the model has not ended its turn. */
  readonly finish?: FinishReason;
}

export type FinalOutput = ParserOutput & { readonly finish: FinishReason };

type Mode = "reasoning" | "content" | "tool" | "between calls";

/** Parses one choice token by token: optional reasoning, then content, then tool calls. */
export class AnswerParser {
  readonly #plan: AnswerPlan;
  readonly #reasoning: ReasoningText;
  readonly #content: ContentText;
  #mode: Mode;
  #call = new ToolCallText();
  #calls = 0;
  #hasContent = false;
  /** Reasoning has just ended. Line breaks that follow separate it from the content and belong to neither. */
  #isAfterReasoning = false;

  /** @param opensInReasoning the prompt ends inside a reasoning section */
  constructor(plan: AnswerPlan, opensInReasoning: boolean) {
    this.#plan = plan;
    this.#reasoning = new ReasoningText();
    this.#content = new ContentText(plan.stop);
    this.#mode = opensInReasoning ? "reasoning" : "content";
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** The special tokens that may come next. */
  get allowedSpecialTokens(): readonly string[] {
    if (this.#mode === "reasoning") return [specialToken.thinkEnd];
    if (this.#mode === "tool" || this.#plan.tools === "off") return [];
    return this.#plan.isConstrained && this.#hasContent ? [] : [specialToken.callStart];
  }

  /** True where a plain text token becomes visible text unchanged. */
  get isInText(): boolean {
    return this.#mode === "content" && !this.#isAfterReasoning;
  }

  /** True where the model may end its turn: outside of reasoning and of calls. */
  get canEnd(): boolean {
    return this.#mode === "content" || this.#mode === "between calls";
  }

  /** The tokens that the answer must begin with, before any is sampled. */
  open(): ParserOutput {
    if (this.#plan.isReasoning && this.#mode === "content") {
      this.#mode = "reasoning";
      return { deltas: [], force: [specialToken.thinkStart, "\n"] };
    }
    return this.#plan.tools === "required" && this.#mode === "content"
      ? this.#openCall([specialToken.callStart, "\n"])
      : { deltas: [] };
  }

  /** The model has written a token that does not end its turn. */
  push(token: OutputToken): ParserOutput {
    if (token.token === specialToken.thinkEnd && this.#mode === "reasoning") return this.#endReasoning();
    if (token.token === specialToken.callStart && this.allowedSpecialTokens.includes(specialToken.callStart))
      return this.#openCall(["\n"]);
    if (this.#mode === "reasoning") return { deltas: reasoningDelta(this.#reasoning.push(token.bytes)) };
    if (this.#mode === "content") return this.#pushContent(token);
    return this.#mode === "tool" ? this.#pushCall(token) : this.#pushBetweenCalls(token);
  }

  /** The model has ended its turn. */
  end(): FinalOutput {
    if (this.#mode === "between calls") return { deltas: [], finish: "tool_calls" };
    return { deltas: textDelta(this.#content.flush()), finish: "stop" };
  }

  /** The token limit is reached before the model has ended its turn. */
  truncate(): FinalOutput {
    if (this.#mode === "between calls") return { deltas: [], finish: "tool_calls" };
    return { deltas: this.#mode === "content" ? textDelta(this.#content.flush()) : [], finish: "length" };
  }

  #endReasoning(): ParserOutput {
    this.#mode = "content";
    this.#isAfterReasoning = true;
    const deltas = reasoningDelta(this.#reasoning.flush());
    if (this.#plan.tools !== "required") return { deltas };
    const call = this.#openCall(["\n\n", specialToken.callStart, "\n"]);
    return { ...call, deltas: [...deltas, ...call.deltas] };
  }

  #pushContent(token: OutputToken): ParserOutput {
    if (this.#isAfterReasoning && token.bytes.every((byte) => byte === 0x0a)) return { deltas: [] };
    this.#isAfterReasoning = false;
    this.#hasContent = true;
    const safe = this.#content.push(token);
    return { deltas: textDelta(safe), ...(safe.isStopped && { finish: "stop" }) };
  }

  #openCall(force: readonly string[]): ParserOutput {
    const deltas = this.#mode === "content" ? textDelta(this.#content.flush()) : [];
    this.#mode = "tool";
    this.#call = new ToolCallText();
    return { deltas, force };
  }

  #pushCall(token: OutputToken): ParserOutput {
    const { name, arguments: text, isComplete } = this.#call.push(token.bytes);
    const delta: AnswerDelta = {
      kind: "tool",
      index: this.#calls,
      arguments: text,
      ...(name !== undefined && { name }),
    };
    const deltas = name !== undefined || text !== "" ? [delta] : [];
    if (!isComplete) return { deltas };
    this.#calls += 1;
    this.#mode = "between calls";
    if (!this.#plan.isParallel) return { deltas, finish: "tool_calls" };
    return { deltas, force: token.bytes.at(-1) === 0x0a ? [specialToken.callEnd] : ["\n", specialToken.callEnd] };
  }

  /** After a call only another call may follow. */
  #pushBetweenCalls(token: OutputToken): ParserOutput {
    const isBlank = token.bytes.every((byte) => byte === 0x0a || byte === 0x20);
    return isBlank ? { deltas: [] } : { deltas: [], finish: "tool_calls" };
  }
}

const textDelta = ({ text, tokens }: SafeText): AnswerDelta[] =>
  text === "" && tokens.length === 0 ? [] : [{ kind: "text", text, tokens }];

export const reasoningDelta = (text: string): AnswerDelta[] => (text === "" ? [] : [{ kind: "reasoning", text }]);
