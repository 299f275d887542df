import { z } from "zod";
import { engineSettings } from "./engine-settings.ts";
import { secret, setting } from "./setting.ts";
import { listOf, oneOf, origin, path, proxy, seconds, secondsOrNone, text, whole } from "./value-kinds.ts";

/**
 * Every setting of the server, once. Flags win over the environment, the environment over `parley.yaml`, the file over
 * the default. Durations are given in seconds and kept in milliseconds: each name says which.
 */
export const settings = {
  host: setting("HOST", text("an address or host name", /^[\w.:-]+$/).prefault("127.0.0.1"), "address to listen on"),
  port: setting("PORT", whole(0, 65_535).prefault(8080), "port to listen on; 0 takes any free one"),
  dataDir: setting("PARLEY_DATA_DIR", path().prefault(".parley"), "folder for keys, ledger and run-time files"),
  apiKey: secret(
    "PARLEY_API_KEY",
    text("16 to 512 printable characters without blanks", /^[!-~]{16,512}$/).optional(),
    "a key that is admitted beside the stored ones, and never stored; PARLEY_API_KEY_FILE names a file with it",
  ),
  metricsPort: setting(
    "PARLEY_METRICS_PORT",
    z.union([whole(0, 65_535), z.literal("off")], { error: "a whole number from 0 to 65535, or off" }).prefault(9464),
    "port for Prometheus; 0 takes any free one, off closes it",
  ),
  metricsHost: setting(
    "PARLEY_METRICS_HOST",
    text("an address or host name", /^[\w.:-]+$/).prefault("127.0.0.1"),
    "address of the port for Prometheus: it names models and keys, so beyond loopback only in a private network",
  ),
  vendor: setting(
    "VENDOR",
    text("letters, digits, dots, dashes and underscores", /^[\w.-]{1,64}$/).prefault("vendor"),
    "vendor prefix of the model ids",
  ),
  vendorLabel: setting(
    "VENDOR_LABEL",
    text("1 to 64 characters", /^.{1,64}$/u).prefault("Vendor"),
    "vendor label of the model names",
  ),
  shortNames: setting(
    "PARLEY_SHORT_NAMES",
    oneOf("on", "off").prefault("on"),
    "on, or off: whether callers may leave out the vendor prefix of a model's id where only one model is meant",
  ),
  ...engineSettings,
  corsOrigins: setting(
    "PARLEY_CORS_ORIGINS",
    listOf("origins", origin()).prefault(["*"]),
    "origins that browsers may call from, separated by commas",
  ),
  trustedProxies: setting(
    "PARLEY_TRUSTED_PROXIES",
    listOf("addresses or networks", proxy()).prefault([]),
    "addresses or networks whose X-Forwarded-For is believed, separated by commas",
  ),
  maxSockets: setting(
    "PARLEY_MAX_SOCKETS",
    whole(1, 1_000_000).prefault(4096),
    "connections at the same time, or fewer where the process may not have so many files open; a further one takes the place of one that has shown no valid key, or is served /health and /ready only",
  ),
  socketsPerAddress: setting(
    "PARLEY_SOCKETS_PER_ADDRESS",
    whole(1, 1_000_000).prefault(1024),
    "connections of one address, or of one IPv6 network of 64 bits, at the same time; trusted proxies have no such bound",
  ),
  requestsPerMinute: setting(
    "PARLEY_REQUESTS_PER_MINUTE",
    whole(1, 1_000_000_000).prefault(10_000),
    "requests a minute of a key without a limit of its own",
  ),
  tokensPerMinute: setting(
    "PARLEY_TOKENS_PER_MINUTE",
    whole(1, 1_000_000_000_000).prefault(10_000_000),
    "tokens a minute of a key without a limit of its own",
  ),
  totalRequestsPerMinute: setting(
    "PARLEY_TOTAL_REQUESTS_PER_MINUTE",
    whole(1, 1_000_000_000).prefault(100_000),
    "requests a minute over all keys",
  ),
  totalTokensPerMinute: setting(
    "PARLEY_TOTAL_TOKENS_PER_MINUTE",
    whole(1, 1_000_000_000_000).prefault(100_000_000),
    "tokens a minute over all keys",
  ),
  bodyBytesPerKey: setting(
    "PARLEY_BODY_BYTES_PER_KEY",
    whole(4_194_304, 1_000_000_000_000).prefault(33_554_432),
    "bytes of request bodies of one key that are read or checked at the same time",
  ),
  bodyBytes: setting(
    "PARLEY_BODY_BYTES",
    whole(4_194_304, 1_000_000_000_000).prefault(268_435_456),
    "bytes of request bodies of all keys that are read or checked at the same time",
  ),
  answerBytes: setting(
    "PARLEY_ANSWER_BYTES",
    whole(16_384, 1_000_000_000_000).prefault(67_108_864),
    "bytes of an answer that is not streamed; a larger one fails and says to stream",
  ),
  totalAnswerBytes: setting(
    "PARLEY_TOTAL_ANSWER_BYTES",
    whole(16_384, 1_000_000_000_000).prefault(268_435_456),
    "bytes of all such answers while they are collected and read; beyond them the key that holds most loses one",
  ),
  reservedTokens: setting(
    "PARLEY_RESERVED_TOKENS",
    whole(1, 16_384).prefault(1024),
    "completion tokens that a running request reserves at most of a token limit",
  ),
  queueLength: setting(
    "PARLEY_QUEUE_LENGTH",
    whole(0, 100_000).prefault(64),
    "requests that may wait for a slot of one model; more are refused at once",
  ),
  queueWaitMs: setting("PARLEY_QUEUE_WAIT_SECONDS", seconds(3600).prefault(30), "longest wait for a slot"),
  headTimeoutMs: setting(
    "PARLEY_HEAD_TIMEOUT_SECONDS",
    seconds(3600).prefault(20),
    "time for a request head to arrive",
  ),
  bodyTimeoutMs: setting(
    "PARLEY_BODY_TIMEOUT_SECONDS",
    seconds(3600).prefault(30),
    "time for a request body to arrive",
  ),
  requestTimeoutMs: setting(
    "PARLEY_REQUEST_TIMEOUT_SECONDS",
    seconds(86_400).prefault(600),
    "time for a whole request",
  ),
  firstEventMs: setting(
    "PARLEY_FIRST_EVENT_SECONDS",
    seconds(600).prefault(10),
    "silence of an engine after which a stream's status line is sent without it, and the first comment",
  ),
  keepAliveMs: setting(
    "PARLEY_KEEP_ALIVE_SECONDS",
    seconds(3600).prefault(15),
    "silence of a stream after which a comment is sent",
  ),
  connectionIdleMs: setting(
    "PARLEY_CONNECTION_IDLE_SECONDS",
    seconds(86_400).prefault(620),
    "time for which a connection without a request is kept; it has to be longer than that of the proxy in front",
  ),
  slowReaderMs: setting(
    "PARLEY_SLOW_READER_SECONDS",
    seconds(3600).prefault(30),
    "time that a caller may take nothing of a stream whose buffer is full",
  ),
  lameDuckMs: setting(
    "PARLEY_LAME_DUCK_SECONDS",
    secondsOrNone(3600).prefault(0),
    "time for which /ready says that the server is stopping, while it still takes requests",
  ),
  drainMs: setting(
    "PARLEY_DRAIN_SECONDS",
    seconds(86_400).prefault(30),
    "time for running requests to end when the server is stopped",
  ),
  logFormat: setting(
    "PARLEY_LOG_FORMAT",
    oneOf("auto", "json", "text").prefault("auto"),
    "json, text, or auto: text on a terminal",
  ),
  logLevel: setting(
    "PARLEY_LOG_LEVEL",
    oneOf("debug", "info", "warn", "error", "silent").prefault("info"),
    "least level that is logged",
  ),
} as const;

type Table = typeof settings;

/** The settings of a server, each in the unit that its name says. */
export type Settings = { readonly [Name in keyof Table]: z.output<Table[Name]["schema"]> };
export type SettingName = keyof Settings;

/** The names in the order of the table. */
export const settingNames = Object.keys(settings) as readonly SettingName[]; // the keys of a constant object
