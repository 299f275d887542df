import type { ComplexityBudget } from "../complexity-budget.ts";
import { Language } from "../language/language.ts";

/** The names of undeclared members: the texts of a language, except for the declared names. */
export class FreeNames {
  /** The declared names, if they are the only excluded names. Undefined if `language` already excludes them. */
  readonly excluded: ReadonlySet<string> | undefined;
  readonly #language: Language;
  #key: string | undefined;

  private constructor(language: Language, excluded: ReadonlySet<string> | undefined) {
    this.#language = language;
    this.excluded = excluded;
  }

  /** Most objects allow every other name. Its automaton is built only when it is needed. */
  static of(names: Language, declared: Iterable<string>, budget: ComplexityBudget): FreeNames {
    if (names === Language.any) return new FreeNames(names, new Set(declared));
    return new FreeNames(names.minus(Language.of(declared, budget), budget), undefined);
  }

  includes(name: string): boolean {
    return this.#language.includes(name) && this.excluded?.has(name) !== true;
  }

  /** Returns all names, if there are at most `max`. */
  list(max: number, budget: ComplexityBudget): string[] | undefined {
    return this.excluded ? undefined : this.#language.texts(max, budget);
  }

  toLanguage(budget: ComplexityBudget): Language {
    return this.excluded ? this.#language.minus(Language.of(this.excluded, budget), budget) : this.#language;
  }

  /** Equal keys mean equal names. */
  get key(): string {
    this.#key ??= this.excluded ? `any but ${JSON.stringify([...this.excluded].toSorted())}` : this.#language.key;
    return this.#key;
  }

  /** Returns a short, readable name. */
  example(budget: ComplexityBudget): string {
    return this.toLanguage(budget).shortest() ?? "";
  }
}
