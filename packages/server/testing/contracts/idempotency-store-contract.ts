import assert from "node:assert/strict";
import type {
  IdempotencyClaim,
  IdempotencyStore,
  StoredAnswer,
} from "../../src/accounts/idempotency/idempotency-store.ts";
import type { ContractCase } from "./contract-case.ts";

/** One empty store, as two servers or processes see it. */
export interface IdempotencyStoreSubject {
  readonly store: IdempotencyStore;
  /** The same store, opened a second time. */
  readonly other: IdempotencyStore;
}

const claimOf = (requestId: string, change: Partial<IdempotencyClaim> = {}): IdempotencyClaim => ({
  keyId: "aaaaaaaaaaaa",
  idempotencyKey: "order ~4711",
  bodyHash: "1".repeat(64),
  requestId,
  nowMs: 1_000_000,
  expiresMs: 2_000_000,
  ...change,
});
const answerOf = (requestId: string): StoredAnswer => ({
  requestId,
  isStream: true,
  ignored: "store,messages[0].mood",
  body: Uint8Array.from([0, 255, 10, 0, 128]),
});
const kept = { expiresMs: 2_000_000, maxAnswers: 1000, maxBytes: 1_000_000 };

/** The cases that every `IdempotencyStore` must pass. */
export const idempotencyStoreContract: readonly ContractCase<IdempotencyStoreSubject>[] = [
  {
    title: "of many claims of one key, on two servers, one is claimed, and the others hear its request",
    assert: async ({ store, other }) => {
      const ids = Array.from({ length: 40 }, (_, index) => `req_${index}`);
      const outcomes = await Promise.all(ids.map((id, index) => (index % 2 ? store : other).claim(claimOf(id))));
      const claimed = ids.filter((_, index) => outcomes[index]?.kind === "claimed");
      assert.equal(claimed.length, 1);
      const others = outcomes.filter(({ kind }) => kind !== "claimed");
      for (const outcome of others) assert.deepEqual(outcome, { kind: "running", requestId: claimed[0] });
    },
  },
  {
    title: "returns the answer that was kept, byte by byte, to every server",
    assert: async ({ store, other }) => {
      await store.claim(claimOf("req_1"));
      await store.keep(claimOf("req_1"), answerOf("req_1"), kept);
      for (const one of [store, other]) {
        const outcome = await one.claim(claimOf("req_2"));
        assert.equal(outcome.kind, "answered");
        if (outcome.kind !== "answered") continue;
        assert.deepEqual(
          { ...outcome.answer, body: [...outcome.answer.body] },
          { ...answerOf(""), requestId: "req_1", body: [0, 255, 10, 0, 128] },
        );
      }
    },
  },
  {
    title: "tells another body from the first one, while it runs and after its answer",
    assert: async ({ store }) => {
      const changed = { bodyHash: "2".repeat(64) };
      await store.claim(claimOf("req_1"));
      assert.deepEqual(await store.claim(claimOf("req_2", changed)), { kind: "other body", requestId: "req_1" });
      await store.keep(claimOf("req_1"), answerOf("req_1"), kept);
      assert.deepEqual(await store.claim(claimOf("req_3", changed)), { kind: "other body", requestId: "req_1" });
    },
  },
  {
    title: "lets the next request run after a release, with any body",
    assert: async ({ store, other }) => {
      await store.claim(claimOf("req_1"));
      await other.release(claimOf("req_1"));
      const next = claimOf("req_2", { bodyHash: "2".repeat(64) });
      assert.deepEqual(await store.claim(next), { kind: "claimed" });
    },
  },
  {
    title: "keeps the claim and the answer of another request from a late release or answer",
    assert: async ({ store }) => {
      await store.claim(claimOf("req_1"));
      await store.release(claimOf("req_0"));
      await store.keep(claimOf("req_0"), answerOf("req_0"), kept);
      assert.deepEqual(await store.claim(claimOf("req_2")), { kind: "running", requestId: "req_1" });
      await store.keep(claimOf("req_1"), answerOf("req_1"), kept);
      await store.release(claimOf("req_1"));
      assert.equal((await store.claim(claimOf("req_2"))).kind, "answered");
    },
  },
  {
    title: "keeps equal keys of two API keys apart",
    assert: async ({ store }) => {
      await store.claim(claimOf("req_1"));
      assert.deepEqual(await store.claim(claimOf("req_2", { keyId: "bbbbbbbbbbbb" })), { kind: "claimed" });
      assert.deepEqual(await store.claim(claimOf("req_3", { idempotencyKey: "order ~4712" })), { kind: "claimed" });
    },
  },
  {
    title: "forgets an answer when it expires, and never a request that runs",
    assert: async ({ store }) => {
      const late = { nowMs: 2_500_000, expiresMs: 3_500_000 };
      await store.claim(claimOf("req_1"));
      assert.deepEqual(await store.claim(claimOf("req_2", late)), { kind: "running", requestId: "req_1" });
      // An answer is kept for its time from its end on, however long its request ran.
      await store.keep(claimOf("req_1"), answerOf("req_1"), { ...kept, expiresMs: 3_000_000 });
      assert.equal((await store.claim(claimOf("req_2", late))).kind, "answered");
      const next = claimOf("req_2", { nowMs: 3_000_000, bodyHash: "2".repeat(64) });
      assert.deepEqual(await store.claim(next), { kind: "claimed" });
      assert.deepEqual(await store.claim({ ...next, requestId: "req_3" }), { kind: "running", requestId: "req_2" });
    },
  },
  {
    title: "removes what has expired, and nothing else, nor a request that runs",
    assert: async ({ store, other }) => {
      for (const [index, expiresMs] of [2_000_000, 3_000_000].entries()) {
        const claim = claimOf(`req_${index}`, { idempotencyKey: `key ${index}` });
        await store.claim(claim);
        await store.keep(claim, answerOf(claim.requestId), { ...kept, expiresMs });
      }
      await store.claim(claimOf("req_3", { idempotencyKey: "runs" }));
      assert.equal(await other.prune(2_500_000), 1);
      assert.equal(await store.prune(2_500_000), 0);
      assert.equal((await store.claim(claimOf("req_9", { idempotencyKey: "key 1" }))).kind, "answered");
      assert.equal((await store.claim(claimOf("req_9", { idempotencyKey: "key 0" }))).kind, "claimed");
      assert.equal((await other.claim(claimOf("req_9", { idempotencyKey: "runs" }))).kind, "running");
    },
  },
  {
    title: "keeps the newest answers of an API key, up to the maximum",
    assert: async ({ store }) => {
      for (const index of [0, 1, 2]) {
        const claim = claimOf(`req_${index}`, { idempotencyKey: `key ${index}`, nowMs: 1_000_000 + index });
        await store.claim(claim);
        await store.keep(claim, answerOf(claim.requestId), { ...kept, maxAnswers: 2 });
      }
      const kinds: string[] = [];
      for (const index of [2, 1, 0])
        kinds.push((await store.claim(claimOf("req_9", { idempotencyKey: `key ${index}` }))).kind);
      assert.deepEqual(kinds, ["answered", "answered", "claimed"]);
    },
  },
  {
    title: "keeps the newest answers of an API key, up to the maximum of bytes, and all of another key",
    assert: async ({ store }) => {
      const other = claimOf("req_other", { keyId: "bbbbbbbbbbbb", nowMs: 1 });
      await store.claim(other);
      await store.keep(other, answerOf("req_other"), kept);
      for (const index of [0, 1, 2]) {
        const claim = claimOf(`req_${index}`, { idempotencyKey: `key ${index}`, nowMs: 1_000_000 + index });
        await store.claim(claim);
        await store.keep(claim, answerOf(claim.requestId), { ...kept, maxBytes: 12 });
      }
      const kinds: string[] = [];
      for (const index of [2, 1, 0])
        kinds.push((await store.claim(claimOf("req_9", { idempotencyKey: `key ${index}` }))).kind);
      assert.deepEqual(kinds, ["answered", "answered", "claimed"]);
      assert.equal((await store.claim({ ...other, requestId: "req_9" })).kind, "answered");
    },
  },
];
