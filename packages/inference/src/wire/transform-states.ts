import { move, rowsOf } from "../state-table.ts";
import type { Row, StateTable } from "../state-table.ts";

/**
 * The states of a transform:
 * - `new`: no value has been asked for.
 * - `opening`: the source is being opened.
 * - `reading`: values pass through.
 * - `failing`: a value that was made before a failure has been passed on. The next step throws the failure.
 * - `flushed`: the source has ended or is not needed any more, and the last value is made.
 * - `over`: the values have ended, a failure was thrown, or the reader has left.
 */
type State = "new" | "opening" | "reading" | "failing" | "flushed" | "over";

/**
 * The events of a transform:
 * - `ask`: the reader asks for a value.
 * - `enough`: the reader asks for a value, and no more of the source is needed.
 * - `opened`, `unopened`: the source was opened, or could not be.
 * - `value`, `end`, `failure`: the source has given a value, has ended or has failed. A failed flush is a `failure`, too.
 * - `half`, `broken`: making a value has failed, after a part of it or before. The source is still open.
 * - `leave`: the reader needs no more values.
 * - `stop`: the source is closed, or was never opened, and nothing more follows.
 */
type Event =
  | "ask"
  | "enough"
  | "opened"
  | "unopened"
  | "value"
  | "half"
  | "broken"
  | "end"
  | "failure"
  | "leave"
  | "stop";

/**
 * The action and the next state for each pair of state and event. Pairs without a cell cannot occur while the reader asks for
 * one value at a time. A reader may leave at any time, so an awaited value may still arrive in the state `over`.
 */
const table = {
  new: {
    ask: move("open", "opening"),
    leave: move("ignore", "over"),
  },
  opening: {
    opened: move("read", "reading"),
    unopened: move("throw", "over"),
    leave: move("wait, then leave", "opening"),
  },
  reading: {
    ask: move("read", "reading"),
    enough: move("close the source and flush", "flushed"),
    value: move("transform", "reading"),
    half: move("pass on", "failing"),
    broken: move("close the source and throw", "reading"),
    end: move("flush", "flushed"),
    failure: move("throw", "reading"),
    leave: move("close the source", "reading"),
    stop: move("tell", "over"),
  },
  failing: {
    ask: move("close the source and throw", "failing"),
    leave: move("close the source", "failing"),
    stop: move("tell", "over"),
  },
  flushed: {
    ask: move("finish", "flushed"),
    failure: move("throw", "flushed"),
    leave: move("close the source", "flushed"),
    stop: move("tell", "over"),
  },
  over: {
    ask: move("finish", "over"),
    value: move("drop", "over"),
    end: move("drop", "over"),
    failure: move("throw", "over"),
    leave: move("ignore", "over"),
    stop: move("ignore", "over"),
  },
} satisfies StateTable<State, Event>;

export const states = rowsOf(table);

/** A state with its moves. */
export type TransformState = Row<typeof table>;
