import type { OutputToken } from "../engine.ts";
import { StopStrings } from "./stop-strings.ts";

/** Text that may be shown, with the tokens that it begins: together they spell at least this text, and no other token does. */
export interface ShownText {
  readonly text: string;
  readonly tokens: readonly OutputToken[];
  readonly isStopped: boolean;
}

/** Turns tokens into the content of a choice: whole characters only, and never a part of a stop string. */
export class ContentText {
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #stops: StopStrings;
  /** Tokens that nothing is shown of yet, with the place in the text where they begin. */
  #waiting: { readonly piece: OutputToken; readonly start: number }[] = [];
  #decoded = 0;
  #shown = 0;

  constructor(stops: readonly string[]) {
    this.#stops = new StopStrings(stops);
  }

  push(piece: OutputToken): ShownText {
    this.#waiting.push({ piece, start: this.#decoded });
    return this.#take(this.#decoder.decode(Uint8Array.from(piece.bytes), { stream: true }));
  }

  /** The content has ended without a stop string: shows what was held back, a broken character as U+FFFD. */
  flush(): ShownText {
    const last = this.#take(this.#decoder.decode());
    if (last.isStopped) return last;
    const held = this.#stops.flush();
    const tokens = [...last.tokens, ...this.#waiting.splice(0).map(({ piece }) => piece)];
    return { text: last.text + held, tokens, isStopped: false };
  }

  #take(decoded: string): ShownText {
    this.#decoded += decoded.length;
    const { text, isStopped } = this.#stops.push(decoded);
    this.#shown += text.length;
    const first = this.#waiting.findIndex(({ start }) => start >= this.#shown);
    const tokens = this.#waiting.splice(0, first < 0 ? this.#waiting.length : first);
    return { text, tokens: tokens.map(({ piece }) => piece), isStopped };
  }
}
