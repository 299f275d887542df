import { Help } from "commander";
import type { Command, Option } from "commander";
import { modelShortcuts } from "../config/default-models.ts";
import { readConfig } from "../config/read-config.ts";
import type { Config, ReadConfig } from "../config/read-config.ts";
import { describe, toText } from "../config/setting.ts";
import type { Setting } from "../config/setting.ts";
import { settingNames, settings } from "../config/settings.ts";

/** How a command of ours is typed on a machine that has nothing but npm. */
export const typed = (command: string): string => `npx -y pnpm@12.21.0 parley ${command}`;

const allSettings: readonly Setting[] = [...settingNames.map((name) => settings[name]), ...modelShortcuts];

/** The settings that a command has as flags. The others are read all the same, from the environment and the file. */
export interface SettingFlags {
  addTo(command: Command): Command;
  /** @throws {ConfigError} */
  configOf(command: Command): Config;
}

/** Flags for a command that starts nothing, so that no token for an upstream is needed. */
const flagsFor = (...rows: readonly Setting[]): SettingFlags => ({
  addTo: (command) => addFlags(command, rows),
  configOf: (command) => read(command, rows).config,
});

export const dataFlags = flagsFor(settings.dataDir);
/** For commands that take names of models. */
export const modelFlags = flagsFor(settings.dataDir, settings.vendor);
export const stopFlags = flagsFor(settings.dataDir, settings.lameDuckMs, settings.drainMs);
export const addressFlags = flagsFor(settings.host, settings.port);

/** Adds a flag for every setting, unless it is a secret. */
export const addSettingFlags = (command: Command): Command =>
  addFlags(command, allSettings).addHelpText("after", secretsHelp);

/** The configuration that a command runs with. Tells the operator what is not as it seems. @throws {ConfigError} */
export function settingsOf(command: Command): ReadConfig {
  const settingsRead = read(command, allSettings);
  for (const notice of settingsRead.notices) process.stderr.write(`${notice}\n`);
  return settingsRead;
}

function addFlags(command: Command, rows: readonly Setting[]): Command {
  const described = new Map<string | undefined, Setting>(rows.map((row) => [row.flag, row]));
  for (const { flag } of rows) if (flag !== undefined) command.option(`${flag} <value>`);
  // Reading the descriptions out of the schemas takes milliseconds, so it is done for help only.
  const optionDescription = (option: Option): string => {
    const row = described.get(option.long);
    return row ? helpOf(row) : new Help().optionDescription(option);
  };
  return command
    .configureHelp({ optionDescription })
    .option("--config <file>", "settings file (default: parley.yaml in the working folder, if it is there)");
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
    "Flags win over the environment, that over parley.yaml.",
  ].join("\n");
}

function read(command: Command, rows: readonly Setting[]): ReadConfig {
  const given: Record<string, string | undefined> = command.opts();
  const flags = Object.fromEntries(
    rows.flatMap(({ flag }) => (flag === undefined ? [] : [[flag, given[optionName(flag)]]])),
  );
  return readConfig({ flags, env: process.env, file: given["config"] }, rows === allSettings);
}

/** Commander names the value of `--data-dir` dataDir. */
const optionName = (flag: string): string =>
  flag.slice(2).replaceAll(/-(\w)/g, (_all, letter: string) => letter.toUpperCase());
