import type { ComplexityBudget } from "../complexity-budget.ts";
import { States, accepting, dead, emptyDfa, explore, step } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";

/** Counting has ended: every text that continues from here has an allowed length. */
const free = -1;

/**
 * Returns the texts of the automaton that have `min` to `max` code points. The result counts only while a text could still
 * become too short or too long.
 */
export function limitLength(dfa: Dfa, min: number, max: number, budget: ComplexityBudget): Dfa {
  budget.spend(dfa.next.length >> 2);
  const before = predecessors(dfa);
  const shortest = shortestRest(dfa, before);
  const longest = longestRest(dfa, before);
  const states = new States<readonly [state: number, count: number]>(budget);
  const rank = dfa.accepting.length;
  const number = (state: number, count: number): number => {
    if (state === dead) return dead;
    const least = count + (shortest[state] ?? Infinity);
    const most = count + (longest[state] ?? Infinity);
    if (count !== free && (least > max || most < min)) return dead;
    const isFree = count === free || (least >= min && most <= max);
    // When the lower bound is met, only the upper bound matters.
    const counted = isFree ? free : max === Infinity ? Math.min(count, min) : count;
    return states.numberOf((counted + 1) * rank + state, [state, counted]);
  };
  const classes = Array.from({ length: dfa.alphabet.size }, (_, class_) => class_);
  if (number(0, 0) === dead) return emptyDfa;
  return explore(
    dfa.alphabet,
    states,
    ([state, count]) => classes.map((class_) => number(step(dfa, state, class_), count === free ? free : count + 1)),
    ([state, count]) => accepting(dfa, state) && (count === free || (count >= min && count <= max)),
  );
}

/** For each state, the length of the shortest text that is accepted from it. */
export function shortestRest(dfa: Dfa, before = predecessors(dfa)): number[] {
  const lengths = Array.from(dfa.accepting, (isEnd) => (isEnd === 1 ? 0 : Infinity));
  const found = Array.from(lengths.keys()).filter((state) => lengths[state] === 0);
  for (const state of found) {
    for (const from of before[state] ?? []) {
      if (lengths[from] !== Infinity) continue;
      lengths[from] = (lengths[state] ?? 0) + 1;
      found.push(from);
    }
  }
  return lengths;
}

/** For each state of a smallest automaton, the length of the longest text from it; infinite where a loop can be reached. */
export function longestRest(dfa: Dfa, before = predecessors(dfa)): number[] {
  const lengths = Array.from(dfa.accepting, () => Infinity);
  const open = Array.from(lengths, () => 0);
  for (const states of before) for (const state of states) open[state] = (open[state] ?? 0) + 1;
  const settled = Array.from(open.keys()).filter((state) => open[state] === 0);
  for (const state of settled) lengths[state] = 0;
  for (const state of settled) {
    for (const from of before[state] ?? []) {
      open[from] = (open[from] ?? 0) - 1;
      const rest = (lengths[state] ?? 0) + 1;
      lengths[from] = lengths[from] === Infinity ? rest : Math.max(lengths[from] ?? 0, rest);
      if (open[from] === 0) settled.push(from);
    }
  }
  return lengths.map((length, state) => (open[state] === 0 ? length : Infinity));
}

function predecessors({ alphabet, next, accepting: { length } }: Dfa): number[][] {
  const before = Array.from({ length }, (): number[] => []);
  for (let state = 0; state < length; state++) {
    for (let cell = state * alphabet.size; cell < (state + 1) * alphabet.size; cell++) {
      const from = before[next[cell] ?? dead];
      if (from?.at(-1) !== state) from?.push(state);
    }
  }
  return before;
}
