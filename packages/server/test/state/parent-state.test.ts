import { deserialize, serialize } from "node:v8";
import { describe, expect, test } from "vitest";
import {
  assertCase,
  keyStoreContract,
  limitStoreContract,
  overallLimits,
  until,
  usageLedgerContract,
} from "@parley/server/testing";
import type {
  KeyStore,
  KeyStoreSubject,
  LimitStoreSubject,
  UsageLedger,
  UsageLedgerSubject,
} from "@parley/server/testing";
import { ApiError } from "../../src/errors/api-error.ts";
import { ConfigError } from "../../src/config/config-error.ts";
import { ModelQueue } from "../../src/models/model-queue.ts";
import { DiskSync } from "../../src/state/disk-sync.ts";
import { MemoryLimitStore } from "../../src/state/memory-limit-store.ts";
import { SqliteKeyStore } from "../../src/state/sqlite-key-store.ts";
import { SqliteUsageLedger } from "../../src/state/sqlite-usage-ledger.ts";
import { StateError } from "../../src/state/state-error.ts";
import { CallChannel, callsOf } from "../../src/workers/call-channel.ts";
import { HeldLedger } from "../../src/workers/held-ledger.ts";
import { HeldLimits } from "../../src/workers/held-limits.ts";
import { HeldSlots } from "../../src/workers/held-slots.ts";
import { ledgerCalls, limitCalls, slotCalls } from "../../src/workers/process-calls.ts";
import { RemoteSlots, remoteLimits } from "../../src/workers/remote-state.ts";
import { DataFolder } from "./data-folder.ts";
import { override } from "./override.ts";

// A worker asks its parent for keys, limits, money and slots. These tests use the two ends of one channel in one process. The
// messages are copied as between two processes.

interface Ends {
  readonly parent: CallChannel;
  readonly worker: CallChannel;
  /** Returns the number of messages so far, in both directions. */
  readonly messages: () => number;
}

function connect(): Ends {
  const listeners: ((message: unknown) => void)[] = [];
  let messages = 0;
  const endTo = (other: number, own: number): CallChannel =>
    new CallChannel({
      send: (message) => {
        messages += 1;
        const bytes = serialize(message);
        setImmediate(() => listeners[other]?.(deserialize(bytes)));
      },
      onMessage: (listener) => void (listeners[own] = listener),
    });
  return { parent: endTo(1, 0), worker: endTo(0, 1), messages: () => messages };
}

