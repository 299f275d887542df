import { ComplexityBudget } from "../complexity-budget.ts";
import { everything, exampleOf, sizeOf } from "./char-set.ts";
import type { Dfa } from "./dfa.ts";
import { formatPatterns } from "./format-patterns.ts";
import {
  anything,
  areDisjoint,
  dfaOf,
  formOfRepeat,
  formOfTexts,
  includesText,
  intersectForms,
  isEmpty,
  nothing,
  subtractForms,
  uniteForms,
} from "./form.ts";
import type { Form } from "./form.ts";
import { countTexts, listTexts, shortestText } from "./list-texts.ts";
import { patternForm } from "./pattern-form.ts";
import { shortFormat } from "./short-formats.ts";
import { NotRegularError } from "../schema-fault.ts";

/**
 * A regular set of strings: what `pattern`, `format`, the bounds of the length and the names of members allow. A string is a
 * sequence of Unicode code points without surrogates, and lengths count code points. A language never changes.
 * Languages with equal keys are equal; of two equal ones, one may be held as a list and have another key.
 *
 * The automata are our own. `refa` (0.12) needed at least ten times as long for the patterns that name a Kubernetes object,
 * bounds no work, and has no form for long counts.
 *
 * Every operation that takes a budget throws `SchemaTooComplexError` once the budget is spent or an automaton has too many
 * states.
 */
export class Language {
  static readonly any = new Language(anything);
  static readonly none = new Language(nothing);

  /** The representation, for the writers of grammars. */
  readonly form: Form;
  #key: string | undefined;

  /**
   * True if validators may accept more texts than these: a format is restricted to the texts that all of them accept. Other
   * texts may be valid as well.
   */
  readonly isNarrowed: boolean;

  private constructor(form: Form, isNarrowed = false) {
    this.form = form;
    this.isNarrowed = isNarrowed;
  }

  /** Exactly these texts. */
  static of(texts: Iterable<string>, budget: ComplexityBudget): Language {
    return new Language(formOfTexts(texts, budget));
  }

  /**
   * Returns the texts in which an ECMA-262 pattern matches somewhere. @throws {UnenforceablePatternError} if it is not such a pattern, or not regular
   */
  static pattern(source: string, budget: ComplexityBudget): Language {
    return new Language(patternForm(source, budget));
  }

  /**
   * Returns the strings of a format, or undefined if the format does not constrain strings. Computed once, outside of all
   * budgets.
   */
  static format(name: string): Language | undefined {
    const source = formatPatterns.get(name);
    if (source === undefined) return undefined;
    const known = Language.#formats.get(name) ?? new Language(patternForm(source, new ComplexityBudget()), true);
    Language.#formats.set(name, known);
    return known;
  }
  static readonly #formats = new Map<string, Language>();

  /**
   * Returns texts of a format with at most `max` code points: all of them if these can be counted, and otherwise those of
   * usual shape. Undefined if the format does not constrain strings.
   */
  static shortFormat(name: string, max: number, budget: ComplexityBudget): Language | undefined {
    const pattern = shortFormat(name, max);
    if (pattern !== undefined) return new Language(patternForm(pattern, budget), true);
    return Language.format(name)?.withLength(0, max, budget);
  }

  /** Returns the texts of an automaton that are in the other language. */
  static accepted(dfa: Dfa, within: Language, budget: ComplexityBudget): Language {
    return new Language(intersectForms({ dfa }, within.form, budget), within.isNarrowed);
  }

  intersect(other: Language, budget: ComplexityBudget): Language {
    return new Language(intersectForms(this.form, other.form, budget), this.isNarrowed || other.isNarrowed);
  }

  union(other: Language, budget: ComplexityBudget): Language {
    return new Language(uniteForms(this.form, other.form, budget), this.isNarrowed || other.isNarrowed);
  }

  /** @throws {NotRegularError} where the other one is narrowed */
  minus(other: Language, budget: ComplexityBudget): Language {
    if (other.isNarrowed) throw new NotRegularError(`validators differ on what a "format" excludes`);
    return new Language(subtractForms(this.form, other.form, budget), this.isNarrowed);
  }

  complement(budget: ComplexityBudget): Language {
    return Language.any.minus(this, budget);
  }

  /** Returns the texts of `min` to `max` code points. `max` may be infinite. */
  withLength(min: number, max: number, budget: ComplexityBudget): Language {
    return this.intersect(new Language(formOfRepeat({ chars: everything, min, max })), budget);
  }

  get isEmpty(): boolean {
    return isEmpty(this.form);
  }

  isDisjointFrom(other: Language, budget: ComplexityBudget): boolean {
    return areDisjoint(this.form, other.form, budget);
  }

  includes(text: string): boolean {
    return this === Language.any ? text.isWellFormed() : includesText(this.form, text);
  }

  /** Returns a shortest text, with readable characters if possible. Undefined if the language is empty. */
  shortest(): string | undefined {
    if (this.isEmpty) return undefined;
    if ("dfa" in this.form) return shortestText(this.form.dfa);
    if ("texts" in this.form) return this.form.texts.toSorted((a, b) => a.length - b.length)[0];
    return this.form.repeat.min === 0 ? "" : exampleOf(this.form.repeat.chars).repeat(this.form.repeat.min);
  }

  /** Returns the number of texts. Infinite if there are more than can be counted exactly. */
  size(): number {
    if ("dfa" in this.form) return countTexts(this.form.dfa);
    if ("texts" in this.form) return this.form.texts.length;
    const { chars, min, max } = this.form.repeat;
    const kinds = sizeOf(chars);
    if (max === Infinity || (kinds > 1 && max > 53)) return Infinity;
    let count = 0;
    for (let length = min; length <= max; length++) count += kinds ** length;
    return count <= Number.MAX_SAFE_INTEGER ? count : Infinity;
  }

  /** Returns all texts, or undefined if there are more than `max`. */
  texts(max: number, budget: ComplexityBudget): string[] | undefined {
    if (this.size() > max) return undefined;
    return "texts" in this.form ? [...this.form.texts] : [...listTexts(dfaOf(this.form, budget))];
  }

  /** Languages with equal keys are equal. */
  get key(): string {
    this.#key ??= JSON.stringify(this.form, (_, value: unknown) => {
      if (value instanceof Int32Array || value instanceof Uint8Array) return value.join();
      return value === Infinity ? "unbounded" : value;
    });
    return this.#key;
  }

  equals(other: Language): boolean {
    return this.key === other.key;
  }
}
