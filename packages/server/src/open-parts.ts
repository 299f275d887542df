import type { ServerRegister } from "./accounts/servers/server-register.ts";
import { watchServers } from "./accounts/servers/watch-servers.ts";
import { addGroupMetrics } from "./accounts/group-metrics.ts";
import { addKeyMetrics } from "./accounts/key-metrics.ts";
import type { KeyMetricsSources } from "./accounts/key-metrics.ts";
import { AbandonedWatch, closeAbandoned } from "./accounts/ledger/ledger-recorder.ts";
import type { PerMinute } from "./accounts/limits/limit-store.ts";
import type { NoteRefusedToken } from "./accounts/identity/refused-token.ts";
import type { ManagedState } from "./accounts/manage/managed-state.ts";
import { RefusedAttempts } from "./accounts/manage/refused-attempts.ts";
import { keptSpendingMs } from "./accounts/money/period.ts";
import { modelResolver } from "./admin/resolve-model.ts";
import type { Config } from "./config/read-config.ts";
import { loadOnce } from "./express/load-once.ts";
import { describeServer } from "./models/describe-server.ts";
import type { ServedModel } from "./models/served-model.ts";
import { startModels } from "./models/start-models.ts";
import type { StartedModel, StartOptions } from "./models/start-models.ts";
import { EndpointMetrics } from "./observe/endpoint-metrics.ts";
import type { Observed } from "./observe/gauges.ts";
import type { Log } from "./observe/log.ts";
import { createMetrics } from "./observe/metrics.ts";
import type { Metrics } from "./observe/metrics.ts";
import type { OpenedLimits } from "./serve-requests.ts";
import { openSite } from "./site/open-site.ts";
import type { Site } from "./site/open-site.ts";
import { Listener } from "./sockets/listener.ts";
import { countServers, DividedLimitStore } from "./state/divided-limit-store.ts";
import { MemoryLimitStore } from "./state/memory-limit-store.ts";
import { openStateOf } from "./state/open-state.ts";
import type { State } from "./state/open-state.ts";
import { makePrivateFolder } from "./state/private-file.ts";
import { RunFolder, ServerLock } from "./state/server-lock.ts";
import { openPostgresLimits } from "./state/postgres/open-postgres.ts";
import { openValkey } from "./state/valkey/open-valkey.ts";

/** The parts that a server has once, however many processes serve its requests. */
export interface OwnParts extends Omit<State, "register"> {
  /** The servers that share the state; undefined where only one server at a time can use it. */
  readonly register: ServerRegister | undefined;
  /** Number of ledger entries that a dead server had left open. They were closed at this start. */
  readonly abandoned: number;
  /** An existing folder for sockets. */
  readonly runFolder: string;
  readonly store: OpenedLimits;
  /** Records a refused token of an identity provider in the audit log. */
  readonly noteRefusedToken: NoteRefusedToken;
  /** The servers that share the state. */
  readonly servers: Observed["servers"];
  /** The metrics of the endpoints of remote models. */
  readonly endpoints: EndpointMetrics;
  /** Returns the built docs portal. The first call may take seconds. */
  readonly openSite: () => Promise<Site>;
}

const nowMs = Date.now;
const elapsedMs = (): number => performance.now();

/** Opens state and limits, and locks the data folder for this server. @throws {StateError} */
export async function openParts(config: Config, log: Log, started: AsyncDisposableStack): Promise<OwnParts> {
  const { register, freeClaims, ...own } = await ownState(config, log, started);
  const abandoned = await closeAbandoned(own.ledger, nowMs());
  freeClaims?.();
  started.use(new RegularWork(60_000, () => own.idempotency.prune(nowMs())));
  started.use(new RegularWork(600_000, () => own.ledger.joinOldSpending(nowMs() - keptSpendingMs)));
  if (config.databaseUrl !== undefined) started.use(new AbandonedWatch(own.ledger, log, nowMs));
  const { path: runFolder } = started.use(RunFolder.make(config.dataDir));
  const store = await openLimits(config, log, register, started);
  const servers = watchServers(register, log);
  const endpoints = new EndpointMetrics();
  return {
    ...own,
    register,
    abandoned,
    runFolder,
    store,
    noteRefusedToken: openRefusedTokens(own, log, started),
    servers,
    endpoints,
    openSite: docsOf(config, runFolder, started),
  };
}

/** Returns a function that records refused tokens in the background. The end of the server writes those that were only counted. */
function openRefusedTokens(state: ManagedState, log: Log, started: AsyncDisposableStack): NoteRefusedToken {
  const fail = (error: unknown): void => log.error({ err: error }, "refused tokens are not recorded");
  const refused = started.use(new RefusedAttempts(state, fail));
  return (record, fault) => void refused.note(record, fault).catch(fail);
}

/** Runs work again and again, one run at a time. A failed run is repeated by the next one. */
class RegularWork implements AsyncDisposable {
  readonly #timer: NodeJS.Timeout;
  #round: Promise<unknown> = Promise.resolve();

