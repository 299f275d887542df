import { setTimeout as wait } from "node:timers/promises";
import { SchemaCompiler } from "@parley/inference";
import type { SupervisorReport } from "@parley/inference";
import { createApp } from "./app.ts";
import type { ChatMount } from "./app.ts";
import { unlessAway, withEnvironmentKey, withStoredKeys } from "./accounts/keys/find-caller.ts";
import type { FindCaller } from "./accounts/keys/find-caller.ts";
import { addKeyMetrics } from "./accounts/key-metrics.ts";
import type { KeyMetricsSources } from "./accounts/key-metrics.ts";
import type { KeyStore } from "./accounts/keys/key-store.ts";
import { RunningKeys } from "./accounts/keys/running-keys.ts";
import type { Config } from "./config/read-config.ts";
import type { Deps } from "./deps.ts";
import { DescriptorWatch, describePlan, planDescriptors } from "./sockets/descriptors.ts";
import { createGate } from "./chat/body/request-gate.ts";
import { openSite } from "./site/open-site.ts";
import type { Site } from "./site/open-site.ts";
import { loadOnce } from "./express/load-once.ts";
import type { Exchange } from "./http/exchange.ts";
import { describeServer } from "./models/describe-server.ts";
import { startModels } from "./models/start-models.ts";
import type { StartOptions } from "./models/start-models.ts";
import type { ServedModel } from "./models/served-model.ts";
import { ApiError } from "./errors/api-error.ts";
import { HangUpError } from "./errors/hang-up.ts";
import type { AdmissionDeps } from "./chat/admission/admit.ts";
import { BodyBytes } from "./chat/admission/body-bytes.ts";
import type { LimitStore } from "./accounts/limits/limit-store.ts";
import { Limits } from "./accounts/limits/limits.ts";
import { Listener } from "./sockets/listener.ts";
import { AbandonedWatch, LedgerRecorder, closeAbandoned } from "./accounts/ledger/ledger-recorder.ts";
import type { UsageLedger } from "./accounts/ledger/usage-ledger.ts";
import { watchServers } from "./accounts/servers/watch-servers.ts";
import type { Log } from "./observe/log.ts";
import { createMetrics, metricsHandler } from "./observe/metrics.ts";
import { RefusalSample, RepeatedFaults } from "./observe/refusal-sample.ts";
import { GatheredBytes } from "./chat/relay/gathered-bytes.ts";
import { MemoryReturn } from "./return-memory.ts";
import { MemoryLimitStore } from "./state/memory-limit-store.ts";
import { openStateOf } from "./state/open-state.ts";
import type { State } from "./state/open-state.ts";
import { makePrivateFolder } from "./state/private-file.ts";
import { RunFolder, ServerLock } from "./state/server-lock.ts";
import { openValkey } from "./state/valkey/open-valkey.ts";

export interface ServerOptions {
  readonly config: Config;
  readonly log: Log;
  /** Returns the number of log lines that could not be written. */
  readonly lostLines?: () => number;
  /** Receives every change of an engine's state. */
  readonly report: (event: SupervisorReport) => void;
  /** The mount of chat completions. Tests use both. */
  readonly mount?: ChatMount | undefined;
}

/** A listening server. Its engines may not be ready yet. */
export interface RunningServer {
  /** The URL without a path: `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly metricsUrl: string | undefined;
  readonly models: readonly ServedModel[];
  readonly keys: KeyStore;
  /** Number of ledger entries that a dead server had left open. They were closed at this start. */
  readonly abandoned: number;
  /** Builds the docs portal if it is not built yet. The first request for a page would wait for it. */
  openDocs(): Promise<void>;
  /**
   * Stops the server. For `lameDuckMs` milliseconds, `/ready` reports that it is stopping, but requests are still accepted.
   * Then it accepts no new requests, and lets running requests end within `drainMs` of the configuration.
   */
  close(lameDuckMs?: number): Promise<void>;
}

const nowMs = Date.now;
const elapsedMs = (): number => performance.now();
const checkpointEveryMs = 100;

/** Starts a server. @throws {StateError} {ListenError} {ConfigError} with a message for the operator */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const started = new AsyncDisposableStack();
  try {
    const config = fitDescriptors(options.config, options.log);
    started.use(new DescriptorWatch(options.log));
    return await start({ ...options, config }, started);
  } catch (error) {
    await started.disposeAsync();
    throw error;
  }
}

