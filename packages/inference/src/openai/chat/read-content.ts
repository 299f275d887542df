import type { AnswerDelta } from "../../answer/answer-parser.ts";
import { ContentText } from "../../answer/content-text.ts";
import type { SafeText } from "../../answer/content-text.ts";
import { EngineError } from "../../engine.ts";
import type { OutputToken } from "../../engine.ts";

/** The reason for which content ended before the upstream's own end. */
export type ContentStop = "stop string" | "raw call";

export interface ContentRules {
  readonly stop: readonly string[];
  /**
   * The text that opens a call. It stays in content if the upstream's parser does not recognise a call, or if the call was cut.
   */
  readonly callStart: string | undefined;
  readonly hasLogprobs: boolean;
}

/** Reads the content of one choice. It ends before the first stop string, and carries its tokens if they were asked for. */
export class ContentReader {
  readonly #rules: ContentRules;
  readonly #shown: ContentText;
  #waiting: OutputToken[] = [];
  #written = "";
  /** The number of characters that were shown. */
  #length = 0;
  #stopped: ContentStop | undefined;

  constructor(rules: ContentRules) {
    this.#rules = rules;
    this.#shown = new ContentText([...rules.stop, ...(rules.callStart === undefined ? [] : [rules.callStart])]);
  }

  /** The whole content, including the part behind a stop string. */
  get text(): string {
    return this.#written;
  }

  get stopped(): ContentStop | undefined {
    return this.#stopped;
  }

  /**
   * @param text the text that an event adds
   * @param pieces its tokens; tokens of an incomplete character arrive before its text
   * @param deltas receives the text that can be shown
   */
  push(text: string, pieces: readonly OutputToken[], deltas: AnswerDelta[]): void {
    this.#written += text;
    if (!this.#rules.hasLogprobs) return this.#show(this.#shown.pushText(text), deltas);
    this.#waiting.push(...pieces);
    if (text === "") return;
    for (const piece of this.#piecesOf(text)) this.#show(this.#shown.push(piece), deltas);
  }

  /** Drops the tokens so far, because they belong to reasoning or to a call. */
  dropPieces(): void {
    this.#waiting = [];
  }

  /** Ends the content and emits the text that was held back. */
  flush(deltas: AnswerDelta[]): void {
    if (!this.#stopped) add(this.#shown.flush(), deltas);
  }

  #show(shown: SafeText, deltas: AnswerDelta[]): void {
    if (this.#stopped) return;
    this.#length += shown.text.length;
    if (shown.isStopped) this.#stopped = this.#isAtCall ? "raw call" : "stop string";
    add(shown, deltas);
  }

  /** @throws {EngineError} `protocol` if the tokens do not spell the text */
  #piecesOf(text: string): readonly OutputToken[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    // The tokens that end the reasoning arrive in the same event as the first token of the content.
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
