import type { ChildEngine, Engine, SupervisorReport } from "@parley/inference";
import type { Config } from "../config/read-config.ts";
import type { StartedModel } from "../models/start-models.ts";
import { metricsHandler } from "../observe/metrics.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { ProcessLog } from "../observe/log.ts";
import { metricsOf, openAdminPort, openMetrics, openModels, openParts, pageOf } from "../open-parts.ts";
import type { OwnParts } from "../open-parts.ts";
import type { Observed } from "../observe/gauges.ts";
import type { ServingCounts } from "../serve-requests.ts";
import { follow, Reloads } from "../reloads.ts";
import { closer, reloadable } from "../server.ts";
import type { RunningServer } from "../server.ts";
import type { EngineNews, ParentNews } from "./process-calls.ts";
import { WorkerPool } from "./worker-pool.ts";
import type { Shared } from "./worker-process.ts";
import { WorkerTotals } from "./worker-totals.ts";

export interface WorkersOptions extends ProcessLog {
  readonly config: Config;
  /** Receives every change of an engine's state. */
  readonly report: (event: SupervisorReport) => void;
}

const nowMs = Date.now;
/** Milliseconds between two looks at states of the parent that its workers must know. */
const lookEveryMs = 50;

/**
 * Starts a server whose requests are served by several processes. This process has everything that the server has once:
 * state, limits, engines, queues and metrics.
 * @throws {StateError} {ListenError} {ConfigError} with a message for the operator
 */
export async function startWorkers(options: WorkersOptions): Promise<RunningServer> {
  const started = new AsyncDisposableStack();
  try {
    return await start(options, started);
  } catch (error) {
    await started.disposeAsync();
    throw error;
  }
}

async function start(
  { config: given, log, lostLines, write, report }: WorkersOptions,
  started: AsyncDisposableStack,
): Promise<RunningServer> {
  const config = { ...given };
  const parts = await openParts(config, log, started);
  const reloads = new Reloads({ config: given, log, state: parts, nowMs });
  const { runFolder, cacheSecret, keys, abandoned } = parts;
  const totals = new WorkerTotals();
  const models = new Map<string, StartedModel>();
  const metrics = Promise.withResolvers<Metrics>();
  const news = (): ParentNews => newsOf(models.values(), parts);
  const shared: Shared = {
    ...sharedBy(parts, models, () => teller.tell()),
    log: write,
    countRequest: async (...ended) => (await metrics.promise).countRequest(...ended),
  };
  const setup = { config: shareOf(config), runFolder, cacheSecret };
  const pool = started.use(new WorkerPool({ count: config.workers, setup, shared, totals, log, news, nowMs }));
  const teller = started.use(new NewsTeller(pool, news));
  // Their port is opened before the engines start, so a port in use is reported at once.
  await pool.start();
  const metricsListener = await openMetrics(config, started);
  const adminUrl = await openAdminPort(config, parts, log, started);
  const opened = await openModels({ config, ...parts, report: teller.after(report) }, started);
  for (const model of opened) models.set(model.id, model);
  const created = metricsOf(config, parts, { ...countsOf(totals, opened), reloads, lostLines });
  metrics.resolve(created);
  metricsListener?.serve(metricsHandler(created.registry, () => totals.text(created.registry, () => pool.observe())));
  started.use(reloads);
  const apply = async (next: Config): Promise<void> => {
    follow({ config, models: opened, log }, next);
    await pool.reload(shareOf(config));
  };
  const close = closer((lameDuckMs) => pool.close(lameDuckMs), started);
  return {
    url: pool.url,
    metricsUrl: pageOf(metricsListener),
    adminUrl,
    state: parts,
    ...reloadable(reloads, apply),
    models: opened,
    keys,
    abandoned,
    openDocs: async () => void (await parts.openSite()),
    failed: pool.failed,
    whenServing: () => pool.whenReady(readyIds(opened)),
    close,
  };
}

const countsOf = (totals: WorkerTotals, models: readonly StartedModel[]): ServingCounts & Pick<Observed, "models"> => ({
  models: models.map((model) => totals.observed(model)),
  requests: totals.requests,
  connections: totals.connections,
  gatheredBytes: totals.gatheredBytes,
  spans: totals.spans,
  unkeptAnswers: totals.unkeptAnswers,
});

const readyIds = (models: readonly StartedModel[]): string[] =>
  models.filter(({ engine }) => engine.state === "ready").map(({ id }) => id);

/**
 * Returns the parts of the server that workers ask.
 * @param models by id; filled when the engines start
 * @param onChecked is called before a worker hears that an engine was checked
 */
const sharedBy = (
  { keys, groups, ledger, idempotency, noteRefusedToken, store, endpoints, openSite }: OwnParts,
  models: ReadonlyMap<string, StartedModel>,
  onChecked: () => void,
): Omit<Shared, "log" | "countRequest"> => ({
  keys,
  groups,
  ledger,
  idempotency,
  noteRefusedToken,
  limits: store.limits,
  queueOf: (model) => models.get(model)?.queue,
  openSite,
  countAttempt: (...ended) => endpoints.count(...ended),
  confirmFailure: async (id) => {
    const engine: (Engine & Followable) | undefined = models.get(id)?.engine;
    await engine?.confirmFailure?.();
    onChecked();
  },
});

/**
 * Returns a worker's share of the configuration. The workers divide the bounds on connections and on memory. A share is
 * large enough for one body and one answer of the maximum size, and a bound for one key or one answer is a worker's own.
 */
function shareOf(config: Config): Config {
  const { workers, maxSockets, socketsPerAddress, bodyBytes, bodyBytesPerKey, answerBytes, totalAnswerBytes } = config;
  const share = (bound: number, atLeast = 1): number => Math.min(bound, Math.max(atLeast, Math.ceil(bound / workers)));
  return {
    ...config,
    maxSockets: share(maxSockets),
    socketsPerAddress: share(socketsPerAddress),
    bodyBytes: share(bodyBytes, bodyBytesPerKey),
    totalAnswerBytes: share(totalAnswerBytes, answerBytes),
  };
}

/** The parts of an engine in a child process that its followers need. */
type Followable = Partial<Pick<ChildEngine, "isStalled" | "confirmFailure">>;

const newsOf = (models: Iterable<StartedModel>, { store }: OwnParts): ParentNews => ({
  engines: Object.fromEntries(Array.from(models, (model) => [model.id, engineNews(model.engine)])),
  areLimitsReachable: store.isReachable(),
  areLimitsDivided: store.areDivided?.() ?? false,
});

function engineNews(engine: Engine & Followable): EngineNews {
  const { state, stateReason: reason, metadata, isStalled = false } = engine;
  return { state, reason, metadata, restarts: engine.gauges().restarts, isStalled };
}

/** Tells the workers the states of the parent when they have changed. */
class NewsTeller implements Disposable {
  readonly #pool: WorkerPool;
  readonly #news: () => ParentNews;
  readonly #timer = setInterval(() => this.tell(), lookEveryMs).unref();
  #told = "";

  constructor(pool: WorkerPool, news: () => ParentNews) {
    this.#pool = pool;
    this.#news = news;
  }

  tell(): void {
    const news = this.#news();
    const text = JSON.stringify(news);
    if (text === this.#told) return;
    this.#told = text;
    this.#pool.hear(news);
  }

  /** Returns a function that reports an event, and then tells the workers. */
  after(report: (event: SupervisorReport) => void): (event: SupervisorReport) => void {
    return (event) => {
      report(event);
      this.tell();
    };
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
