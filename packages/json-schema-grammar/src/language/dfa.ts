import { SchemaTooComplexError } from "../complexity-budget.ts";
import type { ComplexityBudget } from "../complexity-budget.ts";
import { alphabetOf, classOf, mergeAlphabets, noClass } from "./alphabet.ts";
import type { Alphabet } from "./alphabet.ts";

/** A deterministic automaton over code points. State 0 is the start. */
export interface Dfa {
  readonly alphabet: Alphabet;
  /** The state after `state` reads a code point of class `c`, at index `state * alphabet.size + c`; or `dead`. */
  readonly next: Int32Array;
  /** For each state, 1 if a text may end in it. */
  readonly accepting: Uint8Array;
}

/** The state from which no text of the language continues. */
export const dead = -1;

/** An automaton with more states gives a grammar that llama.cpp needs longer to parse than to generate an answer. */
export const maxStates = 20_000;

/** The automaton that accepts nothing. */
export const emptyDfa: Dfa = { alphabet: alphabetOf([]), next: new Int32Array([dead]), accepting: new Uint8Array(1) };

/** Collects the states of an automaton while it is built: each key becomes a state, in the order of discovery. */
export class States<State> {
  readonly list: State[] = [];
  readonly #numbers = new Map<string | number, number>();
  readonly #budget: ComplexityBudget;

  constructor(budget: ComplexityBudget) {
    this.#budget = budget;
  }

  spend(steps: number): void {
    this.#budget.spend(steps);
  }

  numberOf(key: string | number, state: State): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#budget.spend(1);
    if (this.list.length === maxStates)
      throw new SchemaTooComplexError(
        `a string or number of the schema needs an automaton of more than ${maxStates} states`,
      );
    this.#numbers.set(key, this.list.length);
    return this.list.push(state) - 1;
  }
}

/** Builds an automaton from its start by following every class of code points from every state that is found. */
export function explore<State>(
  alphabet: Alphabet,
  states: States<State>,
  follow: (state: State) => readonly number[],
  isAccepting: (state: State) => boolean,
): Dfa {
  const next: number[] = [];
  // The list grows during the loop.
  for (const state of states.list) {
    states.spend(alphabet.size >> 3);
    for (const target of follow(state)) next.push(target);
  }
  return {
    alphabet,
    next: Int32Array.from(next),
    accepting: Uint8Array.from(states.list, (state) => (isAccepting(state) ? 1 : 0)),
  };
}

/** Runs both automata at once. `accepts` decides for each pair of states. Dead states are followed, too. */
export function combine(a: Dfa, b: Dfa, accepts: (a: boolean, b: boolean) => boolean, budget: ComplexityBudget): Dfa {
  const { alphabet, left, right } = mergeAlphabets(a.alphabet, b.alphabet);
  budget.spend(8 + alphabet.starts.length);
  const width = b.accepting.length + 1;
  const ownOf = (pair: number): number => Math.floor(pair / width) - 1;
  const otherOf = (pair: number): number => (pair % width) - 1;
  const pairs = new States<number>(budget);
  const goesOnAlone = { left: accepts(true, false), right: accepts(false, true) };
  const number = (own: number, other: number): number => {
    if (own === dead && (other === dead || !goesOnAlone.right)) return dead;
    if (other === dead && !goesOnAlone.left) return dead;
    const pair = (own + 1) * width + other + 1;
    return pairs.numberOf(pair, pair);
  };
  number(0, 0);
  const next: number[] = [];
  // The list grows during the loop.
  for (const pair of pairs.list) {
    budget.spend(alphabet.size >> 3);
    const own = ownOf(pair);
    const other = otherOf(pair);
    for (let class_ = 0; class_ < alphabet.size; class_++)
      next.push(number(step(a, own, left[class_] ?? 0), step(b, other, right[class_] ?? 0)));
  }
  const isAccepting = (pair: number): boolean => accepts(accepting(a, ownOf(pair)), accepting(b, otherOf(pair)));
  return {
    alphabet,
    next: Int32Array.from(next),
    accepting: Uint8Array.from(pairs.list, (pair) => (isAccepting(pair) ? 1 : 0)),
  };
}

/** Checks if some text is accepted by both automata. */
export function haveCommonText(a: Dfa, b: Dfa, budget: ComplexityBudget): boolean {
  const { alphabet, left, right } = mergeAlphabets(a.alphabet, b.alphabet);
  budget.spend(8 + alphabet.starts.length);
  const width = b.accepting.length;
  const pairs = new States<number>(budget);
  pairs.numberOf(0, 0);
  // The list grows during the loop.
  for (const pair of pairs.list) {
    const own = Math.floor(pair / width);
    const other = pair % width;
    if (accepting(a, own) && accepting(b, other)) return true;
    budget.spend(alphabet.size >> 3);
    for (let class_ = 0; class_ < alphabet.size; class_++) {
      const ownNext = step(a, own, left[class_] ?? 0);
      const otherNext = step(b, other, right[class_] ?? 0);
      const next = ownNext * width + otherNext;
      if (ownNext !== dead && otherNext !== dead) pairs.numberOf(next, next);
    }
  }
  return false;
}

export const step = ({ alphabet, next }: Dfa, state: number, class_: number): number =>
  state === dead ? dead : (next[state * alphabet.size + class_] ?? dead);

export const accepting = (dfa: Dfa, state: number): boolean => dfa.accepting[state] === 1;

export function runDfa(dfa: Dfa, text: string): boolean {
  let state = 0;
  for (const character of text) {
    const class_ = classOf(dfa.alphabet, character.codePointAt(0) ?? 0);
    state = class_ === noClass ? dead : step(dfa, state, class_);
    if (state === dead) return false;
  }
  return accepting(dfa, state);
}
