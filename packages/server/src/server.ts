import type { SupervisorReport } from "@parley/inference";
import type { ChatMount } from "./app.ts";
import type { Actor } from "./accounts/manage/actor.ts";
import type { KeyStore } from "./accounts/keys/key-store.ts";
import type { ManagedState } from "./accounts/manage/managed-state.ts";
import type { Config } from "./config/read-config.ts";
import type { ServedModel } from "./models/served-model.ts";
import { metricsOf, openAdminPort, openMetrics, openModels, openParts, pageOf } from "./open-parts.ts";
import { follow, Reloads } from "./reloads.ts";
import type { Reload } from "./reloads.ts";
import { newSamples, nowMs, serveRequests, verifierFor } from "./serve-requests.ts";
import type { Drain } from "./serve-requests.ts";
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
  /** Returns the settings that the server has, as they were read. */
  settings(): Config;
  /** Reads the settings again: see `Reloads`. Never rejects. */
  reload(read: Reload["read"], actor: Actor): Promise<void>;
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
    started.use(new DescriptorWatch(options.log));
    return await start(options, started);
  } catch (error) {
    await started.disposeAsync();
    throw error;
  }
}

async function start(options: ServerOptions, started: AsyncDisposableStack): Promise<RunningServer> {
  const { log, lostLines = () => 0, report, mount = "node" } = options;
  const config = fitDescriptors(options.config, log);
  const parts = await openParts(config, log, started);
  const reloads = new Reloads({ config: options.config, log, state: parts, nowMs });
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
        const metrics = metricsOf(config, parts, { models, reloads, lostLines, ...counts });
        metricsListener?.serve(metricsHandler(metrics.registry));
        return metrics;
      },
    },
    started,
  );
  started.use(reloads);
  const close = closer(drain, started);
  const { keys, abandoned, openSite } = parts;
  const urls = { url: listener.url, metricsUrl: pageOf(metricsListener), adminUrl, state: parts };
  const openDocs = async (): Promise<void> => void (await openSite());
  const { promise: failed } = Promise.withResolvers<never>();
  const settings = reloadable(reloads, (next) => follow({ config, models, log }, next));
  const whenServing = async (): Promise<void> => undefined;
  return { ...urls, ...settings, models, keys, abandoned, failed, whenServing, openDocs, close };
}

/** Returns the methods of a server with these reloads. */
export const reloadable = (reloads: Reloads, apply: Reload["apply"]): Pick<RunningServer, "settings" | "reload"> => ({
  settings: () => reloads.config,
  reload: (read, actor) => reloads.reload({ read, actor, apply }),
});

/** Returns a function that drains a server and then ends its parts, once. All calls return the same promise. */
export function closer(drain: Drain, started: AsyncDisposableStack): RunningServer["close"] {
  let done: Promise<void> | undefined;
  return (lameDuckMs = 0) => (done ??= drain(lameDuckMs).then(() => started.disposeAsync()));
}
