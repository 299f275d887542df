import { z } from "zod";

/** A setting: its names in each source, and the schema of its value. */
export interface Setting<S extends z.ZodType = z.ZodType> {
  /** Environment variable. */
  readonly env: string;
  /** Flag, with its dashes. Undefined for a secret. */
  readonly flag: string | undefined;
  /** Path in `parley.yaml`. Undefined for a secret. */
  readonly path: readonly string[] | undefined;
  readonly schema: S;
}

/** Returns a setting whose names follow from its environment variable: `PARLEY_DATA_DIR`, `--data-dir`, `data_dir`. */
export function setting<S extends z.ZodType>(env: string, schema: S, description: string): Setting<S> {
  const key = keyOf(env);
  return { env, flag: flagOf(key), path: [key], schema: schema.meta({ description }) };
}

/** Returns a setting that is nested deeper in the file: `PARLEY_MODEL_1_GGUF`, `--model-1-gguf`, `models.model-1.gguf`. */
export function shortcut<S extends z.ZodType>(
  env: string,
  path: readonly string[],
  schema: S,
  description: string,
): Setting<S> {
  return { env, flag: flagOf(keyOf(env)), path, schema: schema.meta({ description }) };
}

/** Returns a setting that is read from the environment only. */
export function secret<S extends z.ZodType>(env: string, schema: S, description: string): Setting<S> {
  return { env, flag: undefined, path: undefined, schema: schema.meta({ description }) };
}

const keyOf = (env: string): string => env.toLowerCase().replace(/^parley_/, "");
const flagOf = (key: string): string => `--${key.replaceAll("_", "-")}`;

/** The JSON Schema of a value, as far as it is used here. */
export interface ValueSchema {
  readonly title?: string;
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly ValueSchema[];
  readonly items?: ValueSchema;
  readonly properties?: Readonly<Record<string, ValueSchema>>;
  readonly additionalProperties?: ValueSchema | boolean;
}

/** Returns the JSON Schema of the values that a setting accepts. */
export const describe = (schema: z.ZodType): ValueSchema =>
  z.toJSONSchema(schema, { io: "input" }) as unknown as ValueSchema; // declares only the members that are read

/**
 * Parses the text of a flag or variable to the value that `parley.yaml` would have. A text that does not fit the type stays
 * text.
 */
export function fromText({ schema }: Setting, text: string): unknown {
  const { type, anyOf = [{ type }] } = describe(schema);
  const types = new Set(anyOf.map((branch) => branch.type));
  if (types.has("array")) {
    const parts = text.split(",").map((part) => part.trim());
    return parts.filter((part) => part !== "");
  }
  const isNumber = types.has("integer") || types.has("number");
  return isNumber && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** Formats a value of `parley.yaml` as the text of a flag; empty for an absent value. */
export const toText = (value: unknown): string => [value ?? []].flat().map(String).join(",");
