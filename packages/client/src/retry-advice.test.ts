import contract from "@parley/contract/contract.json" with { type: "json" };
import { describe, expect, test } from "vitest";
import { adviseRetry, helpsOf } from "./retry-advice.ts";

interface Rule {
  readonly status: number;
  readonly retry: { readonly helps: string };
}

const catalog: Readonly<Record<string, Rule>> = contract["x-error-catalog"];

test.each(Object.entries(catalog))("%s has the retry advice of the catalogue", (code, { status, retry }) => {
  expect(helpsOf(code, status)).toBe(retry.helps);
});

test.each([
  [null, 502, "maybe"],
  [null, 429, "maybe"],
  [null, 408, "maybe"],
  [null, 400, "never"],
  ["made_tomorrow", 503, "maybe"],
  ["made_tomorrow", 409, "never"],
  ["constructor", 400, "never"],
] as const)("an answer with code %s and status %i is judged by its status", (code, status, helps) => {
  expect(helpsOf(code, status)).toBe(helps);
});

describe("the headers", () => {
  const advise = (headers: Record<string, string>) => adviseRetry("rate_limit_exceeded", 429, new Headers(headers));

  test.each([
    [{ "retry-after-ms": "1250", "retry-after": "2" }, 1250],
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after-ms": "soon", "retry-after": "2" }, 2000],
    [{ "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-1" }, undefined],
    [{}, undefined],
  ])("%j means a wait of %s ms", (headers, afterMs) => {
    expect(advise(headers).afterMs).toBe(afterMs);
  });

  test("a date means the time until then", () => {
    const inHalfAMinute = new Date(Date.now() + 30_000).toUTCString();
    const { afterMs, isAutomatic } = advise({ "retry-after": inHalfAMinute });
    expect(afterMs).toBeGreaterThan(28_000);
    expect(afterMs).toBeLessThanOrEqual(30_000);
    expect(isAutomatic).toBe(true);
  });

  test("x-should-retry: false, or a wait of more than a minute, forbids automatic retries", () => {
    expect(advise({ "retry-after-ms": "60000" }).isAutomatic).toBe(true);
    expect(advise({ "retry-after-ms": "60001" }).isAutomatic).toBe(false);
    expect(advise({ "retry-after": "1", "x-should-retry": "false" })).toEqual({
      helps: "after-wait",
      afterMs: 1000,
      isAutomatic: false,
    });
  });
});
