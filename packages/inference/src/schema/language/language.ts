import { ComplexityBudget } from "../complexity-budget.ts";
import { contains, everything, exampleOf, sizeOf } from "./char-set.ts";
import { runDfa } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import { formatPatterns } from "./format-patterns.ts";
import { anything, dfaOf, formOf, formOfRepeat, intersectForms, nothing, subtractForms, uniteForms } from "./form.ts";
import type { Form } from "./form.ts";
import { countTexts, listTexts, shortestText } from "./list-texts.ts";
import { literalAutomaton } from "./literal-automaton.ts";
import { patternForm } from "./pattern-form.ts";

/**
 * A regular set of strings: what `pattern`, `format`, the bounds of the length and the names of members allow. A string is a
 * sequence of Unicode code points without surrogates, and lengths count code points. A language never changes. Equal
 * languages have equal keys.
 *
 * The automata are our own. `refa` (0.12) needed at least ten times as long for the patterns that name a Kubernetes object,
 * bounds no work, and has no form for long counts.
 *
 * Every operation that takes a budget throws `SchemaTooComplex` once the budget is spent or an automaton has too many
 * states.
 */
export class Language {
  static readonly any = new Language(anything);
  static readonly none = new Language(nothing);

  /** For the writers of grammars. */
  readonly form: Form;
  #key: string | undefined;

  private constructor(form: Form) {
    this.form = form;
  }

  /** Exactly these texts. */
  static of(texts: Iterable<string>, budget: ComplexityBudget): Language {
    return new Language(formOf(literalAutomaton(texts, budget), budget));
  }

  /**
   * The texts in which an ECMA-262 pattern matches somewhere.
   * @throws {UnenforceablePattern} where it is no such pattern, or none that an automaton can follow
   */
  static pattern(source: string, budget: ComplexityBudget): Language {
    return new Language(patternForm(source, budget));
  }

  /** The strings of a format of JSON Schema; undefined where the name is none. Made once, at nobody's expense. */
  static format(name: string): Language | undefined {
    const source = formatPatterns.get(name);
    if (source === undefined) return undefined;
    const known = Language.#formats.get(name) ?? Language.pattern(source, new ComplexityBudget());
    Language.#formats.set(name, known);
    return known;
  }
  static readonly #formats = new Map<string, Language>();

  /** The texts of an automaton. */
  static accepted(dfa: Dfa, budget: ComplexityBudget): Language {
    return new Language(formOf(dfa, budget));
  }

  intersect(other: Language, budget: ComplexityBudget): Language {
    return new Language(intersectForms(this.form, other.form, budget));
  }

  union(other: Language, budget: ComplexityBudget): Language {
    return new Language(uniteForms(this.form, other.form, budget));
  }

  minus(other: Language, budget: ComplexityBudget): Language {
    return new Language(subtractForms(this.form, other.form, budget));
  }

  complement(budget: ComplexityBudget): Language {
    return Language.any.minus(this, budget);
  }

  /** The texts of `min` to `max` code points. `max` may be infinite. */
  withLength(min: number, max: number, budget: ComplexityBudget): Language {
    return this.intersect(new Language(formOfRepeat({ chars: everything, min, max })), budget);
  }

  get isEmpty(): boolean {
    return this.key === Language.none.key;
  }

  isDisjointFrom(other: Language, budget: ComplexityBudget): boolean {
    return this.intersect(other, budget).isEmpty;
  }

  includes(text: string): boolean {
    if ("dfa" in this.form) return runDfa(this.form.dfa, text);
    const codePoints = Array.from(text, (character) => character.codePointAt(0) ?? 0);
    const { chars, min, max } = this.form.repeat;
    return (
      codePoints.length >= min &&
      codePoints.length <= max &&
      codePoints.every((codePoint) => contains(chars, codePoint))
    );
  }

  /** A shortest text, with readable characters where it can; undefined where the language is empty. */
  shortest(): string | undefined {
    if (this.isEmpty) return undefined;
    if ("dfa" in this.form) return shortestText(this.form.dfa);
    return this.form.repeat.min === 0 ? "" : exampleOf(this.form.repeat.chars).repeat(this.form.repeat.min);
  }

  /** The number of texts; infinite where there are more than can be counted exactly. */
  size(): number {
    if ("dfa" in this.form) return countTexts(this.form.dfa);
    const { chars, min, max } = this.form.repeat;
    const kinds = sizeOf(chars);
    if (max === Infinity || (kinds > 1 && max > 53)) return Infinity;
    let count = 0;
    for (let length = min; length <= max; length++) count += kinds ** length;
    return count <= Number.MAX_SAFE_INTEGER ? count : Infinity;
  }

  /** All texts of a language that has at most `most`; undefined where it has more. */
  texts(most: number, budget: ComplexityBudget): string[] | undefined {
    return this.size() <= most ? [...listTexts(dfaOf(this.form, budget))] : undefined;
  }

  /** Two languages are equal exactly where their keys are. */
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