describe("the keys of the parent", () => {
  const allCalls = (name: string) =>
    callsOf<KeyStore>()(name, [
      "find",
      "list",
      "insert",
      "update",
      "disable",
      "enable",
      "replaceHash",
      "delete",
      "names",
    ]);

  async function open(): Promise<KeyStoreSubject & AsyncDisposable> {
    const folder = new DataFolder();
    const { parent, worker } = connect();
    const [store, other] = [allCalls("store"), allCalls("other")];
    parent.expose(store, new SqliteKeyStore(folder.open()));
    parent.expose(other, new SqliteKeyStore(folder.open()));
    return {
      store: worker.remote(store),
      other: worker.remote(other),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  }

  test.each(keyStoreContract)("$title", (one) => assertCase(one, open));
});

describe("the limits of the parent", () => {
  async function open(): Promise<LimitStoreSubject & AsyncDisposable> {
    const { parent, worker } = connect();
    let now = 1_000_000;
    parent.expose(limitCalls, new HeldLimits(new MemoryLimitStore(overallLimits, () => now)));
    return {
      store: remoteLimits(worker.remote(limitCalls)),
      advance: async (ms) => void (now += ms),
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  test.each(limitStoreContract)("$title", (one) => assertCase(one, open));

  test("are given back when a worker dies", async () => {
    const store = new MemoryLimitStore(overallLimits, () => 0);
    const key = { keyId: "key", perMinute: { requests: 60, tokens: 6000 }, concurrency: 1 };
    const held = new HeldLimits(store);
    const { parent, worker } = connect();
    parent.expose(limitCalls, held);
    const taken = await remoteLimits(worker.remote(limitCalls)).take(key);
    if (!("commit" in taken)) throw new Error("was refused");
    await taken.takeTokens(500);
    expect(await store.take(key)).toMatchObject({ limit: "concurrency" });
    await held.release();
    expect(await store.states(key)).toMatchObject({ requests: { remaining: 60 }, tokens: { remaining: 6000 } });
    expect(await store.take(key)).toHaveProperty("commit");
  });
});

describe("the ledger of the parent", () => {
  /** Requests need only some of the methods. The contract gets the others from the ledger itself. */
  function remoteLedger(ledger: UsageLedger): UsageLedger {
    const { parent, worker } = connect();
    parent.expose(ledgerCalls, new HeldLedger(ledger));
    return override<UsageLedger>(ledger, worker.remote(ledgerCalls));
  }

  async function open(): Promise<UsageLedgerSubject & AsyncDisposable> {
    const folder = new DataFolder();
    const database = folder.open();
    return {
      ledger: remoteLedger(new SqliteUsageLedger(database, new DiskSync(database))),
      restart: async () => {
        folder.close(database);
        const other = folder.open();
        return remoteLedger(new SqliteUsageLedger(other, new DiskSync(other)));
      },
      refuseWrites: async (isRefused) => database.exec(`PRAGMA query_only = ${Number(isRefused)}`),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  }

  test.each(usageLedgerContract)("$title", (one) => assertCase(one, open));

  test("closes the entries of a dead worker once it can be written", async () => {
    await using folder = new DataFolder();
    const database = folder.open();
    const ledger = new SqliteUsageLedger(database, new DiskSync(database));
    const held = new HeldLedger(ledger);
    const pricing = { prompt: "0", completion: "0.1", image: "0", request: "0" };
    const row = { id: "one", keyId: "key", model: "vendor/model-1", isStream: true, startedMs: 1000, pricing };
    await held.open(row);
    const usage = { promptTokens: 3, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0 };
    await held.checkpoint([{ id: "one", usage }]);
    database.exec("PRAGMA query_only = 1");
    const released = held.release(2000, new AbortController().signal);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await ledger.find("one")).toMatchObject({ outcome: "open" });
    database.exec("PRAGMA query_only = 0");
    expect(await released).toBe(1);
    expect(await ledger.find("one")).toMatchObject({ outcome: "abandoned", usage, costUsd: "0", endedMs: 2000 });
  });
});

describe("the slots of the parent", () => {
  const request = { keyId: "key", weight: 1, choices: 1, promptTokens: 10, completionTokens: 10 };
  const signal = (): AbortSignal => new AbortController().signal;

  function open(maxWaiting = 4): { queue: ModelQueue; held: HeldSlots; slots: RemoteSlots } & Disposable {
    const queue = new ModelQueue(
      () => ({ maxWaiting, maxWaitMs: 5000 }),
      () => ({ slots: 1 }),
    );
    const held = new HeldSlots(() => queue);
    const { parent, worker } = connect();
    parent.expose(slotCalls, held);
    const slots = new RemoteSlots(worker.remote(slotCalls));
    return { queue, held, slots, [Symbol.dispose]: () => slots[Symbol.dispose]() };
  }

  /** Waits until `taken` requests have a slot of the parent and `waiting` requests are in its queue. */
  const untilThere = ({ queue }: ReturnType<typeof open>, taken: number, waiting: number): Promise<unknown> =>
    until(
      () => [queue.taken, queue.waiting],
      (seen) => seen[0] === taken && seen[1] === waiting,
    );

  test("are taken, waited for and freed as in one process", async () => {
    using opened = open();
    const entered = opened.slots.queueOf("m");
    const first = await entered.enter(request, signal());
    const second = entered.enter(request, signal());
    await untilThere(opened, 1, 1);
    first.commit({ usage: { completionTokens: 5 } });
    (await second).rollback();
    expect(await untilThere(opened, 0, 0)).toEqual([0, 0]);
  });

  test("a caller who leaves the queue gets its reason at once, and its place is free", async () => {
    using opened = open();
    const entered = opened.slots.queueOf("m");
    await entered.enter(request, signal());
    const leaving = new AbortController();
    const waiting = entered.enter(request, leaving.signal);
    await untilThere(opened, 1, 1);
    leaving.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    await untilThere(opened, 1, 0);
  });

  test("a refusal keeps its class, code and headers", async () => {
    using opened = open(0);
    const entered = opened.slots.queueOf("m");
    await entered.enter(request, signal());
    const refused: unknown = await entered.enter(request, signal()).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ code: "capacity_exhausted", status: 429 });
    expect(refused).toHaveProperty(["headers", "retry-after-ms"], expect.stringMatching(/^\d+$/));
  });

  test("are free when a worker dies, and its waiting requests leave", async () => {
    using opened = open();
    const entered = opened.slots.queueOf("m");
    await entered.enter(request, signal());
    const waiting = Promise.allSettled([entered.enter(request, signal())]);
    await untilThere(opened, 1, 1);
    opened.held.release();
    expect(await waiting).toMatchObject([{ reason: { message: expect.stringContaining("left the queue") } }]);
    expect([opened.queue.taken, opened.queue.waiting]).toEqual([0, 0]);
  });
});

describe("a channel", () => {
  interface Echo {
    say(text: string): string;
    fail(kind: "state" | "config"): void;
  }

  const calls = callsOf<Echo>()("echo", ["say", "fail"]);
  const echo: Echo = {
    say: (text) => text,
    fail: (kind) => {
      throw kind === "state" ? new StateError("the folder is in use") : new ConfigError(["PORT must be a number"]);
    },
  };

  test("sends all calls of one round of the event loop in one message, and their answers too", async () => {
    const { parent, worker, messages } = connect();
    parent.expose(calls, echo);
    const remote = worker.remote(calls);
    const texts = Array.from({ length: 100 }, (_, index) => `${index}`);
    expect(await Promise.all(texts.map((text) => remote.say(text)))).toEqual(texts);
    expect(messages()).toBe(2);
  });

  test("keeps the classes of errors for the operator", async () => {
    const { parent, worker } = connect();
    parent.expose(calls, echo);
    await expect(worker.remote(calls).fail("state")).rejects.toThrow(new StateError("the folder is in use"));
    await expect(worker.remote(calls).fail("state")).rejects.toBeInstanceOf(StateError);
    await expect(worker.remote(calls).fail("config")).rejects.toBeInstanceOf(ConfigError);
  });

  test("refuses a method that is not listed", async () => {
    const { parent, worker } = connect();
    parent.expose(callsOf<Echo>()("echo", ["say"]), echo);
    await expect(worker.remote(calls).fail("state")).rejects.toThrow("has no echo.fail");
  });

  test("rejects all calls when the other process ends", async () => {
    const { worker } = connect();
    const asked = worker.remote(calls).say("a");
    worker.end();
    await expect(asked).rejects.toThrow("the other process of this server has ended");
    await expect(worker.remote(calls).say("b")).rejects.toThrow("has ended");
  });
});
