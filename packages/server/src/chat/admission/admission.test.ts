import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../errors/api-error.ts";
import type { FinalUsage } from "../../accounts/ledger/usage-ledger.ts";
import type { LimitRefusal } from "../../accounts/limits/limit-store.ts";
import { Admission } from "./admission.ts";

const used: FinalUsage = {
  usage: { promptTokens: 5, cachedTokens: 0, completionTokens: 3, reasoningTokens: 0 },
  outcome: "complete",
  errorCode: undefined,
  costUsd: "0.8",
};

/** Returns an admission whose leases record in `ends` how they ended. The lease with the name `broken` throws. */
function open(broken?: string, refusal?: LimitRefusal, remaining = 100) {
  const ends: string[] = [];
  const end = (name: string, how: string): void => {
    ends.push(`${name} ${how}`);
    if (name === broken) throw new Error(`${name} is broken`);
  };
  const lease = (name: string) => ({
    commit: ({ costUsd }: FinalUsage) => end(name, `commits ${costUsd}`),
    rollback: () => end(name, "rolls back"),
  });
  const full = { limit: 100, remaining, resetMs: 0 };
  const limits = {
    tokenLimit: 100,
    states: () => ({ requests: full, tokens: full }),
    takeTokens: async () => {
      ends.push("tokens asked");
      await wait(1);
      return refusal;
    },
    commit: async (tokens: number) => end("limits", `commit ${tokens}`),
    rollback: async () => end("limits", "roll back"),
  };
  const admission = new Admission(limits, {
    commit: () => end("body", "commits"),
    rollback: () => end("body", "rolls back"),
  });
  admission.add(lease("money"));
  admission.add(lease("slots"));
  return { admission, ends, lease };
}

const allRolledBack = ["slots rolls back", "money rolls back", "body rolls back", "limits roll back"];
const allCommitted = ["slots commits 0.8", "money commits 0.8", "body commits", "limits commit 8"];

describe("an admission ends all leases, the newest first,", () => {
  test("with the usage of a request that ran", async () => {
    const { admission, ends } = open();
    await admission.commit(used);
    expect(ends).toEqual(allCommitted);
  });

  test("and takes nothing for a request that the service could not serve", async () => {
    const { admission, ends } = open();
    await admission.rollback();
    expect(ends).toEqual(allRolledBack);
  });

  test("and keeps only the request of the minute of one that did not run", async () => {
    const { admission, ends } = open();
    await admission[Symbol.asyncDispose]();
    expect(ends).toEqual([...allRolledBack.slice(0, -1), "limits commit 0"]);
  });

  test("in one turn, so a slow lease delays no other", () => {
    const { admission, ends } = open();
    admission.add({ commit: () => new Promise(() => undefined), rollback: () => undefined });
    void admission.commit(used);
    expect(ends).toEqual(allCommitted);
  });
});

describe("an admission ends once:", () => {
  test("the first end counts", async () => {
    const { admission, ends } = open();
    await admission.commit(used);
    await admission.rollback();
    await admission.commit({ ...used, costUsd: "9" });
    await admission[Symbol.asyncDispose]();
    expect(ends).toEqual(allCommitted);
  });

  test("every later end waits for the first", async () => {
    const { admission } = open();
    const { promise, resolve } = Promise.withResolvers<void>();
    admission.add({ commit: () => promise, rollback: () => undefined });
    const order: string[] = [];
    const first = admission.commit(used).then(() => order.push("first"));
    const second = admission[Symbol.asyncDispose]().then(() => order.push("second"));
    await new Promise((done) => setImmediate(done));
    expect(order).toEqual([]);
    resolve();
    await Promise.all([first, second]);
    expect(order).toEqual(["first", "second"]);
  });

  test("a lease that comes later is rolled back at once", async () => {
    const { admission, ends, lease } = open();
    await admission.rollback();
    expect(() => admission.add(lease("late"))).toThrow("after its admission ended");
    expect(ends).toEqual([...allRolledBack, "late rolls back"]);
  });
});

