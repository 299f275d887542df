import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import type { AuditEntry } from "../accounts/audit/audit-log.ts";
import type { Config } from "../config/read-config.ts";
import { findServer } from "../state/server-lock.ts";
import { addSettingFlags, dataFlags, rereadingOf, settingsOf, stopFlags } from "./settings.ts";

export function addStartCommand(program: Command): void {
  addSettingFlags(program.command("start").description("start the server")).action(async (_flags, command: Command) => {
    const { config } = settingsOf(command);
    const readAgain = rereadingOf(command);
    // Imported here, so help and errors in flags do not wait for the server's libraries.
    const [{ runServer }, { createLog }] = await Promise.all([import("./run-server.ts"), import("../observe/log.ts")]);
    const log = createLog(config.logLevel, logFormat(config));
    try {
      await runServer(config, log, readAgain);
    } finally {
      await log.end(1000);
    }
  });
}

/** Adds the command that a server starts its worker processes with. */
export function addWorkerCommand(program: Command): void {
  program.command("worker", { hidden: true }).action(async () => {
    const { runWorker } = await import("../workers/run-worker.ts");
    runWorker();
  });
}

const logFormat = ({ logFormat: format }: Config): "json" | "text" => {
  if (format !== "auto") return format;
  return process.stdout.isTTY ? "text" : "json";
};

export function addStopCommand(program: Command): void {
  stopFlags
    .addTo(program.command("stop").description("stop the server that uses the data folder, as Ctrl-C does"))
    .action(async (_flags, command: Command) => {
      const config = stopFlags.configOf(command);
      const pid = pidOf(config);
      process.kill(pid, "SIGTERM");
      process.stderr.write(`Process ${pid} is stopping.\n`);
      // Longer than a server may take to drain requests and stop engines.
      const deadline = performance.now() + config.lameDuckMs + config.drainMs + 10_000;
      while (findServer(config.dataDir) !== undefined) {
        if (performance.now() > deadline)
          throw new Error(`Process ${pid} is still running. Stop it at once with: kill -9 ${pid}`);
        await wait(100);
      }
      process.stderr.write("It has stopped.\n");
    });
}

/** Milliseconds for which `parley reload` waits for the server's entry in the audit log. */
const maxReloadMs = 30_000;

export function addReloadCommand(program: Command): void {
  dataFlags
    .addTo(program.command("reload").description("make the server that uses the data folder read its settings again"))
    .action(async (_flags, command: Command) => {
      const config = dataFlags.configOf(command);
      const pid = pidOf(config);
      const [{ openExistingStateOf }, { reloadAction }, { serverName }] = await Promise.all([
        import("../state/open-state.ts"),
        import("../reloads.ts"),
        import("../models/describe-server.ts"),
      ]);
      await using opened = new AsyncDisposableStack();
      const state = opened.use(await openExistingStateOf(config));
      const newest = async (): Promise<AuditEntry | undefined> =>
        (await state.audit.read({ action: reloadAction }, 100)).find(({ target }) => target.name === serverName(pid));
      const before = await newest();
      process.kill(pid, "SIGHUP");
      const deadline = performance.now() + maxReloadMs;
      for (let entry = await newest(); ; entry = await newest()) {
        if (entry && entry.id !== before?.id) return tellReload(entry);
        if (performance.now() > deadline) throw new Error(`Process ${pid} has recorded no reload: see its log.`);
        await wait(100);
      }
    });
}

/** Tells the operator what a reload has changed. Throws the reason of a refusal. */
function tellReload({ outcome, reason, before = {}, after = {} }: AuditEntry): void {
  if (outcome === "refused") throw new Error(`The settings have faults, so nothing was changed: ${reason}`);
  const old: Readonly<Record<string, unknown>> = { ...before };
  const { needs_restart: restart, ...now } = after as Readonly<Record<string, unknown>>; // `Reloads` wrote it
  const lines = Object.entries(now).map(
    ([name, value]) => `${name}: ${JSON.stringify(old[name])} is now ${JSON.stringify(value)}`,
  );
  if (lines.length === 0) lines.push("No setting that a reload applies has changed.");
  for (const name of Array.isArray(restart) ? restart : []) lines.push(`${name} has changed and needs a restart.`);
  process.stderr.write(`${lines.join("\n")}\n`);
}

/** Returns the process id of the server that uses the data folder. */
function pidOf({ dataDir }: Config): number {
  const server = findServer(dataDir);
  if (!server) throw new Error(`No server uses the data folder ${dataDir}.`);
  if (server.pid !== undefined) return server.pid;
  throw new Error(`A server uses the data folder ${dataDir}, but it has not written its process id there.`);
}
