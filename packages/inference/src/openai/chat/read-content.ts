import type { AnswerDelta } from "../../answer/answer-parser.ts";
import { ContentText } from "../../answer/content-text.ts";
import type { SafeText } from "../../answer/content-text.ts";
import { EngineError } from "../../engine.ts";
import type { OutputToken } from "../../engine.ts";

/** What ended the content before the other side did. */
export type ContentStop = "stop string" | "raw call";

export interface ContentRules {
  readonly stop: readonly string[];
  /** What opens a call in text: a parser that does not know a call, or a call that was cut, leaves it there. */
  readonly callStart: string | undefined;
  readonly hasLogprobs: boolean;
}

/** The content of one choice: ends before the first stop string, and has its tokens where they were asked for. */
export class ContentReader {
  readonly #rules: ContentRules;
  readonly #shown: ContentText;
  #waiting: OutputToken[] = [];
  #written = "";
  /** Characters that were shown. */
  #length = 0;
  #stopped: ContentStop | undefined;

  constructor(rules: ContentRules) {
    this.#rules = rules;
    this.#shown = new ContentText([...rules.stop, ...(rules.callStart === undefined ? [] : [rules.callStart])]);
  }

  /** All of it, the part behind a stop included. */
  get text(): string {
    return this.#written;
  }

  get stopped(): ContentStop | undefined {
    return this.#stopped;
  }

  /**
   * @param text what an event adds
   * @param pieces its tokens; those of a character that is not whole come before its text
   * @param deltas receives the text that can be shown
   */
  push(text: string, pieces: readonly OutputToken[], deltas: AnswerDelta[]): void {
    this.#written += text;
    if (!this.#rules.hasLogprobs) return this.#show(this.#shown.pushText(text), deltas);
    this.#waiting.push(...pieces);
    if (text === "") return;
    for (const piece of this.#piecesOf(text)) this.#show(this.#shown.push(piece), deltas);
  }

  /** The tokens so far belong to reasoning or to a call. */
  dropPieces(): void {
    this.#waiting = [];
  }

  /** There is no more: what was held back is text after all. */
  flush(deltas: AnswerDelta[]): void {
    if (!this.#stopped) add(this.#shown.flush(), deltas);
  }

  #show(shown: SafeText, deltas: AnswerDelta[]): void {
    if (this.#stopped) return;
    this.#length += shown.text.length;
    if (shown.isStopped) this.#stopped = this.#isAtCall ? "raw call" : "stop string";
    add(shown, deltas);
  }

  /** @throws {EngineError} `protocol` where the tokens do not spell the text */
  #piecesOf(text: string): readonly OutputToken[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    // The tokens that end the reasoning come in the same event as the first token of the content.
    for (let start = 0; start < waiting.length; start += 1) {
      const pieces = waiting.slice(start);
      if (spell(pieces) === text) return pieces;
    }
    throw new EngineError("protocol", "the engine gave log-probabilities of other tokens than those of the text");
  }

  get #isAtCall(): boolean {
    const { callStart } = this.#rules;
    return callStart !== undefined && this.#written.startsWith(callStart, this.#length);
  }
}

function add({ text, tokens }: SafeText, deltas: AnswerDelta[]): void {
  if (text !== "" || tokens.length > 0) deltas.push({ kind: "text", text, tokens });
}

const spell = (pieces: readonly OutputToken[]): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(pieces.flatMap(({ bytes }) => [...bytes])));
