/** The data of the pages that send requests: `/docs/try.json` and `/docs/demo.json`. The build writes both from the contract. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A schema of the contract, with the keywords that the form, the completion and the validator read. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly Json[];
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly discriminator?: { readonly propertyName: string; readonly mapping: Readonly<Record<string, string>> };
  readonly "x-ignored"?: boolean;
  readonly "x-error-code"?: string;
}

/** Schemas by their names in the contract. */
export type Schemas = Readonly<Record<string, Schema>>;

/** A request to begin with. */
export interface Example {
  readonly name: string;
  readonly summary: string;
  readonly request: JsonObject;
}

/** The content of `/docs/try.json`. */
export interface TryData {
  readonly schemas: Schemas;
  readonly examples: readonly Example[];
  /** The codes of errors that have a page. */
  readonly errorCodes: readonly string[];
  /** The models of the contract's example: they are offered until the list of the service has arrived. */
  readonly models: readonly JsonObject[];
}

/** The name of the schema of a chat request. */
export const requestSchema = "ChatCompletionRequest";

/** Returns a schema behind its reference. */
export function resolve(schemas: Schemas, schema: Schema): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : (schemas[name] ?? {});
}

/** Returns the type of a JSON value. A number without a fraction is an integer. */
export function typeOfJson(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value === "number" && Number.isInteger(value) ? "integer" : typeof value;
}

/** Checks whether a schema allows values of a type. */
export function allowsType(schemas: Schemas, outer: Schema, type: string): boolean {
  const schema = resolve(schemas, outer);
  if (schema.oneOf) return schema.oneOf.some((one) => allowsType(schemas, one, type));
  const types = [schema.type ?? []].flat();
  return types.length === 0 || types.includes(type) || (type === "integer" && types.includes("number"));
}

/** Parses JSON. Text that is not JSON stays text, so the validator and the service can say what is wrong with it. */
export function jsonOrText(text: string): Json {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Returns a string as it is, and any other value as JSON. */
export const plainText = (value: Json | undefined): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? null);
