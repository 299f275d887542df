import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { MemoryReturn, minBytes, maxBusyShare } from "./return-memory.ts";

describe("memory is given back", () => {
  const activity = { running: 0 };
  let busyShare: number;
  let residentBytes: number;
  let collections: number;

  beforeEach(() => {
    vi.useFakeTimers();
    activity.running = 0;
    busyShare = 0;
    residentBytes = 100e6;
    collections = 0;
  });
  afterEach(() => void vi.useRealTimers());

  const start = (): Disposable =>
    new MemoryReturn(activity, {
      everyMs: 1000,
      busyShare: () => busyShare,
      residentBytes: () => residentBytes,
      collect: async () => {
        collections += 1;
        residentBytes = 120e6;
      },
    });

  test("once, and again when much was taken since", async () => {
    using _return = start();
    residentBytes += minBytes;
    await vi.advanceTimersByTimeAsync(1000);
    expect(collections).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(collections).toBe(1);
    residentBytes += minBytes;
    await vi.advanceTimersByTimeAsync(1000);
    expect(collections).toBe(2);
  });

  test("not while a request runs, nor directly after a busy time", async () => {
    using _return = start();
    residentBytes += minBytes;
    activity.running = 1;
    await vi.advanceTimersByTimeAsync(5000);
    Object.assign(activity, { running: 0 });
    busyShare = maxBusyShare;
    await vi.advanceTimersByTimeAsync(5000);
    expect(collections).toBe(0);
    busyShare = 0;
    await vi.advanceTimersByTimeAsync(1000);
    expect(collections).toBe(1);
  });

  test("not for a small amount, and not after disposal", async () => {
    const memory = start();
    residentBytes += minBytes - 1;
    await vi.advanceTimersByTimeAsync(5000);
    memory[Symbol.dispose]();
    residentBytes += minBytes;
    await vi.advanceTimersByTimeAsync(5000);
    expect(collections).toBe(0);
  });
});

test("a process that has freed much memory becomes smaller soon", async () => {
  const before = process.memoryUsage.rss();
  using _return = new MemoryReturn({ running: 0 }, { everyMs: 100 });
  const kept: unknown[] = [];
  let most = before;
  // Earlier tests of this process left room in the heap, which is filled first.
  while (most - before <= 2 * minBytes) {
    kept.push(Array.from({ length: 200_000 }, (_, at) => ({ at, of: [at] })));
    most = process.memoryUsage.rss();
  }
  kept.length = 0;
  // The checks are rare, so they keep the event loop quiet.
  const isLess = (): void => expect(process.memoryUsage.rss()).toBeLessThan(most - minBytes);
  await vi.waitFor(isLess, { timeout: 20_000, interval: 500 });
});