async function start(
  { config, log, lostLines = () => 0, report, mount = "node" }: ServerOptions,
  started: AsyncDisposableStack,
): Promise<RunningServer> {
  const { keys, ledger, register, cacheSecret, databaseBytes } = await ownState(config, log, started);
  const abandoned = await closeAbandoned(ledger, nowMs());
  const samples = { refusals: new RefusalSample(nowMs), faults: new RepeatedFaults(elapsedMs) };
  // Opened before the engines start, so a port in use is reported at once.
  const listener = started.use(await Listener.open(config, log, samples.refusals));
  const metricsListener = await openMetrics(config, started);
  const { path: runFolder } = started.use(RunFolder.make(config.dataDir));
  const models = await openModels({ config, runFolder, cacheSecret, register, report }, started);
  const recorder = openRecorder(config, { ledger, log }, started);
  const gates = gatesFor({ config, ledger, recorder, listener, store: await openLimits(config, started) });
  const counted = { requests: recorder, connections: listener.connections, servers: watchServers(register, log) };
  const addOfKeys = keyMetricsOf(config, { keys, ledger, nowMs });
  const metrics = createMetrics({ models, ...counted, ...gates, lostLines, databaseBytes }, addOfKeys);
  metricsListener?.serve(metricsHandler(metrics.registry));
  const shutdown = new AbortController();
  let isStopping = false;
  const openDocs = docsOf(config, runFolder, started);
  const deps: Deps = {
    config,
    openSite: openDocs,
    gate: createGate(),
    schemaCompiler: started.use(new SchemaCompiler()),
    models,
    recorder,
    log,
    ...samples,
    metrics,
    nowMs,
    elapsedMs,
    shutdown: shutdown.signal,
    isStopping: () => isStopping,
    ...keysFor(config, keys, started),
    ...gates,
    keepPlace: (socket) => listener.keepPlace(socket),
    timings: config,
    onBroken: (exchange, error) => noteBroken(log, exchange, error),
  };
  listener.serve(createApp(deps, mount));
  const close = once(async (lameDuckMs = 0) => {
    isStopping = true;
    // Even a timer of 0 ms would delay the end, and requests would be accepted meanwhile.
    if (lameDuckMs > 0) await wait(lameDuckMs);
    await listener.drain(config.drainMs, () => shutdown.abort(stopping()));
    await started.disposeAsync();
  });
  const urls = { url: listener.url, metricsUrl: pageOf(metricsListener) };
  return { ...urls, models, keys, abandoned, openDocs: async () => void (await openDocs()), close };
}

/** Returns a function that opens the docs portal. The end of the server stops a build. */
function docsOf(config: Config, runFolder: string, started: AsyncDisposableStack): () => Promise<Site> {
  const building = new AbortController();
  started.defer(() => building.abort());
  return loadOnce(() => openSite(config, runFolder, building.signal));
}

const pageOf = (metrics: { readonly url: string } | undefined): string | undefined =>
  metrics && `${metrics.url}/metrics`;

/** Lowers `maxSockets` to the number of available descriptors. @throws {ConfigError} if there are too few */
function fitDescriptors(config: Config, log: Log): Config {
  const plan = planDescriptors(config);
  const { limit, keptBack, maxSockets } = plan;
  const isLowered = maxSockets < config.maxSockets;
  log[isLowered ? "warn" : "info"](
    { open_files: limit, kept_back: keptBack, max_sockets: maxSockets },
    `open files: ${describePlan(config, plan)}`,
  );
  return { ...config, maxSockets };
}

/** Opens the state, and locks the data folder for this server. Its run-time files are there even if its state is not. */
async function ownState(config: Config, log: Log, started: AsyncDisposableStack): Promise<State> {
  const state = started.use(await openStateOf(config, (line) => log.info(line)));
  makePrivateFolder(config.dataDir);
  started.use(ServerLock.acquire(config.dataDir));
  return state;
}

/** Starts the engines, and enters the server into the register of servers. */
async function openModels(options: StartOptions, started: AsyncDisposableStack): Promise<readonly ServedModel[]> {
  const models = started.adopt(await startModels(options), stopModels);
  await options.register?.enter(describeServer(options.config, models));
  return models;
}

/** Opens the ledger recorder. It knows whether requests are running, so it also decides when memory can be returned. */
function openRecorder(
  { databaseUrl }: Config,
  { ledger, log }: { readonly ledger: UsageLedger; readonly log: Log },
  started: AsyncDisposableStack,
): LedgerRecorder {
  const isShared = databaseUrl !== undefined;
  if (isShared) started.use(new AbandonedWatch(ledger, log, nowMs));
  const recorder = started.use(new LedgerRecorder(ledger, log, nowMs, checkpointEveryMs, isShared ? 1000 : undefined));
  started.use(new MemoryReturn(recorder));
  return recorder;
}

