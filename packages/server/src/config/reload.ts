import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "./config-error.ts";
import type { Config } from "./read-config.ts";
import { findCollisions } from "./read-models.ts";
import type { ModelConfig } from "./read-models.ts";
import { settingNames, settings } from "./settings.ts";
import type { SettingName } from "./settings.ts";

/** Settings that a reload applies. A part that follows them reads them at each use. All others need a restart. */
const reloaded = [
  "vendorLabel",
  "corsOrigins",
  "requestsPerMinute",
  "tokensPerMinute",
  "totalRequestsPerMinute",
  "totalTokensPerMinute",
  "bodyBytesPerKey",
  "bodyBytes",
  "answerBytes",
  "totalAnswerBytes",
  "reservedTokens",
  "queueLength",
  "queueWaitMs",
  "firstEventMs",
  "keepAliveMs",
  "lameDuckMs",
  "drainMs",
  "idempotencyKeptMs",
  "idempotencyAnswers",
  "idempotencyAnswerBytes",
  "logLevel",
] as const satisfies readonly SettingName[];

const isReloadedSetting = (name: SettingName): boolean => (reloaded as readonly SettingName[]).includes(name);

/** The commands read these at each use, and a server does not use them. */
const ofCommands: ReadonlySet<SettingName> = new Set(["adminUrl", "adminKey"]);

/** Members of a model that a reload applies, with their names in the file. */
const reloadedMembers = {
  pricing: "pricing",
  displayName: "label",
  description: "description",
  aliases: "aliases",
  created: "created",
  maxCompletionTokens: "max_completion_tokens",
  defaultReasoningEffort: "default_reasoning_effort",
  quantization: "quantization",
  huggingFaceId: "hugging_face_id",
  deprecationDate: "deprecation_date",
} as const satisfies Partial<Record<keyof ModelConfig, string>>;

/**
 * Members of a model that its engine or the ids in keys depend on. If one of them changes, the whole model needs a restart, so
 * that no engine runs under the price of another one.
 */
const fixedMembers = {
  id: "id",
  contextLength: "context_length",
  trainedPromptTokens: "trained_prompt_tokens",
  schemaPrompt: "schema_prompt",
  sampling: "sampling",
  engineConfig: "engine",
} as const satisfies Record<Exclude<keyof ModelConfig, keyof typeof reloadedMembers | DerivedMember>, string>;

/** Members that follow from the id, or from settings that need a restart. */
type DerivedMember = "name" | "ownedBy" | "shortName";

/** Returns true if a reload applies the setting with this variable, or a setting of models with this path in their entries. */
export function isReloaded(name: string): boolean {
  const [member = ""] = name.split(".");
  return (
    reloaded.some((setting) => settings[setting].env === name) ||
    Object.values<string>(reloadedMembers).includes(member)
  );
}

/** The difference of a configuration from the one that a server runs with. Names are paths in the file. */
export interface ConfigDifference {
  /** Values of changed settings that a reload applies, by name. Durations are in seconds. */
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
  /** Names of changed settings that need a restart. */
  readonly restart: readonly string[];
}

/** Compares a configuration with the one that a server runs with. */
export function compareConfigs(current: Config, next: Config): ConfigDifference {
  const before: Record<string, unknown> = {};
  const after: Record<string, unknown> = {};
  const note = (name: string, old: unknown, now: unknown): void => {
    before[name] = old ?? null;
    after[name] = now ?? null;
  };
  const differing = settingNames.filter((name) => !isDeepStrictEqual(current[name], next[name]));
  for (const name of differing.filter(isReloadedSetting)) note(nameOf(name), shown(name, current), shown(name, next));
  const restart = differing.filter((name) => !isReloadedSetting(name) && !ofCommands.has(name)).map(nameOf);
  for (const model of current.models) {
    const found = next.models.find(({ name }) => name === model.name);
    const place = `models.${model.name}`;
    const changes = found ? membersThatDiffer(reloadedMembers, model, found) : [];
    const fixed = found ? membersThatDiffer(fixedMembers, model, found) : [];
    if (!found) restart.push(place);
    else if (fixed.length > 0) restart.push(...[...fixed, ...changes].map(([member]) => `${place}.${member}`));
    else for (const [member, old, now] of changes) note(`${place}.${member}`, old, now);
  }
  const order = (models: readonly ModelConfig[], others: readonly ModelConfig[]): string[] =>
    models.map(({ name }) => name).filter((name) => others.some((other) => other.name === name));
  if (!isDeepStrictEqual(order(current.models, next.models), order(next.models, current.models)))
    restart.push("the order of models");
  const names = new Set(current.models.map(({ name }) => name));
  restart.push(...next.models.flatMap(({ name }) => (names.has(name) ? [] : [`models.${name}`])));
  return { before, after, restart };
}

/** Compares two settings of a model. Returns each member whose value differs: its name in the file, and both values. */
const membersThatDiffer = (
  members: Partial<Record<keyof ModelConfig, string>>,
  model: ModelConfig,
  next: ModelConfig,
): (readonly [member: string, old: unknown, now: unknown])[] =>
  Object.entries(members).flatMap(([key, member]) => {
    const [old, now] = [model[key as keyof ModelConfig], next[key as keyof ModelConfig]]; // the keys of the table
    return isDeepStrictEqual(old, now) ? [] : [[member, old, now] as const];
  });

const nameOf = (name: SettingName): string => settings[name].path?.[0] ?? settings[name].env;

function shown(name: SettingName, config: Config): unknown {
  const value = config[name];
  return name.endsWith("Ms") && typeof value === "number" ? value / 1000 : value;
}

/**
 * Returns the configuration that a server has after a reload: `next` in all that a reload applies, and otherwise as it is.
 * @throws {ConfigError} if two models would then have the same name
 */
export function reloadConfig(current: Config, next: Config): Config {
  const values = Object.fromEntries(reloaded.map((name) => [name, next[name]]));
  const config = { ...current, ...values, models: reloadModels(current.models, next) };
  const faults = findCollisions(config.models);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** Returns the models with the members of `next` that a reload applies. A model whose engine would change stays as it is. */
export const reloadModels = <M extends ModelConfig>(models: readonly M[], next: Pick<Config, "models">): M[] =>
  models.map((model) => {
    const found = next.models.find(({ name }) => name === model.name);
    if (!found || membersThatDiffer(fixedMembers, model, found).length > 0) return model;
    const members = Object.keys(reloadedMembers) as (keyof typeof reloadedMembers)[]; // the keys of the table
    return { ...model, ...Object.fromEntries(members.map((member) => [member, found[member]])) };
  });
