import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { chatInit, testKey, until } from "@parley/server/testing";
import { createApp } from "../src/app.ts";
import { environmentKey, withEnvironmentKey } from "../src/accounts/keys/find-caller.ts";
import { RunningKeys } from "../src/accounts/keys/running-keys.ts";
import type { Deps } from "../src/deps.ts";
import { LoopTurns } from "../src/http/loop-turns.ts";
import { BodyBytes } from "../src/chat/admission/body-bytes.ts";
import type { LimitedKey, LimitLease, LimitRefusal } from "../src/accounts/limits/limit-store.ts";
import { Limits } from "../src/accounts/limits/limits.ts";
import { MemoryLimitStore } from "../src/state/memory-limit-store.ts";
import { SqliteKeyStore } from "../src/state/sqlite-key-store.ts";
import { DataFolder } from "./state/data-folder.ts";

const perMinute = { requests: 100, tokens: 100 };
const bytes = 1000;

/** A store that waits for permission before it takes anything, like one on a slow network. */
class SlowStore extends MemoryLimitStore {
  readonly asked = Promise.withResolvers<void>();
  readonly go = Promise.withResolvers<void>();

  override async take(key: LimitedKey): Promise<LimitLease | LimitRefusal> {
    this.asked.resolve();
    await this.go.promise;
    return super.take(key);
  }
}

test("a caller who disconnects while the limits are asked leaves nothing taken", async () => {
  await using folder = new DataFolder();
  using running = new RunningKeys(new SqliteKeyStore(folder.open()));
  const store = new SlowStore(perMinute, () => performance.now());
  const limits = new Limits(store, () => perMinute);
  const bodyBytes = new BodyBytes(() => ({ maxOfKey: bytes, maxInTotal: bytes }));
  const ledger = { spentUsd: async () => "0" };
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  const config = { requestTimeoutMs: 60_000, bodyTimeoutMs: 60_000, trustedProxies: [], corsOrigins: [] };
  const app = createApp(
    // The request ends before its body is read, so no other dependency is used.
    {
      config,
      shutdown: new AbortController().signal,
      elapsedMs: () => performance.now(),
      log,
      metrics: { countRequest: () => undefined },
      findCaller: withEnvironmentKey(testKey, async () => undefined),
      runningKeys: running,
      keepPlace: () => undefined,
      admission: { assertOpen: () => undefined, ledger, nowMs: Date.now, limits, bodyBytes },
      limits,
      turns: new LoopTurns(),
    } as unknown as Deps,
    "node",
  );
  const server = createServer(app).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP

  const gone = new AbortController();
  const init = chatInit({}, { headers: { authorization: `Bearer ${testKey}` }, signal: gone.signal });
  const answer = fetch(`http://127.0.0.1:${port}/v1/chat/completions`, init);
  await store.asked.promise;
  gone.abort();
  await expect(answer).rejects.toThrow("aborted");
  store.go.resolve();
  // The line is written when the request has ended.
  await until(
    () => lines.length,
    (written) => written > 0,
  );

  const key = { keyId: environmentKey, perMinute, concurrency: 1 };
  await until(
    () => store.take(key),
    (taken) => "commit" in taken,
  );
  expect(() => bodyBytes.take(environmentKey, bytes)).not.toThrow();
});
