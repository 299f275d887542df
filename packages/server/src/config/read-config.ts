import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";
import { findModelMistakes } from "./config-schema.ts";
import { Complaint } from "./option.ts";
import { flagOf, options, settingNames } from "./options.ts";
import type { Option } from "./option.ts";
import type { SettingName, Settings } from "./options.ts";
import type { ModelName, ModelSettings } from "./model-settings.ts";

export interface Config extends Settings {
  readonly models: Readonly<Partial<Record<ModelName, ModelSettings>>>;
}

export type Origin = "flag" | "environment" | "parley.yaml" | "default";

export interface ReadConfig {
  readonly config: Config;
  readonly origins: Readonly<Record<SettingName, Origin>>;
}

/** Where settings come from. */
export interface ConfigSources {
  /** Values by flag name without the dashes: `{port: "9000"}`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the file that was asked for; undefined: `parley.yaml` in the working folder, if it is there. */
  readonly file?: string | undefined;
}

/** Everything that is wrong with the configuration, together. */
export class ConfigError extends Error {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(["The configuration has mistakes:", ...mistakes.map((mistake) => `  - ${mistake}`)].join("\n"));
    this.mistakes = mistakes;
  }
}

/** Flags, environment, `parley.yaml` and defaults, in that order. @throws {ConfigError} with every mistake at once */
export function readConfig(sources: ConfigSources): ReadConfig {
  const mistakes: string[] = [];
  const file = readFile(sources.file, mistakes);
  const { models = {}, ...members } = file;
  mistakes.push(...unknownMembers(members), ...findModelMistakes(models));
  const read = settingNames.map((name) => [name, readSetting(name, sources, members, mistakes)] as const);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  const settings = Object.fromEntries(read.map(([name, { value }]) => [name, value]));
  const origins = Object.fromEntries(read.map(([name, { origin }]) => [name, origin]));
  return {
    // Each value was read by its own row, and every row has one.
    config: Object.freeze({ ...(settings as unknown as Settings), models: models as Config["models"] }),
    origins: origins as Record<SettingName, Origin>,
  };
}

type FileMembers = Readonly<Record<string, unknown>>;

function readSetting(
  name: SettingName,
  sources: ConfigSources,
  members: FileMembers,
  mistakes: string[],
): { value: unknown; origin: Origin } {
  const row: Option<unknown> = options[name];
  const given = findGiven(row, sources, members);
  if (!given) return { value: row.fallback, origin: "default" };
  const value = row.read(given.text);
  if (value instanceof Complaint) {
    const shown = row.key === undefined ? "the value given" : JSON.stringify(given.text);
    mistakes.push(`${given.label} must be ${value.mustBe}, not ${shown}`);
  }
  return { value, origin: given.origin };
}

function findGiven(
  row: Option<unknown>,
  sources: ConfigSources,
  members: FileMembers,
): { text: string; origin: Origin; label: string } | undefined {
  const flag = row.key === undefined ? undefined : sources.flags[row.key];
  if (flag !== undefined) return { text: flag, origin: "flag", label: flagOf(row.key ?? "") };
  const variable = sources.env[row.env];
  // An empty variable is how many tools say "not set".
  if (variable !== undefined && variable !== "") return { text: variable, origin: "environment", label: row.env };
  const member = row.key === undefined ? undefined : members[row.key];
  if (member === undefined || member === null) return undefined;
  return {
    text: textOf(member),
    origin: "parley.yaml",
    label: `parley.yaml: ${row.key}`,
  };
}

function unknownMembers(members: FileMembers): string[] {
  const known = new Set(settingNames.flatMap((name) => options[name].key ?? []));
  return Object.keys(members)
    .filter((key) => !known.has(key))
    .map((key) => `parley.yaml: ${key} is not a setting (parley start --help lists them)`);
}

function readFile(path: string | undefined, mistakes: string[]): FileMembers {
  const file = resolve(path ?? "parley.yaml");
  if (path === undefined && !existsSync(file)) return {};
  try {
    const document: unknown = parse(readFileSync(file, "utf8")) ?? {};
    if (typeof document === "object" && document !== null && !Array.isArray(document)) return { ...document };
    mistakes.push(`${file} must be a YAML mapping of settings`);
  } catch (error) {
    mistakes.push(`${file} cannot be read: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
  }
  return {};
}

/** A member of the file as its flag would be written. */
const textOf = (member: unknown): string => (typeof member === "string" ? member : [member].flat().join(","));
