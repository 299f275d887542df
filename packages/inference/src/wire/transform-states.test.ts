import { setImmediate as round } from "node:timers/promises";
import { expect, test } from "vitest";
import { ImpossibleEventError } from "../state-table.ts";
import { cellsOf } from "../../testing/cells-of.ts";
import { states } from "./transform-states.ts";
import { FailedAfterError, transform } from "./transform.ts";
import type { Transformer } from "./transform.ts";

/** A transform whose source is opened and fed by hand. It records the effects of its events. */
class Fed {
  readonly seen: string[] = [];
  readonly #opened = Promise.withResolvers<undefined>();
  readonly #flushed = Promise.withResolvers<string>();
  #read = Promise.withResolvers<IteratorResult<string>>();
  #isDone = false;
  readonly #all = transform<string, string>(async () => {
    this.seen.push("open");
    await this.#opened.promise;
    return this.#transformer;
  });
  readonly #transformer: Transformer<string, string> = {
    source: {
      next: () => {
        this.seen.push("read");
        this.#read = Promise.withResolvers();
        return this.#read.promise;
      },
      return: async () => ({ done: this.seen.push("close") > 0, value: "" }),
    },
    transform: (value) => {
      if (value === "broken") throw new Error("broken");
      if (value === "half") throw new FailedAfterError("half", new Error("half"));
      return value;
    },
    isDone: () => this.#isDone,
    flush: () => {
      this.seen.push("flush");
      return this.#flushed.promise;
    },
    onEnd: (isWhole) => void this.seen.push(`tell ${isWhole ? "whole" : "cut"}`),
  };

  /** Functions that make the events happen. */
  readonly #triggers: Readonly<Record<string, () => void>> = {
    ask: () => void this.#note(() => this.#all.next()),
    enough: () => {
      this.#isDone = true;
      void this.#note(() => this.#all.next());
    },
    opened: () => this.#opened.resolve(undefined),
    unopened: () => this.#opened.reject(new Error("unopened")),
    value: () => this.#read.resolve({ done: false, value: "value" }),
    half: () => this.#read.resolve({ done: false, value: "half" }),
    broken: () => this.#read.resolve({ done: false, value: "broken" }),
    end: () => this.#read.resolve({ done: true, value: undefined }),
    flushed: () => this.#flushed.resolve("last"),
    failure: () => {
      this.#read.reject(new Error("failure"));
      this.#flushed.reject(new Error("failure"));
    },
    leave: () => void this.#note(() => this.#all.return(undefined)),
  };

  /** Makes events happen, one after the other. @returns the effects of the last one, and the results of the reader's calls */
  async after(...events: readonly string[]): Promise<string> {
    // Nothing waits for the promises that no event settles.
    for (const { promise } of [this.#opened, this.#flushed]) promise.catch(() => undefined);
    for (const event of events) {
      this.seen.length = 0;
      this.#triggers[event]?.();
      await round();
    }
    return this.seen.join(", ");
  }

  async #note(call: () => Promise<IteratorResult<string, unknown>>): Promise<void> {
    try {
      const { done, value } = await call();
      this.seen.push(done ? "= end" : `= ${value}`);
    } catch (error) {
      this.seen.push(error instanceof ImpossibleEventError ? "= impossible" : "= failure");
    }
  }
}

const reading = ["ask", "opened", "value"];
const awaited = [...reading, "ask"];
const failing = [...awaited, "half"];
const flushed = [...awaited, "end", "flushed"];

/** State, the events that lead into it, the event, its effects in the words of `Fed`, and the next state at once. */
const rows: readonly (readonly [
  state: string,
  way: readonly string[],
  event: string,
  effects: string,
  next: string,
])[] = [
  ["new", [], "ask", "open", "opening"],
  ["new", [], "leave", "= end", "over"],
  ["opening", ["ask"], "opened", "read", "reading"],
  ["opening", ["ask"], "unopened", "= failure", "over"],
  ["reading", reading, "ask", "read", "reading"],
  ["reading", reading, "enough", "close, flush", "flushed"],
  ["reading", awaited, "value", "= value", "reading"],
  ["reading", awaited, "half", "= half", "failing"],
  ["reading", awaited, "broken", "close, tell cut, = failure", "reading"],
  ["reading", awaited, "end", "flush", "flushed"],
  ["reading", awaited, "failure", "tell cut, = failure", "reading"],
  ["reading", reading, "leave", "close, tell cut, = end", "reading"],
  ["failing", failing, "ask", "close, tell cut, = failure", "failing"],
  ["failing", failing, "leave", "close, tell cut, = end", "failing"],
  ["flushed", flushed, "ask", "tell whole, = end", "flushed"],
  ["flushed", [...awaited, "end"], "failure", "tell cut, = failure", "flushed"],
  ["flushed", flushed, "leave", "close, tell cut, = end", "flushed"],
  ["over", ["leave"], "ask", "= end", "over"],
  ["over", ["leave"], "leave", "= end", "over"],
  ["over", [...awaited, "leave"], "value", "= end", "over"],
  ["over", [...awaited, "leave"], "end", "= end", "over"],
  ["over", [...awaited, "leave"], "failure", "= failure", "over"],
];

test.each(rows)("in the state %s after %j, the event %s has its effects", async (_state, way, event, effects) => {
  expect(await new Fed().after(...way, event)).toBe(effects);
});

test("a reader that leaves while the source is being opened waits, and closes it", async () => {
  const fed = new Fed();
  expect(await fed.after("ask", "leave")).toBe("");
  expect(await fed.after("opened")).toBe("read, close, tell cut, = end");
});

test("two calls of `return` at the same time tell the end once", async () => {
  const fed = new Fed();
  await fed.after(...reading);
  fed.seen.length = 0;
  void fed.after("leave");
  await fed.after("leave");
  expect(fed.seen.filter((effect) => effect.startsWith("tell"))).toEqual(["tell cut"]);
});

test("the rows above are the whole table, and every other pair is impossible", () => {
  const shown = rows.map(([state, , event, , next]) => `${state} ${event} → ${next}`);
  // The test before last shows leaving while the source is being opened. The end is told after other events (`stop`).
  const others = ["reading", "failing", "flushed", "over"].map((state) => `${state} stop → over`);
  expect([...shown, ...others, "opening leave → opening"].toSorted()).toEqual(cellsOf(states).toSorted());
});

test("a reader that asks again while the source is being opened gets an error", async () => {
  expect(await new Fed().after("ask", "ask")).toBe("= impossible");
});
