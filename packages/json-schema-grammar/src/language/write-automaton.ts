import { setsOf } from "./alphabet.ts";
import { charSet } from "./char-set.ts";
import type { CharSet } from "./char-set.ts";
import { accepting, dead, step } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import type { GrammarRules } from "./grammar-rules.ts";
import { writeCount } from "./write-count.ts";

export interface AutomatonStyle {
  /** GBNF for one character of the set: one item that can be repeated. */
  readonly writeSet: (set: CharSet) => string;
  /** GBNF for what follows the last character. */
  readonly end: string;
  readonly rules: GrammarRules;
}

/** The characters that lead from one state to another, as GBNF. */
interface Step {
  readonly item: string;
  readonly target: number;
}

/**
 * GBNF for the texts of a smallest automaton that accepts at least one. The rules are right-linear: each character leads to
 * the one rule of the next state. So a text has a single parse, and llama.cpp follows few parses at a time.
 */
export function writeAutomaton(dfa: Dfa, style: AutomatonStyle): string {
  return new AutomatonWriter(dfa, style).write();
}

class AutomatonWriter {
  readonly #style: AutomatonStyle;
  readonly #steps: readonly (readonly Step[])[];
  readonly #isAccepting: readonly boolean[];
  readonly #names = new Map<number, string>();
  /** The number of states that lead to each state. */
  readonly #uses: readonly number[];

  constructor(dfa: Dfa, style: AutomatonStyle) {
    this.#style = style;
    this.#isAccepting = Array.from(dfa.accepting.keys(), (state) => accepting(dfa, state));
    this.#steps = stepsOf(dfa, style.writeSet);
    const uses = this.#isAccepting.map(() => 0);
    for (const { target } of this.#steps.flat()) uses[target] = (uses[target] ?? 0) + 1;
    this.#uses = uses;
  }

  write(): string {
    const body = this.#after(0);
    // Writing a rule names the rules of the states that follow, so the map grows during the loop.
    for (const [state, name] of this.#names) this.#style.rules.define(name, this.#body(state));
    return body;
  }

  #body(state: number): string {
    const options = (this.#steps[state] ?? []).map(({ item, target }) => sequence(item, this.#after(target)));
    return [...options, ...(this.#isAccepting[state] ? [sequence(this.#style.end)] : [])].join(" | ");
  }

  /** Writes GBNF for the continuations of a state: a sequence of items, which may end with the name of a rule. */
  #after(start: number): string {
    const parts: string[] = [];
    let state = start;
    for (let run = this.#run(state); run !== undefined; run = this.#run(state)) {
      parts.push(writeCount(run.item, run.length, run.length, this.#style.rules));
      state = run.target;
    }
    return sequence(...parts, this.#repetition(state) ?? this.#ruleOf(state));
  }

  #ruleOf(state: number): string {
    const name = this.#names.get(state) ?? this.#style.rules.newName();
    this.#names.set(state, name);
    return name;
  }

  /** States with a single transition, by the same item, into which no other state leads. */
  #run(start: number): (Step & { length: number }) | undefined {
    const item = this.#steps[start]?.[0]?.item;
    let length = 0;
    let state = start;
    while ((this.#uses[state] ?? 0) <= 1 && this.#isAccepting[state] !== true) {
      const [next, ...others] = this.#steps[state] ?? [];
      if (!next || others.length > 0 || next.item !== item) break;
      length++;
      state = next.target;
    }
    return item === undefined || length === 0 ? undefined : { item, length, target: state };
  }

  /** A state from which all texts repeat one item, without other ways through other states. */
  #repetition(start: number): string | undefined {
    const { end, rules } = this.#style;
    const [first] = this.#steps[start] ?? [];
    if (this.#isAccepting[start] !== true) return undefined;
    if (!first) return end;
    let length = 0;
    for (let state = start; this.#isAccepting[state] === true; length++) {
      const [next, ...others] = this.#steps[state] ?? [];
      if (!next) return sequence(writeCount(first.item, 0, length, rules), end);
      // llama.cpp unfolds each repetition: where texts can join on the way, the states are written once, as rules.
      const goesOn = next.target !== state && (this.#steps[next.target] ?? []).length > 0;
      const isJoined = goesOn && (this.#uses[next.target] ?? 0) > 1;
      if (others.length > 0 || next.item !== first.item || isJoined) return undefined;
      if (next.target === state) return state === start ? sequence(`${first.item}*`, end) : undefined;
      state = next.target;
    }
    return undefined;
  }
}

/** The parts in a row, without the empty ones. */
const sequence = (...parts: string[]): string => parts.filter((part) => part !== "").join(" ") || '""';

function stepsOf(dfa: Dfa, writeSet: (set: CharSet) => string): Step[][] {
  const sets = setsOf(dfa.alphabet);
  const items = new Map<string, string>();
  const write = (classes: string): string => {
    const known = items.get(classes);
    if (known !== undefined) return known;
    const numbers = classes.split(",").map(Number);
    const item = writeSet(charSet(numbers.flatMap((class_) => sets[class_] ?? [])));
    items.set(classes, item);
    return item;
  };
  return Array.from(dfa.accepting.keys(), (state) => {
    // The classes that lead to each state, as text, since most of them are the same for many states.
    const classesTo = new Map<number, string>();
    for (let class_ = 0; class_ < sets.length; class_++) {
      const target = step(dfa, state, class_);
      if (target === dead) continue;
      const classes = classesTo.get(target);
      classesTo.set(target, classes === undefined ? String(class_) : `${classes},${class_}`);
    }
    return Array.from(classesTo, ([target, classes]) => ({ item: write(classes), target }));
  });
}
