/** Takes the non-empty lines out of a byte stream, however the bytes are cut. */
export class LineReader {
  readonly #decoder = new TextDecoder();
  readonly #longest: number;
  #rest = "";

  /** @param longest a line of more characters is given in pieces, so that noise without line breaks takes no memory */
  constructor(longest = Number.POSITIVE_INFINITY) {
    this.#longest = longest;
  }

  /** @returns the lines that end in these bytes */
  push(bytes: Uint8Array): readonly string[] {
    const [end = "", ...lines] = this.#decoder.decode(bytes, { stream: true }).split("\n");
    // Only the new text is searched: a long line comes in many pieces.
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
