import { setImmediate as nextRound } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cellsOf } from "../../testing/cells-of.ts";
import { states } from "./answer-states.ts";
import { IncomingAnswer, gatherMs } from "./incoming-answer.ts";
import { readInTurn } from "./read-turns.ts";

/** Makes answers wait for their turn until the next round of the event loop. No timer may be running. */
function makeLate(): void {
  readInTurn(() => undefined);
  vi.advanceTimersByTime(gatherMs + 1);
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  makeLate();
});
afterEach(async () => {
  vi.useRealTimers();
  await nextRound();
});

async function settle(): Promise<void> {
  for (let step = 0; step < 20; step += 1) await Promise.resolve();
}

/** An answer that is fed by hand. It records the effects of its events, as its reader and undici see them. */
class Fed {
  readonly seen: string[] = [];
  readonly #answer: IncomingAnswer;
  readonly #controller = {
    aborted: false,
    paused: false,
    reason: null,
    abort: (error: Error): void => {
      this.seen.push("abort");
      this.#answer.onResponseError(this.#controller, error);
    },
    pause: (): void => this.#setPaused(true),
    resume: (): void => this.#setPaused(false),
  };
  readonly #triggers: Readonly<Record<string, () => Promise<unknown>>>;

  constructor(isWhole: boolean) {
    const answer = new IncomingAnswer(new AbortController().signal, isWhole, { count: 0 });
    this.#answer = answer;
    answer.onRequestStart(this.#controller);
    answer.onResponseStart(this.#controller, 200);
    this.#triggers = {
      bytes: async () => answer.onResponseData(this.#controller, Buffer.alloc(1)),
      full: async () => answer.onResponseData(this.#controller, Buffer.alloc(64 * 1024)),
      tick: async () => vi.advanceTimersByTime(gatherMs),
      turn: async () => nextRound().then(makeLate),
      ask: async () => void this.#note(),
      end: async () => answer.onResponseEnd(),
      leave: async () => answer.leave(true),
      cut: async () => answer.leave(false),
      "ask and leave": async () => {
        void this.#note();
        answer.leave(true);
      },
    };
  }

  /** Makes events happen, one after the other. @returns the effects of the last one */
  async after(...events: readonly string[]): Promise<string> {
    for (const event of events) {
      this.seen.length = 0;
      await this.#triggers[event]?.();
      await settle();
    }
    return this.seen.join(", ");
  }

  #setPaused(isPaused: boolean): void {
    this.#controller.paused = isPaused;
    this.seen.push(isPaused ? "pause" : "resume");
  }

  async #note(): Promise<void> {
    try {
      const { done, value } = await this.#answer.next();
      this.seen.push(done ? "= end" : `= ${value.length}`);
    } catch {
      this.seen.push("= failure");
    }
  }
}

const taken = ["bytes", "turn", "ask"];
/** The events that lead into a state. A reader waits where the answer has no bytes for it. */
const ways: Readonly<Record<string, readonly string[]>> = {
  eager: ["ask"],
  patient: [...taken, "ask"],
  gathering: [...taken, "ask", "bytes"],
  "gathering, not asked": [...taken, "bytes"],
  queued: [...taken, "ask", "full"],
  "queued while gathering": [...taken, "ask", "bytes", "full"],
  "patient with a turn to come": [...taken, "ask", "bytes", "full", "tick", "ask"],
  "gathering with a turn to come": [...taken, "ask", "bytes", "full", "tick", "ask", "bytes"],
  "due with a turn to come": [...taken, "bytes", "full", "tick"],
  "due with a tick to come": [...taken, "bytes", "full", "turn"],
  due: ["bytes", "turn"],
  ended: ["bytes", "end"],
  "ended, all taken": ["bytes", "end", "ask"],
  "ended with a turn to come": ["bytes", "end"],
  left: ["leave"],
  "left with a turn to come": ["bytes", "leave"],
  closed: ["leave", "end"],
  "closed with a turn to come": ["bytes", "leave", "end"],
};

const full = 64 * 1024;

