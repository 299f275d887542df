import { z } from "zod";
import { engineSettings } from "./engine-settings.ts";
import { secret, setting } from "./setting.ts";
import {
  address,
  baseUrl,
  keySet,
  listOf,
  oneOf,
  origin,
  path,
  proxy,
  ratio,
  seconds,
  secondsOrNone,
  text,
  whole,
} from "./value-kinds.ts";

/**
 * All settings of the server. Flags override the environment, which overrides `parley.yaml`, which overrides the defaults.
 * Durations are given in seconds and stored in milliseconds; each name has its unit.
 */
export const settings = {
  host: setting("HOST", text("an address or host name", /^[\w.:-]+$/).prefault("127.0.0.1"), "address to listen on"),
  port: setting("PORT", whole(0, 65_535).prefault(8080), "port to listen on; 0 chooses a free one"),
  workers: setting(
    "PARLEY_WORKERS",
    whole(1, 64).prefault(1),
    "number of processes that serve requests; further ones help while there are processors for them and the engines",
  ),
  dataDir: setting("PARLEY_DATA_DIR", path().prefault(".parley"), "folder for keys, ledger and run-time files"),
  apiKey: secret(
    "PARLEY_API_KEY",
    text("16 to 512 printable characters without blanks", /^[!-~]{16,512}$/).optional(),
    "an API key besides the stored keys, which is never stored; PARLEY_API_KEY_FILE names a file that contains it",
  ),
  jwtKeys: setting(
    "PARLEY_JWT_KEYS",
    keySet().optional(),
    "key set of an identity provider, as an https address or a file: its tokens (JWT) are accepted in place of keys",
  ),
  jwtIssuer: setting(
    "PARLEY_JWT_ISSUER",
    text("1 to 256 characters", /^.{1,256}$/).optional(),
    "issuer of those tokens, their claim iss",
  ),
  jwtAudience: setting(
    "PARLEY_JWT_AUDIENCE",
    text("1 to 256 characters", /^.{1,256}$/).optional(),
    "name of this service in their claim aud",
  ),
  jwtGroupClaim: setting(
    "PARLEY_JWT_GROUP_CLAIM",
    text("1 to 256 characters", /^.{1,256}$/).optional(),
    "claim that names the group of the caller, one name or a list; without it, callers need no group",
  ),
  databaseUrl: secret(
    "PARLEY_DATABASE_URL",
    address(
      "a PostgreSQL address such as postgresql://user:password@host/parley",
      "postgres:",
      "postgresql:",
    ).optional(),
    "PostgreSQL for keys and ledger, where several servers share them; also for limits, unless PARLEY_VALKEY_URL is set",
  ),
  valkeyUrl: secret(
    "PARLEY_VALKEY_URL",
    address(
      "a Valkey or Redis address such as valkey://:password@host:6379",
      "valkey:",
      "valkeys:",
      "redis:",
      "rediss:",
    ).optional(),
    "Valkey or Redis for limits, where several servers share them: faster than PostgreSQL; PARLEY_DATABASE_URL must be set, too",
  ),
  limitsWhenAway: setting(
    "PARLEY_LIMITS_WHEN_AWAY",
    oneOf("refuse", "share").prefault("refuse"),
    "refuse or share: while Valkey is away, refuse requests with 503, or let each server grant its share of the limits",
  ),
  metricsPort: setting(
    "PARLEY_METRICS_PORT",
    z.union([whole(0, 65_535), z.literal("off")], { error: "a whole number from 0 to 65535, or off" }).prefault(9464),
    "port for Prometheus; 0 chooses a free one, off closes it",
  ),
  metricsHost: setting(
    "PARLEY_METRICS_HOST",
    text("an address or host name", /^[\w.:-]+$/).prefault("127.0.0.1"),
    "address of the port for Prometheus; the metrics show the models and their usage, so bind it outside of loopback only in a private network",
  ),
  adminPort: setting(
    "PARLEY_ADMIN_PORT",
    z.union([whole(0, 65_535), z.literal("off")], { error: "a whole number from 0 to 65535, or off" }).prefault("off"),
    "port for the admin API; 0 chooses a free one, off closes it",
  ),
  adminHost: setting(
    "PARLEY_ADMIN_HOST",
    text("an address or host name", /^[\w.:-]+$/).prefault("127.0.0.1"),
    "address of the port for the admin API; it has no TLS, so bind it outside of loopback only behind a proxy with TLS",
  ),
  adminUrl: setting(
    "PARLEY_ADMIN_URL",
    baseUrl().optional(),
    "address of a server's admin API, such as http://127.0.0.1:9465, which the commands for keys, groups, admin keys, usage, requests and the audit log use instead of the data folder",
  ),
  adminKey: secret(
    "PARLEY_ADMIN_KEY",
    text("an admin key", /^[!-~]{1,512}$/).optional(),
    "the admin key for PARLEY_ADMIN_URL; PARLEY_ADMIN_KEY_FILE names a file that contains it",
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
    "on or off: whether callers may omit the vendor prefix of a model id, if only one model has this short name",
  ),
  ...engineSettings,
  corsOrigins: setting(
    "PARLEY_CORS_ORIGINS",
    listOf("origins", origin()).prefault(["*"]),
    "origins whose browser scripts may call the API, separated by commas",
  ),
  trustedProxies: setting(
    "PARLEY_TRUSTED_PROXIES",
    listOf("addresses or networks", proxy()).prefault([]),
    "addresses or networks of proxies whose X-Forwarded-For is trusted, separated by commas",
  ),
  maxSockets: setting(
    "PARLEY_MAX_SOCKETS",
    whole(1, 1_000_000).prefault(4096),
    "maximum number of connections, lowered to the number of files that the process may open; a further connection replaces one without a valid key, or can only request /health and /ready",
  ),
  socketsPerAddress: setting(
    "PARLEY_SOCKETS_PER_ADDRESS",
    whole(1, 1_000_000).prefault(1024),
    "maximum number of connections of one IPv4 address or one IPv6 /64 network; does not apply to trusted proxies",
  ),
  requestsPerMinute: setting(
    "PARLEY_REQUESTS_PER_MINUTE",
    whole(1, 1_000_000_000).prefault(10_000),
    "requests per minute of a key without its own limit",
  ),
  tokensPerMinute: setting(
    "PARLEY_TOKENS_PER_MINUTE",
    whole(1, 1_000_000_000_000).prefault(10_000_000),
    "tokens per minute of a key without its own limit",
  ),
  totalRequestsPerMinute: setting(
    "PARLEY_TOTAL_REQUESTS_PER_MINUTE",
    whole(1, 1_000_000_000).prefault(100_000),
    "requests per minute of all keys together",
  ),
  totalTokensPerMinute: setting(
    "PARLEY_TOTAL_TOKENS_PER_MINUTE",
    whole(1, 1_000_000_000_000).prefault(100_000_000),
    "tokens per minute of all keys together",
  ),
  bodyBytesPerKey: setting(
    "PARLEY_BODY_BYTES_PER_KEY",
    whole(4_194_304, 1_000_000_000_000).prefault(33_554_432),
    "maximum bytes of request bodies of one key that are read or validated at the same time",
  ),
  bodyBytes: setting(
    "PARLEY_BODY_BYTES",
    whole(4_194_304, 1_000_000_000_000).prefault(268_435_456),
    "maximum bytes of request bodies of all keys that are read or validated at the same time",
  ),
  answerBytes: setting(
    "PARLEY_ANSWER_BYTES",
    whole(16_384, 1_000_000_000_000).prefault(67_108_864),
    "maximum bytes of an answer that is not streamed; a larger one fails with an error that says to stream",
  ),
  totalAnswerBytes: setting(
    "PARLEY_TOTAL_ANSWER_BYTES",
    whole(16_384, 1_000_000_000_000).prefault(268_435_456),
    "maximum bytes of all answers that are not streamed, while they are collected and sent; beyond it, the key with the most bytes loses its largest answer",
  ),
  reservedTokens: setting(
    "PARLEY_RESERVED_TOKENS",
    whole(1, 16_384).prefault(1024),
    "maximum number of completion tokens that a running choice reserves from a token limit",
  ),
  queueLength: setting(
    "PARLEY_QUEUE_LENGTH",
    whole(0, 100_000).prefault(64),
    "number of requests that may wait for a slot of one model; further ones are refused at once",
  ),
  queueWaitMs: setting("PARLEY_QUEUE_WAIT_SECONDS", seconds(3600).prefault(30), "maximum wait for a slot"),
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
    "wait for an engine's first event, after which a stream's status line and a comment are sent without it",
  ),
  keepAliveMs: setting(
    "PARLEY_KEEP_ALIVE_SECONDS",
    seconds(3600).prefault(15),
    "time without an event after which a stream sends a keep-alive comment",
  ),
  connectionIdleMs: setting(
    "PARLEY_CONNECTION_IDLE_SECONDS",
    seconds(86_400).prefault(620),
    "time for which an idle connection is kept open; must be longer than the idle timeout of a proxy in front",
  ),
  slowReaderMs: setting(
    "PARLEY_SLOW_READER_SECONDS",
    seconds(3600).prefault(30),
    "time for which a client may read nothing while data waits for it",
  ),
  lameDuckMs: setting(
    "PARLEY_LAME_DUCK_SECONDS",
    secondsOrNone(3600).prefault(0),
    "time for which /ready reports that the server is stopping while it still accepts requests",
  ),
  drainMs: setting(
    "PARLEY_DRAIN_SECONDS",
    seconds(86_400).prefault(30),
    "time for running requests to end when the server is stopped",
  ),
  idempotencyKeptMs: setting(
    "PARLEY_IDEMPOTENCY_SECONDS",
    seconds(2_592_000).prefault(86_400),
    "time for which the answer to a request with the header Idempotency-Key is kept, to be sent again",
  ),
  idempotencyAnswers: setting(
    "PARLEY_IDEMPOTENCY_ANSWERS",
    whole(1, 1_000_000).prefault(10_000),
    "maximum number of such answers of one key; the oldest are removed",
  ),
  idempotencyAnswerBytes: setting(
    "PARLEY_IDEMPOTENCY_ANSWER_BYTES",
    whole(1024, 67_108_864).prefault(4_194_304),
    "largest such answer; a larger one is not kept, so a request that repeats it runs again; all answers of one key, compressed, take at most 64 times as much",
  ),
  metricsKeys: setting(
    "PARLEY_METRICS_KEYS",
    whole(0, 1000).prefault(0),
    "number of keys that get metrics of their own, in the order of their first use; further ones are counted together",
  ),
  otlpEndpoint: setting(
    "PARLEY_OTLP_ENDPOINT",
    baseUrl().optional(),
    "address of an OpenTelemetry collector (OTLP over HTTP), such as http://127.0.0.1:4318, which gets a trace of each chat request; without it, nothing is traced",
  ),
  traceRatio: setting(
    "PARLEY_TRACE_RATIO",
    ratio().prefault(1),
    "share of the requests that are traced; if a request has a traceparent, that decides instead",
  ),
  logFormat: setting(
    "PARLEY_LOG_FORMAT",
    oneOf("auto", "json", "text").prefault("auto"),
    "json, text, or auto: text on a terminal",
  ),
  logLevel: setting(
    "PARLEY_LOG_LEVEL",
    oneOf("debug", "info", "warn", "error", "silent").prefault("info"),
    "lowest level that is logged",
  ),
} as const;

type Table = typeof settings;

/** The values of all settings, in the units of their names. */
export type Settings = { readonly [Name in keyof Table]: z.output<Table[Name]["schema"]> };
export type SettingName = keyof Settings;

/** The names of all settings, in the order of the table. */
export const settingNames = Object.keys(settings) as readonly SettingName[]; // settings has exactly these keys
