import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryReturn, leastBytes } from "./return-memory.ts";

describe("memory is given back", () => {
  let residentBytes: number;
  let collections: number;
  const activity = { running: 0, admitted: 0 };

  beforeEach(() => {
    vi.useFakeTimers();
    residentBytes = 100e6;
    collections = 0;
    Object.assign(activity, { running: 0, admitted: 0 });
  });
  afterEach(() => void vi.useRealTimers());

  const start = (): Disposable =>
    new MemoryReturn(activity, {
      everyMs: 1000,
      residentBytes: () => residentBytes,
      collect: async () => {
        collections += 1;
        residentBytes = 120e6;
      },
    });

  test("once, when no request has been running for two looks and much was taken since the last time", async () => {
    using _return = start();
    residentBytes += leastBytes;
    await vi.advanceTimersByTimeAsync(1000);
    expect(collections).toBe(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(collections).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(collections).toBe(1);
    residentBytes += leastBytes;
    await vi.advanceTimersByTimeAsync(1000);
    expect(collections).toBe(2);
  });

  test("not while a request runs, nor when one has come and gone between two looks", async () => {
    using _return = start();
    residentBytes += leastBytes;
    activity.running = 1;
    await vi.advanceTimersByTimeAsync(5000);
    activity.running = 0;
    for (let look = 0; look < 5; look += 1) {
      activity.admitted += 1;
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(collections).toBe(0);
    await vi.advanceTimersByTimeAsync(1000);
    expect(collections).toBe(1);
  });

  test("not for little, and not after the end", async () => {
    const memory = start();
    residentBytes += leastBytes - 1;
    await vi.advanceTimersByTimeAsync(5000);
    expect(collections).toBe(0);
    memory[Symbol.dispose]();
    residentBytes += leastBytes;
    await vi.advanceTimersByTimeAsync(5000);
    expect(collections).toBe(0);
  });
});

test("a process that has let go of much memory has less of it soon", async () => {
  const before = process.memoryUsage.rss();
  using _return = new MemoryReturn({ running: 0, admitted: 0 }, { everyMs: 20 });
  let kept: unknown[] = Array.from({ length: 2_000_000 }, (_, at) => ({ at, of: [at] }));
  const most = process.memoryUsage.rss();
  expect(most - before).toBeGreaterThan(2 * leastBytes);
  expect(kept).toHaveLength(2_000_000);
  kept = [];
  await vi.waitFor(() => expect(process.memoryUsage.rss()).toBeLessThan(most - leastBytes), { timeout: 20_000 });
});
