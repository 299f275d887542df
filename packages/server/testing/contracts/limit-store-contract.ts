import assert from "node:assert/strict";
import type { LimitedKey, LimitLease, LimitRefusal, LimitStore } from "../../src/accounts/limits/limit-store.ts";
import type { ContractCase } from "./contract-case.ts";

/** A fresh store that allows 100 requests and 100,000 tokens a minute over all keys. */
export interface LimitStoreSubject {
  readonly store: LimitStore;
  /** Advances the store's clock by this time. */
  readonly advance: (ms: number) => Promise<void>;
}

/** The limits over all keys that a subject must have. */
export const overallLimits = { requests: 100, tokens: 100_000 } as const;

const key = (limits: Partial<LimitedKey> = {}): LimitedKey => ({
  keyId: "key",
  perMinute: { requests: 60, tokens: 6000 },
  concurrency: undefined,
  ...limits,
});

function held(taken: LimitLease | LimitRefusal): LimitLease {
  assert.ok("commit" in taken, `was refused: ${JSON.stringify(taken)}`);
  return taken;
}

function refused(taken: LimitLease | LimitRefusal): LimitRefusal {
  assert.ok(!("commit" in taken), "was admitted");
  return taken;
}

/**
 * Takes a request and then its tokens, like the two admissions of the server. If there are no tokens, everything is given
 * back.
 */
async function takeAll(store: LimitStore, of: LimitedKey, tokens: number): Promise<LimitLease | LimitRefusal> {
  const taken = await store.take(of);
  if (!("commit" in taken)) return taken;
  const refusal = await taken.takeTokens(tokens);
  if (refusal) await taken.rollback();
  return refusal ?? taken;
}

async function assertRemaining(store: LimitStore, of: LimitedKey, requests: number, tokens: number): Promise<void> {
  const states = await store.states(of);
  assert.deepEqual([states.requests.remaining, states.tokens.remaining], [requests, tokens]);
}

