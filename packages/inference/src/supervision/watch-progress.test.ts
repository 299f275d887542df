import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { EngineStatus } from "./status.ts";
import { defaultTimings } from "./timings.ts";
import { watchProgress } from "./watch-progress.ts";
import type { Freeze } from "./watch-progress.ts";

const timings = { ...defaultTimings, watchEveryMs: 5, unansweredMs: 60, stallMs: 60 };
const idle: EngineStatus = { running: 0, waiting: 0, computing: 0, progress: 7, aborted: 0 };
const busy: EngineStatus = { ...idle, running: 2, computing: 1 };

/** A busy machine may pause this process for longer than 60 ms, which must not look like a stall. */
const patient = { ...timings, unansweredMs: 500, stallMs: 500 };

/** Long enough to notice a stall on a busy machine. */
const patienceMs = 10_000;

/** Watches until the watchdog reports a stall, or for `forMs` milliseconds. */
async function watch(
  ask: (signal: AbortSignal) => Promise<EngineStatus>,
  forMs: number,
  limits = timings,
): Promise<Freeze | undefined> {
  const end = Date.now() + forMs;
  return watchProgress(ask, limits, () => Date.now() < end);
}

describe("an engine is frozen when", () => {
  test("it does not answer in time", async () => {
    const silent = (signal: AbortSignal): Promise<EngineStatus> => wait(60_000, idle, { signal });
    await expect(watch(silent, patienceMs)).resolves.toEqual({
      why: expect.stringContaining("the engine is frozen: no answer within 60 ms"),
      isStall: true,
    });
  });

  test("not when it fails at once, like a killed engine: that failure is reported unchanged", async () => {
    await expect(watch(() => Promise.reject(new Error("broken")), patienceMs)).resolves.toEqual({
      why: "the engine refused to answer (Error: broken)",
      isStall: false,
    });
  });

  test("it evaluates without producing a token", async () => {
    await expect(watch(async () => busy, patienceMs)).resolves.toEqual({
      why: expect.stringContaining("no token for 60 ms"),
      isStall: true,
    });
  });
});

const refused = (code: string): Promise<never> => Promise.reject(Object.assign(new Error(`connect ${code}`), { code }));

test("an engine that no longer accepts connections is frozen after the deadline", async () => {
  await expect(watch(() => refused("EAGAIN"), patienceMs)).resolves.toEqual({
    why: expect.stringContaining("connect EAGAIN"),
    isStall: true,
  });
});

describe("it is not when", () => {
  test.each(["EMFILE", "ENFILE", "ENOMEM", "ENOBUFS"])("our own process is out of something (%s)", async (code) => {
    await expect(watch(() => refused(code), 300)).resolves.toBeUndefined();
  });

  test.each([
    ["it has nothing to do", async () => idle],
    ["it waits for a reader", async () => ({ ...busy, computing: 0 })],
    ["tokens come, however slowly", async () => ({ ...busy, progress: Math.floor(Date.now() / 30) })],
  ])("%s", async (_title, ask) => {
    await expect(watch(ask, 1200, patient)).resolves.toBeUndefined();
  });

  test("it was evaluating at every check, and had made progress each time", async () => {
    let looks = 0;
    const alternating = async (): Promise<EngineStatus> => ({ ...busy, computing: (looks += 1) % 2 });
    await expect(watch(alternating, 1200, patient)).resolves.toBeUndefined();
  });
});

test("a step of the wall clock does not make a healthy engine look frozen", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const startedAt = performance.now();
    let looks = 0;
    // It evaluates, and its next token takes longer than the test watches.
    const ask = async (): Promise<EngineStatus> => {
      looks += 1;
      vi.setSystemTime(Date.now() + 3_600_000 * (looks % 2 === 0 ? -2 : 1));
      return busy;
    };
    const isWatched = (): boolean => looks < 5 && performance.now() - startedAt < patienceMs;
    await expect(watchProgress(ask, { ...patient, stallMs: patienceMs }, isWatched)).resolves.toBeUndefined();
    expect(looks).toBe(5);
  } finally {
    vi.useRealTimers();
  }
});
