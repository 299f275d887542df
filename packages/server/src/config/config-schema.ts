import { z } from "zod";
import { modelsSchema } from "./model-settings.ts";
import { describe } from "./setting.ts";
import type { ValueSchema } from "./setting.ts";
import { settingNames, settings } from "./settings.ts";

const rows = settingNames.map((name) => settings[name]);

/** What may stand in `parley.yaml`. */
const inFile = {
  ...Object.fromEntries(rows.flatMap(({ path, schema }) => (path ? [[path[0], schema] as const] : []))),
  models: modelsSchema,
};

/** Secrets are read from the environment only. They stand beside the file's settings under the names of their variables. */
const secrets = Object.fromEntries(rows.flatMap(({ path, env, schema }) => (path ? [] : [[env, schema] as const])));

export const secretNames: ReadonlySet<string> = new Set(Object.keys(secrets));

/** What all sources together may say, in the form of the file. */
export const documentSchema = z.strictObject({ ...inFile, ...secrets });

/** JSON Schema of `parley.yaml`. */
export const configSchema = (): ValueSchema => ({ title: "parley.yaml", ...describe(z.strictObject(inFile)) });

/** The settings that there are below a path of the file. */
export function settingsBelow(path: readonly PropertyKey[]): string[] {
  const below = path.reduce<ValueSchema | undefined>((schema, key) => {
    const inner = mappingOf(schema);
    const rest = typeof inner?.additionalProperties === "object" ? inner.additionalProperties : undefined;
    return inner?.properties?.[String(key)] ?? rest;
  }, configSchema());
  return Object.keys(mappingOf(below)?.properties ?? {});
}

/** The entry of a model may be null, too. */
const mappingOf = (schema: ValueSchema | undefined): ValueSchema | undefined =>
  schema?.anyOf?.find(({ type }) => type === "object") ?? schema;
