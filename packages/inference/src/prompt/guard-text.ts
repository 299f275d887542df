/**
 * Keeps a caller's text text. A template and its tokenizer give some spellings a meaning (`<|im_end|>`, `<think>`); a
 * caller who types one must not end a turn, open one or make a call. Each such spelling is replaced by a marker before
 * the template is rendered, and comes back afterwards in pieces that the tokenizer cannot join to the specialToken.
 */
export class TextGuard {
  readonly specialTokens: RegExp;
  readonly #spelled: string[] = [];

  constructor(specialTokens: readonly string[]) {
    const alternatives = [...specialTokens].toSorted((a, b) => b.length - a.length).map(escapeForRegExp);
    this.specialTokens = new RegExp([...alternatives, `[${open}${close}]`].join("|"), "gu");
  }

  /** The same value with every special token replaced, in strings at any depth and in member names. */
  protect<T>(value: T): T {
    // The shape does not change, only the text of strings.
    return this.#protect(value) as T;
  }

  #protect(value: unknown): unknown {
    if (typeof value === "string") return this.#protectText(value);
    if (Array.isArray(value)) return value.map((item) => this.#protect(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [this.#protectText(name), this.#protect(item)]),
    );
  }

  #protectText(text: string): string {
    return text.replace(this.specialTokens, (spelling) => `${open}${this.#spelled.push(spelling) - 1}${close}`);
  }

  /** The rendered prompt in pieces; special tokens that a caller spelled stand broken after their first character. */
  split(rendered: string): string[] {
    const pieces = rendered.split(marker).flatMap((part, index) => {
      if (index % 2 === 0) return [part];
      const [first = "", ...rest] = Array.from(this.#spelled[Number(part)] ?? "");
      return [first, rest.join("")];
    });
    return pieces.filter((piece) => piece !== "");
  }
}

/** Private-use characters: a caller's own ones are guarded like special tokens, so a marker cannot be forged. */
const open = "\u{f8fe}";
const close = "\u{f8ff}";
const marker = new RegExp(`${open}(\\d+)${close}`, "u");

const escapeForRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&");
