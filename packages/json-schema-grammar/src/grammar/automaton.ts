import type { FreeNames } from "./free-names.ts";

/**
 * An automaton of the contents of an array or object, read item by item or member by member. Values are named by the numbers of
 * their rules, so that a recursive schema becomes recursive rules. State 0 is the start.
 */
export interface Automaton {
  readonly states: readonly State[];
}

export interface State {
  readonly edges: readonly Edge[];
  /** A state whose edges this state shares. Leaving an optional member out leads there. */
  readonly others: number | undefined;
  /** True for an accepting state: the array or object may end here. */
  readonly isEnd: boolean;
}

/** One item or member, and the state after it. */
export interface Edge {
  /** The name of the member, or the names that it may have; undefined in arrays. */
  readonly name: string | FreeNames | undefined;
  readonly rule: number;
  readonly to: number;
}

/** Yields the states whose edges `state` has, beginning with itself. */
function* statesFrom({ states }: Automaton, state: number): Generator<State> {
  for (let at: number | undefined = state; at !== undefined;) {
    // Every number in an automaton is the number of one of its states.
    const found: State = states[at] as State;
    yield found;
    at = found.others;
  }
}

/** Returns all edges of a state, including those that it shares with others. */
export const edgesOf = (automaton: Automaton, state: number): Edge[] =>
  Array.from(statesFrom(automaton, state)).flatMap(({ edges }) => edges);
