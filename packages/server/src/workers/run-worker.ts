import { Registry } from "prom-client";
import type { Config } from "../config/read-config.ts";
import { follow } from "../reloads.ts";
import { closer } from "../server.ts";
import { loadOnce } from "../express/load-once.ts";
import { createLines } from "../observe/log.ts";
import type { Log } from "../observe/log.ts";
import { addProcessMetrics } from "../observe/metrics.ts";
import { tracingOf } from "../observe/tracing.ts";
import { newSamples, nowMs, serveRequests, verifierFor } from "../serve-requests.ts";
import type { ServingCounts } from "../serve-requests.ts";
import { DescriptorWatch, fitDescriptors } from "../sockets/descriptors.ts";
import { Listener } from "../sockets/listener.ts";
import { CallChannel } from "./call-channel.ts";
import type { MessageEnd, Remote } from "./call-channel.ts";
import { connectModels } from "./connect-models.ts";
import type { ConnectedModels, ModelsParent } from "./connect-models.ts";
import {
  groupCalls,
  idempotencyCalls,
  keyCalls,
  ledgerCalls,
  limitCalls,
  parentCalls,
  slotCalls,
  workerCalls,
} from "./process-calls.ts";
import type { Parent, ParentNews, Worker, WorkerSetup } from "./process-calls.ts";
import { RemoteSlots, remoteLimits } from "./remote-state.ts";
import { toValues } from "./worker-totals.ts";

/** Runs this process as a worker of the server that started it. */
export function runWorker(): void {
  if (process.send === undefined) throw new Error('"parley start --workers N" starts the workers of a server.');
  // A service manager, Ctrl-C and a terminal that closes signal every process of the server. The parent drains its workers.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  const channel = new CallChannel(parentEnd);
  process.on("disconnect", () => process.exit(0));
  const parent = channel.remote(parentCalls);
  channel.expose(workerCalls, workerOf(channel, parent));
  void parent.enter();
}

const parentEnd: MessageEnd = {
  // The callback takes the error of a parent that is gone.
  send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
  onMessage: (listener) => void process.on("message", listener),
};

type ParentCalls = Remote<Parent, keyof Parent>;

/** The parts of a worker after its start. */
interface Running {
  readonly models: ConnectedModels;
  readonly counts: ServingCounts;
  readonly processMetrics: Registry;
  readonly reload: (config: Config) => void;
  readonly close: (lameDuckMs?: number) => Promise<void>;
}

function workerOf(channel: CallChannel, parent: ParentCalls): Worker {
  let running: Running | undefined;
  let reloaded: Config | undefined;
  let news: ParentNews = { engines: {}, areLimitsReachable: true, areLimitsDivided: false };
  const started = (): Running => {
    if (!running) throw new Error("the worker was not started");
    return running;
  };
  return {
    start: async (setup) => {
      const log = createLines(setup.config.logLevel, { worker: setup.worker }, (line) => void parent.log(line));
      const { url, ...parts } = await startWorker(setup, { channel, parent, log, news: () => news });
      running = parts;
      running.models.hear(news);
      if (reloaded) running.reload(reloaded);
      return url;
    },
    hear: (latest) => {
      news = latest;
      running?.models.hear(latest);
    },
    reload: (config) => {
      reloaded = config;
      running?.reload(config);
    },
    whenReady: (ids) => started().models.whenReady(ids),
    observe: async () => {
      const { models, counts, processMetrics } = started();
      return { ...toValues(counts), engines: models.gauges(), process: await processMetrics.getMetricsAsJSON() };
    },
    close: (lameDuckMs) => started().close(lameDuckMs),
  };
}

const modelsParent = (parent: ParentCalls): ModelsParent => ({
  confirmFailure: (model) => parent.confirmFailure(model),
  countAttempt: (...ended) => void parent.countAttempt(...ended),
});

interface Surroundings {
  readonly channel: CallChannel;
  readonly parent: ParentCalls;
  readonly log: Log;
  readonly news: () => ParentNews;
}

async function startWorker(
  setup: WorkerSetup,
  { channel, parent, log, news }: Surroundings,
): Promise<Running & { readonly url: string }> {
  const started = new AsyncDisposableStack();
  const config = fitDescriptors(setup.config, log);
  started.use(new DescriptorWatch(log));
  const samples = newSamples();
  const verifyToken = await verifierFor(config);
  const tracing = started.use(await tracingOf(config, log, nowMs));
  const listener = started.use(await Listener.open(config, log, samples.refusals));
  const slots = started.use(new RemoteSlots(channel.remote(slotCalls)));
  const models = started.use(await connectModels({ ...setup, config }, slots, modelsParent(parent)));
  const processMetrics = new Registry();
  addProcessMetrics(processMetrics, { worker: String(setup.worker) });
  const { promise, resolve } = Promise.withResolvers<ServingCounts>();
  const drain = serveRequests(
    {
      config,
      log,
      mount: "node",
      listener,
      samples,
      models: models.served,
      tracing,
      verifyToken,
      keys: channel.remote(keyCalls),
      groups: channel.remote(groupCalls),
      noteRefusedToken: (...refusal) => void parent.noteRefusedToken(...refusal),
      ledger: channel.remote(ledgerCalls),
      idempotency: channel.remote(idempotencyCalls),
      store: {
        limits: remoteLimits(channel.remote(limitCalls)),
        isReachable: () => news().areLimitsReachable,
        areDivided: () => news().areLimitsDivided,
      },
      openSite: loadOnce(() => parent.openSite()),
      count: (counts) => {
        resolve(counts);
        return { countRequest: (...ended) => void parent.countRequest(...ended) };
      },
    },
    started,
  );
  const close = closer(drain, started);
  const reload = (next: Config): void => follow({ config, models: models.served, log }, next);
  return { url: listener.url, models, counts: await promise, processMetrics, reload, close };
}