/** The cases that every `LimitStore` must pass. */
export const limitStoreContract: readonly ContractCase<LimitStoreSubject>[] = [
  {
    title: "starts full, and shows the states of a key without taking anything",
    assert: async ({ store }) => {
      for (let turn = 0; turn < 2; turn += 1)
        assert.deepEqual(await store.states(key()), {
          requests: { limit: 60, remaining: 60, resetMs: 0 },
          tokens: { limit: 6000, remaining: 6000, resetMs: 0 },
        });
    },
  },
  {
    title: "takes one request and the tokens, which come back evenly",
    assert: async ({ store, advance }) => {
      const lease = held(await takeAll(store, key(), 3000));
      assert.deepEqual(lease.states(), await store.states(key()));
      const { requests, tokens } = lease.states();
      assert.deepEqual(
        [requests, tokens.remaining, tokens.resetMs],
        [{ limit: 60, remaining: 59, resetMs: 1000 }, 3000, 30_000],
      );
      await advance(10_000);
      await assertRemaining(store, key(), 60, 4000);
      await advance(3_600_000);
      await assertRemaining(store, key(), 60, 6000);
    },
  },
  {
    title:
      "says the maximum of tokens that a request can ever have: the tighter of the key's limit and that over all keys",
    assert: async ({ store }) => {
      assert.equal(held(await store.take(key())).tokenLimit, 6000);
      const large = key({ keyId: "large", perMinute: { requests: 60, tokens: 1_000_000 } });
      assert.equal(held(await store.take(large)).tokenLimit, overallLimits.tokens);
    },
  },
  {
    title: "says how long to wait, and admits after just that time",
    assert: async ({ store, advance }) => {
      held(await takeAll(store, key(), 6000));
      const { limit, bound, waitMs } = refused(await takeAll(store, key(), 100));
      assert.deepEqual({ limit, bound, waitMs }, { limit: "tokens", bound: 6000, waitMs: 1000 });
      await advance(900);
      refused(await takeAll(store, key(), 100));
      await advance(100);
      held(await takeAll(store, key(), 100));
    },
  },
  {
    title: "says of more than a whole minute's worth that it can never be admitted",
    assert: async ({ store }) => {
      const refusal = refused(await takeAll(store, key(), 6001));
      assert.deepEqual(refusal, { limit: "tokens", bound: 6000, waitMs: Number.POSITIVE_INFINITY });
    },
  },
  {
    title: "names the first limit in the way: requests, then concurrency, then tokens",
    assert: async ({ store }) => {
      const narrow = key({ perMinute: { requests: 2, tokens: 10 }, concurrency: 1 });
      const first = held(await takeAll(store, narrow, 5));
      assert.deepEqual(refused(await takeAll(store, narrow, 6)), { limit: "concurrency", bound: 1, waitMs: 0 });
      await first.commit(5);
      assert.equal(refused(await takeAll(store, narrow, 6)).limit, "tokens");
      await held(await takeAll(store, narrow, 5)).commit(5);
      assert.equal(refused(await takeAll(store, narrow, 6)).limit, "requests");
    },
  },
  {
    title: "takes nothing for a request that it refuses",
    assert: async ({ store }) => {
      const single = key({ concurrency: 1 });
      const first = held(await takeAll(store, single, 1000));
      for (let turn = 0; turn < 5; turn += 1) {
        refused(await takeAll(store, single, 1000));
        refused(await takeAll(store, single, 5500));
      }
      await assertRemaining(store, single, 59, 5000);
      await first.rollback();
      await assertRemaining(store, single, 60, 6000);
    },
  },
  {
    title: "never gives the same unit twice, however many ask at the same time",
    assert: async ({ store }) => {
      const takes = await Promise.all(Array.from({ length: 50 }, () => takeAll(store, key({ concurrency: 10 }), 500)));
      assert.equal(takes.filter((taken) => "commit" in taken).length, 10);
      const others = await Promise.all(Array.from({ length: 50 }, () => takeAll(store, key({ keyId: "other" }), 500)));
      assert.equal(others.filter((taken) => "commit" in taken).length, 12);
    },
  },
  {
    title: "holds all keys together to the limits over all of them",
    assert: async ({ store }) => {
      const wide = { perMinute: { requests: 1000, tokens: 1_000_000 } };
      held(await takeAll(store, key({ ...wide, keyId: "a" }), 60_000));
      const refusal = refused(await takeAll(store, key({ ...wide, keyId: "b" }), 60_000));
      assert.deepEqual(refusal, { limit: "tokens", bound: 100_000, waitMs: 12_000 });
      const { tokens } = await store.states(key({ ...wide, keyId: "b" }));
      assert.deepEqual(tokens, { limit: 100_000, remaining: 40_000, resetMs: 36_000 });
    },
  },
  {
    title: "counts a request that ends before it takes tokens, and frees its place",
    assert: async ({ store }) => {
      const single = key({ concurrency: 1 });
      await held(await store.take(single)).commit(0);
      await assertRemaining(store, single, 59, 6000);
      held(await store.take(single));
    },
  },
  {
    title: "leaves a lease as it is that gets no tokens",
    assert: async ({ store }) => {
      const single = key({ concurrency: 1 });
      const lease = held(await store.take(single));
      assert.equal((await lease.takeTokens(6001))?.limit, "tokens");
      await assertRemaining(store, single, 59, 6000);
      refused(await store.take(single));
      await lease.rollback();
      await assertRemaining(store, single, 60, 6000);
    },
  },
  {
    title: "keeps keys apart",
    assert: async ({ store }) => {
      held(await takeAll(store, key({ concurrency: 1 }), 6000));
      held(await takeAll(store, key({ keyId: "other", concurrency: 1 }), 6000));
    },
  },
  {
    title: "replaces the tokens taken by those used, and frees the place",
    assert: async ({ store }) => {
      const single = key({ concurrency: 1 });
      await held(await takeAll(store, single, 5000)).commit(1200);
      await assertRemaining(store, single, 59, 4800);
      await held(await takeAll(store, single, 800)).commit(800);
      await assertRemaining(store, single, 58, 4000);
    },
  },
  {
    title: "has a debt of more than was taken paid before it gives again",
    assert: async ({ store, advance }) => {
      await held(await takeAll(store, key(), 100)).commit(9000);
      await assertRemaining(store, key(), 59, 0);
      assert.equal(refused(await takeAll(store, key(), 100)).waitMs, 31_000);
      await advance(31_000);
      held(await takeAll(store, key(), 100));
    },
  },
  {
    title: "ends a lease once: calls after commit or rollback change nothing",
    assert: async ({ store }) => {
      const pair = key({ concurrency: 2 });
      const [first, second] = [held(await takeAll(store, pair, 1000)), held(await takeAll(store, pair, 1000))];
      for (let turn = 0; turn < 3; turn += 1) await first.commit(1000);
      await first.rollback();
      await assertRemaining(store, pair, 58, 4000);
      held(await takeAll(store, pair, 0));
      refused(await takeAll(store, pair, 0));
      await second.rollback();
      await second.commit(500);
      await assertRemaining(store, pair, 58, 5000);
    },
  },
  {
    title: "keeps the part of a bucket that is left when the limits of a key change, up, down and in turn",
    assert: async ({ store, advance }) => {
      const wider = key({ perMinute: { requests: 90, tokens: 12_000 } });
      const narrower = key({ perMinute: { requests: 30, tokens: 3000 } });
      const lease = held(await takeAll(store, key(), 6000));
      for (let turn = 0; turn < 3; turn += 1) {
        await assertRemaining(store, wider, 88, 0);
        await assertRemaining(store, narrower, 29, 0);
        assert.equal(refused(await takeAll(store, wider, 1000)).waitMs, 5000);
        assert.equal(refused(await takeAll(store, narrower, 1000)).waitMs, 20_000);
      }
      await lease.commit(3000);
      await assertRemaining(store, wider, 88, 6000);
      await advance(15_000);
      await assertRemaining(store, narrower, 30, 2250);
      await assertRemaining(store, key(), 60, 4500);
    },
  },
  {
    title: "gives no more to a key whose limits alternate than to one whose limits stay",
    assert: async ({ store }) => {
      const limits = [20, 40].map((requests) => key({ perMinute: { requests, tokens: 6000 } }));
      let used = 0;
      for (let turn = 0; turn < 100; turn += 1) {
        const one = limits[turn % 2] ?? key();
        const taken = await store.take(one);
        if (!("commit" in taken)) continue;
        used += 1 / one.perMinute.requests;
        await taken.commit(0);
      }
      assert.ok(used > 0.9 && used < 1 + 1e-6, `${used} buckets were used`);
    },
  },
  {
    title: "keeps a debt when the limits of a key change",
    assert: async ({ store, advance }) => {
      const wider = key({ perMinute: { requests: 60, tokens: 12_000 } });
      await held(await takeAll(store, key(), 6000)).commit(9000);
      assert.equal(refused(await takeAll(store, wider, 2000)).waitMs, 40_000);
      await advance(40_000);
      held(await takeAll(store, wider, 2000));
    },
  },
];
