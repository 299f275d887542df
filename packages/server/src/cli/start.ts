import { setTimeout as wait } from "node:timers/promises";
import type { Command } from "commander";
import type { Config } from "../config/read-config.ts";
import { findServer } from "../state/server-lock.ts";
import { addSettingFlags, settingsOf, stopFlags } from "./settings.ts";

export function addStartCommand(program: Command): void {
  addSettingFlags(program.command("start").description("start the server")).action(async (_flags, command: Command) => {
    const { config } = settingsOf(command);
    // Imported here, so help and errors in flags do not wait for the server's libraries.
    const [{ runServer }, { createLog }] = await Promise.all([import("./run-server.ts"), import("../observe/log.ts")]);
    const log = createLog(config.logLevel, logFormat(config));
    try {
      await runServer(config, log);
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
      const server = findServer(config.dataDir);
      if (!server) throw new Error(`No server uses the data folder ${config.dataDir}.`);
      const { pid } = server;
      if (pid === undefined)
        throw new Error(
          `A server uses the data folder ${config.dataDir}, but it has not written its process id there.`,
        );
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
