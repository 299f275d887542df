import { Valkey } from "iovalkey";
import type { RedisOptions } from "iovalkey";
import type { LimitStore, PerMinute } from "../../accounts/limits/limit-store.ts";
import { StateError } from "../state-error.ts";
import { ValkeyLimitStore } from "./valkey-limit-store.ts";
import type { ValkeyTimes } from "./valkey-limit-store.ts";

/** Limits in a Valkey or Redis. Disposal closes the connection. */
export interface OpenValkey extends AsyncDisposable {
  readonly limits: LimitStore;
  /** Returns whether the store answered last. It is asked at least every 5 seconds. */
  isReachable(): boolean;
}

const schemes: Readonly<Record<string, boolean>> = {
  "redis:": false,
  "valkey:": false,
  "rediss:": true,
  "valkeys:": true,
};

/** Maximum milliseconds of a command, and until a connection is open. */
const maxAnswerMs = 1000;
/** Milliseconds between two attempts to connect again. */
const reconnectMs = 500;

/**
 * Connects to a single Valkey or Redis (6.2 or later), the primary. A lost connection is opened again; until then the
 * limits reject.
 * @param url `valkey://user:password@host:6379/0`; the scheme may be redis, too, and valkeys or rediss for TLS
 * @param overall limits over all keys
 * @throws {StateError} if the URL is malformed, or the store cannot be used. The message never contains the password.
 */
export async function openValkey(
  url: string,
  overall: PerMinute,
  times: ValkeyTimes = { leaseMs: 20_000, renewMs: 5000 },
): Promise<OpenValkey> {
  const address = toAddress(url);
  const at = `${address.host}:${address.port}`;
  let isOpen = false;
  const client = new Valkey({
    ...address,
    lazyConnect: true,
    connectTimeout: maxAnswerMs,
    commandTimeout: maxAnswerMs,
    // Without an answer in this time the connection is opened again, because the store may have another address now.
    socketTimeout: maxAnswerMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => (isOpen ? reconnectMs : null),
    reconnectOnError: ({ message }) => message.startsWith("READONLY"),
  });
  let lastError: unknown;
  client.on("error", (error: unknown) => (lastError = error));
  try {
    await client.connect();
    if (/^role:slave/m.test(await client.info("replication")))
      throw new StateError(`Valkey at ${at} is a read-only replica: name the primary.`);
  } catch (error) {
    client.disconnect();
    throw error instanceof StateError ? error : new StateError(sentenceOf(lastError ?? error, at));
  }
  isOpen = true;
  const limits = new ValkeyLimitStore(client, overall, times);
  return {
    limits,
    isReachable: () => client.status === "ready",
    [Symbol.asyncDispose]: async () => {
      limits[Symbol.dispose]();
      await client.quit().catch(() => client.disconnect());
    },
  };
}

function toAddress(text: string): RedisOptions & { readonly host: string; readonly port: number } {
  const url = URL.parse(text);
  const isTls = url && schemes[url.protocol];
  const db = /^\/?(\d{0,4})$/.exec(url?.pathname ?? "")?.[1];
  if (!url || isTls === undefined || isTls === null || url.hostname === "" || db === undefined)
    throw new StateError(
      "The URL of Valkey is malformed: it must look like valkey://user:password@host:6379/0, with the scheme valkey, redis, valkeys or rediss.",
    );
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 6379),
    db: Number(db),
    ...(url.username && { username: decodeURIComponent(url.username) }),
    ...(url.password && { password: decodeURIComponent(url.password) }),
    ...(isTls && { tls: { servername: url.hostname } }),
  };
}

function sentenceOf(error: unknown, at: string): string {
  const reason = error instanceof Error ? error.message : String(error);
  if (/WRONGPASS|NOAUTH|NOPERM|invalid password/.test(reason)) return `Valkey at ${at} refuses the user or password.`;
  if (/ECONNREFUSED/.test(reason)) return `Valkey at ${at} refuses the connection.`;
  return `Valkey at ${at} cannot be used: ${reason}`;
}
