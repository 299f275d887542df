import type { ComplexityBudget } from "../complexity-budget.ts";
import { join, noClass } from "./alphabet.ts";
import { dead, step } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import { Partition, zeros } from "./partition.ts";

/**
 * Returns the minimal automaton of the same language. Equal languages have equal minimal automata. States are numbered in the
 * order in which a search from the start finds them.
 */
export function minimize(dfa: Dfa, budget: ComplexityBudget): Dfa {
  budget.spend(dfa.next.length >> 2);
  const transitions = transitionsOf(dfa);
  const alive = statesWithEnd(dfa, transitions);
  if (!alive.includes(0)) return mergeClasses(renumber(dfa, equivalentStates(dfa, transitions)));
  const trimmed = { ...dfa, next: dfa.next.map((target) => (alive[target] === 1 ? target : dead)) };
  return mergeClasses(renumber(trimmed, equivalentStates(trimmed, transitionsOf(trimmed))));
}

/** Returns for each state 1 if a text may still end. */
function statesWithEnd({ accepting }: Dfa, { from, firstInto, into }: Transitions): Uint8Array {
  const alive = accepting.slice();
  const found: number[] = [];
  for (let state = 0; state < alive.length; state++) if (alive[state] === 1) found.push(state);
  for (const state of found) {
    for (let place = firstInto[state] ?? 0; place < (firstInto[state + 1] ?? 0); place++) {
      const before = from[into[place] ?? 0] ?? 0;
      if (alive[before] === 1) continue;
      alive[before] = 1;
      found.push(before);
    }
  }
  return alive;
}

/**
 * For each state, the number of its class: states of one class accept the same rests. This is the algorithm of Valmari
 * and Lehtinen ("Efficient Minimization of DFAs with Partial Transition Functions", 2008), which never looks at `dead`.
 */
function equivalentStates({ accepting }: Dfa, transitions: Transitions): Partition {
  const { from, firstInto, into } = transitions;
  const states = new Partition(accepting.length);
  for (let state = 0; state < accepting.length; state++) if (accepting[state] === 1) states.mark(state);
  states.split();
  const cords = cordsByClass(transitions);
  // The first set of states never splits others: the transitions into it follow from those into all other sets.
  let settled = 1;
  for (let cord = 0; cord < cords.size; cord++) {
    for (let place = cords.begin(cord); place < cords.end(cord); place++) states.mark(from[cords.at(place)] ?? 0);
    states.split();
    for (; settled < states.size; settled++) {
      for (let place = states.begin(settled); place < states.end(settled); place++) {
        const state = states.at(place);
        for (let index = firstInto[state] ?? 0; index < (firstInto[state + 1] ?? 0); index++)
          cords.mark(into[index] ?? 0);
      }
      cords.split();
    }
  }
  return states;
}

/** Groups the transitions by their class of code points. */
function cordsByClass({ from, ends }: Transitions): Partition {
  const cords = new Partition(from.length);
  // The last class stays where it is.
  for (let class_ = 0, cord = 0; class_ < ends.length - 1; class_++) {
    for (; cord < (ends[class_] ?? 0); cord++) cords.mark(cord);
    cords.split();
  }
  return cords;
}

/** Makes one state of each class, in the order in which a search from the start finds them. */
function renumber(dfa: Dfa, classes: Partition): Dfa {
  const { alphabet } = dfa;
  const numbers = zeros(classes.size).fill(dead);
  numbers[classes.of(0)] = 0;
  const found = [0];
  const next: number[] = [];
  for (const state of found) {
    for (let class_ = 0; class_ < alphabet.size; class_++) {
      const target = step(dfa, state, class_);
      const into = target === dead ? dead : classes.of(target);
      if (into !== dead && numbers[into] === dead) numbers[into] = found.push(target) - 1;
      next.push(into === dead ? dead : (numbers[into] ?? dead));
    }
  }
  return {
    alphabet,
    next: Int32Array.from(next),
    accepting: Uint8Array.from(found, (state) => dfa.accepting[state] ?? 0),
  };
}

/** Joins the classes of code points that no state distinguishes. */
function mergeClasses({ alphabet, next, accepting }: Dfa): Dfa {
  const alike = alikeClasses(next, alphabet.size);
  const kept = Array.from(alike.keys()).filter((class_) => alike[class_] === class_);
  if (kept.length === alphabet.size) return { alphabet, next, accepting };
  const classes = alphabet.classes.map((class_) => alike[class_] ?? noClass);
  const cells = new Int32Array(accepting.length * kept.length);
  for (let cell = 0, row = 0; cell < cells.length; row += alphabet.size)
    for (const class_ of kept) cells[cell++] = next[row + class_] ?? dead;
  return { alphabet: join(alphabet.starts, classes), next: cells, accepting };
}

/** Returns for each class the first class with the same transitions from all states. */
function alikeClasses(next: Int32Array, size: number): number[] {
  const hashes = zeros(size);
  for (let cell = 0; cell < next.length;)
    for (let class_ = 0; class_ < size; class_++, cell++)
      hashes[class_] = Math.imul((hashes[class_] ?? 0) ^ (next[cell] ?? dead), 0x01000193);
  const isAlike = (one: number, other: number): boolean => {
    for (let row = 0; row < next.length; row += size) if (next[row + one] !== next[row + other]) return false;
    return true;
  };
  return hashes.map((hash, class_) => {
    const first = hashes.findIndex((other, earlier) => other === hash && isAlike(earlier, class_));
    return first < 0 ? class_ : first;
  });
}

/** The transitions of an automaton that do not lead to `dead`, numbered class by class of code points. */
interface Transitions {
  readonly from: readonly number[];
  /** For each class, the number after its last transition. */
  readonly ends: readonly number[];
  /** The transitions into each state `s`: `into[firstInto[s]]` up to before `into[firstInto[s + 1]]`. */
  readonly firstInto: readonly number[];
  readonly into: readonly number[];
}

function transitionsOf({ alphabet: { size }, next, accepting }: Dfa): Transitions {
  const from: number[] = [];
  const to: number[] = [];
  const ends: number[] = [];
  // The counts are stored two positions further. Filling moves them by one position to their final place.
  const firstInto = zeros(accepting.length + 2);
  for (let class_ = 0; class_ < size; class_++) {
    for (let cell = class_, state = 0; cell < next.length; cell += size, state++) {
      const target = next[cell] ?? dead;
      if (target === dead) continue;
      from.push(state);
      to.push(target);
      firstInto[target + 2] = (firstInto[target + 2] ?? 0) + 1;
    }
    ends.push(from.length);
  }
  for (let state = 2; state < firstInto.length; state++)
    firstInto[state] = (firstInto[state] ?? 0) + (firstInto[state - 1] ?? 0);
  const into = zeros(to.length);
  for (let transition = 0; transition < to.length; transition++) {
    const entry = (to[transition] ?? 0) + 1;
    const place = firstInto[entry] ?? 0;
    into[place] = transition;
    firstInto[entry] = place + 1;
  }
  return { from, ends, firstInto, into };
}