describe("a lease that throws", () => {
  test.each(["slots", "money", "body", "limits"])("does not keep the others from ending: %s", async (broken) => {
    const rolledBack = open(broken);
    await expect(rolledBack.admission.rollback()).rejects.toThrow(`${broken} is broken`);
    expect(rolledBack.ends).toEqual(allRolledBack);
    const committed = open(broken);
    await expect(committed.admission.commit(used)).rejects.toThrow(`${broken} is broken`);
    expect(committed.ends).toEqual(allCommitted);
  });

  test("is reported together with another one", async () => {
    const { admission } = open("money");
    admission.add({ commit: () => undefined, rollback: () => Promise.reject(new Error("gone")) });
    const error: unknown = await admission.rollback().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AggregateError);
    expect(error).toMatchObject({ errors: [{ message: "gone" }, { message: "money is broken" }] });
  });
});

test("the memory of the body is released once, before or at the end", async () => {
  const { admission, ends } = open();
  admission.freeBody();
  admission.freeBody();
  expect(ends).toEqual(["body rolls back"]);
  await admission.rollback();
  admission.freeBody();
  expect(ends.filter((end) => end.startsWith("body"))).toHaveLength(1);
});

describe("a request that ends with an error", () => {
  test.each([
    ["insufficient_quota", 402, true],
    ["rate_limit_exceeded", 429, true],
    ["service_unavailable", 503, true],
    ["invalid_value", 400, false],
    ["internal_error", 500, false],
  ] as const)("%s (%i) gets everything back: %s", async (code, status, isRolledBack) => {
    const { admission, ends } = open();
    const work = Promise.reject(new ApiError(code, "no"));
    await expect(admission.rollbackIfRefused(work)).rejects.toMatchObject({ code, status });
    expect(ends).toEqual(isRolledBack ? allRolledBack : []);
  });

  test("from elsewhere gets nothing back, and none is hidden", async () => {
    const { admission, ends } = open();
    await expect(admission.rollbackIfRefused(Promise.reject(new Error("a bug")))).rejects.toThrow("a bug");
    expect(ends).toEqual([]);
    await admission.rollbackIfRefused(Promise.resolve());
    expect(ends).toEqual([]);
  });
});

describe("tokens and an entry", () => {
  const exceeded: LimitRefusal = { limit: "tokens", bound: 100, waitMs: 1000 };
  const spent = new ApiError("insufficient_quota", "The budget is spent.");

  test("are asked for at the same time if the limits had enough tokens", async () => {
    const { admission, ends, lease } = open();
    const taken = admission.takeTokensAnd(100, async () => {
      ends.push("entry asked");
      return lease("entry");
    });
    expect(ends).toEqual(["tokens asked", "entry asked"]);
    await taken;
    await admission.rollback();
    expect(ends.slice(2)).toEqual(["entry rolls back", ...allRolledBack]);
  });

  test("are asked for in turn if the limits had too few, and a refusal leaves the ledger alone", async () => {
    const { admission, ends } = open(undefined, exceeded, 99);
    const never = (): Promise<never> => Promise.reject(new Error("the entry was asked for"));
    await expect(admission.takeTokensAnd(100, never)).rejects.toMatchObject({ status: 429 });
    expect(ends).toEqual(["tokens asked"]);
  });

  test("are both given back if other servers have taken the tokens meanwhile", async () => {
    const { admission, ends, lease } = open(undefined, exceeded);
    const work = admission.takeTokensAnd(100, async () => lease("entry")).then(() => undefined);
    await expect(admission.rollbackIfRefused(work)).rejects.toMatchObject({ status: 429 });
    expect(ends.slice(1)).toEqual(["entry rolls back", ...allRolledBack]);
  });

  test("are refused for the tokens first, then for the budget", async () => {
    const both = open(undefined, exceeded).admission.takeTokensAnd(100, () => Promise.reject(spent));
    await expect(both).rejects.toMatchObject({ status: 429 });
    const { admission, ends } = open();
    const work = admission.takeTokensAnd(100, () => Promise.reject(spent)).then(() => undefined);
    await expect(admission.rollbackIfRefused(work)).rejects.toMatchObject({ status: 402 });
    expect(ends.slice(1)).toEqual(allRolledBack);
  });
});
