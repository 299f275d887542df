import type { ComplexityBudget } from "../complexity-budget.ts";
import { alphabetOf, setsOf } from "./alphabet.ts";
import type { Alphabet } from "./alphabet.ts";
import { contains, everything } from "./char-set.ts";
import type { CharSet } from "./char-set.ts";
import { States, dead, explore } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import { minimize } from "./minimize.ts";
import { Nfa, match } from "./nfa.ts";
import type { NfaState } from "./nfa.ts";
import { wordCharacters } from "./parse-pattern.ts";
import type { Assertion, Expression } from "./parse-pattern.ts";

/** Builds the automaton of all texts in which the expression matches somewhere. */
export function searchAutomaton(expression: Expression, budget: ComplexityBudget): Dfa {
  const nfa = new Nfa(budget);
  const entry = nfa.build(expression, match);
  const start = beginsAtStart(expression) ? entry : nfa.loop({ kind: "chars", chars: everything }, entry);
  return minimize(new Determinizer(nfa.states, budget).run(start), budget);
}

function beginsAtStart(expression: Expression): boolean {
  if (expression.kind === "assertion") return expression.what === "start";
  if (expression.kind === "sequence") return expression.items[0] !== undefined && beginsAtStart(expression.items[0]);
  return expression.kind === "choice" && expression.options.every(beginsAtStart);
}

/** The kind of the neighbour before or after a position, as `^`, `$` and `\b` distinguish it. */
type Neighbour = "none" | "word" | "other";

/** The possible states of the pattern after the same text. */
interface Position {
  /** Sorted. Their epsilon closure is left out. */
  readonly states: readonly number[];
  readonly before: Neighbour;
}

class Determinizer {
  readonly #nfa: readonly NfaState[];
  readonly #budget: ComplexityBudget;
  readonly #alphabet: Alphabet;
  /** For each class of code points, its kind of neighbour. */
  readonly #neighbours: readonly Neighbour[];
  readonly #classesOf: ReadonlyMap<CharSet, readonly number[]>;
  readonly #expanded = new Map<number, readonly number[]>();
  readonly #positions: States<Position>;
  readonly #asksForWords: boolean;

  constructor(nfa: readonly NfaState[], budget: ComplexityBudget) {
    this.#nfa = nfa;
    this.#budget = budget;
    this.#positions = new States(budget);
    this.#asksForWords = nfa.some((state) => state.kind === "assertion" && state.what.endsWith("boundary"));
    const sets = [...new Set(nfa.flatMap((state) => (state.kind === "chars" ? [state.chars] : [])))];
    budget.spend(sets.reduce((sum, set) => sum + set.length, 0));
    this.#alphabet = alphabetOf(this.#asksForWords ? [...sets, wordCharacters] : sets);
    const members = setsOf(this.#alphabet).map((set) => set[0]?.[0] ?? 0);
    this.#neighbours = members.map((member) => this.#seenAs(contains(wordCharacters, member)));
    this.#classesOf = new Map(
      sets.map((set) => [set, members.flatMap((member, class_) => (contains(set, member) ? [class_] : []))]),
    );
  }

  #seenAs(isWord: boolean): Neighbour {
    return this.#asksForWords && isWord ? "word" : "other";
  }

  run(start: number): Dfa {
    this.#numberOf([start], "none");
    return explore(
      this.#alphabet,
      this.#positions,
      (position) => this.#follow(position),
      (position) => this.#decide(position, "none").includes(match),
    );
  }

  /** For each class of code points, the position after it. */
  #follow(position: Position): number[] {
    const targets = this.#neighbours.map((): number[] => []);
    for (const after of new Set(this.#neighbours)) {
      for (const state of this.#decide(position, after)) {
        const read = this.#nfa[state];
        const isMatch = read?.kind !== "chars";
        const classes = isMatch ? targets.keys() : (this.#classesOf.get(read.chars) ?? []);
        for (const class_ of classes) {
          if (this.#neighbours[class_] === after) targets[class_]?.push(isMatch ? match : read.next);
        }
      }
    }
    const numbers = new Map<string, number>();
    return targets.map((target, class_) => {
      const before = this.#neighbours[class_] ?? "other";
      const key = `${target.join()} ${before}`;
      const number = numbers.get(key) ?? this.#numberOf(target, before);
      numbers.set(key, number);
      return number;
    });
  }

  /** @param reached the states that were read into, in any order and number */
  #numberOf(reached: readonly number[], before: Neighbour): number {
    if (reached.length === 0) return dead;
    const expanded = reached.map((state) => this.#expandOne(state));
    // The match is the first state, so it is the first of a sorted list.
    if (expanded.some(([first]) => first === match))
      return this.#positions.numberOf("match", { states: [match], before });
    const states = reached.length === 1 ? reached : [...new Set(reached)].toSorted((a, b) => a - b);
    const isAsserted = expanded.some((list) => list.some((state) => this.#nfa[state]?.kind === "assertion"));
    const position: Position = { states, before: isAsserted ? before : "other" };
    return this.#positions.numberOf(`${states.join()} ${position.before}`, position);
  }

  /**
   * Returns the states that can be reached without reading or asserting anything, sorted. Each of them reads, asserts or
   * matches.
   */
  #expandOne(start: number): readonly number[] {
    const known = this.#expanded.get(start);
    if (known) return known;
    const found = new Set([start]);
    for (const state of found) {
      const split = this.#nfa[state];
      if (split?.kind === "split") for (const next of split.next) found.add(next);
    }
    this.#budget.spend(found.size);
    const reading = [...found].filter((state) => this.#nfa[state]?.kind !== "split").toSorted((a, b) => a - b);
    const expanded = reading.includes(match) ? [match] : reading;
    this.#expanded.set(start, expanded);
    return expanded;
  }

  /** Follows the assertions that hold between the neighbours. */
  #decide({ states, before }: Position, after: Neighbour): readonly number[] {
    const found = new Set(states.flatMap((state) => this.#expandOne(state)));
    this.#budget.spend(found.size);
    for (const state of found) {
      const asserted = this.#nfa[state];
      if (asserted?.kind !== "assertion" || !holds(asserted.what, before, after)) continue;
      for (const next of this.#expandOne(asserted.next)) found.add(next);
    }
    return [...found].filter((state) => this.#nfa[state]?.kind !== "assertion");
  }
}

function holds(what: Assertion, before: Neighbour, after: Neighbour): boolean {
  if (what === "start") return before === "none";
  if (what === "end") return after === "none";
  return ((before === "word") !== (after === "word")) === (what === "boundary");
}
