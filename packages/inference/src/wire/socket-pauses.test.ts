import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cellsOf } from "../../testing/cells-of.ts";
import { SocketPauses, states } from "./socket-pauses.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** The pauses of a socket whose answer has taken `ageMs` so far, with a record of what was done to the socket. */
function start(ageMs: number): { pauses: SocketPauses; seen: string[] } {
  const seen: string[] = [];
  const pauses = new SocketPauses({ pause: () => seen.push("pause"), resume: () => seen.push("resume") }, 50);
  vi.advanceTimersByTime(ageMs);
  return { pauses, seen };
}

const run = async (): Promise<void> => Promise.resolve();

/** The age of the answer in milliseconds, the events, their effects on the socket, and the cells. "wait": 49 ms pass. */
const rows: readonly (readonly [
  ageMs: number,
  events: readonly string[],
  effects: readonly string[],
  cells: string,
])[] = [
  [79, ["gather", "run"], [], "flowing gather → flowing, flowing run → flowing"],
  [80, ["gather", "run"], ["pause"], "flowing defer → deferred, deferred run → paused"],
  [80, ["gather", "run", "wait"], ["pause", "resume"], "paused resume → flowing"],
  [1000, ["gather", "run", "wait"], ["pause"], "paused resume → flowing"],
  [1000, ["gather", "run", "resume", "resume"], ["pause", "resume"], "flowing resume → flowing"],
  [1000, ["gather", "gather", "run", "gather", "run"], ["pause"], "deferred gather → deferred, paused gather → paused"],
  [1000, ["gather", "resume", "run"], ["resume"], "deferred resume → flowing"],
  [1000, ["gather", "resume", "gather", "run", "run"], ["resume", "pause"], "paused run → paused"],
];

test.each(rows)("after %i ms, %j have the effects %j", async (ageMs, events, effects) => {
  const { pauses, seen } = start(ageMs);
  for (const event of events) {
    if (event === "gather") pauses.gather();
    if (event === "resume") pauses.resume();
    if (event === "run") await run();
    if (event === "wait") vi.advanceTimersByTime(49);
  }
  expect(seen).toEqual(effects);
});

test("the rows above are the whole table, and every other pair is impossible", () => {
  const shown = rows.flatMap(([, , , cells]) => cells.split(", "));
  expect([...new Set(shown)].toSorted()).toEqual(cellsOf(states).toSorted());
});
