import { move, rowsOf } from "../state-table.ts";
import type { Row, StateTable } from "../state-table.ts";

/**
 * The states of an incoming answer:
 * - `eager`: no bytes wait, and the next ones are read at once. A stream returns here after each read.
 * - `patient`: no bytes wait, and the next ones are gathered. An answer that is not streamed returns here after each read.
 * - `gathering`: bytes wait until the time for gathering is over.
 * - `queued`: bytes wait for their turn among the answers of other requests.
 * - `due`: bytes can be taken.
 * - `ended`: the answer has ended or failed. Its last bytes can be taken.
 * - `left`: the reader needs no more bytes, and the answer has not ended.
 * - `closed`: the reader has left, and the answer has ended.
 */
type State = "eager" | "patient" | "gathering" | "queued" | "due" | "ended" | "left" | "closed";

/**
 * The events of an incoming answer:
 * - `bytes`, `full`: bytes arrive. `full`: with them, as many wait as the memory for one answer may hold.
 * - `tick`: the time for gathering bytes is over.
 * - `turn`: a round of the event loop has time to read this answer. The reader may have taken the bytes already.
 * - `ask`: the reader asks for bytes.
 * - `take`, `takeWhole`: the bytes of a stream, or of another answer, go to the reader that was woken.
 * - `end`: the answer ends or fails.
 * - `leave`: the reader needs no more bytes.
 */
type Event = "bytes" | "full" | "tick" | "turn" | "ask" | "take" | "takeWhole" | "end" | "leave";

/**
 * The action and the next state for each pair of state and event. Pairs without a cell cannot occur: the timer of `tick` runs only
 * until the bytes are taken, and a reader takes bytes only after it was woken. undici sends nothing after the end, and if it did,
 * it would be ignored.
 */
const table = {
  eager: {
    bytes: move("queue", "queued"),
    full: move("queue", "queued"),
    ask: move("wait", "eager"),
    end: move("wake", "ended"),
    leave: move("leave", "left"),
  },
  patient: {
    bytes: move("gather", "gathering"),
    full: move("queue", "queued"),
    turn: move("ignore", "patient"),
    ask: move("wait", "patient"),
    end: move("wake", "ended"),
    leave: move("leave", "left"),
  },
  gathering: {
    bytes: move("pause", "gathering"),
    full: move("queue", "queued"),
    tick: move("wake", "due"),
    turn: move("wake", "due"),
    ask: move("wait", "gathering"),
    end: move("wake", "ended"),
    leave: move("leave", "left"),
  },
  queued: {
    bytes: move("keep", "queued"),
    full: move("keep", "queued"),
    tick: move("wake", "due"),
    turn: move("wake", "due"),
    ask: move("wait", "queued"),
    end: move("wake", "ended"),
    leave: move("leave", "left"),
  },
  due: {
    bytes: move("keep", "due"),
    full: move("keep", "due"),
    tick: move("ignore", "due"),
    turn: move("ignore", "due"),
    ask: move("answer", "due"),
    take: move("take", "eager"),
    takeWhole: move("take", "patient"),
    end: move("wake", "ended"),
    leave: move("leave", "left"),
  },
  ended: {
    bytes: move("drop", "ended"),
    full: move("drop", "ended"),
    turn: move("ignore", "ended"),
    ask: move("answer", "ended"),
    take: move("take", "ended"),
    takeWhole: move("take", "ended"),
    end: move("ignore", "ended"),
    leave: move("forget", "closed"),
  },
  left: {
    bytes: move("drop", "left"),
    full: move("drop", "left"),
    turn: move("ignore", "left"),
    ask: move("wait", "left"),
    take: move("take", "left"),
    takeWhole: move("take", "left"),
    end: move("wake", "closed"),
    leave: move("leave", "left"),
  },
  closed: {
    bytes: move("drop", "closed"),
    full: move("drop", "closed"),
    turn: move("ignore", "closed"),
    ask: move("answer", "closed"),
    take: move("take", "closed"),
    takeWhole: move("take", "closed"),
    end: move("ignore", "closed"),
    leave: move("forget", "closed"),
  },
} satisfies StateTable<State, Event>;

export const states = rowsOf(table);

/** A state with its moves. */
export type AnswerState = Row<typeof table>;
