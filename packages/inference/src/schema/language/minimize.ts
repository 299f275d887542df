import type { ComplexityBudget } from "../complexity-budget.ts";
import { join, noClass } from "./alphabet.ts";
import { dead, step } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";

/**
 * The one smallest automaton of the same language: equal languages get equal automata. Its states are numbered in the
 * order in which a search from the start finds them.
 */
export function minimize(dfa: Dfa, budget: ComplexityBudget): Dfa {
  const cells = dfa.accepting.length * dfa.alphabet.size;
  budget.spend(cells >> 2);
  const trimmed = markDead(dfa);
  return mergeClasses(renumber(trimmed, new Refinement(trimmed).blocks()));
}

/** States from which no text ends become `dead`. */
function markDead(dfa: Dfa): Dfa {
  const count = dfa.accepting.length;
  const before = Array.from({ length: count }, (): number[] => []);
  for (const [cell, target] of dfa.next.entries()) {
    if (target !== dead) before[target]?.push(Math.floor(cell / dfa.alphabet.size));
  }
  const alive = Uint8Array.from(dfa.accepting);
  const found = Array.from(alive.keys()).filter((state) => alive[state] === 1);
  for (const state of found) {
    for (const from of before[state] ?? []) {
      if (alive[from] === 1) continue;
      alive[from] = 1;
      found.push(from);
    }
  }
  return { ...dfa, next: dfa.next.map((target) => (target !== dead && alive[target] === 1 ? target : dead)) };
}

/**
 * Hopcroft's algorithm: starts from the two blocks of accepting and other states, and splits blocks as long as a class of
 * code points leads from one block into several. The last state stands for `dead`.
 */
class Refinement {
  readonly #dfa: Dfa;
  readonly #count: number;
  /** The states, those of a block side by side; where each state stands; and the block of each state. */
  readonly #order: Int32Array;
  readonly #position: Int32Array;
  readonly #block: Int32Array;
  /** For each block, where it begins and ends in the order, and how many of its first states are marked. */
  readonly #begin: number[] = [0];
  readonly #end: number[];
  readonly #marked: number[] = [0];
  readonly #waiting: number[] = [];
  readonly #isWaiting: boolean[] = [];

  constructor(dfa: Dfa) {
    this.#dfa = dfa;
    this.#count = dfa.accepting.length + 1;
    this.#end = [this.#count];
    this.#order = Int32Array.from({ length: this.#count }, (_, state) => state);
    this.#position = this.#order.slice();
    this.#block = new Int32Array(this.#count);
  }

  /** The block of each state; the block of `dead` is the last entry. */
  blocks(): Int32Array {
    const into = this.#predecessors();
    this.#splitBy(Array.from(this.#dfa.accepting.keys()).filter((state) => this.#dfa.accepting[state] === 1));
    for (let block = this.#waiting.pop(); block !== undefined; block = this.#waiting.pop()) {
      this.#isWaiting[block] = false;
      const members = this.#order.slice(this.#begin[block], this.#end[block]);
      for (const { first, from } of into) {
        const found: number[] = [];
        for (const state of members) {
          for (let index = first[state] ?? 0; index < (first[state + 1] ?? 0); index++) found.push(from[index] ?? 0);
        }
        this.#splitBy(found);
      }
    }
    return this.#block;
  }

