import { describe, expect, test } from "vitest";
import { ConnectionError } from "./errors.ts";
import { pauseMs, repeat } from "./repeat.ts";
import { askCaller, tryAgain } from "./retry-advice.ts";
import type { RetryAdvice } from "./retry-advice.ts";

/** Fails `times` times with this advice, then returns the number of attempts. */
function failing(times: number, retry: RetryAdvice): () => Promise<number> {
  let attempts = 0;
  return async () => {
    attempts += 1;
    if (attempts <= times) throw new ConnectionError(`attempt ${attempts}`, { retry });
    return attempts;
  };
}

const { signal } = new AbortController();
const options = { maxRetries: 2, endsAtMs: Number.POSITIVE_INFINITY, signal, random: () => 0 };
const soon: RetryAdvice = { helps: "after-wait", afterMs: 1, isAutomatic: true };

test("repeats until an attempt succeeds", async () => {
  expect(await repeat(failing(2, tryAgain), options)).toBe(3);
});

test("repeats no more often than allowed, and throws the last error", async () => {
  await expect(repeat(failing(3, soon), options)).rejects.toThrow("attempt 3");
  await expect(repeat(failing(1, soon), { ...options, maxRetries: 0 })).rejects.toThrow("attempt 1");
});

test("does not retry when only the caller may retry, nor after an error of another package", async () => {
  await expect(repeat(failing(1, askCaller), options)).rejects.toThrow("attempt 1");
  const mistake = new TypeError("not ours");
  await expect(repeat(() => Promise.reject(mistake), options)).rejects.toBe(mistake);
});

test("begins no pause that would end after the caller's time limit", async () => {
  const patience = { ...options, nowMs: () => 0, endsAtMs: 1000 };
  await expect(repeat(failing(1, { ...soon, afterMs: 1000 }), patience)).rejects.toThrow("attempt 1");
});

describe("a pause", () => {
  const longPause: RetryAdvice = { ...soon, afterMs: 50_000 };

  test("ends at once with the reason of the signal", async () => {
    const controller = new AbortController();
    const waiting = repeat(failing(1, longPause), { ...options, signal: controller.signal });
    setTimeout(() => controller.abort("enough"), 5);
    await expect(waiting).rejects.toBe("enough");
  });

  test("does not begin when the signal has aborted already", async () => {
    await expect(repeat(failing(1, longPause), { ...options, signal: AbortSignal.abort("enough") })).rejects.toBe(
      "enough",
    );
  });

  test.each([
    ["at least what the service asks", { afterMs: 1000 }, 0, 0, 1000],
    ["up to a quarter more", { afterMs: 1000 }, 0, 0.999, 1249.75],
    ["otherwise anything below half a second", {}, 0, 0.5, 250],
    ["then below twice as much", {}, 1, 0.5, 500],
    ["never above eight seconds", {}, 30, 0.5, 4000],
    ["perhaps none", {}, 3, 0, 0],
  ])("lasts %s", (_title, advice, retries, random, ms) => {
    expect(pauseMs({ ...tryAgain, ...advice }, retries, random)).toBe(ms);
  });
});
