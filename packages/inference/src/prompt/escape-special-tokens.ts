import { ExactNumber } from "@parley/json-schema-grammar/json";
import { objectOf } from "@parley/json-schema-grammar/json";

/**
 * Keeps special tokens in a caller's text from taking effect. A template and its tokenizer give some spellings a meaning
 * (`<|im_end|>`, `<think>`); a caller that writes one must not be able to end a turn, open one or make a call. Each such
 * spelling is replaced by a placeholder before the template is rendered. Afterwards it is put back in two parts, which the
 * tokenizer encodes separately and so cannot join to the special token.
 */
export class SpecialTokenEscaper {
  readonly #spellings: RegExp;
  /** Each spelling that was found, with the number in its placeholder. */
  readonly #escaped = new Map<string, number>();
  /** Numbers that the template would round. */
  readonly #exact: ExactNumber[] = [];

  /** @param spellings made by `spellingsToEscape`, once for each model */
  constructor(spellings: RegExp) {
    this.#spellings = spellings;
  }

  /** Returns the same value with every special token replaced, in strings at any depth and in member names. */
  escape<T>(value: T): T {
    // Only the text of strings changes, so the type stays the same.
    return this.#escape(value) as T;
  }

  #escape(value: unknown): unknown {
    if (typeof value === "string") return this.#escapeText(value);
    if (Array.isArray(value)) return value.map((item) => this.#escape(item));
    if (typeof value !== "object" || value === null) return value;
    if (value instanceof ExactNumber) return `${open}=${this.#exact.push(value) - 1}${close}`;
    return objectOf(Object.entries(value).map(([name, item]) => [this.#escapeText(name), this.#escape(item)] as const));
  }

  #escapeText(text: string): string {
    return text.replace(this.#spellings, (spelling) => `${open}${this.#numberOf(spelling)}${close}`);
  }

  #numberOf(spelling: string): number {
    const number = this.#escaped.get(spelling) ?? this.#escaped.size;
    this.#escaped.set(spelling, number);
    return number;
  }

  /**
   * Restores the numbers that the template would round. The template has written each as a string, with quotes where it writes
   * JSON.
   */
  restoreNumbers(rendered: string): string {
    if (this.#exact.length === 0) return rendered;
    return rendered.replaceAll(exactPlaceholder, (_all, quoted?: string, bare?: string) =>
      String(this.#exact[Number(quoted ?? bare)]),
    );
  }

  /**
   * Yields the rendered prompt in parts that are tokenized one by one. A special token of a caller is split after its first
   * character.
   */
  *split(rendered: string): Generator<string> {
    const spellings = [...this.#escaped.keys()];
    let from = 0;
    for (const { 0: found, 1: number, index: at } of rendered.matchAll(placeholder)) {
      const [first = "", ...rest] = Array.from(spellings[Number(number)] ?? "");
      for (const part of [rendered.slice(from, at), first, rest.join("")]) if (part !== "") yield part;
      from = at + found.length;
    }
    if (from < rendered.length) yield rendered.slice(from);
  }
}

/** A pattern that matches every special token of a model, and the two characters that enclose a placeholder. */
export function spellingsToEscape(specialTokens: readonly string[]): RegExp {
  return new RegExp(`${anyOf(specialTokens)}|[${open}${close}]`, "gu");
}

/**
 * Returns the source of a pattern that matches any of the texts, and the longest where several match. Without texts, it
 * matches nothing.
 */
export function anyOf(texts: readonly string[]): string {
  if (texts.length === 0) return "(?!)";
  const longestFirst = texts.toSorted((a, b) => b.length - a.length);
  return longestFirst.map(escapeForRegExp).join("|");
}

/** Private-use characters. Those in a caller's text are escaped like special tokens, so a placeholder cannot be forged. */
const open = "\u{f8fe}";
const close = "\u{f8ff}";
const placeholder = new RegExp(`${open}(\\d+)${close}`, "gu");

const exactPlaceholder = new RegExp(`"${open}=(\\d+)${close}"|${open}=(\\d+)${close}`, "gu");

const escapeForRegExp = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/gu, "\\$&");
