import { edgesOf } from "./automaton.ts";
import type { Automaton } from "./automaton.ts";

/** For each state, over how few members or items of the given rules an end is reached; undefined where none is. */
export function shortestRest(automaton: Automaton, isUsable: (rule: number) => boolean): (number | undefined)[] {
  const rest = automaton.states.map(({ isEnd }) => (isEnd ? 0 : undefined)) as (number | undefined)[];
  for (let grew = true; grew;) {
    grew = false;
    for (let state = rest.length - 1; state >= 0; state--) {
      const usable = edgesOf(automaton, state).filter(({ rule, to }) => isUsable(rule) && rest[to] !== undefined);
      const nearest = Math.min(...usable.map(({ to }) => (rest[to] ?? Infinity) + 1));
      if (nearest >= (rest[state] ?? Infinity)) continue;
      rest[state] = nearest;
      grew = true;
    }
  }
  return rest;
}
