import { setTimeout as wait } from "node:timers/promises";
import { SchemaCompiler } from "@parley/inference";
import { createApp } from "./app.ts";
import type { ChatMount } from "./app.ts";
import { unlessAway, withEnvironmentKey, withStoredKeys } from "./accounts/keys/find-caller.ts";
import type { FindCaller } from "./accounts/keys/find-caller.ts";
import { withIdentities } from "./accounts/identity/identity.ts";
import type { IdentityDeps, VerifyToken } from "./accounts/identity/identity.ts";
import { RunningKeys } from "./accounts/keys/running-keys.ts";
import { ConfigError } from "./config/config-error.ts";
import { IdempotencyKeys } from "./accounts/idempotency/idempotency-keys.ts";
import type { IdempotencyBounds } from "./accounts/idempotency/idempotency-keys.ts";
import type { RequestIdempotency } from "./accounts/idempotency/idempotency-keys.ts";
import type { Config } from "./config/read-config.ts";
import type { Deps } from "./deps.ts";
import { createGate } from "./chat/body/request-gate.ts";
import type { Site } from "./site/open-site.ts";
import type { Exchange } from "./http/exchange.ts";
import type { ServedModel } from "./models/served-model.ts";
import { ApiError, storeAway } from "./errors/api-error.ts";
import { HangUpError } from "./errors/hang-up.ts";
import type { AdmissionDeps } from "./chat/admission/admit.ts";
import { BodyBytes } from "./chat/admission/body-bytes.ts";
import type { LimitStore } from "./accounts/limits/limit-store.ts";
import { Limits } from "./accounts/limits/limits.ts";
import type { Listener } from "./sockets/listener.ts";
import { LedgerRecorder } from "./accounts/ledger/ledger-recorder.ts";
import type { RequestLedger } from "./accounts/ledger/usage-ledger.ts";
import type { Log } from "./observe/log.ts";
import type { Observed } from "./observe/gauges.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { SpanCounts, Tracing } from "./observe/tracing.ts";
import { RefusalSample, RepeatedFaults } from "./observe/refusal-sample.ts";
import { GatheredBytes } from "./chat/relay/gathered-bytes.ts";
import { MemoryReturn } from "./return-memory.ts";

/** The limits of all requests. */
export interface OpenedLimits {
  readonly limits: LimitStore;
  /** Returns false while the store of limits that servers share cannot be reached. */
  isReachable(): boolean;
  /** Returns true while that store is away and each server grants its part of the limits. Absent: never. */
  areDivided?(): boolean;
}

/** The numbers of a process that serves requests. */
export type ServingCounts = Pick<Observed, "requests" | "connections" | "gatheredBytes" | "spans" | "unkeptAnswers">;

/** The parts that requests need. They belong to this process, or to its parent. */
export interface ServingParts {
  /** A reload changes it: see `config/reload.ts`. */
  readonly config: Config;
  readonly log: Log;
  /** The mount of chat completions. */
  readonly mount: ChatMount;
  readonly listener: Listener;
  readonly samples: { readonly refusals: RefusalSample; readonly faults: RepeatedFaults };
  /** A reload replaces its elements, so a request keeps the prices of the model that it has picked. */
  readonly models: readonly ServedModel[];
  readonly keys: IdentityDeps["keys"];
  readonly groups: IdentityDeps["groups"];
  readonly noteRefusedToken: IdentityDeps["noteRefused"];
  /** Undefined: only keys are accepted. */
  readonly verifyToken: VerifyToken | undefined;
  readonly ledger: RequestLedger;
  readonly idempotency: RequestIdempotency;
  readonly store: OpenedLimits;
  /** Undefined: no request is traced. */
  readonly tracing: Tracing | undefined;
  /** Returns the built docs portal. The first call may take seconds. */
  readonly openSite: () => Promise<Site>;
  /** Returns the counter of ended requests, given the numbers that every scrape reads. */
  readonly count: (counts: ServingCounts) => Pick<Metrics, "countRequest">;
}

