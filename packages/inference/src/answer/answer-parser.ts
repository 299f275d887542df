import type { FinishReason, OutputToken } from "../engine.ts";
import { specialToken } from "../prompt/special-tokens.ts";
import { ContentText } from "./content-text.ts";
import type { ShownText } from "./content-text.ts";
import { ReasoningText } from "./reasoning-text.ts";
import { ToolCallText } from "./tool-call-text.ts";

/** What a choice may contain beside text. */
export interface AnswerPlan {
  readonly isReasoning: boolean;
  readonly tools: "off" | "auto" | "required";
  readonly isParallel: boolean;
  /** The content is held to a grammar: no call may interrupt it. */
  readonly isConstrained: boolean;
  readonly stop: readonly string[];
}

/** What one or more tokens add to the answer, still without the choice and its usage. */
export type AnswerDelta =
  | { readonly kind: "text"; readonly text: string; readonly tokens: readonly OutputToken[] }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "tool"; readonly index: number; readonly name?: string; readonly arguments: string };

/** What the tokens so far mean for what comes next. */
export interface ParserOutput {
  readonly deltas: readonly AnswerDelta[];
  /** Special tokens and white space that the answer must continue with; nothing is sampled for them. */
  readonly force?: readonly string[];
  /** Set when the answer is over although the model has not said so. */
  readonly finish?: FinishReason;
}

export type FinalOutput = ParserOutput & { readonly finish: FinishReason };

type Mode = "reasoning" | "content" | "tool" | "between calls";

/** Reads one choice token by token: an optional thought, then content, then tool calls. */
export class AnswerParser {
  readonly #plan: AnswerPlan;
  readonly #thought: ReasoningText;
  readonly #content: ContentText;
  #mode: Mode;
  #call = new ToolCallText();
  #calls = 0;
  #hasContent = false;
  /** The thought has just ended: line breaks that come next belong to the form, not to the content. */
  #isAfterThought = false;

  /** @param opensInReasoning the prompt itself ends inside a thought */
  constructor(plan: AnswerPlan, opensInReasoning: boolean) {
    this.#plan = plan;
    this.#thought = new ReasoningText();
    this.#content = new ContentText(plan.stop);
    this.#mode = opensInReasoning ? "reasoning" : "content";
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** The special tokens that may be chosen next. */
  get allowedSpecialTokens(): readonly string[] {
    if (this.#mode === "reasoning") return [specialToken.thinkEnd];
    if (this.#mode === "tool" || this.#plan.tools === "off") return [];
    return this.#plan.isConstrained && this.#hasContent ? [] : [specialToken.callStart];
  }

  /** Whether the model may end its turn here: a thought must be closed, and a call completed. */
  get canEnd(): boolean {
    return this.#mode === "content" || this.#mode === "between calls";
  }

  /** What is written for the model before anything is sampled. */
  open(): ParserOutput {
    if (this.#plan.isReasoning && this.#mode === "content") {
      this.#mode = "reasoning";
      return { deltas: [], force: [specialToken.thinkStart, "\n"] };
    }
    return this.#plan.tools === "required" && this.#mode === "content"
      ? this.#openCall([specialToken.callStart, "\n"])
      : { deltas: [] };
  }

  /** The model has chosen a token that does not end its turn. */
  push(piece: OutputToken): ParserOutput {
    if (piece.token === specialToken.thinkEnd && this.#mode === "reasoning") return this.#endThought();
    if (piece.token === specialToken.callStart && this.allowedSpecialTokens.includes(specialToken.callStart))
      return this.#openCall(["\n"]);
    if (this.#mode === "reasoning") return { deltas: reasoningDelta(this.#thought.push(piece.bytes)) };
    if (this.#mode === "content") return this.#write(piece);
    return this.#mode === "tool" ? this.#writeCall(piece) : this.#betweenCalls(piece);
  }

  /** The model has ended its turn. */
  end(): FinalOutput {
    if (this.#mode === "between calls") return { deltas: [], finish: "tool_calls" };
    return { deltas: textDelta(this.#content.flush()), finish: "stop" };
  }

  /** The cap is reached before the model has ended its turn. */
  cut(): FinalOutput {
    if (this.#mode === "between calls") return { deltas: [], finish: "tool_calls" };
    return { deltas: this.#mode === "content" ? textDelta(this.#content.flush()) : [], finish: "length" };
  }

  #endThought(): ParserOutput {
    this.#mode = "content";
    this.#isAfterThought = true;
    const deltas = reasoningDelta(this.#thought.flush());
    if (this.#plan.tools !== "required") return { deltas };
    const call = this.#openCall(["\n\n", specialToken.callStart, "\n"]);
    return { ...call, deltas: [...deltas, ...call.deltas] };
  }

  #write(piece: OutputToken): ParserOutput {
    if (this.#isAfterThought && piece.bytes.every((byte) => byte === 0x0a)) return { deltas: [] };
    this.#isAfterThought = false;
    this.#hasContent = true;
    const shown = this.#content.push(piece);
    return { deltas: textDelta(shown), ...(shown.isStopped && { finish: "stop" }) };
  }

  #openCall(force: readonly string[]): ParserOutput {
    const deltas = this.#mode === "content" ? textDelta(this.#content.flush()) : [];
    this.#mode = "tool";
    this.#call = new ToolCallText();
    return { deltas, force };
  }

  #writeCall(token: OutputToken): ParserOutput {
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
  #betweenCalls(piece: OutputToken): ParserOutput {
    const isBlank = piece.bytes.every((byte) => byte === 0x0a || byte === 0x20);
    return isBlank ? { deltas: [] } : { deltas: [], finish: "tool_calls" };
  }
}

const textDelta = ({ text, tokens }: ShownText): AnswerDelta[] =>
  text === "" && tokens.length === 0 ? [] : [{ kind: "text", text, tokens }];

const reasoningDelta = (text: string): AnswerDelta[] => (text === "" ? [] : [{ kind: "reasoning", text }]);
