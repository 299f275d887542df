import type { ComplexityBudget } from "../complexity-budget.ts";
import { commonLength } from "../language/text-trie.ts";

/**
 * Writes rules for every JSON string except for some texts. A rule follows the excluded texts character by character. When the
 * string differs from all of them, any continuation is allowed. Texts with the same ending share the rules of that ending, also
 * across objects. Otherwise these rules would be most of the grammar.
 */
export class OtherNamesWriter {
  readonly #prefix: string;
  readonly #budget: ComplexityBudget;
  readonly #define: (name: string, body: string) => void;
  #count = 0;
  /** The names of the rules, by their continuations. */
  readonly #names = new Map<string, string>();
  /** For each rule, the rules that lead to it over one character. */
  readonly #before = new Map<string, Map<string, string>>();
  #common: CommonRules | undefined;

  /** @param prefix the prefix of the names of all rules @param define writes a rule */
  constructor(prefix: string, budget: ComplexityBudget, define: (name: string, body: string) => void) {
    this.#prefix = prefix;
    this.#budget = budget;
    this.#define = define;
  }

  /** The name of the rule for the strings, quotes included. @param excluded texts that JSON writes without escapes */
  write(excluded: Iterable<string>): string {
    const texts = [...excluded].toSorted();
    this.#budget.spend(texts.length);
    const start = texts.length === 1 ? this.#lead(texts[0] ?? "", this.#rules.notEnd) : this.#afterAny(texts, 0);
    return this.#shared(String.raw`"\"" ${start}`);
  }

  get #rules(): CommonRules {
    return (this.#common ??= this.#writeCommon());
  }

  #writeCommon(): CommonRules {
    const rest = this.#shared(String.raw`char* "\""`);
    // A character that JSON must escape, and the rest.
    const escape = this.#shared(String.raw`"\\" (["\\bfnrt] | "u00" [01] hex) ${rest}`);
    const escapeOrEnd = this.#shared(String.raw`${escape} | "\""`);
    return { rest, escape, escapeOrEnd, notEnd: this.#shared(String.raw`[^"\\\x00-\x1f] ${rest} | ${escape}`) };
  }

  /** Writes the possible continuations of a common prefix of texts. @param texts several, in order */
  #afterAny(texts: readonly string[], from: number): string {
    const [first = ""] = texts;
    const length = commonLength(first, texts.at(-1) ?? "");
    let classes = "";
    let steps = "";
    // Only the first text can end at the end of the common prefix.
    for (let index = first.length === length ? 1 : 0; index < texts.length;) {
      const codePoint = texts[index]?.codePointAt(length) ?? 0;
      let end = index + 1;
      while (end < texts.length && texts[end]?.codePointAt(length) === codePoint) end++;
      const next = length + (codePoint > 0xffff ? 2 : 1);
      const group = texts.slice(index, end);
      const after =
        group.length === 1 ? this.#lead(group[0]?.slice(next) ?? "", this.#rules.notEnd) : this.#afterAny(group, next);
      const escaped = escapeInClass(String.fromCodePoint(codePoint));
      classes += escaped;
      steps += `[${escaped}] ${after} | `;
      index = end;
    }
    const { rest, escape, escapeOrEnd } = this.#rules;
    const others = String.raw`[^${classes}"\\\x00-\x1f] ${rest}`;
    this.#budget.spend(1 + texts.length);
    return this.#lead(
      first.slice(from, length),
      this.#shared(`${steps}${others} | ${first.length === length ? escape : escapeOrEnd}`),
    );
  }

  /** Writes a rule that reads characters and then continues with another rule. */
  #lead(characters: string, rule: string): string {
    let next = rule;
    const all = Array.from(characters);
    for (let index = all.length - 1; index >= 0; index--) next = this.#step(all[index] ?? "", next);
    return next;
  }

  #step(character: string, next: string): string {
    let before = this.#before.get(next);
    if (!before) this.#before.set(next, (before = new Map<string, string>()));
    const known = before.get(character);
    if (known !== undefined) return known;
    const { rest, escapeOrEnd } = this.#rules;
    const escaped = escapeInClass(character);
    const name = this.#add(String.raw`[${escaped}] ${next} | [^${escaped}"\\\x00-\x1f] ${rest} | ${escapeOrEnd}`);
    before.set(character, name);
    return name;
  }

  #shared(body: string): string {
    const known = this.#names.get(body);
    if (known !== undefined) return known;
    const name = this.#add(body);
    this.#names.set(body, name);
    return name;
  }

  #add(body: string): string {
    const name = `${this.#prefix}${this.#count++}`;
    this.#define(name, body);
    return name;
  }
}

/** The rules that all excluded texts share, by name. */
interface CommonRules {
  /** Any further characters, and the closing quote. */
  readonly rest: string;
  /** A character that is written as an escape, and the rest. */
  readonly escape: string;
  /** The same, or the closing quote. */
  readonly escapeOrEnd: string;
  /** At the end of an excluded text: at least one more character. */
  readonly notEnd: string;
}

/** A character as it stands in a class of GBNF. */
function escapeInClass(character: string): string {
  if (/^[A-Za-z0-9_]$/.test(character)) return character;
  const codePoint = character.codePointAt(0) ?? 0;
  const digits = codePoint.toString(16);
  return codePoint < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}