  constructor(everyMs: number, work: () => Promise<unknown>) {
    const run = (): Promise<unknown> => work().catch(() => undefined);
    this.#timer = setInterval(() => void (this.#round = this.#round.then(run)), everyMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#round;
  }
}

/** Returns a function that opens the docs portal. The end of the server stops a build. */
function docsOf(config: Config, runFolder: string, started: AsyncDisposableStack): () => Promise<Site> {
  const building = new AbortController();
  started.defer(() => building.abort());
  return loadOnce(() => openSite(config, runFolder, building.signal));
}

export const pageOf = (metrics: { readonly url: string } | undefined): string | undefined =>
  metrics && `${metrics.url}/metrics`;

/** Opens the state, and locks the data folder for this server. Its run-time files are there even if its state is not. */
async function ownState(config: Config, log: Log, started: AsyncDisposableStack): Promise<State> {
  const state = started.use(await openStateOf(config, (line) => log.info(line)));
  makePrivateFolder(config.dataDir);
  started.use(ServerLock.acquire(config.dataDir));
  return state;
}

/** Starts the engines, and enters the server into the register of servers. */
export async function openModels(
  options: Omit<StartOptions, "countAttempt"> & Pick<OwnParts, "endpoints">,
  started: AsyncDisposableStack,
): Promise<StartedModel[]> {
  const countAttempt: StartOptions["countAttempt"] = (...ended) => options.endpoints.count(...ended);
  const models = started.adopt(await startModels({ ...options, countAttempt }), stopModels);
  await options.register?.enter(describeServer(options.config, models));
  return models;
}

/** Creates the metrics of a server, with the handler of their port. */
export function metricsOf(
  config: Config,
  { keys, groups, ledger, servers, store, endpoints, databaseBytes }: OwnParts,
  observed: Omit<Observed, "servers" | "limits" | "databaseBytes">,
): Metrics {
  const addOfKeys = keyMetricsOf(config, { keys, ledger, nowMs });
  const metrics = createMetrics({ ...observed, servers, limits: store, databaseBytes }, addOfKeys);
  endpoints.addTo(metrics.registry);
  addGroupMetrics([metrics.registry], { groups, ledger, nowMs });
  return metrics;
}

/** Returns a function that adds the metrics by key; undefined if none are wanted. */
const keyMetricsOf = (
  { metricsKeys: maxKeys }: Config,
  sources: Omit<KeyMetricsSources, "maxKeys">,
): Parameters<typeof createMetrics>[1] =>
  maxKeys === 0 ? undefined : (registers) => addKeyMetrics(registers, { ...sources, maxKeys });

export const openMetrics = async (config: Config, started: AsyncDisposableStack): Promise<Listener | undefined> =>
  config.metricsPort === "off"
    ? undefined
    : started.use(await Listener.openMetrics(config.metricsHost, config.metricsPort, config));

/** Opens the port of the admin API if there is one. Its libraries are loaded only then. */
export async function openAdminPort(
  config: Config,
  state: ManagedState,
  log: Log,
  started: AsyncDisposableStack,
): Promise<string | undefined> {
  if (config.adminPort === "off") return undefined;
  const { openAdmin } = await import("./admin/open-admin.ts");
  const resolveModel = modelResolver(config);
  return started.use(await openAdmin({ config, port: config.adminPort, state, log, resolveModel, nowMs })).url;
}

/** Opens the limits that all servers share, or those in the memory of this one. @throws {StateError} */
async function openLimits(
  config: Config,
  log: Log,
  register: ServerRegister | undefined,
  started: AsyncDisposableStack,
): Promise<OpenedLimits> {
  const { valkeyUrl, databaseUrl } = config;
  const overall: PerMinute = {
    get requests() {
      return config.totalRequestsPerMinute;
    },
    get tokens() {
      return config.totalTokensPerMinute;
    },
  };
  // Uses a monotonic clock: a change of the wall clock would grant or block requests.
  if (databaseUrl === undefined) return { limits: new MemoryLimitStore(overall, elapsedMs), isReachable: () => true };
  const { limits: shared } = started.use(
    await (valkeyUrl === undefined ? openPostgresLimits(databaseUrl, overall) : openValkey(valkeyUrl, overall)),
  );
  if (config.limitsWhenAway === "refuse" || !register)
    return { limits: shared, isReachable: () => shared.isReachable() };
  const tell = (line: string): void => log.warn(line);
  const servers = countServers(register, elapsedMs);
  const limits = started.use(new DividedLimitStore({ shared, overall, servers, nowMs: elapsedMs, tell }));
  return { limits, isReachable: () => limits.isReachable(), areDivided: () => limits.isDivided() };
}

async function stopModels(models: readonly ServedModel[]): Promise<void> {
  await Promise.all(models.map(({ engine }) => engine.close(2000)));
}
