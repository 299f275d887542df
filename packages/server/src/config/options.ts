import { engineOptions } from "./engine-options.ts";
import { Complaint, isOrigin, isProxy, listOf, oneOf, option, port, seconds, secret, text, whole } from "./option.ts";
import type { Option } from "./option.ts";

/**
 * Every setting, once: its name as flag, in the environment and in `parley.yaml` follow from one row. Flags win over the
 * environment, the environment over the file, the file over the default. A secret is never a flag and never in the file.
 * Durations are given in seconds and kept in milliseconds: each name says which.
 */
export const options = {
  host: option("HOST", "127.0.0.1", "address to listen on", text("an address or host name", /^[\w.:-]+$/)),
  port: option("PORT", 8080, "port to listen on; 0 takes any free one", whole(0, 65_535)),
  dataDir: option("PARLEY_DATA_DIR", ".parley", "folder for keys, ledger and run-time files", text("a path", /./)),
  apiKey: secret(
    option<string | undefined>(
      "PARLEY_API_KEY",
      undefined,
      "a key that is admitted beside the stored ones, and never stored",
      (value) =>
        /^[!-~]{16,512}$/.test(value) ? value : new Complaint("16 to 512 printable characters without blanks"),
    ),
  ),
  metricsPort: option<number | "off">(
    "PARLEY_METRICS_PORT",
    9464,
    "port for Prometheus, on loopback only; 0 takes any free one, off closes it",
    port,
  ),
  vendor: option(
    "VENDOR",
    "vendor",
    "vendor word of the model ids",
    text("letters, digits, dots, dashes and underscores", /^[\w.-]{1,64}$/),
  ),
  vendorLabel: option(
    "VENDOR_LABEL",
    "Vendor",
    "vendor label of the model names",
    text("1 to 64 characters", /^.{1,64}$/u),
  ),
  ...engineOptions,
  corsOrigins: option<readonly string[]>(
    "PARLEY_CORS_ORIGINS",
    ["*"],
    "origins that browsers may call from, separated by commas",
    listOf("* or origins such as https://app.example, separated by commas", isOrigin),
  ),
  trustedProxies: option<readonly string[]>(
    "PARLEY_TRUSTED_PROXIES",
    [],
    "addresses or networks whose X-Forwarded-For is believed, separated by commas",
    listOf("addresses or networks such as 10.0.0.0/8, separated by commas", isProxy),
  ),
  maxSockets: option("PARLEY_MAX_SOCKETS", 4096, "connections at the same time; more are refused", whole(1, 1_000_000)),
  requestsPerMinute: option(
    "PARLEY_REQUESTS_PER_MINUTE",
    10_000,
    "requests a minute over all keys, and of a key without a limit of its own",
    whole(1, 1_000_000_000),
  ),
  tokensPerMinute: option(
    "PARLEY_TOKENS_PER_MINUTE",
    10_000_000,
    "tokens a minute over all keys, and of a key without a limit of its own",
    whole(1, 1_000_000_000_000),
  ),
  reservedTokens: option(
    "PARLEY_RESERVED_TOKENS",
    1024,
    "completion tokens that a running request reserves at most of a token limit",
    whole(1, 16_384),
  ),
  queueLength: option(
    "PARLEY_QUEUE_LENGTH",
    64,
    "requests that may wait for a slot of one model; more are refused at once",
    whole(0, 100_000),
  ),
  queueWaitMs: option("PARLEY_QUEUE_WAIT_SECONDS", 30_000, "longest wait for a slot", seconds(3600)),
  headTimeoutMs: option("PARLEY_HEAD_TIMEOUT_SECONDS", 20_000, "time for a request head to arrive", seconds(3600)),
  bodyTimeoutMs: option("PARLEY_BODY_TIMEOUT_SECONDS", 30_000, "time for a request body to arrive", seconds(3600)),
  requestTimeoutMs: option("PARLEY_REQUEST_TIMEOUT_SECONDS", 600_000, "time for a whole request", seconds(86_400)),
  firstEventMs: option(
    "PARLEY_FIRST_EVENT_SECONDS",
    10_000,
    "silence of an engine after which a stream's status line is sent without it",
    seconds(600),
  ),
  keepAliveMs: option(
    "PARLEY_KEEP_ALIVE_SECONDS",
    15_000,
    "silence of a stream after which a comment is sent",
    seconds(3600),
  ),
  slowReaderMs: option(
    "PARLEY_SLOW_READER_SECONDS",
    30_000,
    "time that a caller may take nothing of a stream whose buffer is full",
    seconds(3600),
  ),
  drainMs: option(
    "PARLEY_DRAIN_SECONDS",
    30_000,
    "time for running requests to end when the server is stopped",
    seconds(86_400),
  ),
  logFormat: option(
    "PARLEY_LOG_FORMAT",
    "auto",
    "json, text, or auto: text on a terminal",
    oneOf("auto", "json", "text"),
  ),
  logLevel: option(
    "PARLEY_LOG_LEVEL",
    "info",
    "least level that is logged",
    oneOf("debug", "info", "warn", "error", "silent"),
  ),
} as const;

type Options = typeof options;
type ValueOf<O> = O extends Option<infer T> ? T : never;

/** The settings of a server, each in the unit that its name says. */
export type Settings = { readonly [Name in keyof Options]: ValueOf<Options[Name]> };
export type SettingName = keyof Options;

/** The names in the order of the table. */
export const settingNames = Object.keys(options) as readonly SettingName[]; // the keys of a constant object

export const flagOf = (key: string): string => `--${key.replaceAll("_", "-")}`;
