import { Valkey } from "iovalkey";
import type { RedisOptions } from "iovalkey";
import type { PerMinute } from "../../accounts/limits/limit-store.ts";
import { defaultLeaseTimes, SharedLimitStore } from "../shared-limit-store.ts";
import type { LeaseTimes, OpenLimits } from "../shared-limit-store.ts";
import { StateError } from "../state-error.ts";
import { ValkeyLimits } from "./valkey-limits.ts";

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
  times: LeaseTimes = defaultLeaseTimes,
): Promise<OpenLimits> {
  const { options, at } = readUrl(url);
  let isOpen = false;
  const client = new Valkey({
    ...options,
    lazyConnect: true,
    // Node tries IPv4 and IPv6 addresses itself.
    family: 0,
    familyFallback: { enabled: false },
    connectTimeout: maxAnswerMs,
    commandTimeout: maxAnswerMs,
    // Without an answer in this time the connection is opened again, because the store may have another address now.
    socketTimeout: maxAnswerMs,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => (isOpen ? reconnectMs : null),
    reconnectOnError: ({ message }) => message.includes("READONLY"),
  });
  let lastError: unknown;
  client.on("error", (error: unknown) => (lastError = error));
  const limits = new SharedLimitStore(new ValkeyLimits(client, overall, times), overall, times);
  const dispose = async (): Promise<void> => {
    limits[Symbol.dispose]();
    await client.quit().catch(() => client.disconnect());
  };
  try {
    await client.connect();
    // The library goes on in database 0 if it cannot select another one.
    if (lastError !== undefined) throw lastError;
    await limits.renew();
  } catch (error) {
    await dispose();
    // The error itself may contain the password, in the arguments of its command.
    throw new StateError(sentenceOf(lastError ?? causeOf(error), at));
  }
  isOpen = true;
  client.on("ready", () => void limits.keepUp().catch(() => undefined));
  return { limits, [Symbol.asyncDispose]: dispose };
}

const causeOf = (error: unknown): unknown => (error instanceof StateError ? error.cause : error);

function readUrl(text: string): { readonly options: RedisOptions; readonly at: string } {
  const url = URL.parse(text);
  const isTls = url && schemes[url.protocol];
  const db = /^\/?(\d{0,4})$/.exec(url?.pathname ?? "")?.[1];
  const [username, password] = [url?.username, url?.password].map(decoded);
  if (
    !url ||
    typeof isTls !== "boolean" ||
    !url.hostname ||
    db === undefined ||
    url.search !== "" ||
    url.hash !== "" ||
    password === undefined ||
    username === undefined
  )
    throw new StateError(
      "The URL of Valkey is malformed: it must look like valkey://user:password@host:6379/0, with the scheme valkey, redis, valkeys or rediss.",
    );
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port || 6379);
  // The library sends no credentials for empty texts.
  const options = { host, port, db: Number(db), username, password, ...(isTls && { tls: {} }) };
  return { options, at: `${url.hostname}:${port}` };
}

/** Decodes percent signs. Returns undefined if that is impossible. */
function decoded(text: string | undefined): string | undefined {
  try {
    return decodeURIComponent(text ?? "");
  } catch {
    return undefined;
  }
}

const sentences: readonly (readonly [reason: RegExp, rest: string])[] = [
  [/WRONGPASS|NOAUTH|invalid password/, "refuses the user or the password."],
  [/NOPERM/, "does not permit this user all commands of the limits."],
  [/CLUSTERDOWN|CROSSSLOT|MOVED/, "is in cluster mode, which the limits cannot use: name a single primary."],
  [/unknown command/i, "does not know all commands of the limits. If it is a sentinel, name the primary instead."],
  [/READONLY/, "is a read-only replica: name the primary."],
  [/OOM|MISCONF/, "takes no writes: its memory or its disk is full."],
  [/ECONNREFUSED/, "refuses the connection."],
  [/ENOTFOUND|EAI_AGAIN/, "cannot be found: the host name has no address."],
  [/timeout|timed out|ETIMEDOUT/i, "does not answer within a second."],
  [/Protocol error/, "is neither Valkey nor Redis."],
  [/certificate/, "has a certificate that is not trusted: NODE_EXTRA_CA_CERTS must name the file of its CA."],
  [/ECONNRESET|closed/, "closes the connection: a server with TLS needs the scheme valkeys or rediss."],
  [/DB index/, "does not have the database that the URL names."],
];

function sentenceOf(error: unknown, at: string): string {
  const reason = error instanceof Error ? error.message : String(error);
  const rest = sentences.find(([pattern]) => pattern.test(reason))?.[1];
  return `Valkey at ${at} ${rest ?? `cannot be used: ${reason}`}`;
}
