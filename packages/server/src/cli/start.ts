import type { Command } from "commander";
import type { Config } from "../config/read-config.ts";
import { addSettingFlags, settingsOf } from "./settings.ts";

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

const logFormat = ({ logFormat: format }: Config): "json" | "text" => {
  if (format !== "auto") return format;
  return process.stdout.isTTY ? "text" : "json";
};
