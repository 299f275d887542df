import type { SupervisorReport } from "@parley/inference";
import type { ChatMount } from "./app.ts";
import type { KeyStore } from "./accounts/keys/key-store.ts";
import type { ManagedState } from "./accounts/manage/managed-state.ts";
import type { Config } from "./config/read-config.ts";
import type { ServedModel } from "./models/served-model.ts";
import { metricsOf, openAdminPort, openMetrics, openModels, openParts, pageOf } from "./open-parts.ts";
import { newSamples, nowMs, serveRequests, verifierFor } from "./serve-requests.ts";
import { DescriptorWatch, fitDescriptors } from "./sockets/descriptors.ts";
import { Listener } from "./sockets/listener.ts";
import { metricsHandler } from "./observe/metrics.ts";
import type { Log } from "./observe/log.ts";
import { tracingOf } from "./observe/tracing.ts";

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
  /** The URL of the admin API, without a path. */
  readonly adminUrl: string | undefined;
  readonly models: readonly ServedModel[];
  readonly keys: KeyStore;
  readonly state: ManagedState;
  /** Number of ledger entries that a dead server had left open. They were closed at this start. */
  readonly abandoned: number;
  /** Stays pending while the server can serve, and rejects with the reason when it no longer can. */
  readonly failed: Promise<never>;
  /** Resolves when requests reach the engines that are ready. */
  whenServing(): Promise<void>;
  /** Builds the docs portal if it is not built yet. The first request for a page would wait for it. */
  openDocs(): Promise<void>;
  /**
   * Stops the server. For `lameDuckMs` milliseconds, `/ready` reports that it is stopping, but requests are still accepted.
   * Then it accepts no new requests, and lets running requests end within `drainMs` of the configuration.
   */
  close(lameDuckMs?: number): Promise<void>;
}

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
  const parts = await openParts(config, log, started);
  const samples = newSamples();
  const verifyToken = await verifierFor(config);
  const tracing = started.use(await tracingOf(config, log, nowMs));
  // Opened before the engines start, so a port in use is reported at once.
  const listener = started.use(await Listener.open(config, log, samples.refusals));
  const metricsListener = await openMetrics(config, started);
  const adminUrl = await openAdminPort(config, parts, log, started);
  const models = await openModels({ config, report, ...parts }, started);
  const drain = serveRequests(
    {
      ...parts,
      config,
      log,
      mount,
      listener,
      samples,
      tracing,
      verifyToken,
      models,
      count: (counts) => {
        const metrics = metricsOf(config, parts, { models, lostLines, ...counts });
        metricsListener?.serve(metricsHandler(metrics.registry));
        return metrics;
      },
    },
    started,
  );
  const close = once(async (lameDuckMs = 0) => {
    await drain(lameDuckMs);
    await started.disposeAsync();
  });
  const { keys, abandoned, openSite } = parts;
  const urls = { url: listener.url, metricsUrl: pageOf(metricsListener), adminUrl, state: parts };
  const openDocs = async (): Promise<void> => void (await openSite());
  const { promise: failed } = Promise.withResolvers<never>();
  return { ...urls, models, keys, abandoned, failed, whenServing: async () => undefined, openDocs, close };
}

/** Returns a function that calls `act` once. All calls return its promise. */
export function once(act: (lameDuckMs?: number) => Promise<void>): (lameDuckMs?: number) => Promise<void> {
  let done: Promise<void> | undefined;
  return (lameDuckMs) => (done ??= act(lameDuckMs));
}
