import { z } from "zod";
import { modelsSchema } from "./model-settings.ts";
import { describe } from "./setting.ts";
import type { ValueSchema } from "./setting.ts";
import { settingNames, settings } from "./settings.ts";

const rows = settingNames.map((name) => settings[name]);

/** The settings that `parley.yaml` may contain. */
const inFile = {
  ...Object.fromEntries(rows.flatMap(({ path, schema }) => (path ? [[path[0], schema] as const] : []))),
  models: modelsSchema,
};

/** Secrets, by the names of their variables. They are read from the environment only. */
const secrets = Object.fromEntries(rows.flatMap(({ path, env, schema }) => (path ? [] : [[env, schema] as const])));

export const secretNames: ReadonlySet<string> = new Set(Object.keys(secrets));

/** The schema of the values of all sources, in the form of the file. */
export const documentSchema = z.strictObject({ ...inFile, ...secrets });

/** Returns the JSON Schema of `parley.yaml`. */
export const configSchema = (): ValueSchema => ({ title: "parley.yaml", ...describe(z.strictObject(inFile)) });

/** Returns the names of the settings below a path of the file. */
export function settingsBelow(path: readonly PropertyKey[]): string[] {
  const below = path.reduce<ValueSchema | undefined>((schema, key) => {
    const inner = mappingOf(schema);
    const rest = typeof inner?.additionalProperties === "object" ? inner.additionalProperties : undefined;
    return inner?.properties?.[String(key)] ?? rest;
  }, configSchema());
  return Object.keys(mappingOf(below)?.properties ?? {});
}

/** Returns the schema of a mapping, also if null is allowed besides it. */
const mappingOf = (schema: ValueSchema | undefined): ValueSchema | undefined =>
  schema?.anyOf?.find(({ type }) => type === "object") ?? schema;
