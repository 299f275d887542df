import { TokenText } from "./token-text.ts";

/** Turns tokens into reasoning text: whole characters, without the line breaks around it. */
export class ReasoningText {
  readonly #bytes = new TokenText();
  #isEmpty = true;
  /** Line breaks that are emitted only if more text follows. */
  #blank = "";

  push(bytes: readonly number[]): string {
    return this.#take(this.#bytes.push(bytes));
  }

  /** Appends text of whole characters. Half of a surrogate pair becomes U+FFFD. */
  pushText(text: string): string {
    return this.#take(text.toWellFormed());
  }

  /** Ends the reasoning. An incomplete character becomes U+FFFD. */
  flush(): string {
    return this.#take(this.#bytes.flush());
  }

  #take(text: string): string {
    const whole = this.#blank + (this.#isEmpty ? text.replace(/^\n+/, "") : text);
    const shown = whole.replace(/\n+$/, "");
    this.#blank = whole.slice(shown.length);
    this.#isEmpty &&= shown === "";
    return shown;
  }
}
