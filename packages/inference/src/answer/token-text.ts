/** ASCII of up to this many bytes is converted without the decoder, in a tenth of the time. Most tokens are shorter. */
const maxCodes = 32;

/** Decodes the bytes of tokens, which may end inside a character. A wrong byte becomes U+FFFD. */
export class TokenText {
  /** Made for the first token that is not short ASCII. Many streams have none, and it takes memory. */
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  /** True where the bytes so far are known to end with a whole character. */
  #isWhole = true;

  /** @returns the characters that are whole with these bytes */
  push(bytes: readonly number[]): string {
    if (bytes.length === 0) return "";
    const isAscii = bytes.every((byte) => byte < 0x80);
    if (this.#isWhole && isAscii && bytes.length <= maxCodes) return String.fromCharCode(...bytes);
    this.#isWhole = isAscii;
    this.#decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    return this.#decoder.decode(Uint8Array.from(bytes), { stream: true });
  }

  /** Ends the text. An incomplete character becomes U+FFFD. */
  flush(): string {
    this.#isWhole = true;
    return this.#decoder?.decode() ?? "";
  }
}
