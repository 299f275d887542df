import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";
import type { CharSet } from "./char-set.ts";
import { maxStates } from "./dfa.ts";
import { UnenforceablePatternError } from "./parse-pattern.ts";
import type { Assertion, Expression } from "./parse-pattern.ts";

/** A state of Thompson's automaton: it reads a character, or continues without reading. */
export type NfaState =
  /** Accepts any rest, because a pattern may match any part of a text. */
  | { readonly kind: "match" }
  | { readonly kind: "chars"; readonly chars: CharSet; readonly next: number }
  | { readonly kind: "split"; readonly next: readonly number[] }
  | { readonly kind: "assertion"; readonly what: Assertion; readonly next: number };

export const match = 0;

/** Builds the automaton from the end of an expression to its start: each part is given the state that follows it. */
export class Nfa {
  readonly states: NfaState[] = [{ kind: "match" }];
  readonly #budget: ComplexityBudget;

  constructor(budget: ComplexityBudget) {
    this.#budget = budget;
  }

  #add(state: NfaState): number {
    this.#budget.spend(1);
    if (this.states.length > 2 * maxStates)
      throw new SchemaTooComplexError("a pattern of the schema repeats too much too often");
    return this.states.push(state) - 1;
  }

  /** @returns the state from which the expression is read */
  build(expression: Expression, next: number): number {
    switch (expression.kind) {
      case "chars":
        return this.#add({ kind: "chars", chars: expression.chars, next });
      case "assertion":
        return this.#add({ kind: "assertion", what: expression.what, next });
      case "sequence":
        return expression.items.reduceRight((after, item) => this.build(item, after), next);
      case "choice":
        return this.#add({ kind: "split", next: expression.options.map((option) => this.build(option, next)) });
      case "repeat":
        return this.#repeat(expression.item, expression.min, expression.max, next);
      case "lookahead":
        throw new UnenforceablePatternError("a look-ahead is supported only after a ^ that begins the pattern");
    }
  }

  #repeat(item: Expression, min: number, max: number, next: number): number {
    let entry = max === Infinity ? this.loop(item, next) : next;
    const maxOptional = max === Infinity ? 0 : max - min;
    for (let optional = 0; optional < maxOptional; optional++)
      entry = this.#add({ kind: "split", next: [this.build(item, entry), next] });
    for (let needed = 0; needed < min; needed++) {
      const after = entry;
      entry = this.build(item, after);
      if (entry === after) break; // the item is empty, however often it is repeated
    }
    return entry;
  }

  /** The expression, any number of times. */
  loop(item: Expression, next: number): number {
    const choices = [next];
    const entry = this.#add({ kind: "split", next: choices });
    choices.push(this.build(item, entry));
    return entry;
  }
}
