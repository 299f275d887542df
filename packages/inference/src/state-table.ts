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

  constructor(state: PropertyKey) {
    super(`this event cannot occur in the state "${String(state)}"`);
  }
}

/** Creates a cell whose action and state keep their literal types. */
export const move = <const A extends string, const S extends string>(action: A, to: S): Move<A, S> => ({ action, to });

/** A step out of a state: the action to take, and the row of the next state. */
export interface Step<A, R> {
  readonly action: A;
  readonly next: R;
}

/** A state, with the step of each event; undefined where the event cannot occur. */
export type Row<T> = { readonly name: keyof T } & {
  readonly [E in EventIn<T>]: Step<ActionIn<T, E>, Row<T>> | undefined;
};

type EventIn<T> = { [S in keyof T]: keyof T[S] }[keyof T];

type ActionIn<T, E> = {
  [S in keyof T]: E extends keyof T[S] ? (T[S][E] extends Move<infer A, unknown> ? A : never) : never;
}[keyof T];

/**
 * Returns the rows of a table. All rows have the same members in the same order, and a step holds the row of the next state. So
 * a step costs as much as reading two fields, and may be taken for every token.
 */
export function rowsOf<S extends string, E extends string, T extends StateTable<S, E>>(
  table: T & StateTable<S, E>,
): Readonly<Record<keyof T, Row<T>>> {
  const states = Object.keys(table) as S[]; // a table has no other members
  const events = new Set(states.flatMap((state) => Object.keys(table[state]) as E[]));
  const none = Array.from(events, (event) => [event, undefined] as const);
  const rows: Partial<Record<S, object>> = {};
  for (const name of states) rows[name] = Object.fromEntries([["name", name], ...none]);
  for (const name of states) {
    for (const event of events) {
      const cell = table[name][event];
      if (cell) Object.assign(rows[name] ?? {}, { [event]: { action: cell.action, next: rows[cell.to] } });
    }
  }
  // `Row` has these members: the name, and a step or undefined for each event of the table.
  return rows as Record<keyof T, Row<T>>;
}