/**
 * Ends the service of requests. For `lameDuckMs` milliseconds, `/ready` reports that the server is stopping, but requests
 * are still accepted. Then no new requests are accepted, and running ones may end within `drainMs` of the configuration.
 */
export type Drain = (lameDuckMs: number) => Promise<void>;

export const nowMs = Date.now;
const elapsedMs = (): number => performance.now();
const checkpointEveryMs = 100;
const noSpans: SpanCounts = { sent: 0, lost: 0 };

export const newSamples = (): ServingParts["samples"] => ({
  refusals: new RefusalSample(nowMs),
  faults: new RepeatedFaults(elapsedMs),
});

/** Serves the requests of a listener. @param started ends the parts that are made here */
export function serveRequests(parts: ServingParts, started: AsyncDisposableStack): Drain {
  const { config, log, mount, listener, samples, models, openSite, store, tracing } = parts;
  const recorder = openRecorder(parts, started);
  const gates = gatesFor({ ...parts, recorder });
  const idempotency = openIdempotency(parts, started);
  const { connections } = listener;
  const counted = {
    requests: recorder,
    connections,
    gatheredBytes: gates.gatheredBytes,
    spans: tracing?.counts ?? noSpans,
    unkeptAnswers: idempotency.unkept,
  };
  const shutdown = new AbortController();
  let isStopping = false;
  const deps: Deps = {
    config,
    openSite,
    gate: createGate(),
    schemaCompiler: started.use(new SchemaCompiler()),
    models,
    recorder,
    log,
    ...samples,
    metrics: parts.count(counted),
    tracing,
    nowMs,
    elapsedMs,
    shutdown: shutdown.signal,
    isStopping: () => isStopping,
    areLimitsReachable: () => store.isReachable(),
    areLimitsDivided: () => store.areDivided?.() ?? false,
    ...keysFor(parts, started),
    ...gates,
    idempotency,
    keepPlace: (socket) => listener.keepPlace(socket),
    timings: config,
    onBroken: (exchange, error) => noteBroken(log, exchange, error),
  };
  listener.serve(createApp(deps, mount));
  return async (lameDuckMs) => {
    isStopping = true;
    // Even a timer of 0 ms would delay the end, and requests would be accepted meanwhile.
    if (lameDuckMs > 0) await wait(lameDuckMs);
    await listener.drain(config.drainMs, () => shutdown.abort(stopping()));
    // Requests that outlive their clients have no connection.
    shutdown.abort(stopping());
  };
}

/**
 * Returns the check of tokens of an identity provider; undefined if the configuration has none. Then its library is not loaded.
 * @throws {ConfigError} for a file that is not a key set
 */
export async function verifierFor(config: Config): Promise<VerifyToken | undefined> {
  const { jwtKeys: keys, jwtIssuer: issuer, jwtAudience: audience, jwtGroupClaim: groupClaim } = config;
  if (keys === undefined || issuer === undefined || audience === undefined) return undefined;
  const { verifierOf } = await import("./accounts/identity/verify-token.ts");
  try {
    return verifierOf({ keys, issuer, audience, groupClaim }, nowMs);
  } catch (error) {
    throw new ConfigError([error instanceof Error ? error.message : String(error)]);
  }
}

/** Opens the ledger recorder. It knows whether requests are running, so it also decides when memory can be returned. */
function openRecorder({ config, ledger, log }: ServingParts, started: AsyncDisposableStack): LedgerRecorder {
  const probeMs = config.databaseUrl === undefined ? undefined : 1000;
  const recorder = started.use(new LedgerRecorder(ledger, log, nowMs, checkpointEveryMs, probeMs));
  started.use(new MemoryReturn(recorder));
  return recorder;
}

