import { describe, expect, test } from "vitest";
import { assertCase, findViolations, idempotencyStoreContract } from "@parley/server/testing";
import type { IdempotencyStoreSubject } from "@parley/server/testing";
import type { IdempotencyStore } from "../../src/accounts/idempotency/idempotency-store.ts";
import { SqliteIdempotencyStore } from "../../src/state/sqlite-idempotency-store.ts";
import { DataFolder } from "./data-folder.ts";
import { override } from "./override.ts";

async function openSqlite(): Promise<IdempotencyStoreSubject & AsyncDisposable> {
  const folder = new DataFolder();
  return {
    store: new SqliteIdempotencyStore(folder.open()),
    other: new SqliteIdempotencyStore(folder.open()),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

describe("the idempotency store in SQLite", () => {
  test.each(idempotencyStoreContract)("$title", (one) => assertCase(one, openSqlite));

  test("removes a sixteenth more than it must, so it does not search at each of many answers", async () => {
    await using folder = new DataFolder();
    const database = folder.open();
    const store = new SqliteIdempotencyStore(database);
    const kept: number[] = [];
    for (let count = 0; count < 70; count += 1) {
      const claim = { keyId: "a", bodyHash: "1", idempotencyKey: `${count}`, requestId: `req_${count}` };
      await store.claim({ ...claim, nowMs: count, expiresMs: 1000 });
      const answer = { requestId: claim.requestId, isStream: false, ignored: undefined, body: new Uint8Array(10) };
      await store.keep(claim, answer, { expiresMs: 1000, maxAnswers: 64, maxBytes: 10_000 });
      kept.push(Number(database.prepare("SELECT count(*) AS rows FROM idempotency").get()?.["rows"]));
    }
    expect(kept.slice(62)).toEqual([63, 64, 60, 61, 62, 63, 64, 60]);
  });

  test("frees the claims of a dead server, and keeps its answers", async () => {
    await using folder = new DataFolder();
    const store = new SqliteIdempotencyStore(folder.open());
    const claim = { keyId: "a", bodyHash: "1", nowMs: 1, expiresMs: 1000 };
    const answer = { requestId: "req_1", isStream: false, ignored: undefined, body: Uint8Array.from([1]) };
    await store.claim({ ...claim, idempotencyKey: "kept", requestId: "req_1" });
    await store.keep({ keyId: "a", idempotencyKey: "kept", requestId: "req_1" }, answer, {
      expiresMs: 1000,
      maxAnswers: 10,
      maxBytes: 1000,
    });
    await store.claim({ ...claim, idempotencyKey: "running", requestId: "req_2" });
    const next = new SqliteIdempotencyStore(folder.open());
    next.freeClaims();
    expect((await next.claim({ ...claim, idempotencyKey: "kept", requestId: "req_3" })).kind).toBe("answered");
    expect((await next.claim({ ...claim, idempotencyKey: "running", requestId: "req_3" })).kind).toBe("claimed");
  });
});

describe("the contract notices a store that", () => {
  const broken: readonly (readonly [
    what: string,
    breakStore: (store: IdempotencyStore) => Partial<IdempotencyStore>,
    title: RegExp,
  ])[] = [
    ["lets every request run", () => ({ claim: async () => ({ kind: "claimed" }) }), /^of many claims/],
    ["never releases", () => ({ release: async () => undefined }), /^lets the next request run/],
    ["keeps nothing", () => ({ keep: async () => undefined }), /^returns the answer/],
    [
      "does not look at the body",
      (store) => ({ claim: (claim) => store.claim({ ...claim, bodyHash: "" }) }),
      /^tells another body/,
    ],
    ["mixes API keys", (store) => ({ claim: (claim) => store.claim({ ...claim, keyId: "" }) }), /^keeps equal keys/],
    ["removes nothing", () => ({ prune: async () => 0 }), /^removes what has expired/],
    [
      "has no maximum",
      (store) => ({
        keep: (claim, answer, bounds) =>
          store.keep(claim, answer, { ...bounds, maxAnswers: 1_000_000, maxBytes: 1_000_000 }),
      }),
      /^keeps the newest answers/,
    ],
    [
      "lets answers expire never",
      (store) => ({ claim: (claim) => store.claim({ ...claim, nowMs: 0 }) }),
      /^forgets an answer/,
    ],
  ];

  test.each(broken)("%s", async (_what, breakStore, title) => {
    const violations = await findViolations(idempotencyStoreContract, async () => {
      const subject = await openSqlite();
      const { store, other } = subject;
      return { ...subject, store: override(store, breakStore(store)), other: override(other, breakStore(other)) };
    });
    expect(violations).toContainEqual(expect.stringMatching(title));
  });
});
