import { describe, expect, test } from "vitest";
import { assertCase, findViolations, limitStoreContract, overallLimits } from "@parley/server/testing";
import type { LimitStore, LimitStoreSubject } from "@parley/server/testing";
import { MemoryLimitStore } from "../../src/state/memory-limit-store.ts";
import { override } from "./override.ts";

async function openMemory(): Promise<LimitStoreSubject & AsyncDisposable> {
  let now = 1_000_000;
  return {
    store: new MemoryLimitStore(overallLimits, () => now),
    advance: async (ms) => void (now += ms),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

describe("the limit store in memory", () => {
  test.each(limitStoreContract)("$title", (one) => assertCase(one, openMemory));
});

describe("the contract notices a store that", () => {
  const broken: readonly (readonly [
    what: string,
    breakStore: (store: LimitStore) => Partial<LimitStore>,
    title: RegExp,
  ])[] = [
    ["looks first and takes later", takeLater, /^never gives the same unit twice/],
    ["charges nothing for a request that has run", giveAllBack, /^ends a lease once/],
    ["forgets to commit", forgetToCommit, /^replaces the tokens taken/],
    ["knows no places", (store) => ({ take: (key) => store.take({ ...key, concurrency: undefined }) }), /^names/],
    ["takes what it shows", takeToShow, /^starts full/],
  ];

  test.each(broken)("%s", async (_what, breakStore, title) => {
    const violations = await findViolations(limitStoreContract, async () => {
      const subject = await openMemory();
      return { ...subject, store: override(subject.store, breakStore(subject.store)) };
    });
    expect(violations).toContainEqual(expect.stringMatching(title));
  });
});

/** A faulty store on a network: it reads, decides and writes in separate steps, and others read in between. */
function takeLater(store: LimitStore): Partial<LimitStore> {
  const endless = { perMinute: { requests: Number.MAX_SAFE_INTEGER, tokens: Number.MAX_SAFE_INTEGER } };
  return {
    take: async (key) => {
      const { remaining } = (await store.states(key)).requests;
      if (remaining < 1) return { limit: "requests", bound: key.perMinute.requests, waitMs: 1 };
      return store.take({ ...key, ...endless, concurrency: undefined });
    },
  };
}

function giveAllBack(store: LimitStore): Partial<LimitStore> {
  return {
    take: async (key) => {
      const taken = await store.take(key);
      return "commit" in taken ? { ...taken, commit: () => taken.rollback() } : taken;
    },
  };
}

function forgetToCommit(store: LimitStore): Partial<LimitStore> {
  return {
    take: async (key) => {
      const taken = await store.take(key);
      return "commit" in taken ? { ...taken, commit: async () => undefined } : taken;
    },
  };
}

function takeToShow(store: LimitStore): Partial<LimitStore> {
  return {
    states: async (key) => {
      const taken = await store.take(key);
      if ("commit" in taken) await taken.commit(1);
      return store.states(key);
    },
  };
}