/** Returns a function that adds the metrics by key; undefined if none are wanted. */
const keyMetricsOf = (
  { metricsKeys: maxKeys }: Config,
  sources: Omit<KeyMetricsSources, "maxKeys">,
): Parameters<typeof createMetrics>[1] =>
  maxKeys === 0 ? undefined : (registers) => addKeyMetrics(registers, { ...sources, maxKeys });

const openMetrics = async (config: Config, started: AsyncDisposableStack): Promise<Listener | undefined> =>
  config.metricsPort === "off"
    ? undefined
    : started.use(await Listener.openMetrics(config.metricsHost, config.metricsPort, config));

/** Creates the authentication, and the watch that ends requests of a key that is disabled or deleted. */
const keysFor = (
  { apiKey, databaseUrl }: Config,
  keys: KeyStore,
  started: AsyncDisposableStack,
): Pick<Deps, "findCaller" | "runningKeys"> => ({
  findCaller: withEnvironmentKey(apiKey, findStored(databaseUrl, withStoredKeys(keys, nowMs))),
  runningKeys: started.use(new RunningKeys(keys)),
});

const findStored = (databaseUrl: string | undefined, find: FindCaller): FindCaller =>
  databaseUrl === undefined ? find : unlessAway(find);

interface OpenedLimits {
  readonly limits: LimitStore;
  isReachable(): boolean;
}

/** Opens the limits that all servers share, or those in the memory of this one. @throws {StateError} */
async function openLimits({ valkeyUrl, ...config }: Config, started: AsyncDisposableStack): Promise<OpenedLimits> {
  const overall = { requests: config.totalRequestsPerMinute, tokens: config.totalTokensPerMinute };
  if (valkeyUrl !== undefined) return started.use(await openValkey(valkeyUrl, overall));
  // Uses a monotonic clock: a change of the wall clock would grant or block requests.
  return { limits: new MemoryLimitStore(overall, elapsedMs), isReachable: () => true };
}

interface GateParts {
  readonly config: Config;
  readonly ledger: UsageLedger;
  readonly recorder: LedgerRecorder;
  readonly listener: Listener;
  readonly store: OpenedLimits;
}

/** Creates the parts that admit requests: the limits, the turns in which bodies are read, and the bounds on memory. */
function gatesFor({
  config,
  ledger,
  recorder,
  listener,
  store,
}: GateParts): Pick<Deps, "turns" | "admission" | "limits" | "gatheredBytes" | "areLimitsReachable"> {
  const limits = new Limits(store.limits, { requests: config.requestsPerMinute, tokens: config.tokensPerMinute });
  const admission: AdmissionDeps = {
    assertOpen: () => {
      if (listener.isDraining) throw stopping();
    },
    limits,
    bodyBytes: new BodyBytes({ maxOfKey: config.bodyBytesPerKey, maxInTotal: config.bodyBytes }),
    ledger,
    recorder,
    reservedTokens: config.reservedTokens,
    nowMs,
  };
  const gatheredBytes = new GatheredBytes({ ofAnswer: config.answerBytes, ofAll: config.totalAnswerBytes });
  return {
    turns: listener.turns,
    limits,
    admission,
    gatheredBytes,
    areLimitsReachable: () => store.isReachable(),
  };
}

/** Returns a function that calls `act` once. All calls return its promise. */
function once(act: (lameDuckMs?: number) => Promise<void>): (lameDuckMs?: number) => Promise<void> {
  let done: Promise<void> | undefined;
  return (lameDuckMs) => (done ??= act(lameDuckMs));
}

const stopping = (): ApiError =>
  new ApiError("service_unavailable", "The server is being stopped. Send the request again.", { retryAfterMs: 2000 });

async function stopModels(models: readonly ServedModel[]): Promise<void> {
  await Promise.all(models.map(({ engine }) => engine.close(2000)));
}

/** Logs the failure of a stream that had begun, when the status could no longer tell it. */
function noteBroken(log: Log, { id, record }: Exchange, error: unknown): void {
  record.errorCode =
    error instanceof HangUpError ? "client_closed_request" : error instanceof ApiError ? error.code : "internal_error";
  if (!(error instanceof HangUpError)) log.error({ request_id: id, err: error }, "a stream was broken off");
}
