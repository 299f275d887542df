import { dead } from "./dfa.ts";
import type { Dfa } from "./dfa.ts";
import { zeros } from "./partition.ts";

/** The transitions of an automaton that do not lead to `dead`, numbered class by class of code points. */
export interface Transitions {
  readonly from: readonly number[];
  /** For each class, the number after its last transition. */
  readonly ends: readonly number[];
  /** The transitions into each state `s`: `into[firstInto[s]]` up to before `into[firstInto[s + 1]]`. */
  readonly firstInto: readonly number[];
  readonly into: readonly number[];
}

export function transitionsOf({ alphabet: { size }, next, accepting }: Dfa): Transitions {
  const from: number[] = [];
  const to: number[] = [];
  const ends: number[] = [];
  // Counted two places further on, and moved one place when they are filled, the entries end up where they belong.
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