/** The way into a state, the event, its effects, and the cells of the table that are used, with their next states. */
const rows: readonly (readonly [way: string, event: string, effects: string, cells: string])[] = [
  ["eager", "bytes", "", "eager bytes → queued, eager ask → eager"],
  ["eager", "full", "pause", "eager full → queued"],
  ["eager", "end", "= end", "eager end → ended, ended take → ended, ended takeWhole → ended"],
  ["eager", "leave", "", "eager leave → left"],
  ["eager", "cut", "abort, = failure", "left end → closed, closed take → closed, closed takeWhole → closed"],
  ["patient", "bytes", "", "patient bytes → gathering, patient ask → patient, due takeWhole → patient"],
  ["patient", "full", "pause", "patient full → queued"],
  ["patient with a turn to come", "turn", "", "patient turn → patient"],
  ["patient", "end", "= end", "patient end → ended"],
  ["patient", "cut", "abort, = failure", "patient leave → left"],
  ["gathering", "bytes", "", "gathering bytes → gathering"],
  ["gathering", "full", "pause", "gathering full → queued"],
  ["gathering, not asked", "ask", "", "gathering ask → gathering"],
  ["gathering", "tick", "= 1", "gathering tick → due"],
  ["gathering with a turn to come", "turn", "= 1", "gathering turn → due"],
  ["gathering", "end", "= 1", "gathering end → ended"],
  ["gathering", "cut", "abort, = failure", "gathering leave → left"],
  ["queued", "bytes", "pause", "queued bytes → queued"],
  ["queued", "full", "pause", "queued full → queued"],
  ["queued while gathering", "tick", `resume, = ${full + 1}`, "queued tick → due"],
  ["queued", "turn", `resume, = ${full}`, "queued turn → due"],
  ["queued", "end", `resume, = ${full}`, "queued end → ended"],
  ["queued", "leave", "resume", "queued leave → left"],
  ["due", "bytes", "", "due bytes → due"],
  ["due", "full", "pause", "due full → due"],
  ["due with a tick to come", "tick", "", "due tick → due"],
  ["due with a turn to come", "turn", "", "due turn → due"],
  ["due", "ask", "= 1", "due ask → due, due take → eager"],
  ["due", "end", "", "due end → ended"],
  ["due", "ask and leave", "= end", "due leave → left, left take → left, left takeWhole → left"],
  ["ended", "bytes", "", "ended bytes → ended"],
  ["ended", "full", "", "ended full → ended"],
  ["ended with a turn to come", "turn", "", "ended turn → ended"],
  ["ended", "ask", "= 1", "ended ask → ended"],
  ["ended, all taken", "ask", "= end", "ended ask → ended"],
  ["ended", "end", "", "ended end → ended"],
  ["ended", "leave", "", "ended leave → closed"],
  ["left", "bytes", "", "left bytes → left"],
  ["left", "full", "", "left full → left"],
  ["left with a turn to come", "turn", "", "left turn → left"],
  ["left", "ask", "", "left ask → left"],
  ["left", "cut", "abort", "left leave → left"],
  ["closed", "bytes", "", "closed bytes → closed"],
  ["closed", "full", "", "closed full → closed"],
  ["closed with a turn to come", "turn", "", "closed turn → closed"],
  ["closed", "ask", "= end", "closed ask → closed"],
  ["closed", "end", "", "closed end → closed"],
  ["closed", "leave", "", "closed leave → closed"],
];

test.each(rows)("an answer that is %s takes the event %s: %s", async (way, event, effects) => {
  expect(await new Fed(true).after(...(ways[way] ?? []), event)).toBe(effects);
});

/** Rows that a stream does not share with other answers. */
const streamRows: readonly (readonly [way: readonly string[], event: string, effects: string, cells: string])[] = [
  [["ask", "bytes"], "ask", "", "queued ask → queued"],
  [taken, "bytes", "", "due take → eager"],
  [[...taken, "ask", "bytes"], "turn", "= 1", "queued turn → due"],
  [[...taken, "ask"], "tick", "", "eager ask → eager"],
];

test.each(streamRows)("a stream after %j takes the event %s: %s", async (way, event, effects) => {
  expect(await new Fed(false).after(...way, event)).toBe(effects);
});

test("the rows above are the whole table, and every other pair is impossible", () => {
  const shown = [...rows, ...streamRows].flatMap(([, , , cells]) => cells.split(", "));
  expect([...new Set(shown)].toSorted()).toEqual(cellsOf(states).toSorted());
});
