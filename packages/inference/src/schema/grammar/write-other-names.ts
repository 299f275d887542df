import type { ComplexityBudget } from "../complexity-budget.ts";
import { commonLength } from "../language/text-trie.ts";

/**
 * Writes rules for every JSON string but some. A rule follows the excluded texts character by character; once the string
 * differs from all of them, it may go on in any way. Texts that end alike share the rules of their ends, those of different
 * objects too: otherwise such rules would be most of the grammar.
 */
export class OtherNamesWriter {
  readonly #prefix: string;
  readonly #budget: ComplexityBudget;
  readonly #define: (name: string, body: string) => void;
  /** The names of the rules by what they may go on with. */
  readonly #names = new Map<string, string>();
  /** The rules that exclude one text only. */
  readonly #ends = new Map<string, string>();

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
    const start = texts.length === 1 ? this.#after(texts[0] ?? "", 0) : this.#afterAny(texts, 0);
    return this.#shared(`start ${start}`, () => String.raw`"\"" ${start}`);
  }

  /** What may follow the first characters of texts that have them in common. @param texts several, in order */
  #afterAny(texts: readonly string[], from: number): string {
    const [first = ""] = texts;
    const length = commonLength(first, texts.at(-1) ?? "");
    const groups = Map.groupBy(texts, (text) => text.codePointAt(length));
    const followed = Array.from(groups, ([codePoint, group]): [string, string][] => {
      if (codePoint === undefined) return [];
      const character = String.fromCodePoint(codePoint);
      const next = length + character.length;
      return [[character, group.length === 1 ? this.#after(group[0] ?? "", next) : this.#afterAny(group, next)]];
    });
    return this.#lead(first.slice(from, length), this.#branch(followed.flat(), first.length === length));
  }

  /** What may follow the first characters of a single text. */
  #after(text: string, from: number): string {
    const end = text.slice(from);
    const known = this.#ends.get(end) ?? this.#lead(end, this.#branch([], true));
    this.#ends.set(end, known);
    return known;
  }

  /** The rule that leads through characters to another rule. */
  #lead(characters: string, rule: string): string {
    const reversed = Array.from(characters).toReversed();
    return reversed.reduce((next, character) => this.#branch([[character, next]], false), rule);
  }

  #branch(followed: readonly (readonly [character: string, rule: string])[], isExcluded: boolean): string {
    const key = followed.map(([character, rule]) => character + rule).join(" ");
    return this.#shared(`${isExcluded ? "not" : "or"} ${key}`, () => {
      this.#budget.spend(1 + followed.length);
      const classes = followed.map(([character]) => escapeInClass(character));
      const others = `[^${classes.join("")}${String.raw`"\\\x00-\x1f]`} ${this.#rest()}`;
      const steps = followed.map(([, rule], index) => `[${classes[index]}] ${rule}`);
      return [others, this.#escape(), ...steps, ...(isExcluded ? [] : [String.raw`"\""`])].join(" | ");
    });
  }

  #rest(): string {
    return this.#shared("rest", () => String.raw`char* "\""`);
  }

  /** A character that JSON cannot write otherwise, and the rest. */
  #escape(): string {
    return this.#shared("escape", () => String.raw`"\\" (["\\bfnrt] | "u00" [01] hex) ${this.#rest()}`);
  }

  #shared(key: string, write: () => string): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const body = write();
    const name = `${this.#prefix}${this.#names.size}`;
    this.#names.set(key, name);
    this.#define(name, body);
    return name;
  }
}

/** A character as it stands in a class of GBNF. */
function escapeInClass(character: string): string {
  if (/^[A-Za-z0-9_]$/.test(character)) return character;
  const codePoint = character.codePointAt(0) ?? 0;
  const digits = codePoint.toString(16);
  return codePoint < 0x10000 ? `\\u${digits.padStart(4, "0")}` : `\\U${digits.padStart(8, "0")}`;
}
