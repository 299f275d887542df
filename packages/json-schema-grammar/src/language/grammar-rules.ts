import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";

/** llama.cpp needs longer to parse longer rules than to generate an answer. */
const maxCharacters = 200_000;

/** The GBNF rules of one string or number may have up to 200,000 characters. All rules have names with one prefix. */
export class GrammarRules {
  readonly lines: string[] = [];
  readonly #prefix: string;
  readonly #budget: ComplexityBudget;
  readonly #names = new Map<string, string>();
  #count = 0;
  #charactersLeft = maxCharacters;

  constructor(prefix: string, budget: ComplexityBudget) {
    this.#prefix = prefix;
    this.#budget = budget;
  }

  newName(): string {
    return `${this.#prefix}-${this.#count++}`;
  }

  /** @throws {SchemaTooComplexError} */
  define(name: string, body: string): void {
    this.#charactersLeft -= name.length + body.length;
    this.#budget.spend(1 + (body.length >> 4));
    if (this.#charactersLeft < 0)
      throw new SchemaTooComplexError(
        `a string or number of the schema needs more than ${maxCharacters} characters of grammar`,
      );
    this.lines.push(`${name} ::= ${body}`);
  }

  /** Adds a rule with this body. Returns its name. */
  add(body: string): string {
    return this.shared(body, () => body);
  }

  /** Returns the name of the rule for a key. The rule is written on the first use. */
  shared(key: string, write: () => string): string {
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const name = this.newName();
    this.#names.set(key, name);
    this.define(name, write());
    return name;
  }

  /** Starts a new string or number, which again may have the maximum number of characters. */
  allowNext(): void {
    this.#charactersLeft = maxCharacters;
  }
}
