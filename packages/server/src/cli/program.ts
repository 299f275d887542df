import { Command, CommanderError } from "commander";
import { ownVersion } from "../observe/own-version.ts";
import { ConfigError } from "../config/config-error.ts";
import { refuseSurplus } from "./read-argument.ts";
import contract from "@parley/contract/contract.json" with { type: "json" };

/**
 * Imports the function that adds a command to the program. Only the command in use is imported, since most need little of
 * the server.
 */
type LoadCommand = () => Promise<(program: Command) => void>;

/** All commands by name, in the order of the help. */
const commands: ReadonlyMap<string, LoadCommand> = new Map([
  ["start", async () => (await import("./start.ts")).addStartCommand],
  ["worker", async () => (await import("./start.ts")).addWorkerCommand],
  ["reload", async () => (await import("./start.ts")).addReloadCommand],
  ["stop", async () => (await import("./start.ts")).addStopCommand],
  ["keys", async () => (await import("./keys.ts")).addKeysCommand],
  ["groups", async () => (await import("./groups.ts")).addGroupsCommand],
  ["admin-keys", async () => (await import("./admin-keys.ts")).addAdminKeysCommand],
  ["audit", async () => (await import("./audit.ts")).addAuditCommand],
  ["usage", async () => (await import("./usage.ts")).addUsageCommand],
  ["requests", async () => (await import("./requests.ts")).addRequestsCommand],
  ["request", async () => (await import("./requests.ts")).addRequestCommand],
  ["backup", async () => (await import("./backup.ts")).addBackupCommand],
  ["restore", async () => (await import("./backup.ts")).addRestoreCommand],
  ["migrate", async () => (await import("./migrate.ts")).addMigrateCommand],
  ["downgrade", async () => (await import("./migrate.ts")).addDowngradeCommand],
  ["schema", async () => (await import("./schema.ts")).addSchemaCommand],
  ["config", async () => (await import("./settings.ts")).addConfigCommand],
  ["engine", async () => (await import("./engine.ts")).addEngineCommands],
  ["doctor", async () => (await import("./doctor.ts")).addDoctorCommand],
  ["vllm", async () => (await import("./doctor.ts")).addVllmCommand],
]);

/** Exit codes of all commands: 0 done, 1 failed, 2 called or configured wrongly. */
const exitCodes = { done: 0, failed: 1, misused: 2 } as const;

// A reader such as `head` has closed the pipe, and wants no more lines.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(exitCodes.done);
});

// Only the owner may read files that a command writes, even in a folder that others can read.
process.umask(0o077);

const program = new Command("parley")
  .description("A chat-completion service under one contract.")
  .version(`parley ${ownVersion} (contract ${contract.info.version}, Node ${process.version})`)
  .addHelpText("after", "\nExit codes: 0 done, 1 it could not be done, 2 it was called or configured wrongly.")
  // Each command reads its own flags.
  .enablePositionalOptions()
  .showHelpAfterError("(--help lists what there is)")
  .exitOverride();

// A script whose variable is not set passes an empty text.
program.hook("preAction", (_program, command) => {
  for (const [index, text] of command.args.entries())
    if (text.trim() === "") command.error(`error: argument '${command.registeredArguments[index]?.name()}' is empty`);
});

// Without a known command, all are loaded for the help and for suggestions.
const asked = commands.get(process.argv[2] ?? "");
for (const load of asked ? [asked] : commands.values()) (await load())(program);

refuseSurplus(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error);
}

/** Prints the message of an error, without its stack. @returns the exit code */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.misused; // Commander has printed it
  process.stderr.write(`parley: ${error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof ConfigError ? exitCodes.misused : exitCodes.failed;
}
