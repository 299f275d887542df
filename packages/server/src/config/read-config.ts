import { availableParallelism } from "node:os";
import type { z } from "zod";
import { collectValues } from "./collect-values.ts";
import type { ConfigSources, Document, Given, Origin } from "./collect-values.ts";
import { ConfigError } from "./config-error.ts";
import { documentSchema, secretNames, settingsBelow } from "./config-schema.ts";
import { explainServiceLinks, findUnknownVariables } from "./explain-environment.ts";
import { explainSharedNames } from "./find-model.ts";
import { readModels } from "./read-models.ts";
import type { ModelConfig, ModelsGiven } from "./read-models.ts";
import { settingNames, settings as rows } from "./settings.ts";
import type { SettingName, Settings } from "./settings.ts";
import { suggest } from "./suggest.ts";

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
  faults.push(...explainLoneStore(settings), ...explainHalfProvider(settings));
  const models = readModels(named, { settings, env: needsCredentials ? sources.env : undefined, faults });
  faults.push(...explainLoneProcess(settings, models));
  if (faults.length > 0) throw new ConfigError(faults);
  const notices = [
    ...explainServiceLinks(sources.env),
    ...explainSharedNames(models),
    ...explainManyWorkers(settings, availableParallelism()),
  ];
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

/** Servers that share limits but not keys would not know whose limits they are. */
function explainLoneStore({ databaseUrl, valkeyUrl, limitsWhenAway }: Settings): string[] {
  if (valkeyUrl !== undefined && databaseUrl === undefined)
    return [
      "PARLEY_VALKEY_URL is set, so PARLEY_DATABASE_URL must be set, too: servers that share their limits share their keys.",
    ];
  if (limitsWhenAway === "share" && valkeyUrl === undefined)
    return [
      "PARLEY_LIMITS_WHEN_AWAY is share, so PARLEY_VALKEY_URL must be set, too: without it, nothing can be away.",
    ];
  return [];
}

/** Without issuer and audience, tokens that were made for other services would be accepted. */
function explainHalfProvider({ jwtKeys, jwtIssuer, jwtAudience, jwtGroupClaim }: Settings): string[] {
  const needed = { PARLEY_JWT_KEYS: jwtKeys, PARLEY_JWT_ISSUER: jwtIssuer, PARLEY_JWT_AUDIENCE: jwtAudience };
  const given = Object.entries({ ...needed, PARLEY_JWT_GROUP_CLAIM: jwtGroupClaim });
  const [present] = given.find(([, value]) => value !== undefined) ?? [];
  if (present === undefined) return [];
  const missing = Object.entries(needed).filter(([, value]) => value === undefined);
  return missing.map(
    ([name]) => `${present} is set, so ${name} must be set, too: tokens need keys, an issuer and an audience.`,
  );
}

/** A vLLM that the server supervises is watched by its running answers, which only one process knows. */
function explainLoneProcess({ workers }: Settings, models: readonly ModelConfig[]): string[] {
  const lone = workers === 1 ? [] : models.filter(({ engineConfig: { driver } }) => driver.startsWith("vllm-"));
  return lone.map(
    ({ id }) =>
      `PARLEY_WORKERS is ${workers}, but the vLLM of ${id} is started by Parley, which needs one process. Start that vLLM separately and name its address with engine: remote.`,
  );
}

function explainManyWorkers({ workers }: Settings, processors: number): string[] {
  if (workers <= processors) return [];
  return [`PARLEY_WORKERS is ${workers}, more than the ${processors} processors of this machine: it gets no faster.`];
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

/** Returns a sentence for each fault of a value. It names the source of the value, and says what to write instead. */
function explainIssue(issue: z.core.$ZodIssue, given: Given): string[] {
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    const known = settingsBelow(path);
    return issue.keys.map(
      (key) => `parley.yaml: ${pathText([...path, key])} is not a setting${didYouMean(key, known)}`,
    );
  }
  if (issue.code === "invalid_key")
    return [`parley.yaml: the name ${pathText(path)} must be ${issue.issues[0]?.message}`];
  // A header may have a token.
  const isSecret = secretNames.has(String(path[0])) || path.includes("headers");
  const shown = isSecret ? "the value given" : JSON.stringify(valueAt(given.document, path));
  return [`${labelOf(path, given)} must be ${issue.message}, not ${shown}`];
}

function didYouMean(key: string, known: readonly string[]): string {
  const meant = suggest(key, known);
  return meant === undefined ? "" : `: did you mean ${meant}?`;
}

/** Returns the source of a value: `PORT` or `--port`, or its path in the file. */
function labelOf(path: readonly PropertyKey[], { labels }: Given): string {
  for (let length = path.length; length > 0; length -= 1) {
    const label = labels.get(path.slice(0, length).join("."));
    if (label !== undefined) return label;
  }
  return `parley.yaml: ${pathText(path)}`;
}

const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}${text && "."}${String(key)}`),
    "",
  );

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key], value); // the issue is at this path
