/** Reads the non-empty lines of a byte stream that may be split anywhere. */
export class LineReader {
  readonly #decoder = new TextDecoder();
  readonly #longest: number;
  #rest = "";

  /** @param longest longer lines are passed on in pieces, which bounds the memory that noise without line breaks takes */
  constructor(longest = Number.POSITIVE_INFINITY) {
    this.#longest = longest;
  }

  /** @returns the lines that end in these bytes */
  push(bytes: Uint8Array): readonly string[] {
    const [end = "", ...lines] = this.#decoder.decode(bytes, { stream: true }).split("\n");
    // Only the new text is searched, because a long line may arrive in many pieces.
    this.#rest += end;
    const complete: string[] = [];
    for (const next of lines) {
      if (this.#rest !== "") complete.push(this.#rest);
      this.#rest = next;
    }
    if (this.#rest.length > this.#longest) {
      complete.push(this.#rest);
      this.#rest = "";
    }
    return complete;
  }

  /** @returns a last line without its end */
  end(): readonly string[] {
    const rest = this.#rest + this.#decoder.decode();
    this.#rest = "";
    return rest === "" ? [] : [rest];
  }
}
