/** One cell of a table of states: the action to take after an event, and the next state. */
export interface Move<A, S> {
  readonly action: A;
  readonly to: S;
}

/** The moves of a state machine, by state and event. A pair without a cell cannot occur. */
export type StateTable<S extends string, E extends string> = {
  readonly [state in S]: { readonly [event in E]?: Move<string, S> };
};

/** An event came in a state in which it cannot occur. This is a fault in our code. */
export class ImpossibleEventError extends Error {
  override readonly name = "ImpossibleEventError";

  constructor(state: string) {
    super(`this event cannot occur in the state "${state}"`);
  }
}

/** Creates a cell whose action and state keep their literal types. */
export const move = <const A extends string, const S extends string>(action: A, to: S): Move<A, S> => ({ action, to });

/** A state with its cell for each event; undefined where the event cannot occur. */
export type Row<T> = { readonly name: keyof T } & {
  readonly [E in EventIn<T>]: Move<ActionIn<T, E>, keyof T> | undefined;
};

type EventIn<T> = { [S in keyof T]: keyof T[S] }[keyof T];

type ActionIn<T, E> = {
  [S in keyof T]: E extends keyof T[S] ? (T[S][E] extends Move<infer A, unknown> ? A : never) : never;
}[keyof T];

/**
 * Returns the rows of a table. All rows have the same members in the same order, so that reading a cell is as cheap as reading
 * a field: `row.ask` is read for every token.
 */
export function rowsOf<S extends string, E extends string, T extends StateTable<S, E>>(
  table: T & StateTable<S, E>,
): Readonly<Record<keyof T, Row<T>>> {
  const states = Object.keys(table) as S[]; // a table has no other members
  const events = new Set(states.flatMap((state) => Object.keys(table[state]) as E[]));
  const rowOf = (state: S): [S, object] => [
    state,
    Object.fromEntries([["name", state], ...Array.from(events, (event) => [event, table[state][event]] as const)]),
  ];
  // `Row` has the members of `rowOf`: the name, and a cell for each event of the table.
  return Object.fromEntries(states.map(rowOf)) as Record<keyof T, Row<T>>;
}
