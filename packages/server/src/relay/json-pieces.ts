import { escapeLineEnds } from "../escape-line-ends.ts";

/** Characters after which a piece is closed. */
const pieceCharacters = 65_536;

/**
 * A long JSON text, kept in pieces of bytes: outside of V8's heap, in the form in which it is written, and never in one string.
 */
export class JsonPieces {
  readonly #closed: Buffer[] = [];
  #open = "";
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#open === "" && this.#closed.length === 0;
  }

  add(json: string): void {
    this.#open += json;
    if (this.#open.length >= pieceCharacters) this.#close();
  }

  /** Adds the text of another one, without a copy of its pieces. */
  addAll(other: JsonPieces): void {
    if (other.#closed.length > 0) this.#close();
    for (const piece of other.#closed) this.#push(piece);
    this.add(other.#open);
  }

  /** The whole text; nothing may be added afterwards. */
  finish(): readonly Buffer[] {
    this.#close();
    return this.#closed;
  }

  /** Of what was added so far, where `finish` was called. */
  get byteLength(): number {
    return this.#bytes;
  }

  #close(): void {
    if (this.#open !== "") this.#push(Buffer.from(escapeLineEnds(this.#open)));
    this.#open = "";
  }

  #push(piece: Buffer): void {
    this.#closed.push(piece);
    this.#bytes += piece.length;
  }
}
