import type { ComplexityBudget } from "../complexity-budget.ts";
import { Language } from "../language/language.ts";

/** The names of undeclared members: those of a language, but for the declared ones. */
export class FreeNames {
  /** The declared names, where they are all that is excluded; undefined where `language` says everything. */
  readonly excluded: ReadonlySet<string> | undefined;
  readonly #language: Language;
  #key: string | undefined;

  private constructor(language: Language, excluded: ReadonlySet<string> | undefined) {
    this.#language = language;
    this.excluded = excluded;
  }

  /** Most objects allow every other name. The automaton for it is made only where one is needed. */
  static of(names: Language, declared: Iterable<string>, budget: ComplexityBudget): FreeNames {
    if (names === Language.any) return new FreeNames(names, new Set(declared));
    return new FreeNames(names.minus(Language.of(declared, budget), budget), undefined);
  }

  includes(name: string): boolean {
    return this.#language.includes(name) && this.excluded?.has(name) !== true;
  }

  /** All names, where there are at most `most`. */
  list(most: number, budget: ComplexityBudget): string[] | undefined {
    return this.excluded ? undefined : this.#language.texts(most, budget);
  }

  toLanguage(budget: ComplexityBudget): Language {
    return this.excluded ? this.#language.minus(Language.of(this.excluded, budget), budget) : this.#language;
  }

  /** Equal keys mean equal names. */
  get key(): string {
    this.#key ??= this.excluded ? `any but ${JSON.stringify([...this.excluded].toSorted())}` : this.#language.key;
    return this.#key;
  }

  /** A name that is short and readable. */
  example(budget: ComplexityBudget): string {
    return this.toLanguage(budget).shortest() ?? "";
  }
}
