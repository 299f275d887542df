import { closeSync, openSync } from "node:fs";
import type { SupervisorReport } from "@parley/inference";
import type { Config } from "../config/read-config.ts";
import { hasDocs } from "../site/open-site.ts";
import { isDemo } from "../config/read-models.ts";
import { summarize } from "../models/start-models.ts";
import type { Log, ProcessLog } from "../observe/log.ts";
import { startServer } from "../server.ts";
import { typed } from "../state/typed.ts";
import type { RunningServer, ServerOptions } from "../server.ts";
import { deliverKey, makeFirstKey } from "./deliver-key.ts";
import type { Delivered } from "./deliver-key.ts";
import { performAsUser, userActor } from "./manage.ts";
import { Progress } from "./progress.ts";

/** Writes a line for people to standard error. Standard output contains only the log. */
const say = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Starts a server, reports the progress, serves until a signal stops it, and drains. Rejects with a message for the
 * operator.
 * @param readAgain reads the configuration again, on SIGHUP
 */
export async function runServer(config: Config, output: ProcessLog, readAgain: () => Config): Promise<void> {
  const { log } = output;
  const stop = new AbortController();
  say("Parley is starting.");
  for (const { id, engineConfig } of config.models) {
    if (engineConfig.driver === "scripted") say(`${id} plays a script: it is a stub, not a language model.`);
  }
  forgetTokens(config);
  const progress = new Progress(
    config.models.map(({ id }) => id),
    process.stderr,
  );
  const report = progressReporter(progress, log, stop.signal);
  const starting = start({ ...output, config, report });
  reloadOnSignal(starting, readAgain, stop.signal);
  const server = await starting;
  stop.signal.addEventListener("abort", () => progress.end());
  const stopped = stopOnSignals(server, stop);
  try {
    const started = Promise.all([untilReady(server, progress), keyInFile(config, server)]);
    const [failures, key] = (await Promise.race([started, stopped, server.failed])) ?? [];
    progress.end();
    if (!stop.signal.aborted) await welcome(config, server, key);
    if (!stop.signal.aborted && hasDocs()) prepareDocs(server, log, stop.signal);
    for (const reason of failures ?? []) say(`ERROR: ${reason}\nThe other models are served without it.`);
    await Promise.race([stopped, server.failed]);
  } catch (error) {
    await server.close();
    // Engines that are stopped while they start reject, too.
    if (!stop.signal.aborted) throw error;
  }
  await stopped;
  say("Parley has stopped.");
}

/** Starts a server in this process, or in several. */
async function start(options: ProcessLog & Pick<ServerOptions, "config" | "report">): Promise<RunningServer> {
  if (options.config.workers === 1) return startServer(options);
  const { startWorkers } = await import("../workers/start-workers.ts");
  return startWorkers(options);
}

/**
 * Deletes the variables with tokens of upstreams. Engines inherit the environment except for known settings, and the
 * operator chose the names of these variables.
 */
function forgetTokens({ models }: Config): void {
  for (const { engineConfig } of models) {
    const variable = engineConfig.driver === "remote" ? engineConfig.given.api_key_env : undefined;
    // Its value was read with the configuration.
    if (variable !== undefined) Reflect.deleteProperty(process.env, variable);
  }
}

/**
 * Waits until each model is ready or has failed for good, for instance because of a damaged file. Rejects if all have
 * failed.
 * @returns a sentence for each model that failed
 */
async function untilReady(server: RunningServer, progress: Progress): Promise<string[]> {
  const { models } = server;
  const failures = await Promise.all(
    models.map(async (model): Promise<string[]> => {
      try {
        await model.engine.whenReady();
        progress.fact(model.id, summarize(model));
        return [];
      } catch (error) {
        return [`${model.id} cannot start. ${messageOf(error)}`];
      }
    }),
  );
  if (failures.every((reasons) => reasons.length > 0)) throw new Error(failures.flat().join("\n"));
  await server.whenServing();
  return failures.flat();
}

