import type { Command } from "commander";
import { flagOf, options, settingNames } from "../config/options.ts";
import type { SettingName } from "../config/options.ts";
import { readConfig } from "../config/read-config.ts";
import type { Config, ReadConfig } from "../config/read-config.ts";

/** How a command of ours is typed on a machine that has nothing but npm. */
export const typed = (command: string): string => `npx -y pnpm@12.21.0 parley ${command}`;

/** The settings that commands beside `start` need: where the data are. */
const dataSettings: readonly SettingName[] = ["dataDir", "vendor", "drainMs"];

export const addDataFlags = (command: Command): Command => addSettingFlags(command, dataSettings);

export const dataSettingsOf = (command: Command): Config => settingsOf(command, dataSettings).config;

/** Adds a flag for each of these settings, unless it is a secret. */
export function addSettingFlags(command: Command, names: readonly SettingName[] = settingNames): Command {
  for (const name of names) {
    const { key, env, help } = options[name];
    if (key !== undefined) command.option(`${flagOf(key)} <value>`, `${help} (${env}; default ${show(name)})`);
  }
  command.option("--config <file>", "settings file (default: parley.yaml in the working folder, if it is there)");
  return names === settingNames ? command.addHelpText("after", secretsHelp()) : command;
}

/** Durations are kept in milliseconds and given in seconds. */
function show(name: SettingName): string {
  const { fallback } = options[name];
  if (typeof fallback === "number" && name.endsWith("Ms")) return String(fallback / 1000);
  return [fallback ?? []].flat().join(",") || "none";
}

function secretsHelp(): string {
  const secrets = settingNames
    .filter((name) => options[name].key === undefined)
    .map((name) => `  ${options[name].env}  ${options[name].help}`);
  return [
    "",
    "Secrets are never flags; they are read from the environment:",
    ...secrets,
    "",
    "Flags win over the environment, that over parley.yaml.",
  ].join("\n");
}

/** The configuration that a command runs with. @throws {ConfigError} */
export function settingsOf(command: Command, names: readonly SettingName[] = settingNames): ReadConfig {
  const given: Record<string, string | undefined> = command.opts();
  const flags = Object.fromEntries(names.flatMap((name) => flagValue(options[name].key, given)));
  return readConfig({ flags, env: process.env, file: given["config"] });
}

/** Commander names the value of `--data-dir` dataDir. */
function flagValue(key: string | undefined, given: Readonly<Record<string, string | undefined>>): [string, string][] {
  if (key === undefined) return [];
  const value = given[key.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase())];
  return value === undefined ? [] : [[key, value]];
}
