import { collectValues } from "./collect-values.ts";
import type { ConfigSources, Document, Given, Origin } from "./collect-values.ts";
import { ConfigError } from "./config-error.ts";
import { documentSchema } from "./config-schema.ts";
import { explainServiceLinks, findUnknownVariables } from "./explain-environment.ts";
import { explainIssue } from "./explain-issue.ts";
import { explainSharedNames } from "./find-model.ts";
import { readModels } from "./read-models.ts";
import type { ModelConfig, ModelsGiven } from "./read-models.ts";
import { settingNames, settings as rows } from "./settings.ts";
import type { SettingName, Settings } from "./settings.ts";

export interface Config extends Settings {
  /** The served models, in the order of the listing. */
  readonly models: readonly ModelConfig[];
}

export interface ReadConfig {
  readonly config: Config;
  readonly origins: Readonly<Record<SettingName, Origin>>;
  /** Sentences for the operator about settings that are not faults. */
  readonly notices: readonly string[];
}

/**
 * Reads the configuration from flags, environment, `parley.yaml` and defaults. Earlier sources win.
 * @param needsCredentials false if nothing will be started, so upstreams need no token
 * @throws {ConfigError} with every fault at once
 */
export function readConfig(sources: ConfigSources, needsCredentials = true): ReadConfig {
  const faults: string[] = [];
  const given = collectValues(sources, faults);
  const { models: named, ...values } = parse(given, faults);
  const settings = toSettings(values);
  faults.push(...findUnknownVariables(sources.env, variablesOf(named)));
  const models = readModels(named, { settings, env: needsCredentials ? sources.env : undefined, faults });
  if (faults.length > 0) throw new ConfigError(faults);
  const notices = [...explainServiceLinks(sources.env), ...explainSharedNames(models)];
  return { config: Object.freeze({ ...settings, models }), origins: toOrigins(given), notices };
}

/** The changes that a program may make to the defaults: settings as in `Config`, models as in the file. */
export type ConfigChanges = Partial<Settings> & { readonly models?: ModelsGiven };

/** Returns the configuration of a server inside another program. @throws {ConfigError} */
export function makeConfig({ models, ...changes }: ConfigChanges = {}, env = process.env): Config {
  const settings: Settings = { ...toSettings(documentSchema.parse({}, uncompiled)), ...changes };
  const faults: string[] = [];
  const read = readModels(models, { settings, env, faults });
  if (faults.length > 0) throw new ConfigError(faults);
  return { ...settings, models: read };
}

/** Each document is parsed once, and compiling its schema first would take longer. */
const uncompiled = { jitless: true };

type Values = Readonly<Record<string, unknown>> & { readonly models?: ModelsGiven };

/** Parses the values. Wrong ones are reported and left out, so the rest can be checked, too. */
function parse(given: Given, faults: string[]): Values {
  const { success, data, error } = documentSchema.safeParse(given.document, uncompiled);
  if (success) return data;
  faults.push(...error.issues.flatMap((issue) => explainIssue(issue, given)));
  const wrong = new Set(
    error.issues.flatMap((issue) => issue.path[0] ?? (issue.code === "unrecognized_keys" ? issue.keys : [])),
  );
  const sound: Document = Object.fromEntries(Object.entries(given.document).filter(([key]) => !wrong.has(key)));
  return documentSchema.parse(sound, uncompiled);
}

/** Returns the variables that the file names: those with the tokens of upstreams. */
const variablesOf = (models: ModelsGiven = {}): ReadonlySet<string> =>
  new Set(Object.values(models).flatMap((given) => given?.remote?.api_key_env ?? []));

/** Returns the settings by their names in the program. */
function toSettings(values: Values): Settings {
  const named = settingNames.map((name) => [name, values[rows[name].path?.[0] ?? rows[name].env]]);
  return Object.fromEntries(named) as Settings; // every setting was parsed by its own schema
}

const toOrigins = ({ origins }: Given): Record<SettingName, Origin> =>
  // The result has an entry for every name.
  Object.fromEntries(settingNames.map((name) => [name, origins.get(rows[name].env)])) as Record<SettingName, Origin>;
