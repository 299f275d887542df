import type { Command } from "commander";

/**
 * Imports the function that adds a command to the program. Only the command in use is imported, since most need little of
 * the server.
 */
type LoadCommand = () => Promise<(program: Command) => void>;

/** All commands by name, in the order of the help. */
export const commands: ReadonlyMap<string, LoadCommand> = new Map([
  ["start", async () => (await import("./start.ts")).addStartCommand],
  ["stop", async () => (await import("./stop.ts")).addStopCommand],
  ["keys", async () => (await import("./keys.ts")).addKeysCommand],
  ["usage", async () => (await import("./usage.ts")).addUsageCommand],
  ["requests", async () => (await import("./requests.ts")).addRequestsCommand],
  ["request", async () => (await import("./requests.ts")).addRequestCommand],
  ["backup", async () => (await import("./backup.ts")).addBackupCommand],
  ["restore", async () => (await import("./restore.ts")).addRestoreCommand],
  ["schema", async () => (await import("./schema.ts")).addSchemaCommand],
  ["config", async () => (await import("./config.ts")).addConfigCommand],
  ["engine", async () => (await import("./engine.ts")).addEngineCommands],
  ["doctor", async () => (await import("./doctor.ts")).addDoctorCommand],
  ["vllm", async () => (await import("./doctor.ts")).addVllmCommand],
]);
