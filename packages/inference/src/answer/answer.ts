import type { FinishReason, TokenPiece } from "../engine.ts";
import { mark } from "../prompt/marks.ts";
import { ContentText } from "./content-text.ts";
import type { ShownText } from "./content-text.ts";
import { ThoughtText } from "./thought-text.ts";
import { ToolCallText } from "./tool-call-text.ts";

/** What a choice may contain beside text. */
export interface AnswerPlan {
  readonly isThinking: boolean;
  readonly tools: "off" | "auto" | "required";
  readonly isParallel: boolean;
  /** The content is held to a grammar: no call may interrupt it. */
  readonly isGuided: boolean;
  readonly stop: readonly string[];
}

/** A step of the answer, still without its choice and usage. */
export type Step =
  | { readonly kind: "text"; readonly text: string; readonly tokens: readonly TokenPiece[] }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "tool"; readonly index: number; readonly name?: string; readonly arguments: string };

/** What the tokens so far mean for what comes next. */
export interface Reading {
  readonly steps: readonly Step[];
  /** Marks and white space that the answer must continue with; nothing is sampled for them. */
  readonly force?: readonly string[];
  /** Set when the answer is over although the model has not said so. */
  readonly finish?: FinishReason;
}

export type Ending = Reading & { readonly finish: FinishReason };

type Mode = "reasoning" | "content" | "tool" | "between calls";

/** Reads one choice token by token: an optional thought, then content, then tool calls. */
export class Answer {
  readonly #plan: AnswerPlan;
  readonly #thought: ThoughtText;
  readonly #content: ContentText;
  #mode: Mode;
  #call = new ToolCallText();
  #calls = 0;
  #hasContent = false;
  /** The thought has just ended: line breaks that come next belong to the form, not to the content. */
  #isAfterThought = false;

  /** @param opensInThought the prompt itself ends inside a thought */
  constructor(plan: AnswerPlan, opensInThought: boolean) {
    this.#plan = plan;
    this.#thought = new ThoughtText();
    this.#content = new ContentText(plan.stop);
    this.#mode = opensInThought ? "reasoning" : "content";
  }

  get mode(): Mode {
    return this.#mode;
  }

  /** The marks that may be chosen next. */
  get allowedMarks(): readonly string[] {
    if (this.#mode === "reasoning") return [mark.thinkEnd];
    if (this.#mode === "tool" || this.#plan.tools === "off") return [];
    return this.#plan.isGuided && this.#hasContent ? [] : [mark.callStart];
  }

  /** Whether the model may end its turn here: a thought must be closed, and a call completed. */
  get canEnd(): boolean {
    return this.#mode === "content" || this.#mode === "between calls";
  }

  /** What is written for the model before anything is sampled. */
  open(): Reading {
    if (this.#plan.isThinking && this.#mode === "content") {
      this.#mode = "reasoning";
      return { steps: [], force: [mark.thinkStart, "\n"] };
    }
    return this.#plan.tools === "required" && this.#mode === "content"
      ? this.#openCall([mark.callStart, "\n"])
      : { steps: [] };
  }

  /** The model has chosen a token that does not end its turn. */
  push(piece: TokenPiece): Reading {
    if (piece.token === mark.thinkEnd && this.#mode === "reasoning") return this.#endThought();
    if (piece.token === mark.callStart && this.allowedMarks.includes(mark.callStart)) return this.#openCall(["\n"]);
    if (this.#mode === "reasoning") return { steps: thoughtStep(this.#thought.push(piece.bytes)) };
    if (this.#mode === "content") return this.#write(piece);
    return this.#mode === "tool" ? this.#writeCall(piece) : this.#betweenCalls(piece);
  }

  /** The model has ended its turn. */
  end(): Ending {
    if (this.#mode === "between calls") return { steps: [], finish: "tool_calls" };
    return { steps: textStep(this.#content.flush()), finish: "stop" };
  }

  /** The cap is reached before the model has ended its turn. */
  cut(): Ending {
    if (this.#mode === "between calls") return { steps: [], finish: "tool_calls" };
    return { steps: this.#mode === "content" ? textStep(this.#content.flush()) : [], finish: "length" };
  }

  #endThought(): Reading {
    this.#mode = "content";
    this.#isAfterThought = true;
    const steps = thoughtStep(this.#thought.flush());
    if (this.#plan.tools !== "required") return { steps };
    const call = this.#openCall(["\n\n", mark.callStart, "\n"]);
    return { ...call, steps: [...steps, ...call.steps] };
  }

  #write(piece: TokenPiece): Reading {
    if (this.#isAfterThought && piece.bytes.every((byte) => byte === 0x0a)) return { steps: [] };
    this.#isAfterThought = false;
    this.#hasContent = true;
    const shown = this.#content.push(piece);
    return { steps: textStep(shown), ...(shown.isStopped && { finish: "stop" }) };
  }

  #openCall(force: readonly string[]): Reading {
    const steps = this.#mode === "content" ? textStep(this.#content.flush()) : [];
    this.#mode = "tool";
    this.#call = new ToolCallText();
    return { steps, force };
  }

  #writeCall(piece: TokenPiece): Reading {
    const delta = this.#call.push(piece.bytes);
    const isNews = delta.name !== undefined || delta.arguments !== "";
    const step: Step = {
      kind: "tool",
      index: this.#calls,
      arguments: delta.arguments,
      ...(delta.name !== undefined && { name: delta.name }),
    };
    const steps = isNews ? [step] : [];
    if (!delta.isComplete) return { steps };
    this.#calls += 1;
    this.#mode = "between calls";
    if (!this.#plan.isParallel) return { steps, finish: "tool_calls" };
    return { steps, force: piece.bytes.at(-1) === 0x0a ? [mark.callEnd] : ["\n", mark.callEnd] };
  }

  /** After a call only another call may follow. */
  #betweenCalls(piece: TokenPiece): Reading {
    const isBlank = piece.bytes.every((byte) => byte === 0x0a || byte === 0x20);
    return isBlank ? { steps: [] } : { steps: [], finish: "tool_calls" };
  }
}

const textStep = ({ text, tokens }: ShownText): Step[] =>
  text === "" && tokens.length === 0 ? [] : [{ kind: "text", text, tokens }];

const thoughtStep = (text: string): Step[] => (text === "" ? [] : [{ kind: "reasoning", text }]);