  /** For each class, the states that lead to state `s`: `from[first[s]]` up to before `from[first[s + 1]]`. */
  #predecessors(): { first: Int32Array; from: Int32Array }[] {
    const sink = this.#count - 1;
    return Array.from({ length: this.#dfa.alphabet.size }, (_, class_) => {
      const target = (state: number): number => {
        const next = state === sink ? dead : step(this.#dfa, state, class_);
        return next === dead ? sink : next;
      };
      const first = new Int32Array(this.#count + 2);
      for (let state = 0; state < this.#count; state++) first[target(state) + 2] = (first[target(state) + 2] ?? 0) + 1;
      for (let state = 2; state < first.length; state++) first[state] = (first[state] ?? 0) + (first[state - 1] ?? 0);
      const from = new Int32Array(this.#count);
      for (let state = 0; state < this.#count; state++) {
        const slot = first[target(state) + 1] ?? 0;
        from[slot] = state;
        first[target(state) + 1] = slot + 1;
      }
      return { first, from };
    });
  }

  /** Splits each block into the given states and the others. */
  #splitBy(states: readonly number[]): void {
    const touched: number[] = [];
    for (const state of states) {
      const block = this.#block[state] ?? 0;
      if (this.#marked[block] === 0) touched.push(block);
      this.#mark(state, block);
    }
    for (const block of touched) this.#split(block);
  }

  #mark(state: number, block: number): void {
    const place = (this.#begin[block] ?? 0) + (this.#marked[block] ?? 0);
    const own = this.#position[state] ?? 0;
    if (own < place) return;
    const other = this.#order[place] ?? 0;
    this.#order[own] = other;
    this.#position[other] = own;
    this.#order[place] = state;
    this.#position[state] = place;
    this.#marked[block] = (this.#marked[block] ?? 0) + 1;
  }

  /** The marked states of a block become a block of their own. */
  #split(block: number): void {
    const begin = this.#begin[block] ?? 0;
    const middle = begin + (this.#marked[block] ?? 0);
    const end = this.#end[block] ?? 0;
    this.#marked[block] = 0;
    if (middle === end) return;
    const created = this.#begin.push(begin) - 1;
    this.#end.push(middle);
    this.#marked.push(0);
    this.#begin[block] = middle;
    for (let place = begin; place < middle; place++) this.#block[this.#order[place] ?? 0] = created;
    // Of two halves of a block that has been used already, the smaller one is enough.
    this.#wait(this.#isWaiting[block] || middle - begin <= end - middle ? created : block);
  }

  #wait(block: number): void {
    if (this.#isWaiting[block]) return;
    this.#isWaiting[block] = true;
    this.#waiting.push(block);
  }
}

/** One state per block, in the order in which a search from the start finds them. */
function renumber(dfa: Dfa, block: Int32Array): Dfa {
  const { alphabet } = dfa;
  const sink = block.at(-1);
  const numbers = new Map([[block[0], 0]]);
  const found = [0];
  const next: number[] = [];
  for (const state of found) {
    for (let class_ = 0; class_ < alphabet.size; class_++) {
      const target = step(dfa, state, class_);
      const isDead = target === dead || block[target] === sink;
      if (!isDead && !numbers.has(block[target])) {
        numbers.set(block[target], found.length);
        found.push(target);
      }
      next.push(isDead ? dead : (numbers.get(block[target]) ?? dead));
    }
  }
  return {
    alphabet,
    next: Int32Array.from(next),
    accepting: Uint8Array.from(found, (state) => dfa.accepting[state] ?? 0),
  };
}

/** Joins the classes of code points that no state tells apart. */
function mergeClasses({ alphabet, next, accepting }: Dfa): Dfa {
  const alike = alikeClasses(next, alphabet.size, accepting.length);
  const kept = Array.from(alike.keys()).filter((class_) => alike.indexOf(alike[class_] ?? 0) === class_);
  if (kept.length === alphabet.size) return { alphabet, next, accepting };
  const classes = alphabet.classes.map((class_) => alike[class_] ?? noClass);
  const cells = Array.from(accepting.keys()).flatMap((state) =>
    kept.map((class_) => next[state * alphabet.size + class_] ?? dead),
  );
  return { alphabet: join(alphabet.starts, classes), next: Int32Array.from(cells), accepting };
}

/** Numbers the classes so that those with equal columns have equal numbers. */
function alikeClasses(next: Int32Array, size: number, states: number): number[] {
  let alike = Array.from({ length: size }, () => 0);
  let count = 1;
  for (let state = 0; state < states && count < size; state++) {
    const numbers = new Map<number, number>();
    alike = alike.map((number, class_) => {
      const key = number * (states + 1) + (next[state * size + class_] ?? dead) + 1;
      const known = numbers.get(key) ?? numbers.size;
      numbers.set(key, known);
      return known;
    });
    count = numbers.size;
  }
  return alike;
}
