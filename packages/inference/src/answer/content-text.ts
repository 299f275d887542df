import type { OutputToken } from "../engine.ts";
import { StopStrings } from "./stop-strings.ts";
import { TokenText } from "./token-text.ts";

/**
 * Text that is safe to emit, and the tokens that start in it. The last token may extend beyond the text.
 */
export interface SafeText {
  readonly text: string;
  readonly tokens: readonly OutputToken[];
  readonly isStopped: boolean;
}

/** Turns tokens into the content of a choice: it emits whole characters only, and never a part of a stop string. */
export class ContentText {
  readonly #bytes = new TokenText();
  readonly #stops: StopStrings;
  /** Tokens that have not been emitted, each with the position in the text where it begins. */
  #waiting: { readonly token: OutputToken; readonly start: number }[] = [];
  #decoded = 0;
  #emitted = 0;

  constructor(stops: readonly string[]) {
    this.#stops = new StopStrings(stops);
  }

  push(token: OutputToken): SafeText {
    this.#waiting.push({ token, start: this.#decoded });
    return this.#take(this.#bytes.push(token.bytes));
  }

  /** Appends text that needs no tokens. It consists of whole characters; half of a surrogate pair becomes U+FFFD. */
  pushText(text: string): SafeText {
    return this.#take(text.toWellFormed());
  }

  /** Ends content that met no stop string: emits the text that was held back. An incomplete character becomes U+FFFD. */
  flush(): SafeText {
    const last = this.#take(this.#bytes.flush());
    if (last.isStopped) return last;
    const held = this.#stops.flush();
    const tokens = [...last.tokens, ...this.#waiting.splice(0).map(({ token }) => token)];
    return { text: last.text + held, tokens, isStopped: false };
  }

  #take(decoded: string): SafeText {
    this.#decoded += decoded.length;
    const { text, isStopped } = this.#stops.push(decoded);
    this.#emitted += text.length;
    if (this.#waiting.length === 0) return { text, tokens: [], isStopped };
    const first = this.#waiting.findIndex(({ start }) => start >= this.#emitted);
    const tokens = this.#waiting.splice(0, first < 0 ? this.#waiting.length : first);
    return { text, tokens: tokens.map(({ token }) => token), isStopped };
  }
}
