/** Turns tokens into the text of a thought: whole characters, without the line breaks around it. */
export class ReasoningText {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #isEmpty = true;
  /** Line breaks that may turn out to be the last. */
  #blank = "";

  push(bytes: readonly number[]): string {
    return this.#take(this.#decoder.decode(Uint8Array.from(bytes), { stream: true }));
  }

  /** The thought is over: a broken character becomes U+FFFD. */
  flush(): string {
    return this.#take(this.#decoder.decode());
  }

  #take(text: string): string {
    const whole = this.#blank + (this.#isEmpty ? text.replace(/^\n+/, "") : text);
    const shown = whole.replace(/\n+$/, "");
    this.#blank = whole.slice(shown.length);
    this.#isEmpty &&= shown === "";
    return shown;
  }
}
