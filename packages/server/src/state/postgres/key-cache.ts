import { setTimeout as wait } from "node:timers/promises";
import { Client } from "pg";
import type { ClientConfig } from "pg";
import type { FoundKey } from "../../accounts/keys/key-store.ts";

/** Milliseconds between two probes of the listening connection. */
const probeEveryMs = 250;
/** Maximum milliseconds since the start of the last probe that was answered. Later, the connection may be dead, and no cached key is used. */
const maxUnprovenMs = 600;
/** Maximum milliseconds for which a key is cached. A restore of the table fires no trigger, so it is seen after this time. */
const maxAgeMs = 10_000;
/** Maximum number of cached keys. */
const maxKeys = 10_000;

interface KeptKey {
  readonly key: FoundKey;
  readonly foundMs: number;
}

/**
 * The keys that one server has found in PostgreSQL. A trigger notifies the cache of each change (`NOTIFY`), on a connection of
 * its own. The cache probes that connection every 250 ms: an answered probe proves that all earlier notifications have arrived.
 * So a change by another server is seen within a second, even if the connection dies without being closed. Ids that were not
 * found are not cached.
 */
export class KeyCache implements AsyncDisposable {
  readonly #config: ClientConfig;
  readonly #kept = new Map<string, KeptKey>();
  readonly #closed = new AbortController();
  #listening: Promise<void> | undefined;
  /** The start of the last probe that was answered. */
  #provenMs = Number.NEGATIVE_INFINITY;
  /** Number of times that something was forgotten. */
  #changes = 0;

  constructor(config: ClientConfig) {
    this.#config = config;
  }

  /** Returns a key as it was within the last second; undefined if it has to be searched. The first call opens the connection. */
  get(id: string): FoundKey | undefined {
    this.#listening ??= this.#listen();
    const kept = this.#isProven() ? this.#kept.get(id) : undefined;
    return kept && performance.now() - kept.foundMs < maxAgeMs ? kept.key : undefined;
  }

  /** To be called before a search begins. @returns a function that keeps what was found, unless something has changed meanwhile */
  beginSearch(): (found: Iterable<FoundKey>) => void {
    const changes = this.#changes;
    const foundMs = performance.now();
    if (!this.#isProven()) return () => undefined;
    return (found) => {
      if (changes !== this.#changes) return;
      for (const key of found) this.#kept.set(key.id, { key, foundMs });
      if (this.#kept.size > maxKeys) this.#kept.clear();
    };
  }

  /** Forgets a key that has changed. */
  forget(id: string): void {
    this.#changes += 1;
    this.#kept.delete(id);
  }

  /** Forgets all keys: a group has changed, and any of them may be in it. */
  forgetAll(): void {
    this.#changes += 1;
    this.#kept.clear();
  }

  /** Forgets all keys when the connection is lost. They are asked for until the next one has been proven. */
  #distrust(): void {
    this.forgetAll();
    this.#provenMs = Number.NEGATIVE_INFINITY;
  }

  #isProven(): boolean {
    return performance.now() - this.#provenMs < maxUnprovenMs;
  }

  /** Listens until the cache is closed. A lost connection is opened again. */
  async #listen(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await this.#listenOnce(signal).catch(() => undefined);
      this.#distrust();
      await wait(probeEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Listens until the connection is lost, or shows a replica, which another server's changes do not reach in time. */
  async #listenOnce(signal: AbortSignal): Promise<void> {
    const client = new Client({ ...this.#config, query_timeout: 1000 });
    client.on("error", () => this.#distrust());
    client.on("end", () => this.#distrust());
    client.on("notification", ({ payload = "" }) =>
      payload.startsWith("grp_") ? this.forgetAll() : this.forget(payload),
    );
    try {
      await client.connect();
      await client.query("LISTEN parley_keys");
      while (!signal.aborted) {
        const askedMs = performance.now();
        const { rows } = await client.query<{ is_replica: boolean }>("SELECT pg_is_in_recovery() AS is_replica");
        if (rows[0]?.is_replica !== false) return;
        this.#provenMs = askedMs;
        await wait(probeEveryMs, undefined, { signal });
      }
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort();
    await this.#listening;
  }
}

/** The methods of the cache that stores need. */
export type CachedKeys = Pick<KeyCache, "get" | "beginSearch" | "forget" | "forgetAll">;

/** Caches nothing, for the stores of a transaction. */
export const noCache: CachedKeys = {
  get: () => undefined,
  beginSearch: () => () => undefined,
  forget: () => undefined,
  forgetAll: () => undefined,
};
