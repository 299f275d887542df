import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

describe("a bucket of sixty a minute", () => {
  test("gives sixty at once, then one a second", () => {
    const bucket = new TokenBucket(60, 0);
    expect(bucket.waitMs(60, 0)).toBe(0);
    bucket.take(60, 0);
    expect(bucket.waitMs(1, 0)).toBe(1000);
    expect(bucket.waitMs(1, 750)).toBe(250);
    expect(bucket.waitMs(1, 1000)).toBe(0);
    expect(bucket.resetMs(0)).toBe(60_000);
  });

  test("never holds more than its limit, so more can never be taken", () => {
    const bucket = new TokenBucket(60, 0);
    expect(bucket.remaining(3_600_000)).toBe(60);
    bucket.take(-5, 0);
    expect(bucket.remaining(0)).toBe(60);
    expect(bucket.waitMs(61, 0)).toBe(Number.POSITIVE_INFINITY);
  });

  test("refills by a debt before anything can be taken", () => {
    const bucket = new TokenBucket(60, 0);
    bucket.take(90, 0);
    expect(bucket.remaining(0)).toBe(-30);
    expect(bucket.waitMs(1, 0)).toBe(31_000);
  });

  test("ignores a clock that goes back", () => {
    const bucket = new TokenBucket(60, 10_000);
    bucket.take(60, 10_000);
    expect(bucket.remaining(0)).toBe(0);
  });
});

test("a caller that waits for the given time is served, and not a tenth of a second earlier", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000_000 }),
      fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(5000)), { minLength: 1, maxLength: 30 }),
      (limit, takes) => {
        const bucket = new TokenBucket(limit, 0);
        let now = 0;
        for (const [share, pauseMs] of takes) {
          now += pauseMs;
          const amount = Math.max(1, Math.floor(limit * share));
          const waitMs = bucket.waitMs(amount, now);
          if (waitMs > 100) expect(bucket.remaining(now + waitMs - 100)).toBeLessThan(amount);
          now += waitMs;
          expect(bucket.remaining(now)).toBeGreaterThanOrEqual(amount - 1e-6 * limit);
          bucket.take(amount, now);
        }
      },
    ),
  );
});
