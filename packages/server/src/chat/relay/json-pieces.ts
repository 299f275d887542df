import { escapeLineEnds } from "../../http/escape-line-ends.ts";

/** Number of characters after which a piece is closed. */
const pieceCharacters = 65_536;

/** A long JSON text in pieces. The pieces are UTF-8 bytes outside of V8's heap, as they are written to the socket. */
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

  /** Adds the text of another instance. Its closed pieces are shared, not copied. */
  addAll(other: JsonPieces): void {
    if (other.#closed.length > 0) this.#close();
    for (const piece of other.#closed) this.#push(piece);
    this.add(other.#open);
  }

  /** Returns the whole text. Nothing may be added afterwards. */
  finish(): readonly Buffer[] {
    this.#close();
    return this.#closed;
  }

  /** The size of the text. Exact only after `finish`: an open piece is not counted. */
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
