import { existsSync } from "node:fs";
import { Help } from "commander";
import type { Command, Option } from "commander";
import { configSchema } from "../config/config-schema.ts";
import type { ConfigSources } from "../config/collect-values.ts";
import { modelShortcuts } from "../config/default-models.ts";
import { readConfig } from "../config/read-config.ts";
import type { Config, ReadConfig } from "../config/read-config.ts";
import type { ModelConfig } from "../config/read-models.ts";
import { describe, toText } from "../config/setting.ts";
import type { Setting } from "../config/setting.ts";
import { settingNames, settings } from "../config/settings.ts";
import type { SettingName, Settings } from "../config/settings.ts";
import { toTable } from "./table.ts";

const allSettings: readonly Setting[] = [...settingNames.map((name) => settings[name]), ...modelShortcuts];

/** The settings that a command accepts as flags. All others are still read from the environment and the file. */
export interface SettingFlags {
  addTo(command: Command): Command;
  /** @throws {ConfigError} */
  configOf(command: Command): Config;
}

/** Returns the flags of a command that starts nothing, and so needs no token for an upstream. */
const flagsFor = (...rows: readonly Setting[]): SettingFlags => ({
  addTo: (command) => addFlags(command, rows),
  configOf: (command) => {
    const { config } = read(command, rows);
    if (!rows.includes(settings.adminUrl)) tellLocal(command, config);
    return config;
  },
});

/** Tells the operator of a command that has no way over HTTP that it does not use the server of PARLEY_ADMIN_URL. */
function tellLocal(command: Command, { adminUrl }: Config): void {
  if (adminUrl === undefined) return;
  const parent = command.parent?.parent ? `${command.parent.name()} ` : "";
  process.stderr.write(
    `\`parley ${parent}${command.name()}\` works on this machine: it does not use the server of PARLEY_ADMIN_URL.\n`,
  );
}

export const dataFlags = flagsFor(settings.dataDir);
/** Flags of commands that accept names of models. */
export const modelFlags = flagsFor(settings.dataDir, settings.vendor);
/** Flags of commands that use the verbs of the admin API. */
export const manageFlags = flagsFor(settings.dataDir, settings.adminUrl);
export const manageModelFlags = flagsFor(settings.dataDir, settings.adminUrl, settings.vendor);
export const stopFlags = flagsFor(settings.dataDir, settings.lameDuckMs, settings.drainMs);
export const addressFlags = flagsFor(settings.host, settings.port);

/** Adds a flag for every setting that is not a secret. */
export const addSettingFlags = (command: Command): Command =>
  addFlags(command, allSettings).addHelpText("after", secretsHelp);

/** Returns the configuration of a command, and prints its notices to standard error. @throws {ConfigError} */
export function settingsOf(command: Command): ReadConfig {
  const settingsRead = read(command, allSettings);
  tellLocal(command, settingsRead.config);
  for (const notice of settingsRead.notices) process.stderr.write(`${notice}\n`);
  return settingsRead;
}

/**
 * Returns a function that reads the configuration of a server again, from the flags and the environment of its start. A file
 * that was there once must stay: its absence would set everything to the defaults.
 * @throws {ConfigError}
 */
export function rereadingOf(command: Command): () => Config {
  const env = { ...process.env };
  const given = flagsOf(command, allSettings);
  let file = given.file;
  const find = (): string | undefined => (file ??= existsSync("parley.yaml") ? "parley.yaml" : undefined);
  find();
  return () => readConfig({ flags: given.flags, env, file: find() }).config;
}

function addFlags(command: Command, rows: readonly Setting[]): Command {
  const described = new Map<string | undefined, Setting>(rows.map((row) => [row.flag, row]));
  for (const { flag } of rows) if (flag !== undefined) command.option(`${flag} <value>`);
  // Extracting the descriptions from the schemas takes milliseconds, so it is done only for the help.
  const optionDescription = (option: Option): string => {
    const row = described.get(option.long);
    return row ? helpOf(row) : new Help().optionDescription(option);
  };
  return command
    .configureHelp({ optionDescription })
    .option("--config <file>", "settings file (default: parley.yaml in the working folder, if it exists)");
}

function helpOf({ env, schema }: Setting): string {
  const { description, default: fallback } = describe(schema);
  return `${description} (${env}; default ${toText(fallback) || "none"})`;
}

function secretsHelp(): string {
  const secrets = allSettings.filter(({ flag }) => flag === undefined);
  return [
    "",
    "Secrets are never flags; they are read from the environment:",
    ...secrets.map(({ env, schema }) => `  ${env}  ${describe(schema).description}`),
    "",
    "Flags override the environment, which overrides parley.yaml.",
  ].join("\n");
}

function read(command: Command, rows: readonly Setting[]): ReadConfig {
  return readConfig({ ...flagsOf(command, rows), env: process.env }, rows === allSettings);
}

function flagsOf(command: Command, rows: readonly Setting[]): Pick<ConfigSources, "flags" | "file"> {
  const given: Record<string, string | undefined> = command.opts();
  const flags = Object.fromEntries(
    rows.flatMap(({ flag }) => (flag === undefined ? [] : [[flag, given[optionName(flag)]]])),
  );
  return { flags, file: given["config"] };
}

/** Returns Commander's name of a flag: `dataDir` for `--data-dir`. */
const optionName = (flag: string): string =>
  flag.slice(2).replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());

export function addConfigCommand(program: Command): void {
  const config = program.command("config").description("check the configuration without starting anything");
  addSettingFlags(config.command("check").description("print every setting and its source")).action(
    (_flags, command: Command) => {
      const { config: read, origins } = settingsOf(command);
      const rows = settingNames.map((name) => [settings[name].env, show(name, read[name]), origins[name]]);
      process.stdout.write(toTable(["setting", "value", "from"], rows));
      process.stdout.write(`models: ${JSON.stringify(read.models.map(withoutSecrets), undefined, 2)}\n`);
    },
  );
  config
    .command("schema")
    .description("print the JSON Schema of parley.yaml")
    .action(() => {
      process.stdout.write(`${JSON.stringify(configSchema(), undefined, 2)}\n`);
    });
}

const hidden = "(set, not shown)";

function show<Name extends SettingName>(name: Name, value: Settings[Name]): string {
  if (value === undefined) return "-";
  if (settings[name].flag === undefined) return hidden;
  return typeof value === "number" && name.endsWith("Ms") ? `${value / 1000} s` : toText(value);
}

/** Returns the printed form of a model, without its token and its headers, which may also contain a token. */
function withoutSecrets({ engineConfig, ...model }: ModelConfig): object {
  if (engineConfig.driver !== "remote") return { ...model, engine: engineConfig };
  const { apiKey, given, ...engine } = engineConfig;
  const headers = Object.fromEntries(Object.keys(given.headers ?? {}).map((name) => [name, hidden]));
  return { ...model, engine: { ...engine, ...given, headers, apiKey: apiKey && hidden } };
}