/** Builds the docs after the models have loaded, so that neither waits for the other. */
function prepareDocs(server: RunningServer, log: Log, stopping: AbortSignal): void {
  server.openDocs().catch((error: unknown) => {
    if (!stopping.aborted)
      log.warn({ err: error }, "the docs could not be built; the next request for a page tries again");
  });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns a function that shows the state of each model until it is ready. Later changes are logged. */
function progressReporter(progress: Progress, log: Log, stopping: AbortSignal): (event: SupervisorReport) => void {
  const ready = new Set<string>();
  return ({ name, state, detail, isProblem, log: lines = [] }) => {
    const hasLastWords = state === "crashed" && lines.length > 0;
    const isStarted = ready.has(name) && !stopping.aborted;
    const fields = { model: name, state, detail, ...(hasLastWords && { last_words: lines.join("\n") }) };
    if (isStarted || hasLastWords) log[state === "ready" ? "info" : "warn"](fields, "engine");
    if (isStarted) return;
    if (isProblem) progress.fact(name, `not ready, trying again: ${detail}`);
    else if (state === "starting" || state === "loading") progress.step(name, detail);
    else if (state === "crashed") progress.fact(name, detail);
    if (state === "ready") ready.add(name);
  };
}

/** Makes a key if the store has none and the configuration names none. */
async function firstKey(config: Config, server: RunningServer): Promise<Delivered | undefined> {
  if (config.apiKey !== undefined) return undefined;
  const key = await makeFirstKey(server.keys, performAsUser(server.state, config));
  return key && deliverKey(key, config.dataDir, process.stderr.isTTY);
}

/** Without a terminal, makes the first key at once, because `/ready` is 200 while other models still load. */
async function keyInFile(config: Config, server: RunningServer): Promise<Delivered | undefined> {
  return process.stderr.isTTY ? undefined : firstKey(config, server);
}

async function welcome(config: Config, server: RunningServer, key: Delivered | undefined): Promise<void> {
  const base = `${server.url}/v1`;
  const shown = key ?? (await firstKey(config, server));
  if (server.abandoned > 0) say(`${server.abandoned} requests that an earlier server had left open were closed.`);
  if (config.models.some(isDemo)) {
    say(
      "These are small demonstration models. To serve your own: PARLEY_MODEL_1_GGUF=FILE (docs/guides/own-model.md).",
    );
  }
  if (config.host === "0.0.0.0" || config.host === "::") {
    say("Warning: this listens on every interface without TLS. Put a proxy with TLS in front before others use it.");
  }
  say("");
  say(`Base URL   ${base}`);
  say(
    `Key        ${shown?.text ?? (config.apiKey === undefined ? "one of those made before" : "the one in PARLEY_API_KEY")}; make another with: ${typed("keys create --name NAME")}`,
  );
  say(`Docs       ${server.url}/${hasDocs() ? "docs" : "openapi.yaml"}`);
  if (server.metricsUrl !== undefined) say(`Metrics    ${server.metricsUrl}`);
  if (server.adminUrl !== undefined) say(`Admin API  ${server.adminUrl}/admin/v1`);
  say("");
  say("Try it:");
  say(
    curl(
      base,
      shown?.forShell ?? (config.apiKey === undefined ? "$PARLEY_KEY" : "$PARLEY_API_KEY"),
      server.models.find(({ engine }) => engine.state === "ready")?.id ?? "",
    ),
  );
  say("");
}

const curl = (base: string, key: string, model: string): string =>
  [
    `  curl ${base}/chat/completions \\`,
    `    -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" \\`,
    `    -d '{"model": "${model}", "messages": [{"role": "user", "content": "What is a reentrancy attack?"}]}'`,
  ].join("\n");

/**
 * Reads the settings again on SIGHUP. A terminal that closes also sends SIGHUP to the programs in it. In that case the server
 * stops.
 */
function reloadOnSignal(starting: Promise<RunningServer>, readAgain: () => Config, stopping: AbortSignal): void {
  const isInTerminal = process.stderr.isTTY;
  const reload = (server: RunningServer): void => {
    if (stopping.aborted) say("The server is stopping, so its settings are not read again.");
    else void server.reload(readAgain, userActor("SIGHUP"));
  };
  process.on("SIGHUP", () => {
    if (isInTerminal && !hasTerminal()) process.kill(process.pid, "SIGTERM");
    // A server that cannot start has nothing to reload.
    else starting.then(reload, () => undefined);
  });
}

/** Returns true while this process has a terminal. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}

/** Stops the server on a signal: the first one drains it, the second one ends the process at once. */
function stopOnSignals(server: RunningServer, stop: AbortController): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onSignal = (): void => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort();
    const { lameDuckMs } = server.settings();
    if (lameDuckMs > 0) {
      say(`Stopping in ${lameDuckMs / 1000} s: /ready says so to load balancers. Press Ctrl-C again to stop at once.`);
    } else say("Stopping: running requests may end, nothing new is taken. Press Ctrl-C again to stop at once.");
    server.close(lameDuckMs).then(resolve, reject);
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return promise;
}