/** Opens the idempotency keys of the requests of this process. */
function openIdempotency({ config, idempotency, log }: ServingParts, started: AsyncDisposableStack): IdempotencyKeys {
  const bounds = (): IdempotencyBounds => ({
    keptMs: config.idempotencyKeptMs,
    maxAnswers: config.idempotencyAnswers,
    maxAnswerBytes: config.idempotencyAnswerBytes,
  });
  return started.use(new IdempotencyKeys({ store: idempotency, log, nowMs, bounds }));
}

/** Creates the authentication, and the watch that ends requests of a key that is disabled or deleted. */
function keysFor(
  { config, keys, groups, noteRefusedToken: noteRefused, verifyToken: verify }: ServingParts,
  started: AsyncDisposableStack,
): Pick<Deps, "findCaller" | "keys" | "runningKeys"> {
  const { apiKey, databaseUrl, jwtIssuer: issuer, jwtGroupClaim } = config;
  const needsGroup = jwtGroupClaim !== undefined;
  const stored = findStored(databaseUrl, withStoredKeys(keys, nowMs));
  const asked = verify && issuer !== undefined && { verify, issuer, needsGroup, groups, keys, noteRefused, nowMs };
  return {
    keys: databaseUrl === undefined ? keys : { find: (id) => keys.find(id).catch(storeAway) },
    findCaller: withEnvironmentKey(apiKey, asked ? withIdentities(asked, stored) : stored),
    runningKeys: started.use(new RunningKeys(keys)),
  };
}

const findStored = (databaseUrl: string | undefined, find: FindCaller): FindCaller =>
  databaseUrl === undefined ? find : unlessAway(find);

/** While the database is away, the requests and the spending of a key cannot be looked up, and its requests get 503. */
const recordsOf = (
  { databaseUrl }: Config,
  ledger: RequestLedger,
): Pick<RequestLedger, "find" | "spentUsd" | "groupSpentUsd"> =>
  databaseUrl === undefined
    ? ledger
    : {
        find: (id) => ledger.find(id).catch(storeAway),
        spentUsd: (keyId, month) => ledger.spentUsd(keyId, month).catch(storeAway),
        groupSpentUsd: (groupId, span) => ledger.groupSpentUsd(groupId, span).catch(storeAway),
      };

/** Creates the parts that admit requests: the limits, the turns in which bodies are read, and the bounds on memory. */
function gatesFor({
  config,
  ledger,
  recorder,
  listener,
  store,
}: Pick<ServingParts, "config" | "ledger" | "listener" | "store"> & {
  readonly recorder: LedgerRecorder;
}): Pick<Deps, "turns" | "admission" | "ledger" | "limits" | "gatheredBytes"> {
  const limits = new Limits(store.limits, () => ({
    requests: config.requestsPerMinute,
    tokens: config.tokensPerMinute,
  }));
  const records = recordsOf(config, ledger);
  const admission: AdmissionDeps = {
    assertOpen: () => {
      if (listener.isDraining) throw stopping();
    },
    limits,
    bodyBytes: new BodyBytes(() => ({ maxOfKey: config.bodyBytesPerKey, maxInTotal: config.bodyBytes })),
    ledger: records,
    recorder,
    reservedTokens: () => config.reservedTokens,
    nowMs,
  };
  const gatheredBytes = new GatheredBytes(() => ({ ofAnswer: config.answerBytes, ofAll: config.totalAnswerBytes }));
  return { turns: listener.turns, ledger: records, limits, admission, gatheredBytes };
}

const stopping = (): ApiError =>
  new ApiError("service_unavailable", "The server is being stopped. Send the request again.", { retryAfterMs: 2000 });

/** Logs the failure of a stream that had begun, when the status could no longer tell it. */
function noteBroken(log: Log, { id, record }: Exchange, error: unknown): void {
  record.errorCode =
    error instanceof HangUpError ? "client_closed_request" : error instanceof ApiError ? error.code : "internal_error";
  if (!(error instanceof HangUpError)) log.error({ request_id: id, err: error }, "a stream was broken off");
}
