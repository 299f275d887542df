import { setImmediate as nextRound } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readInTurn } from "./read-turns.ts";
import { IncomingAnswer, gatherMs } from "./incoming-answer.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(async () => {
  vi.useRealTimers();
  await nextRound(); // ends the round of `readInTurn`
});

/** Lets time pass on the clock of the test, and everything happen that is due by then. */
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

interface Opened {
  readonly answer: IncomingAnswer;
  /** A part of the body arrives. */
  readonly push: (text: string) => void;
  readonly end: () => void;
  readonly fail: (error: Error) => void;
  readonly controller: { aborted: boolean; reason: Error | null; paused: boolean };
}

/** A started answer that is fed by hand instead of by undici. */
function open({ isWhole = true, signal = new AbortController().signal } = {}): Opened {
  const answer = new IncomingAnswer(signal, isWhole, { count: 0 });
  const controller = {
    aborted: false,
    paused: false,
    reason: null as Error | null,
    abort(reason: Error): void {
      controller.aborted = true;
      controller.reason = reason;
      answer.onResponseError(controller, reason);
    },
    pause: (): void => void (controller.paused = true),
    resume: (): void => void (controller.paused = false),
  };
  answer.onRequestStart(controller);
  answer.onResponseStart(controller, 200);
  return {
    answer,
    controller,
    push: (text) => answer.onResponseData(controller, Buffer.from(text)),
    end: () => answer.onResponseEnd(),
    fail: (error) => answer.onResponseError(controller, error),
  };
}

/** Reads an answer to its end in the background. */
function read(answer: IncomingAnswer): { readonly batches: string[]; readonly end: Promise<unknown> } {
  const batches: string[] = [];
  const loop = async (): Promise<unknown> => {
    try {
      for (let next = await answer.next(); !next.done; next = await answer.next()) batches.push(next.value.toString());
    } catch (error) {
      return error;
    }
    return undefined;
  };
  return { batches, end: loop() };
}

describe("an answer that is not streamed", () => {
  test("is read at once when its first bytes arrive, and in batches from then on", async () => {
    const { answer, push, end } = open();
    const reading = read(answer);
    push("a");
    await pass(0);
    expect(reading.batches).toEqual(["a"]);
    for (const byte of "bcdef") {
      push(byte);
      await pass(9);
    }
    expect(reading.batches).toEqual(["a"]);
    await pass(gatherMs - 45);
    expect(reading.batches).toEqual(["a", "bcdef"]);
    push("g");
    end();
    expect(await reading.end).toBeUndefined();
    expect(reading.batches).toEqual(["a", "bcdef", "g"]);
  });

  test("is read before its end if the end takes longer", async () => {
    const { answer, push } = open();
    const { batches } = read(answer);
    push("a");
    await pass(0);
    push("b");
    await pass(gatherMs);
    expect(batches).toEqual(["a", "b"]);
  });

  test.each([["with its last bytes"], ["later"]])("ends at once when the end comes %s", async (when) => {
    const { answer, push, end } = open();
    const reading = read(answer);
    push("a");
    await pass(0);
    if (when === "with its last bytes") push("bc");
    end();
    expect(await reading.end).toBeUndefined();
    expect(reading.batches).toEqual(when === "later" ? ["a"] : ["a", "bc"]);
  });

  test("is read when the buffer is full, and the sender waits meanwhile", async () => {
    const { answer, push, controller } = open();
    push("a".repeat(70_000));
    expect(controller.paused).toBe(true);
    expect((await answer.next()).value).toHaveLength(70_000);
    expect(controller.paused).toBe(false);
  });
});

test("a stream is read as it arrives, and bytes that arrived together are read together", async () => {
  const { answer, push, end } = open({ isWhole: false });
  const reading = read(answer);
  for (const text of ["ab", "cd"]) {
    for (const byte of text) push(byte);
    await pass(1);
  }
  end();
  expect(await reading.end).toBeUndefined();
  expect(reading.batches).toEqual(["ab", "cd"]);
});

test.each([[true], [false]])("bytes before a failure are passed on before it (whole: %s)", async (isWhole) => {
  const { answer, push, fail } = open({ isWhole });
  const reading = read(answer);
  push("a");
  await pass(0);
  push("b");
  fail(new Error("cut"));
  expect(await reading.end).toEqual(new Error("cut"));
  expect(reading.batches).toEqual(["a", "b"]);
});

test("a disconnect ends the answer, and the bytes that have arrived are still passed on", async () => {
  const hangUp = new AbortController();
  const { answer, push, controller } = open({ signal: hangUp.signal });
  const reading = read(answer);
  push("a");
  await pass(0);
  push("b");
  hangUp.abort(new Error("the caller is gone"));
  expect(await reading.end).toEqual(new Error("the caller is gone"));
  expect(reading.batches).toEqual(["a", "b"]);
  expect(controller.aborted).toBe(true);
});

describe("an answer whose reader stops", () => {
  test("before its last event is ended", () => {
    const { answer, push, controller } = open();
    push("a");
    answer.leave(false);
    expect(controller.aborted).toBe(true);
  });

  test("after its last event may end by itself, and keeps its connection", async () => {
    const { answer, push, end, controller } = open();
    push("a");
    answer.leave(true);
    push("b");
    end();
    await pass(1100);
    expect(controller.aborted).toBe(false);
  });

  test("after its last event is closed if it goes on for a second", async () => {
    const { answer, push, controller } = open();
    push("a");
    answer.leave(true);
    await pass(999);
    expect(controller.aborted).toBe(false);
    await pass(1);
    expect(controller.aborted).toBe(true);
  });
});

test("bytes that are read before their turn do not end the answer", async () => {
  const { answer, push } = open();
  push("a");
  expect(await answer.next()).toMatchObject({ value: Buffer.from("a") });
  readInTurn(() => undefined); // begins a round, unless the first byte has
  vi.advanceTimersByTime(40);
  push("b"); // to be read after 50 ms
  vi.advanceTimersByTime(20); // now the round has lasted so long that others have to wait
  for (let other = 0; other < 20; other += 1) readInTurn(() => undefined);
  push("x".repeat(64 * 1024)); // to be read in a later round
  vi.advanceTimersByTime(gatherMs); // the bytes are read before that
  expect((await answer.next()).value).toHaveLength(64 * 1024 + 1);
  const next = answer.next();
  for (let round = 0; round < 3; round += 1) await nextRound();
  push("c");
  await pass(gatherMs);
  expect(await next).toMatchObject({ done: false });
});
