import { expect, test } from "vitest";
import { FairShare } from "./fair-share.ts";
import type { WeightedKey } from "./fair-share.ts";

const one = (keyId: string): WeightedKey => ({ keyId, weight: 1 });

/** Gives `turns` turns, each to the key that has been served least, and counts them. Every key always has a waiting request. */
function giveTurns(
  share: FairShare,
  costs: Readonly<Record<string, number>>,
  turns: number,
  weights: Readonly<Record<string, number>> = {},
): Record<string, number> {
  const given = Object.fromEntries(Object.keys(costs).map((keyId) => [keyId, 0]));
  for (let turn = 0; turn < turns; turn += 1) {
    const [next = ""] = Object.keys(costs).toSorted((a, b) => share.servedTo(a) - share.servedTo(b));
    share.beginTurn(next);
    share.charge({ keyId: next, weight: weights[next] ?? 1 }, costs[next] ?? 0);
    given[next] = (given[next] ?? 0) + 1;
  }
  return given;
}

test("keys get equal numbers of tokens, not of turns", () => {
  const share = new FairShare();
  for (const keyId of ["long", "short"]) share.enter(keyId);
  expect(giveTurns(share, { long: 1000, short: 100 }, 110)).toEqual({ long: 10, short: 100 });
});

test("a key of weight 3 gets three times as many tokens, and all of them while no other key waits", () => {
  const share = new FairShare();
  const weights = { heavy: 3 };
  for (const keyId of ["heavy", "light"]) share.enter(keyId);
  expect(giveTurns(share, { heavy: 100, light: 100 }, 40, weights)).toEqual({ heavy: 30, light: 10 });
  expect(giveTurns(share, { light: 100 }, 7, weights)).toEqual({ light: 7 });
});

test("idleness earns nothing", () => {
  const share = new FairShare();
  share.enter("busy");
  giveTurns(share, { busy: 100 }, 50);
  share.enter("late");
  expect(giveTurns(share, { busy: 100, late: 100 }, 20)).toEqual({ busy: 10, late: 10 });
});

test("a debt outlives a short pause", () => {
  const share = new FairShare();
  for (const keyId of ["steady", "greedy"]) share.enter(keyId);
  share.beginTurn("greedy");
  share.charge(one("greedy"), 1000);
  share.leave("greedy");
  share.enter("greedy");
  expect(giveTurns(share, { steady: 100, greedy: 100 }, 10)).toEqual({ steady: 10, greedy: 0 });
});

test("tokens that were charged and not used are returned", () => {
  const share = new FairShare();
  for (const keyId of ["a", "b"]) share.enter(keyId);
  share.charge(one("a"), 1000);
  share.charge(one("a"), -1000);
  expect(giveTurns(share, { a: 100, b: 100 }, 10)).toEqual({ a: 5, b: 5 });
});

test("idle keys are forgotten: at once when no key is active, otherwise when the others have caught up", () => {
  const share = new FairShare();
  const visit = (keyId: string): void => {
    share.enter(keyId);
    share.beginTurn(keyId);
    share.charge(one(keyId), 10);
    share.leave(keyId);
  };
  for (let key = 0; key < 2000; key += 1) visit(`key-${key}`);
  expect(share.size).toBe(0);
  share.enter("steady");
  for (let key = 0; key < 2000; key += 1) visit(`key-${key}`);
  expect(share.size).toBe(2001);
  giveTurns(share, { steady: 10 }, 2);
  visit("last");
  expect(share.size).toBe(2);
});
