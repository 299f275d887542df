import { move, rowsOf } from "../state-table.ts";
import type { Move, Row, StateTable } from "../state-table.ts";

/**
 * The phases of supervision. `EngineState` is the part of them that others see.
 * - `absent`: never started.
 * - `starting`: the start is prepared, or the process runs and has not reported yet.
 * - `loading`: the process reports its progress.
 * - `ready`: it has produced a token, and its progress is watched.
 * - `suspended`: it was ready and failed. It was killed, or it has to produce another token.
 * - `dying`: it is about to exit, because of something that would stop every later process, too.
 * - `restarting`: it finishes its running answers and is replaced then, as requested.
 * - `waiting`: it has ended, and the next one starts in a while.
 * - `closing`: it ends for good. `stopped`: it has ended for good.
 * - `failed`: every later start would fail as well.
 */
type Phase =
  | "absent"
  | "starting"
  | "loading"
  | "ready"
  | "suspended"
  | "dying"
  | "restarting"
  | "waiting"
  | "closing"
  | "stopped"
  | "failed";

/** The events that come from a running process or concern it. Those of an earlier process are dropped before. */
type ProcessEvent =
  /** It has written a line, or our own process could not ask it for a token. */
  | "sign"
  /** It has reported its progress, a passing reason for its end, or a lasting one. */
  | "loading"
  | "failing"
  | "fatal"
  /** It serves, so it can be asked for its first token. */
  | "serving"
  /** It has produced that token. */
  | "answered"
  /** It is silent, frozen or has not produced a token, so it must end. */
  | "broken"
  /** A request and a probe after it have failed. */
  | "doubt"
  /** A graceful restart is requested. */
  | "restart";

type Event =
  | ProcessEvent
  | "start"
  /** Everything is ready for its start. */
  | "prepared"
  /** It has ended and was cleared, or could not be started. Either leads to one of the next three. */
  | "end"
  | "noStart"
  /** The next process starts after a pause, or at once, or none does. */
  | "crash"
  | "due"
  | "giveUp"
  /** The engine is no longer needed. `gone`: its process has ended then. */
  | "close"
  | "gone";

/** Creates cells for events that change nothing in a phase. */
const ignore = <const P extends Phase, const E extends Event>(phase: P, events: readonly E[]) =>
  // Each of the events becomes a member.
  Object.fromEntries(events.map((event) => [event, move("ignore", phase)])) as {
    readonly [event in E]: Move<"ignore", P>;
  };

/** The ways out of a phase with a process. */
const exits = {
  crash: move("wait", "waiting"),
  giveUp: move("give up", "failed"),
  close: move("drain", "closing"),
} as const;

/** While it starts, there is a timer, too. */
const exitsOfStart = { ...exits, close: move("stop the timer and drain", "closing") } as const;

/** The action and the next phase for each pair of phase and event. Pairs without a cell cannot occur. */
const table = {
  absent: {
    start: move("start", "starting"),
    close: move("drain", "closing"),
  },
  starting: {
    prepared: move("launch", "starting"),
    sign: move("restart the timer", "starting"),
    loading: move("report", "loading"),
    failing: move("note the reason", "starting"),
    fatal: move("await the end", "dying"),
    serving: move("probe", "starting"),
    answered: move("open", "ready"),
    broken: move("kill", "starting"),
    ...ignore("starting", ["restart"]),
    end: move("judge", "starting"),
    noStart: move("judge", "starting"),
    ...exitsOfStart,
  },
  loading: {
    sign: move("restart the timer", "loading"),
    loading: move("report", "loading"),
    failing: move("note the reason", "loading"),
    fatal: move("await the end", "dying"),
    serving: move("probe", "loading"),
    answered: move("open", "ready"),
    broken: move("kill", "loading"),
    ...ignore("loading", ["restart"]),
    end: move("judge", "loading"),
    noStart: move("judge", "loading"),
    ...exitsOfStart,
  },
  ready: {
    failing: move("note the reason", "ready"),
    fatal: move("await the end", "dying"),
    broken: move("suspend and kill", "suspended"),
    doubt: move("suspend and probe", "suspended"),
    restart: move("drain", "restarting"),
    ...ignore("ready", ["sign", "loading", "serving", "answered"]),
    end: move("judge", "ready"),
    noStart: move("judge", "ready"),
    ...exits,
  },
  suspended: {
    failing: move("note the reason", "suspended"),
    fatal: move("await the end", "dying"),
    answered: move("open", "ready"),
    broken: move("kill", "suspended"),
    ...ignore("suspended", ["sign", "loading", "serving", "doubt", "restart"]),
    end: move("judge", "suspended"),
    noStart: move("judge", "suspended"),
    ...exits,
  },
  dying: {
    fatal: move("await the end", "dying"),
    broken: move("kill", "dying"),
    ...ignore("dying", ["sign", "loading", "failing", "serving", "answered", "doubt", "restart"]),
    end: move("give up", "dying"),
    noStart: move("judge", "dying"),
    ...exits,
  },
  restarting: {
    failing: move("note the reason", "restarting"),
    fatal: move("await the end", "dying"),
    broken: move("kill", "restarting"),
    ...ignore("restarting", ["sign", "loading", "serving", "answered", "doubt", "restart"]),
    end: move("start again", "restarting"),
    noStart: move("judge", "restarting"),
    due: move("start", "starting"),
    ...exits,
  },
  waiting: {
    due: move("start", "starting"),
    close: move("stop the timer and drain", "closing"),
  },
  closing: {
    broken: move("kill", "closing"),
    ...ignore("closing", ["sign", "loading", "failing", "fatal", "serving", "answered", "doubt", "restart"]),
    ...ignore("closing", ["prepared", "end", "noStart", "close"]),
    gone: move("stop", "stopped"),
  },
  stopped: ignore("stopped", ["close", "gone"]),
  failed: {
    close: move("drain", "closing"),
  },
} satisfies StateTable<Phase, Event>;

export const phases = rowsOf(table);

/** A phase with its moves. */
export type SupervisorPhase = Row<typeof table>;
