import type { ComplexityBudget } from "../complexity-budget.ts";
import type { CharSet } from "./char-set.ts";
import { dfaOf } from "./form.ts";
import type { Form } from "./form.ts";
import { GrammarRules } from "./grammar-rules.ts";
import type { Language } from "./language.ts";
import type { NumberSet } from "./number-set.ts";
import { addText, emptyTrie, writeTrie } from "./text-trie.ts";
import type { TextTrie } from "./text-trie.ts";
import { writeAutomaton } from "./write-automaton.ts";
import { writeClass, writeJsonCharacter } from "./write-char-set.ts";
import { writeCount } from "./write-count.ts";

const quote = String.raw`"\""`;

/** Writes languages as rules of GBNF. Equal languages, sets of characters and counts share their rules. */
export class LanguageRules {
  readonly #rules: GrammarRules;
  readonly #budget: ComplexityBudget;

  /** @param prefix the prefix of the names of all rules */
  constructor(prefix: string, budget: ComplexityBudget) {
    this.#rules = new GrammarRules(prefix, budget);
    this.#budget = budget;
  }

  /** All rules so far, one a line. */
  get lines(): readonly string[] {
    return this.#rules.lines;
  }

  /**
   * The name of the rule for the JSON strings whose values are in the language, quotes included. The language is not empty.
   * @throws {SchemaTooComplexError} where the rules would have more than 200,000 characters
   */
  string(language: Language): string {
    return this.#rules.shared(`string ${language.key}`, () => {
      this.#rules.allowNext();
      return `${quote} ${this.#write(language.form)}`;
    });
  }

  /**
   * The name of the rule for the numbers of the set, which is not empty.
   * @throws {SchemaTooComplexError}
   */
  number(set: NumberSet): string {
    return this.#rules.shared(`number ${set.key}`, () => {
      this.#rules.allowNext();
      const { form } = set.written(this.#budget);
      return writeAutomaton(dfaOf(form, this.#budget), { writeSet: writeClass, end: "", rules: this.#rules });
    });
  }

  #write(form: Form): string {
    const writeSet = (set: CharSet): string => this.#character(set);
    if ("texts" in form) return this.#writeTexts(form.texts);
    if ("dfa" in form) return writeAutomaton(form.dfa, { writeSet, end: quote, rules: this.#rules });
    const { chars, min, max } = form.repeat;
    const count = max === 0 ? [] : [writeCount(writeSet(chars), min, max, this.#rules)];
    return [...count, quote].join(" ");
  }

  /** Adds a text with its closing quote, so no text is the beginning of another. */
  #writeTexts(texts: readonly string[]): string {
    const add = (trie: TextTrie<true>, text: string): TextTrie<true> =>
      addText(trie, JSON.stringify(text).slice(1), true);
    const trie = texts.reduce<TextTrie<true>>(add, emptyTrie);
    return writeTrie(
      trie,
      () => "",
      (_branch, write) => this.#rules.add(write()),
    );
  }

  /** Returns a class of characters, or the name of a rule if some are escaped or the class is long. */
  #character(set: CharSet): string {
    const options = writeJsonCharacter(set);
    const [only] = options;
    return options.length === 1 && only?.startsWith("[") && only.length < 24
      ? only
      : this.#rules.add(options.join(" | "));
  }
}
