import { expect, test } from "vitest";
import { settlesWithin } from "./settles-within.ts";

const never = (): Promise<unknown> => Promise.withResolvers<unknown>().promise;

test("a promise that is fulfilled in time is reported at once", async () => {
  const startedMs = performance.now();
  expect(await settlesWithin(Promise.resolve("here"), 60_000)).toBe(true);
  expect(performance.now() - startedMs).toBeLessThan(30_000);
});

test("the wait ends when the time is over", async () => {
  expect(await settlesWithin(never(), 5)).toBe(false);
});

test("a rejection in time is thrown, and a later one is ignored", async () => {
  await expect(settlesWithin(Promise.reject(new Error("broken")), 60_000)).rejects.toThrow("broken");
  const { promise, reject } = Promise.withResolvers<unknown>();
  expect(await settlesWithin(promise, 5)).toBe(false);
  // vitest fails a run with an unhandled rejection.
  reject(new Error("too late"));
});
